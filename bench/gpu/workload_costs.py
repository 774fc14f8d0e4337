#!/usr/bin/env python3
"""What the files of configs/gpu cost on this GPU.

  workload_costs [RINGPOST]      by default bin/ringpost beside the folder of this file

Those that the simulator runs too are run in virtual time, live with the platform's pace, and live
as fast as it goes. Where op_costs stands beside this file, it first measures what operations cost
on this GPU, with rings in host memory, and virtual time is run with these costs too: what is left
then is an error of the NIC's model or of the pace, not that the platform's GPU is another one.
Of the callers there is a table of what the code of a put costs them. Nothing is asserted: this is
a measurement. A run that fails is said, and ends with status 1.
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
    ("proxy_latency", ["issue_latency", "put_completion_latency", "put_completion_latency_p99"]),
    ("proxy_rate", ["message_rate"]),
]
MESSAGES = [0, 1, 4, 16]  # of each block of a caller
CALLER = "{:<22}{:>10}{:>11}" + "{:>21}" * len(MESSAGES)
ROW = "{:<14}{:<28}{:<9}{:>11}{:>10}{:>11}{:>9}{:>9}{:>11}"
PLATFORM = "p_ib"  # of configs/gpu
MEASURED = "this_gpu"


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
        f"{pace['late_median_us']:.3f}, p99 {pace['late_p99_us']:.3f}, "
        f"most {pace['late_max_us']:.3f} us"
    )


def rows(name, metrics, simulated, measured, paced, unpaced):
    """A line for each metric; `measured` is None where this GPU was not measured."""
    for metric in metrics:
        said = simulated["metrics"][metric]
        found = paced["metrics"][metric]["value"]
        here = measured["metrics"][metric]["value"] if measured else None
        yield ROW.format(
            name, metric, said["unit"], f"{said['value']:.3f}", f"{here:.3f}" if here else "-",
            f"{found:.3f}", f"{100 * (found / said['value'] - 1):+.1f} %",
            f"{100 * (found / here - 1):+.1f} %" if here else "-",
            f"{unpaced['metrics'][metric]['value']:.3f}",
        )


def measure_gpu(program):
    """Whether configs/platforms has this GPU's costs now."""
    op_costs = os.path.join(HERE, "op_costs")
    if not os.path.exists(op_costs):
        return False
    root = os.environ.get("RINGPOST_ROOT", os.path.dirname(os.path.dirname(program)))
    path = os.path.join(root, "configs", "platforms", MEASURED + ".yaml")
    command = [op_costs, "--rings", "host", "--platform", PLATFORM, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    print(done.stdout + done.stderr, end="")
    return done.returncode == 0


def caller_rows(program, name):
    """The table of one caller, for some numbers of messages; None, and a line, if a run failed."""
    columns = {}
    for messages in MESSAGES:
        result = run(program, name, ["--set", f"workload.messages_per_block={messages}"])
        if result is None:
            return None
        columns[messages] = result["metrics"]
    most = columns[MESSAGES[-1]]
    time = ".kernel_time"
    variants = [metric[: -len(time)] for metric in most if metric.endswith(time)]
    rows = [CALLER.format(name, "registers", "blocks/SM", *[f"{m} messages" for m in MESSAGES])]
    for variant in variants:
        cells = []
        for metrics in columns.values():
            took = metrics.get(variant + ".kernel_time")
            more = took and 100 * (took["value"] / metrics["absent.kernel_time"]["value"] - 1)
            cells.append(f"{took['value']:.3f} ms {more:+.1f} %" if took else "-")
        rows.append(CALLER.format(
            "  " + variant, int(most[variant + ".registers"]["value"]),
            int(most[variant + ".blocks_per_sm"]["value"]), *cells))
    return rows


def main(arguments):
    program = arguments[0] if arguments else os.path.join(os.path.dirname(HERE), "bin", "ringpost")
    lines, late, named = [], [], None
    measured = measure_gpu(program)
    failed = False
    for name, metrics in WORKLOADS:
        here = ["--set", "platform=" + MEASURED] if measured else []
        results = [
            run(program, name, ["--backend", "sim"]),
            measured and run(program, name, ["--backend", "sim"] + here),
            run(program, name, ["--backend", "live"]),
            run(program, name, ["--backend", "live", "--set", "live.pace=off"]),
        ]
        if None in results:
            failed = True
            continue
        lines += rows(name, metrics, *results)
        if "pace" in results[2]:  # a proxy's completions are not paced
            late.append(late_line(name, results[2]["pace"]))
        named = named or results[2]["measured_on"]
    for fact in ["gpu", "gpu_clock_most", "gpu_times", "cuda_driver", "cpu", "cores", "poll"]:
        if named:
            print(f"{fact}: {named.get(fact, 'unknown')}")
    print(ROW.format("workload", "metric", "unit", "simulated", MEASURED, "paced", "error", "error",
                     "unpaced"))
    print("\n".join(lines + late))
    for name in ["compute_caller", "streaming_caller"]:
        table = caller_rows(program, name)
        failed = failed or table is None
        print("\n".join(table or []))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
