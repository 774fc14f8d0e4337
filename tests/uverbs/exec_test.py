"""`ringpost exec` runs unmodified programs of Debian's on the virtual ConnectX."""

import itertools
import os
import subprocess
import sys
import tempfile
import unittest

from tests import case_report
from tests.uverbs import pair, perftest_matrix
from tests.uverbs.payload import SIDES, Buffers, Folder, Image
from tests.uverbs.perftest_case import Case

# Opens the first device, and prints how nice each thread of the process is.
OPENS_A_DEVICE = """
import ctypes, glob
verbs = ctypes.CDLL("libibverbs.so.1")
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
verbs.ibv_open_device.restype = ctypes.c_void_p
assert verbs.ibv_open_device(ctypes.c_void_p(verbs.ibv_get_device_list(None)[0]))
for path in glob.glob("/proc/self/task/*/stat"):
    with open(path) as file:
        print(file.read().rpartition(")")[2].split()[16])
"""


# Closes what it has not opened, as daemons do, and has a file of its own when it uses the device.
CLOSES_ALL_AND_OPENS = """
import os, sys
os.listdir("/sys/class/infiniband")
os.closerange(3, 256)
own = open(sys.argv[1], "w")
"""


def seed():
    return int(os.environ.get("RINGPOST_TEST_SEED") or 1)


class Exec(unittest.TestCase):
    def run_exec(self, *words):
        return subprocess.run([pair.PROGRAM, "exec", *words], capture_output=True, text=True,
                              timeout=pair.PATIENCE_S, check=False)

    def one_line(self, run, status, *parts):
        self.assertEqual(run.returncode, status, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for part in parts:
            self.assertIn(part, run.stderr)

    def test_the_status_of_the_program_is_passed_on(self):
        self.assertEqual(self.run_exec("--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(self.run_exec("--", "sh", "-c", "kill -TERM $$").returncode, 128 + 15)

    def test_words_behind_the_dashes_are_the_program_s(self):
        run = self.run_exec("--", "echo", "--config", "x", "--", "-h")
        self.assertEqual(run.stdout, "--config x -- -h\n", run.stderr)

    def test_what_cannot_run_is_said_in_one_line(self):
        self.one_line(self.run_exec("--", "no_such_program"), 127, "no_such_program")
        self.one_line(self.run_exec("--", "/"), 126, "/")
        self.one_line(self.run_exec(), 2, "ringpost exec -- ib_write_lat")
        self.one_line(self.run_exec("--set=exec.links=ethernet", "--", "true"), 2, "exec.link")
        for text, key in [("exec: {devices: 0}\n", "exec.devices"),
                          ("exec: {links: ethernet}\n", "exec.links")]:
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(text)
                file.flush()
                run = self.run_exec("--config", file.name, "--", "true")
            self.one_line(run, 2, file.name + ":1:", key)

    def test_a_failure_of_a_command_that_is_not_there_is_refused_in_one_line(self):
        os.environ["RINGPOST_UVERBS_FAIL"] = "CREATE_Q=ENOMEM"
        self.addCleanup(os.environ.pop, "RINGPOST_UVERBS_FAIL")
        run = self.run_exec(f"--set=exec.fabric={pair.new_fabric()}", "--", sys.executable, "-c",
                            OPENS_A_DEVICE)
        self.one_line(run, 2, "there is no command 'CREATE_Q'", "such as CREATE_")

    def test_a_live_run_and_a_program_on_their_default_fabrics_are_not_in_each_other_s_way(self):
        waits = OPENS_A_DEVICE + "print('open', flush=True)\ninput()\n"
        with subprocess.Popen([pair.PROGRAM, "exec", "--", sys.executable, "-c", waits], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            try:
                while (line := program.stdout.readline()) != "open\n":
                    self.assertNotEqual(line, "")
                with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                    file.write("workload: {operations: 20, warm_up: 2}\nlive: {poll: yield}\n")
                    file.flush()
                    run = subprocess.run([pair.PROGRAM, "run", file.name, "--backend", "live"],
                                         capture_output=True, text=True, timeout=pair.PATIENCE_S,
                                         check=False)
                self.assertEqual(run.returncode, 0, run.stderr)
                program.communicate("\n", timeout=pair.PATIENCE_S)
                self.assertEqual(program.returncode, 0)
            finally:
                program.kill()

    def test_a_setting_that_cannot_be_followed_is_one_line_and_no_device(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, value, part in (
                    ("RINGPOST_UVERBS_ABI", "wirte", "'wirte' is not known; use write"),
                    ("RINGPOST_UVERBS_LOG", os.path.join(folder, "no/log"), "no/log: No such file"),
                    ("RINGPOST_UVERBS_LOG", folder, "Is a directory")):
                os.environ[name] = value
                try:
                    run = self.run_exec(f"--set=exec.fabric={pair.new_fabric()}", "--",
                                        sys.executable, "-c", OPENS_A_DEVICE)
                finally:
                    os.environ.pop(name)
                self.assertNotEqual(run.returncode, 0)
                lines = [line for line in run.stderr.splitlines() if line.startswith("ringpost: ")]
                self.assertEqual(len(lines), 1, run.stderr)
                self.assertIn(f"ringpost: no virtual devices: {name}: ", lines[0])
                self.assertIn(part, lines[0])

    def test_no_line_of_the_log_goes_to_a_file_of_a_program_that_closes_all(self):
        with tempfile.TemporaryDirectory() as folder:
            log, own = os.path.join(folder, "log"), os.path.join(folder, "own")
            os.environ["RINGPOST_UVERBS_LOG"] = log
            self.addCleanup(os.environ.pop, "RINGPOST_UVERBS_LOG")
            run = self.run_exec(f"--set=exec.fabric={pair.new_fabric()}", "--", sys.executable,
                                "-c", CLOSES_ALL_AND_OPENS + OPENS_A_DEVICE, own)
            self.assertEqual(run.returncode, 0, run.stderr)
            with open(own, encoding="utf-8") as file:
                self.assertEqual(file.read(), "")
            with open(log, encoding="utf-8") as file:
                lines = file.read()
            self.assertIn("/sys/class/infiniband ->", lines)
            self.assertIn("open /dev/infiniband/uverbs0", lines)

    @pair.needs("ibv_devinfo", "ibverbs-utils")
    def test_devices_are_listed_as_they_are_configured(self):
        for link, layer in [("infiniband", "InfiniBand"), ("ethernet", "Ethernet")]:
            run = self.run_exec("--set=exec.devices=2", f"--set=exec.link={link}",
                                f"--set=exec.fabric={pair.new_fabric()}", "--", "ibv_devinfo", "-v")
            self.assertEqual(run.returncode, 0, run.stderr)
            for part in ("mlx5_0", "mlx5_1", "0x02c9", "4129", "RINGPOST_VIRTUAL", "PORT_ACTIVE",
                         layer):
                self.assertIn(part, run.stdout)

    def test_the_thread_of_the_nic_is_as_nice_as_its_program(self):
        run = self.run_exec(f"--set=exec.fabric={pair.new_fabric()}", "--",
                            "nice", "-n", "3", sys.executable, "-c", OPENS_A_DEVICE)
        nice = str(os.nice(0) + 3)
        self.assertEqual(run.stdout.split(), [nice, nice], run.stderr)


@pair.needs("ibv_rc_pingpong", "ibverbs-utils")
class Pingpong(unittest.TestCase):
    def check(self, name, sizes):
        """The programs compare what arrives with what they sent, in each page of it."""
        for size, options in itertools.product(sizes, ([], ["-e"])):
            both = pair.Pair(f"ibv_{name}_pingpong",
                             ["-n", "50", "-r", "20", "-c", "-s", str(size), *options])
            self.assertTrue(both.ok(), both.said())
            self.assertNotIn("invalid data", both.said())

    def test_rc(self):
        self.check("rc", (1, 4096, 100_000, 1 << 20))

    def test_uc(self):
        self.check("uc", (1, 4096, 100_000))

    def test_ud(self):
        self.check("ud", (1, 1000, 2048))

    def test_srq(self):
        self.check("srq", (1, 4096))

    def test_a_side_that_leaves_while_its_nic_s_ring_is_full_does_not_hang(self):
        # The other may see its last messages fail: this program leaves without waiting for them.
        for options in 4 * ([], ["-e"]):
            both = pair.Pair("ibv_srq_pingpong", ["-n", "50", "-r", "20", "-s", "100000", *options])
            self.assertIn(0, (both.server, both.client), both.said())
            self.assertNotIn("killed after", both.said())


@pair.needs("ib_write_bw", "perftest")
class Perftest(unittest.TestCase):
    def test_runs_or_refuses_by_itself_a_part_of_the_matrix(self):
        tally = perftest_matrix.run(perftest_matrix.quick(), seed())
        self.assertEqual(tally.failed, [], "\n".join(tally.failed))
        self.assertEqual(tally.passed, 16)
        self.assertEqual(tally.refused, {
            "Events feature not available on WRITE verb": ["ib_write_bw -e"],
            "Inline feature not available on READ/Atomic verbs": ["ib_read_lat -I 64"]})

    def test_runs_without_the_library_that_fills_its_buffers(self):
        for program in ("ib_write_lat", "ib_send_bw"):
            both = pair.Pair(program, ["-F", "-n", "5", "-s", "4096"])
            self.assertTrue(both.ok(), both.said())

    def test_a_wrong_byte_is_found_wherever_it_is(self):
        case = Case("send", "bw", queues=2, size=2048)
        with Folder(seed()) as folder, Buffers(folder, case) as buffers:
            both = perftest_matrix.run_in(case, buffers)
            self.assertTrue(both.ok(), both.said())
            self.assertEqual(buffers.differences(), [])
            # The first and the last byte that arrived, one that nothing came to, and one sent.
            for side, at in [("server", 8192), ("server", 16383), ("client", 16383), ("client", 5)]:
                with open(buffers.path(side), "r+b") as file:
                    file.seek(at)
                    right = file.read(1)[0]
                    for value in (right ^ 1, right):
                        file.seek(at)
                        file.write(bytes([value]))
                        file.flush()
                        found = buffers.differences()
                        self.assertEqual(found, [] if value == right else [
                            f"the {side}'s byte {at} of 16384 is {value}, not {right}"])

    def test_what_never_arrived_is_found(self):
        case = Case("write", "lat", size=2)
        with Folder(seed()) as folder, Buffers(folder, case) as buffers:
            for side in SIDES:
                with open(buffers.path(side), "wb") as file:
                    file.write(Image(folder.pattern(side), case.buffer_bytes()).read(0, 8192))
            self.assertEqual([line.partition(" is ")[0] for line in buffers.differences()],
                             [f"the {side}'s byte 1 of 8192" for side in SIDES])

    def test_a_failure_of_the_device_is_no_refusal(self):
        both = pair.Pair("ib_write_lat", ["-F", "-d", "mlx5_7"])
        self.assertFalse(both.ok())
        self.assertEqual(perftest_matrix.refusal(both), "", both.said())


if __name__ == "__main__":
    case_report.main()
