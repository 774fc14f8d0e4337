"""A run of the backend mlx5 under `ringpost exec` touches no files but those named here."""

import collections
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from tests import case_report
from tests.uverbs import pair

CONFIG = """
backend: mlx5
workload: {kind: put_latency, operations: 20, warm_up: 2}
"""

# Beside the classes that `Files` makes: files, and why they are touched. The run touches each.
OTHERS = {
    "/proc/cpuinfo": "libmlx5 looks for processors that combine stores badly; our report names it",
    "/proc/self/exe": "the program's place, beside which the library and the configurations are",
    "/proc/self/ns/pid": "the fabric is of one PID namespace",
    "/proc/PID/stat": "when a process of the fabric began: it is gone if another has its number",
}
# The same, which not every machine has.
OPTIONAL = {
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "our report names it",
}

CALL = re.compile(r"(?:\d+ +)?(\w+)\((.*)\) += (\d+|0x[0-9a-f]+)(?:<(.*)>(?:\(deleted\))?)?$")
FOLDER = r"(?:AT_FDCWD|\d+)<((?:[^<>]|<[^<>]*>)*)>(?:\(deleted\))?, "
NAMED = re.compile(FOLDER + r'"((?:[^"\\]|\\.)*)"|"((?:[^"\\]|\\.)*)"')


def why_not():
    """Why calls cannot be traced here, or nothing."""
    if shutil.which("strace") is None:
        return "strace is not there: apt-get install strace"
    run = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, text=True,
                         check=False)
    return f"strace does not work here: {run.stderr.strip()}" if run.returncode else ""


def touched(trace):
    """Absolute paths of what the calls that succeeded named."""
    for line in trace.splitlines():
        call = CALL.match(line)
        if call is None:
            continue
        name, arguments, _, _ = call.groups()
        found = [os.path.normpath(os.path.join(folder, below or path))
                 for folder, below, path in NAMED.findall(arguments)]
        if name.startswith("symlink"):
            yield found[-1]  # the text of the link comes first
        else:
            # Behind the path: what a link says, or the words of a program.
            yield from found[:2 if name == "linkat" else 1]


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.fabric = pair.new_fabric()

    def path(self, name):
        return os.path.join(self.folder, name)

    def trace(self):
        """The traced calls with paths, of both processes: the launcher and the run."""
        with open(self.path("run.yaml"), "w", encoding="utf-8") as file:
            file.write(CONFIG)
        command = pair.exec_command(self.fabric, pair.PROGRAM, "run", self.path("run.yaml"))
        run = subprocess.run(
            ["strace", "-f", "-y", "-s", "4096", "-e", "trace=%file", "-o", self.path("trace"),
             *command], capture_output=True, text=True, timeout=100, check=False,
            env={"PATH": os.environ["PATH"], "TMPDIR": self.folder,
                 "RINGPOST_UVERBS_LOG": self.path("log")})
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(self.path("trace"), encoding="utf-8") as file:
            return file.read()

    def class_of(self, path):
        """Of a file, or nothing."""
        for name, pattern in [
                ("library", r".*\.so(\.[0-9.]+)?|/etc/ld\.so\.cache|" + re.escape(pair.PROGRAM)),
                ("configuration", re.escape(self.path("run.yaml")) + "|.*/configs(/.*)?"),
                ("synthetic", re.escape(self.folder) + r"(/ringpost-exec-\w+(/.*)?)?"),
                ("stand-in", r"/dev/null|/proc/self/fd/\d+|pipe:\[\d+\]"),
                ("fabric", f"/dev/shm(/ringpost-{self.fabric}|/#\\d+)?"),
                ("log", re.escape(self.path("log")))]:
            if re.fullmatch(pattern, path):
                return name
        return ""

    def trace_or_skip(self):
        reason = why_not()
        if reason:
            self.skipTest(reason)
        return self.trace()

    def test_the_log_has_each_synthetic_file_that_the_run_touches(self):
        trace = self.trace_or_skip()
        launcher = trace.partition(" ")[0]
        of_the_run = "".join(line for line in trace.splitlines(keepends=True)
                             if line.partition(" ")[0] != launcher)
        # All but the folder's own file, which tells the library of its devices.
        seen = {path for path in touched(of_the_run)
                if self.class_of(path) == "synthetic" and not path.endswith("/settings")}
        with open(self.path("log"), encoding="utf-8") as file:
            logged = {os.path.normpath(line.split(" -> ")[1].strip()) for line in file
                      if " -> " in line}
        self.assertGreater(len(seen), 5)
        self.assertEqual(seen - logged, set())

    def test_a_run_touches_libraries_configuration_synthetic_files_and_fabric(self):
        classes = collections.defaultdict(set)
        for path in touched(self.trace_or_skip()):
            classes[self.class_of(path)].add(re.sub(r"^/proc/\d+/", "/proc/PID/", path))
        self.assertEqual(classes.pop("") - set(OPTIONAL), set(OTHERS))
        self.assertEqual(set(classes), {"library", "configuration", "synthetic", "stand-in",
                                        "fabric", "log"}, classes)


if __name__ == "__main__":
    case_report.main()
