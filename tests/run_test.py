"""What the test driver counts from Bazel's reports."""

import json
import os
import tempfile
import unittest

from tests import case_report, run


class TestReport(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def result(self, status, xml):
        path = self.write("test.xml", xml)
        output = {"name": "test.xml", "uri": "file://" + path}
        return {"status": status, "testActionOutput": [output]}

    def test_counts_each_case(self):
        xml = (
            "<testsuite><testcase/><testcase/><testcase><failure/></testcase>"
            "<testcase><error/></testcase><testcase><skipped/></testcase></testsuite>"
        )
        self.assertEqual(run.count_result(self.result("FAILED", xml)), (2, 2, 1))

    def test_a_crash_after_passed_cases_is_a_failure(self):
        xml = "<testsuite><testcase/></testsuite>"
        self.assertEqual(run.count_result(self.result("FAILED", xml)), (1, 1, 0))

    def test_a_report_cut_short_is_a_failure(self):
        for status in "FAILED", "PASSED":
            result = self.result(status, "<testsuite><testc")
            self.assertEqual(run.count_result(result), (0, 1, 0))

    def test_a_program_that_passes_without_cases_counts_nothing(self):
        self.assertEqual(run.count_result(self.result("PASSED", "<testsuite/>")), (0, 0, 0))

    def test_only_skipped_tests_count_as_skipped(self):
        events = [
            {
                "id": {"targetConfigured": {"label": "//a:test"}},
                "configured": {"targetKind": "cc_test rule"},
            },
            {
                "id": {"targetConfigured": {"label": "//a:library"}},
                "configured": {"targetKind": "cc_library rule"},
            },
            {"id": {"targetCompleted": {"label": "//a:test"}}, "aborted": {"reason": "SKIPPED"}},
            {"id": {"targetCompleted": {"label": "//a:library"}}, "aborted": {"reason": "SKIPPED"}},
            {"id": {"testResult": {"label": "//b:test"}}, "testResult": {"status": "PASSED"}},
        ]
        path = self.write("events", "\n".join(map(json.dumps, events)))
        report = run.read_events(path)
        self.assertEqual(list(report.results.values()), [{"status": "PASSED"}])
        self.assertEqual(report.skipped_tests, ["//a:test"])
        self.assertEqual(report.skipped_targets, ["//a:library"])
        self.assertEqual(report.broken, [])

    def test_a_target_that_does_not_build_is_broken(self):
        events = [
            {"id": {"targetCompleted": {"label": "//a:bad"}}, "completed": {}},
            {"id": {"targetCompleted": {"label": "//a:good"}}, "completed": {"success": True}},
        ]
        path = self.write("events", "\n".join(map(json.dumps, events)))
        self.assertEqual(run.read_events(path).broken, ["//a:bad"])


if __name__ == "__main__":
    case_report.main()
