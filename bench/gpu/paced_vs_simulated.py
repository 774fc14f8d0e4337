#!/usr/bin/env python3
"""What kernels on a paced live NIC measure, beside what virtual time says of the same YAML.

  paced_vs_simulated [RINGPOST]      by default bin/ringpost beside the folder of this file

Each file of configs/gpu is run three times: on the simulator, live with the platform's pace, and live
as fast as it goes. Nothing is asserted: this is a measurement. A run that fails is said, and ends
with status 1.
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# File of configs/gpu, and the metrics that stand in the table.
WORKLOADS = [
    ("put_latency", ["issue_latency", "put_completion_latency", "put_completion_latency_p99"]),
    ("round_trip", ["round_trip_p50", "round_trip_p99"]),
    ("message_rate", ["message_rate"]),
    ("goodput", ["goodput"]),
]
ROW = "{:<14}{:<28}{:<9}{:>11}{:>11}{:>9}{:>11}"


def run(program, name, arguments):
    """The JSON of one run; None, and a line, if it failed."""
    root = os.environ.get("RINGPOST_ROOT", os.path.dirname(os.path.dirname(program)))
    path = os.path.join(root, "configs", "gpu", name + ".yaml")
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "result.json")
        command = [program, "run", path, "--quiet", "--json", target] + arguments
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=120,
            env=dict(os.environ, RINGPOST_ROOT=root),
        )
        if done.returncode != 0:
            print(f"{name} {' '.join(arguments)}: status {done.returncode}: {done.stderr.strip()}")
            return None
        with open(target, encoding="utf-8") as file:
            return json.load(file)


def late_line(name, pace):
    """How many completions a paced NIC had too late, and how late."""
    total = pace["held"] + pace["late"]
    share = 100 * pace["late"] / total if total else 0
    return (
        f"{name}: {pace['late']} of {total} completions late ({share:.2f} %); lateness p50 "
        f"{pace['late_median_us']:.3f}, p99 {pace['late_p99_us']:.3f}, most {pace['late_max_us']:.3f} us"
    )


def rows(name, metrics, simulated, paced, unpaced):
    """A line for each metric."""
    for metric in metrics:
        said = simulated["metrics"][metric]
        found = paced["metrics"][metric]["value"]
        error = 100 * (found / said["value"] - 1)
        yield ROW.format(
            name, metric, said["unit"], f"{said['value']:.3f}", f"{found:.3f}", f"{error:+.1f} %",
            f"{unpaced['metrics'][metric]['value']:.3f}",
        )


def main(arguments):
    program = arguments[0] if arguments else os.path.join(os.path.dirname(HERE), "bin", "ringpost")
    lines, late, named = [], [], None
    failed = False
    for name, metrics in WORKLOADS:
        results = [
            run(program, name, ["--backend", "sim"]),
            run(program, name, ["--backend", "live"]),
            run(program, name, ["--backend", "live", "--set", "live.pace=off"]),
        ]
        if None in results:
            failed = True
            continue
        lines += rows(name, metrics, *results)
        late.append(late_line(name, results[1]["pace"]))
        named = named or results[1]["measured_on"]
    for fact in ["gpu", "gpu_clock_most", "gpu_times", "cuda_driver", "cpu", "cores", "poll"]:
        if named:
            print(f"{fact}: {named.get(fact, 'unknown')}")
    print(ROW.format("workload", "metric", "unit", "simulated", "paced", "error", "unpaced"))
    print("\n".join(lines + late))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
