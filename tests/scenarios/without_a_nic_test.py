"""A machine without a NIC: the same file simulates there, and with another backend says what is
missing."""

import json
import os
import subprocess
import tempfile
import unittest

from tests import case_report

PROGRAM = os.path.abspath("tools/ringpost/ringpost")
RUN = """\
backend: {}
platform: p_ib
seed: 1
transport: {{publication: per_thread, ordering: gpu_fence}}
workload: {{kind: round_trip, operations: 20, warm_up: 2}}
"""


class WithoutANic(unittest.TestCase):
    def run_on(self, backend):
        """The run of one file in which the backend alone differs; and its result, if any."""
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "run.yaml")
            result = os.path.join(folder, "result.json")
            with open(config, "w", encoding="utf-8") as file:
                file.write(RUN.format(backend))
            # No tree of RDMA devices and no GPU, whatever this machine has.
            environment = dict(os.environ, SYSFS_PATH=folder, CUDA_VISIBLE_DEVICES="")
            run = subprocess.run([PROGRAM, "run", config, "--json", result], env=environment,
                                 capture_output=True, text=True, timeout=60, check=False)
            if not os.path.exists(result):
                return run, None
            with open(result, encoding="utf-8") as file:
                return run, json.load(file)

    # O-47: code for a NIC cannot be tried without one, or a simulated number passes for a measured
    # one. Here one word of the file is the difference, and every report says what it is.
    def test_a_simulated_run_says_that_it_is_one(self):
        run, result = self.run_on("sim")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("| simulated | backend sim |", run.stdout)
        self.assertEqual(result["source"], "simulated")
        self.assertNotIn("measured_on", result)

    def test_the_same_file_for_a_nic_ends_in_one_line(self):
        run, result = self.run_on("mlx5")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertIn("no RDMA device is here", run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertIsNone(result)


if __name__ == "__main__":
    case_report.main()
