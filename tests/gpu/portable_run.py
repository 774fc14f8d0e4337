#!/usr/bin/env python3
"""Runs the tests and the measurements of this folder on a machine with a GPU.

  run [--out FOLDER] [--tests] [--hardware] [NAME]...     all of them, if no program is named

mlx5_test and conformance_test run on two virtual ConnectX, or with --hardware on those of the
machine.
Each program's output goes to FOLDER (by default ./out) too. The last line is 'N passed, N failed,
N skipped': the cases of the tests; a measurement that fails is one failed. The exit status is 0 if
nothing failed. tests/gpu/portable.sh makes the folder.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import cases  # noqa: E402  (tests/run.py)

VIRTUAL = os.path.join(HERE, "virtual")
# What runs on virtual devices, which the preloaded library makes.
ON_VIRTUAL_DEVICES = ["mlx5_test", "conformance_test"]

# All together take less.
LIMIT_S = 460


def describe():
    """The machine, as the measurements need it named."""
    commit = "unknown"
    with open(os.path.join(HERE, "commit"), encoding="utf-8") as file:
        commit = file.read().strip()
    print(f"commit {commit}, {time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime())} UTC", flush=True)
    query = "name,driver_version,clocks.sm,clocks.max.sm,pstate"
    try:
        subprocess.run(["nvidia-smi", "--query-gpu=" + query, "--format=csv"], check=False)
    except FileNotFoundError:
        print("nvidia-smi is not installed")


def run(command, log, environment, seconds):
    """The exit status; 124 if it took longer. What it says goes to `log` and to here."""
    begin = time.monotonic()
    with open(log, "w", encoding="utf-8") as file:
        try:
            done = subprocess.run(
                command, stdout=file, stderr=file, env=environment, timeout=seconds, check=False
            )
            status = done.returncode
        except subprocess.TimeoutExpired:
            status = 124
    with open(log, encoding="utf-8", errors="replace") as file:
        print(file.read(), end="")
    took = time.monotonic() - begin
    print(f"[{os.path.basename(command[0])}: status {status}, {took:.1f} s]", flush=True)
    return status


def virtual_devices(out):
    """What the environment of a program on virtual devices has besides. They are new for each."""
    root = os.path.join(os.path.abspath(out), "devices")
    shutil.rmtree(root, ignore_errors=True)
    subprocess.run([os.path.join(VIRTUAL, "device_tree"), root], check=True)
    preload = os.path.join(VIRTUAL, "libringpost_uverbs.so")
    return {"LD_PRELOAD": preload, "RINGPOST_UVERBS_ROOT": root}


def run_test(path, out, seconds, hardware):
    """The Counts of one test program."""
    stem = os.path.join(out, os.path.basename(path))
    if os.path.exists(stem + ".xml"):
        os.unlink(stem + ".xml")
    environment = dict(os.environ, BOOST_TEST_COLOR_OUTPUT="no", CUDA_MODULE_LOADING="EAGER")
    environment["BOOST_TEST_LOGGER"] = f"HRF,message,stdout:JUNIT,error,{stem}.xml"
    if os.path.basename(path) in ON_VIRTUAL_DEVICES and not hardware:
        environment.update(virtual_devices(out))
    status = run([path], stem + ".log", environment, seconds)
    counts = cases.count_cases(stem + ".xml")
    return counts._replace(failed=1) if status != 0 and counts.failed == 0 else counts


def run_measurement(path, out, seconds, _hardware):
    """The same of a measurement."""
    log = os.path.join(out, os.path.basename(path) + ".log")
    environment = dict(os.environ, CUDA_MODULE_LOADING="EAGER")
    status = run([path], log, environment, seconds)
    return cases.Counts(int(status == 0), int(status != 0), 0)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="out", help="where each program's output goes")
    parser.add_argument("--tests", action="store_true", help="no measurements")
    parser.add_argument("--hardware", action="store_true", help="no virtual devices")
    parser.add_argument("names", nargs="*", help="programs; all, if none is named")
    options = parser.parse_args(arguments)
    os.makedirs(options.out, exist_ok=True)
    os.environ["LD_LIBRARY_PATH"] = os.path.join(HERE, "lib")
    os.environ["RINGPOST_ROOT"] = HERE
    describe()
    deadline = time.monotonic() + LIMIT_S
    total = cases.Counts(0, 0, 0)
    for folder, runner in [("tests", run_test), ("bench", run_measurement)]:
        if folder == "bench" and options.tests:
            continue
        for name in sorted(os.listdir(os.path.join(HERE, folder))):
            if options.names and name not in options.names:
                continue
            path = os.path.join(HERE, folder, name)
            seconds = max(1, deadline - time.monotonic())
            counts = runner(path, options.out, seconds, options.hardware)
            total = cases.Counts(*map(sum, zip(total, counts)))
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped", flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
