#!/usr/bin/env python3
"""Runs NCCL and NVSHMEM, as their vendor built them, on virtual ConnectX, and checks what they did.

  vendor_libraries [--rounds N] [--bytes N] [--out FOLDER] [--log] [SCENARIO]...
                                                                   all, if none is named

Two processes on this machine, rank r on GPU r, or both on the one GPU that is there. Needs nvcc and
the wheels nvidia-nccl and nvidia-nvshmem of this Python, or NCCL_HOME and NVSHMEM_HOME; what is not
there is skipped and counted as skipped. --log writes every call to the devices. It stands in a
folder of tests/gpu/portable.sh, or takes libringpost_uverbs.so and device_tree from
RINGPOST_VIRTUAL.

The last line is 'N passed, N failed, N skipped'; the exit status is 0 if nothing failed.
"""

import argparse
import os
import shutil
import site
import subprocess
import sys
import tempfile
import time
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
VIRTUAL = os.environ.get("RINGPOST_VIRTUAL", os.path.join(os.path.dirname(HERE), "virtual"))

# Of each scenario.
LIMIT_S = 90

# `gpu_doorbell`: a kernel rings, for which the page of a UAR is registered with CUDA. The library's
# own log must have each of `shows`, and none of `shuns`: that it went the way that is meant.
Scenario = namedtuple("Scenario",
                      "name program arguments environment gpu_doorbell shows shuns")

_NCCL = {
    "NCCL_SOCKET_IFNAME": "lo",
    "NCCL_DEBUG": "INFO",
    "NCCL_NET": "IB",
    "NCCL_IB_HCA": "mlx5_0",
    "NCCL_P2P_DISABLE": "1",
    "NCCL_SHM_DISABLE": "1",
    # Processes of one machine would not use a network, and two ranks not one GPU.
    "NCCL_HOSTID": "host{rank}",
}
_DIRECT = {"NCCL_NET_GDR_LEVEL": "SYS", "NCCL_DMABUF_ENABLE": "1"}
_NVSHMEM = {
    "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME": "lo",
    "NVSHMEM_DEBUG": "INFO",
    "NVSHMEM_DISABLE_P2P": "1",
    "NVSHMEM_SYMMETRIC_SIZE": str(64 << 20),
}
_IBGDA = {"NVSHMEM_IB_ENABLE_IBGDA": "1"}
_GPU = dict(_IBGDA, NVSHMEM_IBGDA_NIC_HANDLER="gpu")
_FELL_BACK = ["CPU fallback"]


def _scenario(name, program, arguments, environment, gpu_doorbell=False, shows=(), shuns=()):
    base = _NCCL if program == "nccl_check" else _NVSHMEM
    return Scenario(name, program, arguments, dict(base, **environment), gpu_doorbell, shows, shuns)


SCENARIOS = [
    _scenario("nccl_host_buffers", "nccl_check", ["all_reduce", "{bytes}", "{rounds}"],
              {"NCCL_NET_GDR_LEVEL": "LOC"}, shows=["via NET/IB/0"], shuns=["GDRDMA"]),
    _scenario("nccl_gpu_direct", "nccl_check", ["all_reduce", "{bytes}", "{rounds}"], _DIRECT,
              shows=["via NET/IB/0/GDRDMA"]),
    _scenario("nccl_gin_proxy", "nccl_check", ["gin", "{rounds}"], dict(_DIRECT, NCCL_GIN_TYPE="2"),
              shows=["GIN_IB_PROXY"]),
    _scenario("nccl_gdaki_cpu_proxy", "nccl_check", ["gin", "{rounds}"],
              dict(_DIRECT, NCCL_GIN_TYPE="3", NCCL_GIN_GDAKI_NIC_HANDLER="1"),
              shows=["GIN_IB_GDAKI"]),
    _scenario("nccl_gdaki_gpu", "nccl_check", ["gin", "{rounds}"],
              dict(_DIRECT, NCCL_GIN_TYPE="3", DOCA_GPUNETIO_LOG="3"), True,
              shows=["GIN_IB_GDAKI"]),
    # Without gdrcopy this transport has no atomics that bring back a value.
    _scenario("nvshmem_ibrc", "nvshmem_check", ["{rounds}", "no_fetch"],
              {"NVSHMEM_REMOTE_TRANSPORT": "ibrc"}),
    _scenario("nvshmem_ibgda_cpu", "nvshmem_check", ["{rounds}"],
              dict(_IBGDA, NVSHMEM_IBGDA_NIC_HANDLER="cpu_host_memory",
                   NVSHMEM_IBGDA_FORCE_NIC_BUF_MEMTYPE="hostmem"),
              shows=["NIC handler will be CPU with host memory"]),
    _scenario("nvshmem_ibgda_gpu", "nvshmem_check", ["{rounds}"], _GPU, True, shuns=_FELL_BACK),
    _scenario("nvshmem_ibgda_dc", "nvshmem_check", ["{rounds}"],
              dict(_GPU, NVSHMEM_IBGDA_NUM_RC_PER_PE="0"), True, shuns=_FELL_BACK),
    _scenario("nvshmem_dispatch", "nvshmem_dispatch", ["{rounds}"], _GPU, True, shuns=_FELL_BACK),
]

_NVSHMEM_OPTIONS = ["-rdc=true", "-l:libnvshmem_host.so.3", "-lnvshmem_device", "-lcuda"]


def wheel(library):
    """The folder of a vendor's library: include, lib. None: it is not there."""
    home = os.environ.get(library.upper() + "_HOME")
    places = [home] if home else [
        os.path.join(folder, "nvidia", library)
        for folder in site.getsitepackages() + [site.getusersitepackages()]
    ]
    return next((place for place in places if os.path.isdir(os.path.join(place, "include"))), None)


def build(out):
    """{program: path, or why there is none}."""
    commands = {
        "nccl_check": ("nccl", ["-l:libnccl.so.2"]),
        "nvshmem_check": ("nvshmem", _NVSHMEM_OPTIONS),
        "nvshmem_dispatch": ("nvshmem", _NVSHMEM_OPTIONS),
    }
    programs, running = {}, {}
    for program, (library, options) in commands.items():
        home = wheel(library)
        if home is None or shutil.which("nvcc") is None:
            programs[program] = "no wheel nvidia-" + library if home is None else "no nvcc"
            continue
        path = os.path.join(out, program)
        stubs = "/usr/local/cuda/lib64/stubs"
        command = ["nvcc", "-std=c++17", "-O2", "-arch=native", os.path.join(HERE, program + ".cu"),
                   "-I" + os.path.join(home, "include"), "-L" + os.path.join(home, "lib"),
                   "-L" + stubs, "-o", path] + options
        with open(path + ".build.log", "w", encoding="utf-8") as log:
            running[program] = subprocess.Popen(command, stdout=log, stderr=log)
        programs[program] = path
    for program, process in running.items():
        if process.wait() != 0:
            with open(programs[program] + ".build.log", encoding="utf-8") as log:
                print(log.read()[-4000:])
            sys.exit(f"vendor_libraries: {program} does not build")
    return programs


def environment_of(scenario, rank, devices, stem, log):
    """What rank `rank` of the scenario runs with."""
    preload = ["libringpost_uverbs.so"]
    if scenario.gpu_doorbell:
        preload.append("libringpost_io_memory.so")
    environment = dict(os.environ)
    environment.update({k: v.format(rank=rank) for k, v in scenario.environment.items()})
    environment.update({
        # A kernel that is loaded while another waits for the NIC would wait for that one.
        "CUDA_MODULE_LOADING": "EAGER",
        "LD_PRELOAD": ":".join(os.path.join(VIRTUAL, library) for library in preload),
        "RINGPOST_UVERBS_ROOT": devices,
        "LD_LIBRARY_PATH": ":".join(
            [os.path.join(home, "lib") for home in map(wheel, ["nccl", "nvshmem"]) if home]
            + [environment.get("LD_LIBRARY_PATH", "")]),
    })
    if log:
        environment["RINGPOST_UVERBS_LOG"] = f"{stem}.{rank}.calls"
    return environment


def run(scenario, path, options):
    """Whether both ranks ended well, and a line about it."""
    out, log = options.out, options.log
    stem = os.path.join(out, scenario.name)
    arguments = [word.format(**vars(options)) for word in scenario.arguments]
    devices = os.path.join(out, "devices")
    shutil.rmtree(devices, ignore_errors=True)
    subprocess.run([os.path.join(VIRTUAL, "device_tree"), devices], check=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as meeting:
        ranks = []
        for rank in range(2):
            command = [path, str(rank), os.path.join(meeting, "id")] + arguments
            with open(f"{stem}.{rank}.log", "w", encoding="utf-8") as file:
                ranks.append(subprocess.Popen(
                    command, stdout=file, stderr=file,
                    env=environment_of(scenario, rank, devices, stem, log)))
        statuses = []
        for process in ranks:
            left = max(0.1, LIMIT_S - (time.monotonic() - begin))
            try:
                statuses.append(process.wait(left))
            except subprocess.TimeoutExpired:
                statuses.append(f"no end within {LIMIT_S} s")
        for process in ranks:
            process.kill()
            process.wait()
    wrong = [] if statuses == [0, 0] else [f"status {statuses}"]
    wrong += went_wrong_way(scenario, out)
    return not wrong, ", ".join(wrong + [f"{time.monotonic() - begin:.1f} s"])


def went_wrong_way(scenario, out):
    """What the library's log has and should not, or lacks."""
    with open(os.path.join(out, scenario.name + ".0.log"), errors="replace",
              encoding="utf-8") as file:
        said = file.read()
    return ([f"does not say '{words}'" for words in scenario.shows if words not in said] +
            [f"says '{words}'" for words in scenario.shuns if words in said])


def show(scenario, out, whole):
    """What the ranks said; of a failure also what the library did last."""
    for rank in range(2):
        with open(os.path.join(out, f"{scenario.name}.{rank}.log"), errors="replace",
                  encoding="utf-8") as file:
            lines = file.read().splitlines()
        for line in lines:
            if line.startswith("[rank"):
                print("   ", line[:200])
        for line in lines[-12:] if whole else []:
            print("    |", line[:220])


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="vendor_out", help="where each process's output goes")
    parser.add_argument("--rounds", type=int, default=2, help="of what each program does")
    parser.add_argument("--bytes", type=int, default=4 << 20, help="of the largest all-reduce")
    parser.add_argument("--log", action="store_true", help="write the calls to the devices")
    parser.add_argument("names", nargs="*", metavar="SCENARIO")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - {scenario.name for scenario in SCENARIOS}
    if unknown:
        parser.error("no scenario " + ", ".join(sorted(unknown)) + "; there are " +
                     ", ".join(scenario.name for scenario in SCENARIOS))
    os.makedirs(options.out, exist_ok=True)
    chosen = [s for s in SCENARIOS if not options.names or s.name in options.names]
    programs = build(options.out)
    passed = failed = skipped = 0
    for scenario in chosen:
        path = programs[scenario.program]
        if not os.path.isabs(path) and not os.path.exists(path):
            print(f"{scenario.name}: SKIPPED: {path}", flush=True)
            skipped += 1
            continue
        right, line = run(scenario, os.path.abspath(path), options)
        print(f"{scenario.name}: {'passed' if right else 'FAILED'}: {line}", flush=True)
        show(scenario, options.out, not right)
        passed, failed = passed + right, failed + (not right)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
