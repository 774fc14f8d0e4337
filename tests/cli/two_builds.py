"""The optimised and the ASan build write the same bytes: output, JSON and trace.

A script of .ci/run, not a test of Bazel's, as a test sees one build: two_builds.py PROGRAM PROGRAM
"""

import os
import subprocess
import sys
import tempfile

# Loads that may return old values, many threads that share QPs, pointers and inline payloads: what
# an uninitialised byte or an address could change, it would.
RUNS = {
    "shared QPs": """
seed: 11
transport: {publication: ordered_handoff, qps_per_peer: 2, sq_depth_wqebbs: 64, batch: 4}
workload: {kind: message_rate, threads: 64, threads_per_qp: 32, sms_count: 2, operations: 1024,
           warm_up: 64}
visibility: {mode: adversarial}
""",
    "warps": """
seed: 12
transport: {publication: cooperative, qps_per_peer: 2, sq_depth_wqebbs: 128, batch: 32}
workload: {kind: message_rate, payload: 64 B, threads: 128, threads_per_qp: 64, sms_count: 2,
           operations: 2048, warm_up: 128}
""",
    "a faulty round trip": """
seed: 13
workload: {kind: round_trip, payload: 4 KiB, operations: 50, warm_up: 5}
faults: {rules: [{where: responder, kind: delay, amount: 50 us}]}
""",
    "a faulty wire": """
seed: 14
transport: {qps_per_peer: 4}
workload: {kind: message_rate, payload: 6000 B, threads: 4, operations: 400, warm_up: 20}
faults: {rules: [{where: wire, kind: drop, probability: 2 %},
                 {where: wire, kind: reorder, probability: 5 %, amount: 3 us},
                 {where: wire, kind: duplicate, probability: 5 %, amount: 5 us},
                 {where: doorbell, kind: delay, probability: 5 %, amount: 2 us}]}
""",
}


def outputs_of(program, config, folder):
    os.mkdir(folder)
    path = os.path.join(folder, "run.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(config)
    run = subprocess.run([program, "run", "run.yaml", "--json", "result.json", "--trace",
                          "trace.json"], cwd=folder, capture_output=True, check=True)
    outputs = {"standard output": run.stdout}
    for name in ["result.json", "trace.json"]:
        with open(os.path.join(folder, name), "rb") as file:
            outputs[name] = file.read()
    return outputs


def main():
    programs = [os.path.abspath(program) for program in sys.argv[1:]]
    failed = 0
    with tempfile.TemporaryDirectory() as base:
        for number, (name, config) in enumerate(RUNS.items()):
            first, second = (outputs_of(program, config, os.path.join(base, f"{number}-{build}"))
                             for build, program in enumerate(programs))
            for output, data in first.items():
                same = data == second[output]
                failed += not same
                print(f"{'ok' if same else 'FAILED'}: {name}: {output}, {len(data)} bytes")
    print(f"{3 * len(RUNS) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
