"""Runs rdma-core's pyverbs tests of one folder; a line for each: what it came to, its name, why.

    python3 pyverbs_suite.py FOLDER RESULTS

Runs under `ringpost exec`, with the machine's own python3, which knows pyverbs. A line "begun" is
written before each test, so that one which never ends, or ends the process, can be named.
"""

import sys
import unittest


class Lines(unittest.TestResult):
    """Writes each outcome at once."""

    def __init__(self, file):
        super().__init__()
        self._file = file

    def _write(self, outcome, test, reason=""):
        self._file.write("\t".join((outcome, test.id(), " ".join(reason.split()))) + "\n")
        self._file.flush()

    def startTest(self, test):
        super().startTest(test)
        self._write("begun", test)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._write("passed", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._write("skipped", test, reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._write("failed", test, self._exc_info_to_string(err, test))

    def addError(self, test, err):
        super().addError(test, err)
        self._write("erred", test, self._exc_info_to_string(err, test))

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._write("failed", test, self._exc_info_to_string(err, test))

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._write("passed", test)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._write("failed", test, "it passed, unexpectedly")


def main():
    folder, results = sys.argv[1:]
    sys.argv = sys.argv[:1]  # the suite reads its own options from there
    sys.path[:0] = [folder, folder + "/tests"]  # its modules import each other by both names
    import args_parser  # pylint: disable=import-error,import-outside-toplevel

    args_parser.parser.parse_args()
    suite = unittest.defaultTestLoader.loadTestsFromName("tests")
    with open(results, "w", encoding="utf-8") as file:
        file.write(f"count\t{suite.countTestCases()}\t\n")
        suite.run(Lines(file))


if __name__ == "__main__":
    main()
