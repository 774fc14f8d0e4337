"""`ringpost doctor` on trees of files as kernels show them: what it lists, and what it misses."""

import os
import re
import tempfile
import unittest

from tests import case_report
from tests.cli.program import ringpost

NIC = "sys/devices/pci0000:00/0000:17:00.0"
GPU = "sys/devices/pci0000:00/0000:19:00.0"
PEER_MAPPING = 'RegistryDwords: "PeerMappingOverride=1;"\n'

# A machine on which all is ready: path and content; "->" makes a link.
GOOD = {
    "proc/sys/kernel/osrelease": "6.1.0-57-amd64\n",
    "proc/self/status": "Name:\tringpost\nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-7\n",
    "proc/self/limits": "Max locked memory         unlimited            unlimited   bytes\n",
    "proc/meminfo": "MemTotal: 1 kB\nHugePages_Total:      16\nHugepagesize:       2048 kB\n",
    "sys/devices/system/cpu/online": "0-15\n",
    "sys/devices/system/node/online": "0-1\n",
    "dev/shm/file": "",
    "boot/config-6.1.0-57-amd64": "CONFIG_PCI_P2PDMA=y\nCONFIG_DMABUF_MOVE_NOTIFY=y\n",
    "sys/module/ib_core/live": "",
    "sys/module/ib_uverbs/live": "",
    "sys/module/mlx5_core/live": "",
    "sys/module/mlx5_ib/live": "",
    "sys/module/nvidia/live": "",
    "sys/module/nvidia_peermem/live": "",
    f"{NIC}/driver": "-> ../../bus/pci/drivers/mlx5_core",
    f"{NIC}/numa_node": "0\n",
    f"{NIC}/local_cpulist": "0-7\n",
    "sys/class/infiniband/mlx5_0/device": f"-> ../../../../{NIC}",
    "sys/class/infiniband/mlx5_0/fw_ver": "28.39.1002\n",
    "sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n",
    "sys/class/infiniband/mlx5_0/ports/1/link_layer": "Ethernet\n",
    "sys/class/infiniband/mlx5_0/ports/1/rate": "400 Gb/sec (4X NDR)\n",
    "sys/class/infiniband/mlx5_0/ports/1/gids/0": "0000:0000:0000:0000:0000:0000:0000:0000\n",
    "sys/class/infiniband/mlx5_0/ports/1/gids/3": "0000:0000:0000:0000:0000:ffff:0a00:0001\n",
    "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/3": "RoCE v2\n",
    "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3": "ens1\n",
    "sys/class/infiniband_verbs/uverbs0/ibdev": "mlx5_0\n",
    "dev/infiniband/uverbs0": "",
    "sys/bus/pci/devices/0000:19:00.0": f"-> ../../../../{GPU}",
    f"{GPU}/vendor": "0x10de\n",
    f"{GPU}/class": "0x030200\n",
    f"{GPU}/numa_node": "0\n",
    f"{GPU}/driver": "-> ../../bus/pci/drivers/nvidia",
    "proc/driver/nvidia/version":
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build\n",
    "proc/driver/nvidia/params": "ResmanDebugLevel: 1\n" + PEER_MAPPING,
    "proc/driver/nvidia/gpus/0000:19:00.0/information": "Model: \t\t NVIDIA H200\nIRQ: 1\n",
}


class Doctor(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name

    def make(self, changes=(), without=()):
        """The good machine with `changes`, and without what begins with one of `without`."""
        for path, content in {**GOOD, **dict(changes)}.items():
            if any(path.startswith(gone) for gone in without):
                continue
            target = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if content.startswith("-> "):
                os.symlink(content[3:], target)
                continue
            with open(target, "w", encoding="utf-8") as file:
                file.write(content)

    def doctor(self, *arguments, status=0):
        run = ringpost("doctor", "--root", self.root, *arguments)
        self.assertEqual((run.returncode, run.stderr), (status, ""), run.stdout)
        return run.stdout

    def lacks(self, name, *arguments, status=0):
        """What the lines of one backend say."""
        return re.findall(rf"(?m)^  {name} +(.*)$", self.doctor(*arguments, status=status))

    def assert_lack(self, name, what, remedy):
        lines = self.lacks(name)
        pattern = rf"not ready: {what}; remedy: {remedy}"
        self.assertTrue(any(re.fullmatch(pattern, line) for line in lines), lines)

    def test_what_is_there_is_listed(self):
        self.make()
        text = self.doctor()
        for row in (r"kernel +6\.1\.0-57-amd64", r"CPUs +0-15 online, 0-7 allowed; NUMA nodes 0-1",
                    r"lockable memory +unlimited", r"huge pages +16 of 2048 kB",
                    r"modules +ib_core ib_uverbs mlx5_core mlx5_ib nvidia nvidia_peermem",
                    r"not loaded +rdma_rxe",
                    r"mlx5_0 +driver mlx5_core, firmware 28\.39\.1002, NUMA node 0, CPUs 0-7, "
                    r"/dev/infiniband/uverbs0",
                    r"  port 1 +ACTIVE, Ethernet, 400 Gb/sec \(4X NDR\)",
                    r"    GID 3 +0000:0000:0000:0000:0000:ffff:0a00:0001, RoCE v2, ens1",
                    r"0000:19:00\.0 +NVIDIA H200, driver nvidia, NUMA node 0",
                    r"NVIDIA driver +570\.124\.06, open kernel module, PeerMappingOverride 1",
                    r"NIC to GPU memory +nvidia_peermem yes, dma-buf in the kernel yes"):
            self.assertRegex(text, rf"(?m)^  {row}$")
        self.assertNotIn("GID 0", text)

    def test_a_machine_with_everything_is_ready(self):
        self.make()
        self.assertEqual(self.lacks("sim"), ["ready"])
        self.assertEqual(self.lacks("live"), ["ready"])
        self.assertEqual(self.lacks("GPU posts itself"), ["ready"])
        self.assertNotIn("affinity", self.doctor())
        # Whether this version has the backend is no matter of the machine.
        self.assertLessEqual(set(self.lacks("mlx5")),
                             {"ready", "not ready: this version has no such backend; remedy: see "
                                       "docs/hardware.md"})

    def test_a_machine_with_nothing_still_simulates(self):
        text = self.doctor()
        self.assertEqual(re.findall(r"(?m)^  none$", text), ["  none"] * 2)
        self.assertEqual(self.lacks("sim"), ["ready"])
        self.assert_lack("live", "/dev/shm may not be written, [^;]+", "mount -t tmpfs .* /dev/shm")
        self.assert_lack("mlx5", "there is no RDMA device of a ConnectX", "modprobe mlx5_ib")
        self.assert_lack("GPU posts itself", "there is no GPU of NVIDIA", ".+")

    def test_the_status_is_that_of_the_backend_asked_for(self):
        self.assertIn("ready", self.doctor("--backend", "sim"))
        self.doctor("--backend", "live", status=1)
        self.doctor("--backend", "mlx5", status=1)
        self.make()
        self.doctor("--backend", "live")

    def test_an_unknown_backend_is_refused_in_one_line(self):
        run = ringpost("doctor", "--backend", "mlx6")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertRegex(run.stderr,
                         r"\A[^\n]*doctor: 'mlx6' is no backend; give sim, live or mlx5\n\Z")

    def test_another_driver_is_no_connectx(self):
        self.make(without=[f"{NIC}/driver"])
        self.assertRegex(self.doctor(), r"(?m)^  mlx5_0 +software, firmware ")
        self.assert_lack("mlx5", "there is no RDMA device of a ConnectX", "modprobe mlx5_ib")

    def test_a_port_that_is_down_is_brought_up(self):
        self.make({"sys/class/infiniband/mlx5_0/ports/1/state": "1: DOWN\n"})
        self.assert_lack("mlx5", "mlx5_0 port 1 is DOWN", "ip link set ens1 up")

    def test_a_port_without_an_address_gets_one(self):
        self.make({"sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/3": "IB/RoCE v1\n"})
        self.assert_lack("mlx5", "mlx5_0 port 1 has no GID of RoCE v2",
                         "ip addr add ADDRESS/24 dev ens1")

    def test_one_port_that_works_is_enough(self):
        second = "sys/class/infiniband/mlx5_0/ports/2"
        self.make({f"{second}/state": "1: DOWN\n", f"{second}/link_layer": "InfiniBand\n"})
        self.assertRegex(self.doctor(), r"(?m)^    port 2 +DOWN, InfiniBand, unknown rate$")
        self.assertFalse([line for line in self.lacks("mlx5") if "port" in line])

    def test_a_verbs_file_that_is_not_there_or_not_ours_is_missed(self):
        self.make(without=["sys/class/infiniband_verbs"])
        self.assert_lack("mlx5", "mlx5_0 has no file in /dev/infiniband", "modprobe ib_uverbs")
        path = os.path.join(self.root, "sys/class/infiniband_verbs/uverbs7/ibdev")
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write("mlx5_0\n")
        # The device's file is missing: nobody may open that, root neither.
        self.assert_lack("mlx5", "/dev/infiniband/uverbs7 may not be opened",
                         "chmod a[+]rw /dev/infiniband/uverbs7.*")

    def test_little_lockable_memory_is_missed_unless_a_capability_lifts_the_limit(self):
        limit = {"proc/self/limits": "Max locked memory      8388608         8388608   bytes\n"}
        self.make(limit)
        self.assert_lack("mlx5", "only 8192 KiB of memory may be locked", "ulimit -l unlimited")
        with open(os.path.join(self.root, "proc/self/status"), "w", encoding="utf-8") as file:
            file.write("CapEff:\t0000000000004000\n")
        self.assertRegex(self.doctor(), r"(?m)^  lockable memory +unlimited$")

    def test_gpu_memory_is_reached_by_either_of_two_ways(self):
        no_module = ["sys/module/nvidia_peermem"]
        self.make(without=no_module)
        self.assertEqual(self.lacks("GPU posts itself"), ["ready"])

    def test_gpu_memory_that_no_way_reaches_is_missed(self):
        self.make({"boot/config-6.1.0-57-amd64": "CONFIG_PCI_P2PDMA=y\n"},
                  without=["sys/module/nvidia_peermem"])
        self.assert_lack("GPU posts itself", "the NIC cannot reach GPU memory: .*",
                         "modprobe nvidia_peermem")

    def test_the_doorbell_page_needs_a_setting_of_the_driver(self):
        self.make({"proc/driver/nvidia/params": 'RegistryDwords: "PeerMappingOverride=0;"\n'})
        self.assert_lack("GPU posts itself",
                         "the driver may refuse to map a NIC's doorbell page [^;]+",
                         r".*NVreg_RegistryDwords=\"PeerMappingOverride=1;\".* and reboot")

    def test_a_gpu_without_its_driver_is_listed(self):
        self.make(without=["proc/driver/nvidia", f"{GPU}/driver"])
        self.assertRegex(self.doctor(),
                         r"(?m)^  0000:19:00\.0 +NVIDIA GPU, no driver, NUMA node 0$")
        self.assert_lack("GPU posts itself", "NVIDIA's driver is not loaded", "modprobe nvidia")

    def test_threads_and_gpus_far_from_the_nic_are_noticed(self):
        self.make({f"{GPU}/numa_node": "1\n",
                   "proc/self/status": "CapEff:\t0\nCpus_allowed_list:\t8-15\n"})
        self.assertEqual(self.lacks("affinity"), [
            "none of the allowed CPUs is near mlx5_0; remedy: taskset -c 0-7 ringpost ...",
            "GPU 0000:19:00.0 is on NUMA node 1, and no ConnectX is; remedy: use another GPU for "
            "what must be fast"])

    def test_files_with_nonsense_do_no_harm(self):
        self.make({path: "\x00-,9999999999999999999,\xff: \n" for path in GOOD
                   if not GOOD[path].startswith("-> ")})
        self.assertEqual(self.lacks("sim"), ["ready"])


if __name__ == "__main__":
    case_report.main()
