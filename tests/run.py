#!/usr/bin/env python3
"""Runs the tests and counts their cases.

  tests/run.py [BAZEL OPTION]... [TARGET]...        every test, if no target is named

The last line is 'N passed, N failed, N skipped'. The exit status is 0 if nothing failed. Tests draw
their random values from RINGPOST_TEST_SEED; where that is not set, from the commit.
"""

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import namedtuple
from urllib.parse import unquote, urlparse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# What measures a GPU takes nvcc minutes, and is of no use without one: RINGPOST_CI=full builds it.
LEFT_OUT = ["//bench/gpu/..."]

Counts = namedtuple("Counts", "passed failed skipped")

# What Bazel reports: its account of each run of a test program, and labels of targets.
Report = namedtuple("Report", "results broken skipped_tests skipped_targets")


def seed_of_commit():
    """A seed that every run of a commit shares; 1 outside a git checkout."""
    command = ["git", "rev-parse", "HEAD"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return str(int(answer.stdout[:12], 16)) if answer.returncode == 0 else "1"


def count_cases(path):
    """The test cases of one test.xml; one failure if there is no such file or it was cut short.

    So a program that ends early fails, even if it ends with status 0.
    """
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return Counts(0, 1, 0)
    failed = sum(c.find("failure") is not None or c.find("error") is not None for c in cases)
    skipped = sum(c.find("skipped") is not None for c in cases)
    return Counts(len(cases) - failed - skipped, failed, skipped)


def count_result(result):
    """The test cases of one run of a test program, as Bazel reports it."""
    files = {f["name"]: f.get("uri", "") for f in result.get("testActionOutput", [])}
    counts = count_cases(unquote(urlparse(files.get("test.xml", "")).path))
    if result.get("status") not in ("PASSED", "FLAKY") and counts.failed == 0:
        return counts._replace(failed=1)  # it crashed or ran out of time
    return counts


def read_events(path):
    """The Report in Bazel's event file.

    The event file is read, and not the folder of test logs, where those of earlier runs remain.
    """
    results, broken, skipped, tests = {}, set(), set(), set()
    with open(path, encoding="utf-8") as events:
        for line in events:
            event = json.loads(line)
            ident = event.get("id", {})
            if "testResult" in ident:
                key = ident["testResult"]
                attempt = (key["label"], key.get("shard"), key.get("run"))
                results[attempt] = event.get("testResult", {})
            elif "targetConfigured" in ident:
                if "_test rule" in event.get("configured", {}).get("targetKind", ""):
                    tests.add(ident["targetConfigured"]["label"])
            elif "targetCompleted" in ident:
                label = ident["targetCompleted"]["label"]
                if event.get("aborted", {}).get("reason") == "SKIPPED":
                    skipped.add(label)
                elif not event.get("completed", {}).get("success"):
                    broken.add(label)
    return Report(results, sorted(broken), sorted(skipped & tests), sorted(skipped - tests))


def run_bazel(arguments):
    """(Bazel's exit status, its Report)."""
    environment = dict(os.environ)
    environment.setdefault("RINGPOST_TEST_SEED", seed_of_commit())
    print("RINGPOST_TEST_SEED=" + environment["RINGPOST_TEST_SEED"], flush=True)
    handle, path = tempfile.mkstemp(suffix=".json")
    os.close(handle)
    command = ["bazel", "test", "--keep_going", "--build_event_json_file=" + path]
    if not sys.stderr.isatty():
        command.append("--noshow_progress")
    try:
        run = subprocess.run(
            command + arguments, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, check=False
        )
        return run.returncode, read_events(path)
    finally:
        os.unlink(path)


def main(arguments):
    if not any(a.startswith(("//", ":", "@")) or a.startswith("-//") for a in arguments):
        arguments = arguments + ["--", "//..."] + ["-" + target for target in LEFT_OUT]
    status, report = run_bazel(arguments)
    counts = [count_result(result) for result in report.results.values()]
    passed, failed, skipped = map(sum, zip((0, 0, 0), *counts))
    for target in report.skipped_targets:
        print("not built on this machine:", target)
    for target in report.skipped_tests:
        print("SKIPPED, as this machine lacks what it needs:", target)
    for target in report.broken:
        print("FAILED to build:", target)
    failed += len(report.broken)
    skipped += len(report.skipped_tests)
    if status != 0 and failed == 0:
        print(f"bazel ended with status {status}: it could not start, or there is no test")
        failed = 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
