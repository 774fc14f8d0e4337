#!/usr/bin/env python3
"""Runs NCCL and NVSHMEM, as their vendor built them, on virtual ConnectX, and checks what they did.

  vendor_libraries [--rounds N] [--bytes N] [--out FOLDER] [--log] [SCENARIO]...
                                                                   all, if none is named

Two processes on this machine, rank r on GPU r, or both on the one GPU that is there, by
`ringpost exec`. Needs nvcc and the wheels nvidia-nccl and nvidia-nvshmem of this Python, or
NCCL_HOME and NVSHMEM_HOME; what is not there is skipped and counted as skipped. Each scenario
leaves the ranks' output, the NICs' counters and a trace for Perfetto in FOLDER; --log also every
call to the devices. The script stands in a folder of tests/gpu/portable.sh, or RINGPOST names the
program.

The last line is 'N passed, N failed, N skipped'; the exit status is 0 if nothing failed.
"""

import argparse
import json
import os
import shutil
import site
import subprocess
import sys
import tempfile
import time
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
RINGPOST = os.environ.get("RINGPOST", os.path.join(os.path.dirname(HERE), "bin", "ringpost"))

# Of each scenario.
LIMIT_S = 90
HUNG = 124

# `gpu_doorbell`: a kernel rings, for which the page of a UAR is registered with CUDA. The library's
# own log must have each of `shows`, and none of `shuns`: that it went the way that is meant.
# `faults`: rules of the configuration. `ends`: right, or in an error, which is no crash.
Scenario = namedtuple(
    "Scenario", "name program arguments environment gpu_doorbell shows shuns faults ends")

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


def _scenario(name, program, arguments, environment, gpu_doorbell=False, shows=(), shuns=(),
              faults=(), ends="right"):
    base = _NCCL if program == "nccl_check" else _NVSHMEM
    return Scenario(name, program, arguments, dict(base, **environment), gpu_doorbell, shows, shuns,
                    faults, ends)


_LOSS = ["{where: wire, kind: drop, probability: 1 %}"]
_LINK_DOWN = ["{where: wire, kind: link_down, amount: 2000 ms, at: {wqe: 40}, count: 1}"]
_ERROR = ["{where: requester, kind: error, at: {wqe: 4}, syndrome: remote_access}"]
_HOST = {"NCCL_NET_GDR_LEVEL": "LOC"}
_IBRC = {"NVSHMEM_REMOTE_TRANSPORT": "ibrc"}
_ALL_REDUCE = ["all_reduce", "{bytes}", "{rounds}"]


def _with_faults():
    """What is lost, down or refused, on a way that the host posts and on one that a kernel does."""
    ways = [("nccl", "nccl_check", _ALL_REDUCE, _HOST, False),
            ("ibrc", "nvshmem_check", ["{rounds}", "no_fetch"], _IBRC, False),
            ("ibgda", "nvshmem_check", ["{rounds}"], _GPU, True)]
    for way, program, arguments, environment, gpu in ways:
        for fault, rules, ends in [("loss", _LOSS, "right"), ("link_down", _LINK_DOWN, "right"),
                                   ("error", _ERROR, "error")]:
            yield _scenario(f"{way}_{fault}", program, arguments, environment, gpu, faults=rules,
                            ends=ends)


# Counters of all queue pairs that are shown.
COUNTED = ["doorbells", "wqes", "records_trailed", "packets_sent", "packets_retransmitted", "cqes",
           "error_cqes"]

SCENARIOS = [
    _scenario("nccl_host_buffers", "nccl_check", _ALL_REDUCE, _HOST,
              shows=["via NET/IB/0"], shuns=["GDRDMA"]),
    _scenario("nccl_gpu_direct", "nccl_check", _ALL_REDUCE, _DIRECT,
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
              _IBRC),
    _scenario("nvshmem_ibgda_cpu", "nvshmem_check", ["{rounds}"],
              dict(_IBGDA, NVSHMEM_IBGDA_NIC_HANDLER="cpu_host_memory",
                   NVSHMEM_IBGDA_FORCE_NIC_BUF_MEMTYPE="hostmem"),
              shows=["NIC handler will be CPU with host memory"]),
    _scenario("nvshmem_ibgda_gpu", "nvshmem_check", ["{rounds}", "time"], _GPU, True,
              shuns=_FELL_BACK),
    _scenario("nvshmem_ibgda_dc", "nvshmem_check", ["{rounds}"],
              dict(_GPU, NVSHMEM_IBGDA_NUM_RC_PER_PE="0"), True, shuns=_FELL_BACK),
    _scenario("nvshmem_dispatch", "nvshmem_dispatch", ["{rounds}"], _GPU, True, shuns=_FELL_BACK),
    *_with_faults(),
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


def environment_of(scenario, rank, stem, log):
    """What rank `rank` of the scenario runs with."""
    environment = dict(os.environ)
    environment.update({k: v.format(rank=rank) for k, v in scenario.environment.items()})
    # A kernel that is loaded while another waits for the NIC would wait for that one.
    environment["CUDA_MODULE_LOADING"] = "EAGER"
    environment["LD_LIBRARY_PATH"] = ":".join(
        [os.path.join(home, "lib") for home in map(wheel, ["nccl", "nvshmem"]) if home]
        + [environment.get("LD_LIBRARY_PATH", "")])
    if log:
        environment["RINGPOST_UVERBS_LOG"] = f"{stem}.{rank}.calls"
    return environment


def run_pair(scenario, path, options):
    """Both ranks, within `ringpost exec`: their statuses."""
    stem = os.path.join(options.out, scenario.name)
    arguments = [word.format(**vars(options)) for word in scenario.arguments]
    end = time.monotonic() + LIMIT_S
    with tempfile.TemporaryDirectory() as meeting:
        ranks = []
        for rank in range(2):
            command = [path, str(rank), os.path.join(meeting, "id")] + arguments
            with open(f"{stem}.{rank}.log", "w", encoding="utf-8") as file:
                ranks.append(subprocess.Popen(
                    command, stdout=file, stderr=file,
                    env=environment_of(scenario, rank, stem, options.log)))
        statuses = []
        for process in ranks:
            try:
                statuses.append(process.wait(max(0.1, end - time.monotonic())))
            except subprocess.TimeoutExpired:
                statuses.append(HUNG)
            # One that ended in an error leaves the other waiting for it.
            if statuses[-1] != 0:
                end = min(end, time.monotonic() + 10)
        for process in ranks:
            process.kill()
            process.wait()
    with open(stem + ".statuses", "w", encoding="utf-8") as file:
        json.dump(statuses, file)


def run(scenario, path, options):
    """Whether the scenario went as it should, and a line about it."""
    stem = os.path.join(options.out, scenario.name)
    with open(stem + ".yaml", "w", encoding="utf-8") as file:
        file.write(f"exec: {{devices: 2, fabric: vendor_{os.getpid()}, gpu_doorbells: "
                   f"{str(scenario.gpu_doorbell).lower()}}}\n")
        if scenario.faults:
            file.write("faults:\n  rules:\n" + "".join(f"  - {r}\n" for r in scenario.faults))
    command = [RINGPOST, "exec", "--config", stem + ".yaml", "--json", stem + ".json",
               "--trace", stem + ".trace.json", "--", sys.executable, os.path.abspath(__file__),
               "--pair", path, "--out", options.out, "--rounds", str(options.rounds), "--bytes",
               str(options.bytes)] + ["--log"] * options.log + [scenario.name]
    begin = time.monotonic()
    if os.path.exists(stem + ".statuses"):
        os.unlink(stem + ".statuses")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    took = f"{time.monotonic() - begin:.1f} s"
    if not os.path.exists(stem + ".statuses"):
        return False, f"{done.stdout}{done.stderr.strip()}, status {done.returncode}"
    with open(stem + ".statuses", encoding="utf-8") as file:
        statuses = json.load(file)
    if scenario.ends == "right":
        wrong = [] if statuses == [0, 0] else [f"statuses {statuses}"]
    else:
        # By a signal: a crash, which is nobody's idea of an error. What hangs is killed by us.
        crashed = any(status < 0 for status in statuses)
        wrong = [f"crashed: statuses {statuses}"] if crashed else []
        wrong += ["no error"] if statuses == [0, 0] else []
        took = f"statuses {statuses}, {took}"
    wrong += went_wrong_way(scenario, options.out)
    return not wrong, ", ".join(wrong + [took])


def counters(stem):
    """What the NICs counted: a line."""
    try:
        with open(stem + ".json", encoding="utf-8") as file:
            nics = json.load(file)
    except (OSError, ValueError) as error:
        return f"no counters: {error}"
    found = {}

    def add(node):
        if isinstance(node, dict):
            for key, value in node.items():
                if key in COUNTED and isinstance(value, (int, float)):
                    found[key] = found.get(key, 0) + value
                elif key != "qps":
                    add(value)
        elif isinstance(node, list):
            for one in node:
                add(one)

    add(nics)
    return ", ".join(f"{key} {value:.0f}" for key, value in found.items())


def went_wrong_way(scenario, out):
    """What the library's log has and should not, or lacks."""
    with open(os.path.join(out, scenario.name + ".0.log"), errors="replace",
              encoding="utf-8") as file:
        said = file.read()
    return ([f"does not say '{words}'" for words in scenario.shows if words not in said] +
            [f"says '{words}'" for words in scenario.shuns if words in said])


def show(scenario, out, whole):
    """What the ranks and the NICs said; of a failure also what the library did last."""
    print("    NICs:", counters(os.path.join(out, scenario.name)))
    for rank in range(2):
        path = os.path.join(out, f"{scenario.name}.{rank}.log")
        if not os.path.exists(path):
            continue
        with open(path, errors="replace", encoding="utf-8") as file:
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
    parser.add_argument("--pair", metavar="PROGRAM", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="SCENARIO")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - {scenario.name for scenario in SCENARIOS}
    if unknown:
        parser.error("no scenario " + ", ".join(sorted(unknown)) + "; there are " +
                     ", ".join(scenario.name for scenario in SCENARIOS))
    options.out = os.path.abspath(options.out)
    os.makedirs(options.out, exist_ok=True)
    chosen = [s for s in SCENARIOS if not options.names or s.name in options.names]
    if options.pair:
        run_pair(chosen[0], options.pair, options)
        return 0
    programs = build(options.out)
    passed = failed = skipped = 0
    for scenario in chosen:
        path = programs[scenario.program]
        if not os.path.isabs(path):
            print(f"{scenario.name}: SKIPPED: {path}", flush=True)
            skipped += 1
            continue
        right, line = run(scenario, path, options)
        print(f"{scenario.name}: {'passed' if right else 'FAILED'}: {line}", flush=True)
        show(scenario, options.out, not right)
        passed, failed = passed + right, failed + (not right)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
