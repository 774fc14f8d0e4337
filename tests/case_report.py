"""Runs the calling file's unittest cases and reports each of them to Bazel."""

import os
import time
import unittest
import xml.etree.ElementTree as ElementTree


class _Result(unittest.TextTestResult):
    """Keeps what each case came to."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.suite = ElementTree.Element("testsuite")
        self._case = None

    def startTest(self, test):
        super().startTest(test)
        self._begun = time.monotonic()
        name = test.id().rpartition(".")[2]
        self._case = ElementTree.SubElement(
            self.suite, "testcase", classname=type(test).__name__, name=name
        )

    def stopTest(self, test):
        super().stopTest(test)
        self._case.set("time", f"{time.monotonic() - self._begun:.6f}")

    def _note(self, test, tag, text):
        # A failed setUpClass belongs to no case.
        case = self._case
        if case is None:
            case = ElementTree.SubElement(self.suite, "testcase", name=str(test))
        ElementTree.SubElement(case, tag).text = text

    def _note_failure(self, test, err):
        self._note(test, "failure", self._exc_info_to_string(err, test))
        target = os.environ.get("TEST_TARGET")
        if target:
            seed = os.environ.get("RINGPOST_TEST_SEED", "1")
            case = ".".join(test.id().split(".")[-2:])
            command = f"RINGPOST_TEST_SEED={seed} bazel test --test_arg={case} {target}"
            self.stream.writeln(f"seed {seed}; to repeat this failure:\n  {command}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._note_failure(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self._note_failure(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._note_failure(test, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._note(test, "skipped", reason)


def main():
    program = unittest.main(
        testRunner=unittest.TextTestRunner(resultclass=_Result, verbosity=2), exit=False
    )
    result = program.result
    path = os.environ.get("XML_OUTPUT_FILE")
    if path:
        ElementTree.ElementTree(result.suite).write(path, encoding="utf-8")
    raise SystemExit(0 if result.wasSuccessful() else 1)
