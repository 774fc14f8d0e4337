"""Same version, configuration and seed: the same bytes, in any process, folder, home and locale."""

import json
import os
import tempfile
import unittest

from tests import case_report
from tests.cli.program import locales, ringpost

# Many threads that share QPs, and loads that may return old values: what could differ would.
CONFIG = """
seed: 7
transport: {publication: ordered_handoff, qps_per_peer: 2, sq_depth_wqebbs: 64, batch: 4}
workload: {kind: message_rate, threads: 64, threads_per_qp: 32, sms_count: 2, operations: 1024,
           warm_up: 64}
visibility: {mode: adversarial}
"""


class Determinism(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = folder.name
        self.config = os.path.join(self.base, "run.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(CONFIG)

    def run_in(self, name, *arguments, **variables):
        """(stdout, JSON, trace) of a run in a new folder of this name, as bytes."""
        folder = os.path.join(self.base, name)
        os.mkdir(folder)
        run = ringpost("run", self.config, "--json", "result.json", "--trace", "trace.json",
                       *arguments, folder=folder, HOME=folder, **variables)
        self.assertEqual(run.returncode, 0, run.stderr)
        outputs = [run.stdout.encode()]
        for file_name in ["result.json", "trace.json"]:
            with open(os.path.join(folder, file_name), "rb") as file:
                outputs.append(file.read())
        self.assertEqual(sorted(os.listdir(folder)), ["result.json", "trace.json"])
        return outputs

    def test_two_processes_write_the_same_bytes(self):
        with open("/proc/sys/kernel/randomize_va_space", encoding="ascii") as file:
            if file.read().strip() == "0":
                self.skipTest("this machine does not randomise addresses")
        first = self.run_in("one", LC_ALL="C")
        self.assertGreater(len(json.loads(first[2])["traceEvents"]), 1024)
        # Three times, as two might agree by luck.
        for name in ["two", "a folder with another name", "four"]:
            self.assertEqual(first, self.run_in(name, LC_ALL="C"))

    def test_the_locale_changes_nothing(self):
        # German writes 1,5 for 1.5.
        german = [name for name in locales() if name.lower() in ("de_de.utf8", "de_de.utf-8")]
        if not german:
            self.skipTest("this machine has no German locale")
        self.assertEqual(self.run_in("c", LC_ALL="C"), self.run_in("de", LC_ALL=german[0]))

    def test_an_unknown_locale_and_a_time_zone_change_nothing(self):
        first = self.run_in("c", LC_ALL="C", TZ="UTC")
        self.assertEqual(first, self.run_in("x", LC_ALL="xx_XX.UTF-8", TZ="Asia/Kathmandu"))

    def test_another_seed_is_another_run(self):
        first = self.run_in("seed 7")
        other = self.run_in("seed 8", "--seed", "8")
        hashes = [json.loads(run[1])["config_hash"] for run in (first, other)]
        self.assertNotEqual(hashes[0], hashes[1])
        self.assertNotEqual(first[2], other[2])


if __name__ == "__main__":
    case_report.main()
