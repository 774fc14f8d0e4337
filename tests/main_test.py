"""What a test program reports to Bazel, and says when it fails."""

import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from tests import case_report

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "planted_failure")


class TestProgram(unittest.TestCase):
    def run_program(self, *arguments, **variables):
        """(exit status, output, {case: what its report holds}) of the planted program."""
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "test.xml")
            environment = {**os.environ, "TEST_TARGET": "//x:y", "RINGPOST_TEST_SEED": "7"}
            environment.pop("RINGPOST_TEST_CONFIG", None)
            environment.update(variables, XML_OUTPUT_FILE=report)
            run = subprocess.run(
                [PROGRAM, *arguments],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            return run.returncode, run.stdout, self.read_report(report)

    def read_report(self, path):
        try:
            cases = ElementTree.parse(path).getroot().iter("testcase")
        except (OSError, ElementTree.ParseError):
            return {}  # the program ended before it could write it
        return {case.get("name"): {child.tag for child in case} for case in cases}

    def test_reports_each_case(self):
        status, _, cases = self.run_program()
        self.assertNotEqual(status, 0)
        self.assertEqual(set(cases), {"Passes", "Fails", "Dies", "IsSkipped"})
        self.assertEqual(cases["Passes"], set())
        self.assertIn("failure", cases["Fails"])
        self.assertIn("skipped", cases["IsSkipped"])

    def test_says_how_to_repeat_a_failure(self):
        _, output, _ = self.run_program()
        command = "RINGPOST_TEST_SEED=7 bazel test --test_arg=--run_test='Planted/Fails' //x:y"
        self.assertIn(command, output)
        self.assertEqual(output.count("to repeat this failure"), 1)

    def test_names_the_configuration_of_the_build(self):
        _, output, _ = self.run_program(RINGPOST_TEST_CONFIG="asan")
        self.assertIn("bazel test --config=asan --test_arg", output)

    def test_says_how_to_repeat_a_death(self):
        status, output, _ = self.run_program("--run_test=Planted/Dies", PLANTED_DEATH="1")
        self.assertNotEqual(status, 0)
        self.assertIn("--run_test='Planted/Dies'", output)

    def test_says_nothing_of_success(self):
        status, output, cases = self.run_program("--run_test=Planted/Passes")
        self.assertEqual(status, 0)
        self.assertNotIn("repeat", output)
        self.assertEqual(cases.get("Passes"), set())

    def test_default_seed_is_1(self):
        _, output, _ = self.run_program("--run_test=Planted/Fails", RINGPOST_TEST_SEED="")
        self.assertIn("RINGPOST_TEST_SEED=1 ", output)

    def test_refuses_a_malformed_seed(self):
        status, output, _ = self.run_program("--run_test=Planted/Passes", RINGPOST_TEST_SEED="7x")
        self.assertEqual(status, 2)
        self.assertIn("RINGPOST_TEST_SEED", output)


if __name__ == "__main__":
    case_report.main()
