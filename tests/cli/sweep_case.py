"""What the tests of a sweep share: a folder of their own, an experiment and a sweep of it."""

import os
import tempfile
import unittest

from tests.cli.program import ringpost
from tests.cli.table import rows_of

EXPERIMENT = "workload: {kind: put_latency, operations: 20, warm_up: 2}\n"
SWEEP = """experiment: EXPERIMENT
axes:
  transport.ordering: [gpu_fence, system_fence]
  workload.payload: [8 B, 64 B, 2 KiB]
seeds: [3, 4]
"""
HANG_S = 30  # what only a hang takes


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


class SweepCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.experiment = self.write("experiment.yaml", EXPERIMENT)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text.replace("EXPERIMENT", self.path("experiment.yaml")))
        return self.path(name)

    def sweep(self, out, *arguments, text=SWEEP, status=0, **variables):
        run = ringpost("sweep", self.write("sweep.yaml", text), "--out", self.path(out), *arguments,
                       **variables)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def bytes_of(self, out, name="results.csv"):
        with open(self.path(out, name), "rb") as file:
            return file.read()

    def rows(self, out):
        return rows_of(self.path(out))
