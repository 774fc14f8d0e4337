"""A mistake is one line with place, key and remedy; it ends with status 2 and touches no file."""

import os
import re
import tempfile
import unittest

from tests import case_report
from tests.cli.program import ringpost


class Mistakes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.json = os.path.join(self.folder, "old.json")
        with open(self.json, "w", encoding="utf-8") as file:
            file.write("old")

    def write(self, text):
        path = os.path.join(self.folder, "mistake.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def assert_refused(self, path, line, key, remedy):
        """`remedy` is a regular expression for what would be right."""
        before = sorted(os.listdir(self.folder))
        run = ringpost("run", path, "--json", self.json, "--trace",
                       os.path.join(self.folder, "trace.json"))
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        place = rf"{re.escape(path)}:{line}:\d+: {re.escape(key)}"
        pattern = rf"{place}: [^;\n]+; [^\n]*{remedy}[^\n]*\n"
        self.assertRegex(run.stderr, rf"\A{pattern}\Z")
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        with open(self.json, encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")

    def assert_text_refused(self, text, line, key, remedy):
        self.assert_refused(self.write(text), line, key, remedy)

    def test_unknown_key(self):
        self.assert_text_refused("seed: 1\nworkload:\n  paylod: 8 B\n", 3, "workload.paylod",
                                 r"workload\.payload|payload")

    def test_text_where_a_number_stands(self):
        self.assert_text_refused("# a comment\nseed: many\n", 2, "seed", "number|count")

    def test_missing_unit(self):
        self.assert_text_refused("workload: {payload: 8}\n", 1, "workload.payload", "8 B")

    def test_depth_that_is_no_power_of_two(self):
        self.assert_text_refused("seed: 1\ntransport: {sq_depth_wqebbs: 3}\n", 2,
                                 "transport.sq_depth_wqebbs", "power of two")

    def test_depth_that_is_too_large(self):
        self.assert_text_refused("transport:\n  sq_depth_wqebbs: 131072\n", 2,
                                 "transport.sq_depth_wqebbs", "32768")

    def test_missing_file(self):
        self.assert_refused(os.path.join(self.folder, "nowhere.yaml"), 1, "file", ".+")

    def test_truncated_file(self):
        text = "seed: 1\nworkload: {kind: put_latency, payl"
        self.assert_text_refused(text, 2, "YAML", "complete or correct")

    def test_unknown_platform(self):
        self.assert_text_refused("seed: 1\nplatform: p_none\n", 2, "platform", "p_ib")

    def test_ordering_that_does_not_reach_the_queues(self):
        self.assert_text_refused("transport:\n  placement: host\n  ordering: gpu_fence\n", 3,
                                 "transport.ordering", "system_release")

    def test_output_in_a_folder_that_is_not_there_is_refused_before_the_run(self):
        # This run would take far longer than the test waits.
        path = self.write("workload: {operations: 1000000000000}\n")
        missing = os.path.join(self.folder, "missing")
        run = ringpost("run", path, "--json", os.path.join(missing, "result.json"))
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        self.assertRegex(run.stderr, r"\A[^\n]*--json: [^;\n]+; [^\n]+\n\Z")
        self.assertFalse(os.path.exists(missing))


if __name__ == "__main__":
    case_report.main()
