"""Two results side by side: errors by metric, what differs, and files that are no results."""

import json
import os
import re
import tempfile
import unittest

from tests import case_report
from tests.cli.program import ringpost

SHORT = "workload: {kind: put_latency, operations: 50, warm_up: 5}\n"


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_to(self, name, *arguments):
        with open(self.path("run.yaml"), "w", encoding="utf-8") as file:
            file.write(SHORT)
        run = ringpost("run", self.path("run.yaml"), "--json", self.path(name), *arguments)
        self.assertEqual(run.returncode, 0, run.stderr)

    def write(self, name, content):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))

    def result(self, **changes):
        """A result with one metric, and what `changes` says."""
        return {"version": "0.1.0", "backend": "sim", "source": "simulated", "platform": "p_ib",
                "config_hash": "0123", "seed": 1, "config": {"seed": "1", "ranks": "2"},
                "metrics": {"latency": {"value": 4.0, "unit": "us"}}, **changes}

    def compare(self, a="a.json", b="b.json"):
        run = ringpost("compare", self.path(a), self.path(b))
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def compare_results(self, a, b):
        self.write("a.json", a)
        self.write("b.json", b)
        return self.compare()

    def assert_refused(self, name, pattern, a=None):
        self.write("good.json", self.result())
        run = ringpost("compare", self.path(a or "good.json"), self.path(name))
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertRegex(run.stderr, rf"\A{re.escape(self.path(name))}:{pattern}; [^;\n]+\n\Z")

    def test_runs_that_differ_in_a_key_show_their_errors_and_that_key(self):
        self.run_to("a.json")
        self.run_to("b.json", "--set", "transport.ordering=system_fence")
        text = self.compare()
        with open(self.path("a.json"), encoding="utf-8") as file:
            a = json.load(file)
        with open(self.path("b.json"), encoding="utf-8") as file:
            b = json.load(file)
        for name, metric in a["metrics"].items():
            value, other = metric["value"], b["metrics"][name]["value"]
            row = rf"(?m)^{name} +{value:.4f} +{other:.4f}  {re.escape(metric['unit'])} +(\S+) %$"
            found = re.search(row, text)
            self.assertIsNotNone(found, text)
            self.assertAlmostEqual(float(found[1]), 100 * (other / value - 1), delta=0.051)
        self.assertRegex(text, r"(?m)^  transport\.ordering +gpu_fence +system_fence$")
        self.assertEqual(len(re.findall(r"(?m)^  \w+\.\w+ ", text)), 1, text)
        self.assertIn(f"A: {self.path('a.json')}: ringpost {a['version']} | simulated | backend "
                      f"sim | platform p_ib | config {a['config_hash']} | seed 1\n", text)

    def test_one_run_twice_has_no_error_and_nothing_that_differs(self):
        self.run_to("a.json")
        text = self.compare(b="a.json")
        self.assertIn("\nthe same configuration\n", text)
        self.assertEqual(set(re.findall(r"(\S+) %$", text, re.MULTILINE)), {"+0.0"})

    def test_a_measured_run_is_what_the_simulated_one_is_held_against(self):
        simulated = self.result()
        measured = self.result(source="measured", measured_on={"cpu": "one"},
                               metrics={"latency": {"value": 5, "unit": "us"}})
        for a, b, of in ((simulated, measured, "A"), (measured, simulated, "B")):
            self.assertRegex(self.compare_results(a, b), rf"error of {of}\nlatency.* -20\.0 %")
        text = self.compare_results(measured, {**measured, "measured_on": {"cpu": "other"}})
        self.assertRegex(text, r"(?m)^measured on +A +B\n  cpu +one +other$")

    def test_what_cannot_be_compared_is_said(self):
        a = self.result(metrics={"latency": {"value": 0, "unit": "us"},
                                 "rate": {"value": 3, "unit": "M msg/s"},
                                 "issue": {"value": 3, "unit": "us"}})
        b = self.result(metrics={"latency": {"value": 2, "unit": "us"},
                                 "rate": {"value": 3, "unit": "msg/s"},
                                 "late": {"value": 3, "unit": "us"}})
        text = self.compare_results(a, b)
        self.assertRegex(text, r"(?m)^latency +0\.0000 +2\.0000  us +of 0$")
        self.assertIn("rate is in M msg/s in A, and in msg/s in B\n", text)
        self.assertIn("in A alone: issue\n", text)
        self.assertIn("in B alone: late\n", text)

    def test_another_platform_of_the_same_name_is_noticed(self):
        text = self.compare_results(self.result(), self.result(config_hash="4567"))
        self.assertIn("the same configuration, but for the numbers of its platform\n", text)

    def test_keys_that_one_run_lacks_are_shown(self):
        text = self.compare_results(self.result(), self.result(config={"seed": "1", "new": "x"}))
        self.assertRegex(text, r"(?m)^  ranks +2 +-$")
        self.assertRegex(text, r"(?m)^  new +- +x$")

    def test_files_that_are_no_results_are_refused_in_one_line(self):
        self.assert_refused("missing.json", r"1:1: file: [^;\n]+")
        self.write("cut.json", '{\n  "version": "0.1.0",\n  "backe')
        self.assert_refused("cut.json", r"3:\d+: JSON: [^;\n]+")
        self.write("empty.json", "")
        self.assert_refused("empty.json", r"1:1: file: [^;\n]+")
        self.write("deep.json", '{"a":\n' + "[" * 200_000 + "]" * 200_000 + "}")
        self.assert_refused("deep.json", r"2:32: JSON: has more levels than a result")
        for number in ("1e999", "-1e400"):
            self.write("large.json", f'{{"version": "0.1.0",\n  "seed": {number}}}')
            self.assert_refused("large.json", rf"2:11: JSON: {number} is a number that is too "
                                              "large")
        self.write("list.json", [1])
        self.assert_refused("list.json", r"1:1: source: is missing")
        for key in ("version", "source", "config_hash", "seed", "metrics", "config", "platform"):
            changed = self.result()
            del changed[key]
            self.write("less.json", changed)
            self.assert_refused("less.json", rf"1:1: {key}: is missing")
        self.write("text.json", self.result(metrics={"latency": {"value": "4", "unit": "us"}}))
        self.assert_refused("text.json", r"1:1: metrics\.latency: [^;\n]+")
        self.write("type.json", self.result(metrics=[]))
        self.assert_refused("type.json", r"1:1: metrics: is no object")
        self.write("other.json", self.result(metrics={"rate": {"value": 4, "unit": "us"}}))
        self.assert_refused("other.json", r"1:1: metrics: none is also in [^;\n]+")

    def test_a_folder_is_no_result(self):
        self.assert_refused("", r"1:1: file: [^;\n]+")


if __name__ == "__main__":
    case_report.main()
