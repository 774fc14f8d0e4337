"""rdma-core's own tests of its Python bindings pass on the virtual ConnectX, or skip with a reason.

Prints how many passed, and why others were skipped: docs/virtual_connectx.md has the same list.
"""

import collections
import glob
import gzip
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

from tests import case_report

PROGRAM = os.path.abspath("tools/ringpost/ringpost")
SUITE = os.path.abspath("tests/uverbs/pyverbs_suite.py")
# Debian's python3-pyverbs, and the tests that its rdma-core has among its documentation.
PYTHON = "/usr/bin/python3"
SOURCE = "/usr/share/doc/rdma-core/tests"

# A few tests draw what they ask for, and are skipped where the device has it not.
LEAST_PASSED = {"infiniband": 110, "ethernet": 110}
# The suite takes about 10 s; a test that hangs is named.
PATIENCE_S = 120


def why_not():
    """Why the suite cannot run on this machine, or nothing."""
    if not glob.glob(os.path.join(SOURCE, "test_qp.py*")):
        return f"{SOURCE} is not there: apt-get install rdma-core"
    run = subprocess.run([PYTHON, "-c", "import pyverbs.device"], capture_output=True, check=False)
    if run.returncode != 0:
        return f"{PYTHON} has no pyverbs: apt-get install python3-pyverbs"
    return ""


def copy_suite(folder):
    """The tests, some of which Debian compresses, to FOLDER/tests."""
    tests = os.path.join(folder, "tests")
    os.mkdir(tests)
    for path in glob.glob(os.path.join(SOURCE, "*.py*")):
        name = os.path.basename(path)
        if name.endswith(".gz"):
            with gzip.open(path) as source, open(os.path.join(tests, name[:-3]), "wb") as target:
                shutil.copyfileobj(source, target)
        else:
            shutil.copy(path, tests)


def run_suite(folder, link):
    """What each test came to: lists of (name, reason), by outcome."""
    results = os.path.join(folder, "results")
    fabric = f"pyverbs_{link}_{os.getpid()}"  # other tests run at the same time
    command = [PROGRAM, "exec", "--set", f"exec.link={link}", "--set", f"exec.fabric={fabric}",
               "--", PYTHON, SUITE, folder, results]
    environment = {"PATH": os.environ["PATH"], "RINGPOST_ROOT": os.getcwd(), "HOME": folder}
    with open(os.path.join(folder, "output"), "w+b") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            status = process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = f"none within {PATIENCE_S} s"
        output.seek(0)
        said = output.read().decode("utf-8", "replace")[-4000:]
    lines = []
    if os.path.exists(results):
        with open(results, encoding="utf-8") as file:
            lines = [line.rstrip("\n").split("\t") for line in file]
    if not lines or status != 0:
        running = lines[-1][1] if lines and lines[-1][0] == "begun" else "none"
        raise AssertionError(f"exit status {status}, while this test ran: {running}\n{said}")
    outcomes = collections.defaultdict(list)
    for outcome, name, reason in lines:
        outcomes[outcome].append((name, reason))
    return outcomes


class PyverbsSuite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        reason = why_not()
        if reason:
            raise unittest.SkipTest(reason)

    def check(self, link):
        with tempfile.TemporaryDirectory() as folder:
            copy_suite(folder)
            outcomes = run_suite(folder, link)
        passed, skipped = outcomes["passed"], outcomes["skipped"]
        bad = outcomes["failed"] + outcomes["erred"]
        print(f"{link}: {len(passed)} of {outcomes['count'][0][0]} tests passed, "
              f"{len(bad)} failed, {len(skipped)} skipped:")
        reasons = collections.Counter(reason for _, reason in skipped)
        for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
            print(f"  {count:3} {reason}")
        self.assertEqual(bad, [])
        self.assertEqual(len(passed) + len(skipped), int(outcomes["count"][0][0]))
        self.assertGreaterEqual(len(passed), LEAST_PASSED[link])

    def test_passes_or_skips_on_infiniband(self):
        self.check("infiniband")

    def test_passes_or_skips_on_ethernet(self):
        self.check("ethernet")


if __name__ == "__main__":
    case_report.main()
