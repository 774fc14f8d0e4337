"""Each command that a run makes of the device fails once: the run ends with one line, or goes on by
another way, and leaves no object and no memory behind."""

import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest
import uuid

from tests import case_report

PROGRAM = os.path.abspath("tools/ringpost/ringpost")
ERRORS = ["ENOMEM", "EINVAL", "EOPNOTSUPP"]
RUN = "workload: {kind: round_trip, operations: 10, warm_up: 1, inline: never}\n"
CALL = re.compile(r"(?:ioctl|command) .* ([A-Z_]+) = (\d+)$", re.MULTILINE)
# The compiler's library that looks for lost memory as a process ends; any program may load it.
LEAK_SANITIZER = sorted(glob.glob("/usr/lib/gcc/*/*/liblsan.so"))[-1:]
LEAKS = 23
# What makes objects, and what undoes that: names of both forms.
KINDS = [
    ({"ALLOC_PD"}, {"PD_DESTROY", "DEALLOC_PD"}),
    ({"REG_MR", "REG_DMABUF_MR"}, {"MR_DESTROY", "DEREG_MR"}),
    ({"UAR_ALLOC"}, {"UAR_DESTROY"}),
    ({"DEVX_UMEM_REG"}, {"DEVX_UMEM_DEREG"}),
    ({"DEVX_OBJ_CREATE"}, {"DEVX_OBJ_DESTROY"}),
    ({"CQ_CREATE", "CREATE_CQ", "CREATE_CQ_EX"}, {"CQ_DESTROY", "DESTROY_CQ"}),
    ({"QP_CREATE", "CREATE_QP", "CREATE_QP_EX"}, {"QP_DESTROY", "DESTROY_QP"}),
    ({"SRQ_CREATE", "CREATE_SRQ"}, {"SRQ_DESTROY", "DESTROY_SRQ"}),
    ({"CREATE_AH"}, {"AH_DESTROY", "DESTROY_AH"}),
]
UNDOES = set().union(*(undoes for _, undoes in KINDS))


def watched_for_leaks():
    """The environment of a process that ends with status LEAKS if it has lost memory."""
    return dict(os.environ, LD_PRELOAD=" ".join(LEAK_SANITIZER), LSAN_OPTIONS=f"exitcode={LEAKS}")


def left_behind(calls):
    """How many objects of each kind were made and not undone."""
    done = collections.Counter(name for name, error in calls if error == "0")
    left = {min(makes): sum(done[name] for name in makes) - sum(done[name] for name in undoes)
            for makes, undoes in KINDS}
    return {name: count for name, count in left.items() if count != 0}


class Campaign(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.config = os.path.join(self.folder, "run.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(RUN)

    def run_with(self, plan, options, undoes=False):
        """The finished run, and the calls that it made of the device. Of what cannot be undone
        (`undoes` fails) libmlx5 keeps the memory too, so that lost memory is not looked for."""
        log = os.path.join(self.folder, uuid.uuid4().hex)
        environment = dict(watched_for_leaks(), RINGPOST_UVERBS_LOG=log)
        if undoes:
            environment["LSAN_OPTIONS"] = "detect_leaks=0"
        if plan:
            environment["RINGPOST_UVERBS_FAIL"] = plan
        run = subprocess.run(
            [PROGRAM, "exec", f"--set=exec.fabric=campaign_{uuid.uuid4().hex}", "--", PROGRAM,
             "run", self.config, "--quiet", "--backend", "mlx5", *options],
            env=environment, capture_output=True, text=True, timeout=30, check=False)
        with open(log, encoding="utf-8") as file:
            return run, CALL.findall(file.read())

    def fails_once(self, number, error, name, options):
        """What is wrong with how the run took it, or nothing."""
        run, calls = self.run_with(f"#{number}={error}", options, name in UNDOES)
        what = f"command {number}, {name}, fails with {error}: "
        if run.returncode not in (0, 1):
            return f"{what}exit status {run.returncode}: {run.stderr}"
        if run.returncode == 1 and len(run.stderr.splitlines()) != 1:
            return f"{what}not one line: {run.stderr}"
        # What could not be undone is left for the end of the process, and what it uses too.
        left = left_behind(calls) if name not in UNDOES else {}
        return f"{what}left behind: {left}" if left else ""

    def campaign(self, errors_of, *settings):
        options = [f"--set={setting}" for setting in settings]
        run, calls = self.run_with("", options)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(left_behind(calls), {})
        self.assertGreater(len(calls), 30)
        with concurrent.futures.ThreadPoolExecutor(3) as workers:
            wrong = workers.map(lambda one: self.fails_once(*one, options), [
                (number, error, name) for number, (name, _) in enumerate(calls, 1)
                for error in errors_of(number)])
        wrong = [line for line in wrong if line]
        self.assertEqual(wrong, [], "\n".join(wrong))

    @staticmethod
    def one_of_them(number):
        return [ERRORS[number % len(ERRORS)]]

    @unittest.skipUnless(LEAK_SANITIZER, "liblsan.so is not there: apt-get install g++")
    def test_lost_memory_would_be_found(self):
        loses = "import ctypes; ctypes.CDLL(None).malloc(1 << 20)"
        run = subprocess.run([sys.executable, "-c", loses], env=watched_for_leaks(),
                             capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(run.returncode, LEAKS, run.stderr)
        self.assertIn("LeakSanitizer", run.stderr)

    def test_every_command_of_devx_over_rc(self):
        self.campaign(lambda number: ERRORS)

    def test_every_command_of_devx_over_dc(self):
        self.campaign(self.one_of_them, "transport.kind=dc")

    def test_every_command_of_verbs_over_rc(self):
        self.campaign(self.one_of_them, "mlx5.route=verbs")


if __name__ == "__main__":
    case_report.main()
