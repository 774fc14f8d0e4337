"""README.md says what is so."""

import os
import unittest

from tests import case_report
from tests.cli.program import ROOT, ringpost
from tests.cli.readme import shown_output


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


class Readme(unittest.TestCase):
    def test_it_shows_what_the_program_prints(self):
        run = ringpost()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(shown_output(text_of("README.md")), run.stdout,
                         "tests/cli/readme.py writes the present output into README.md")

    def test_its_test_command_is_the_one_that_all_checks_run(self):
        self.assertIn("\n    ./ringpost test\n", text_of("README.md"))
        self.assertIn('\nstep "tests" ./ringpost test\n', text_of(".ci/run"))

    def test_its_configuration_is_the_one_that_it_names(self):
        block = f"```yaml\n{text_of('configs/quickstart.yaml')}```\n"
        self.assertIn(block, text_of("README.md"))


if __name__ == "__main__":
    case_report.main()
