"""A sweep that mpirun has started: the points run on all ranks, and the bytes are the same."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from tests import case_report
from tests.cli.program import PROGRAM, ROOT, ringpost

EXPERIMENT = "workload: {kind: put_latency, operations: 4000, warm_up: 2}\n"
# A point takes seconds, so that one look at the processes meets those of both ranks.
LONG_EXPERIMENT = EXPERIMENT.replace("4000", "4000000")
SWEEP = "experiment: EXPERIMENT\naxes: {workload.payload: [1 B, 2 B, 3 B, 4 B, 5 B, 6 B, 7 B]}\n"
HANG_S = 40
LIBRARY = os.path.join(ROOT, "tools/ringpost/sweep/libringpost_mpi.so")

# Open MPI refuses root, and a machine of one core, unless told otherwise.
PERMISSIONS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}


@unittest.skipUnless(shutil.which("mpirun") and os.path.exists(LIBRARY),
                     "MPI is not installed: apt-get install libopenmpi-dev openmpi-bin")
class Mpi(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/tmp")  # its sockets want short names
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.experiment = self.write("experiment.yaml", EXPERIMENT)
        self.config = self.write("sweep.yaml", SWEEP)
        self.environment = {"PATH": os.environ["PATH"], "RINGPOST_ROOT": ROOT, **PERMISSIONS,
                            "HOME": self.folder, "TMPDIR": self.folder}

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text.replace("EXPERIMENT", self.path("experiment.yaml")))
        return self.path(name)

    def start(self, out, *arguments):
        process = subprocess.Popen(
            ["mpirun", "-n", "2", PROGRAM, "sweep", self.config, "--out", self.path(out), "--jobs",
             "1", *arguments], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            start_new_session=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate()

    def sweep(self, out, *arguments):
        process = self.start(out, *arguments)
        output, errors = process.communicate(timeout=HANG_S)
        return process.returncode, output, errors

    def bytes_of(self, out, name="results.csv"):
        with open(self.path(out, name), "rb") as file:
            return file.read()

    def alone(self, out, *arguments):
        run = ringpost("sweep", self.config, "--out", self.path(out), *arguments)
        self.assertEqual(run.returncode, 0, run.stderr)

    def parents_of_points(self):
        """The processes that run points of this test now."""
        parents = set()
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                    parent = file.read().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if words[1:2] == [b"run"] and self.experiment.encode() in words:
                parents.add(parent)
        return parents

    def test_the_bytes_of_two_ranks_are_those_of_one_process(self):
        self.alone("one", "--jobs", "1")
        status, output, errors = self.sweep("ranks")
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("results.csv\n", output)
        self.assertEqual(self.bytes_of("ranks"), self.bytes_of("one"))

    def test_both_ranks_run_points(self):
        self.write("experiment.yaml", LONG_EXPERIMENT)
        process = self.start("ranks")
        seen = set()
        limit = time.monotonic() + HANG_S
        while len(seen) < 2 and process.poll() is None and time.monotonic() < limit:
            seen |= self.parents_of_points()
            time.sleep(0.002)
        self.assertEqual(len(seen), 2)

    def test_what_ranks_left_when_they_were_killed_goes_on_in_one_process(self):
        self.alone("one")
        process = self.start("ranks")
        points = self.path("ranks", "points.jsonl")
        limit = time.monotonic() + HANG_S
        while time.monotonic() < limit and process.poll() is None:
            if os.path.exists(points) and self.bytes_of("ranks", "points.jsonl").count(b"\n") > 2:
                break
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        # The ranks have groups of their own; they end when mpirun is gone.
        while time.monotonic() < limit and self.parents_of_points():
            time.sleep(0.01)
        while True:
            run = ringpost("sweep", self.config, "--out", self.path("ranks"), "--resume")
            if "another sweep is writing" not in run.stderr or time.monotonic() > limit:
                break
            time.sleep(0.01)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.bytes_of("ranks"), self.bytes_of("one"))

    def test_a_mistake_is_one_line_of_rank_0_and_ends_all_ranks(self):
        self.write("sweep.yaml", SWEEP.replace("7 B", "7"))
        status, output, errors = self.sweep("out")
        self.assertEqual((status, output), (2, ""), errors)
        ours = [line for line in errors.splitlines() if "sweep.yaml" in line]
        self.assertEqual(len(ours), 1, errors)
        self.assertRegex(ours[0], r"sweep\.yaml:2:\d+: workload\.payload: [^;]+; .*B, KiB")

    def test_processes_that_mpi_does_not_know_are_refused(self):
        # As when the mpirun of another MPI starts them.
        run = ringpost("sweep", self.config, "--out", self.path("out"), PMI_SIZE="2",
                       HOME=self.folder, TMPDIR=self.folder, **PERMISSIONS)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertRegex(run.stderr, r"\Aringpost: 2 processes were started, and MPI knows of 1: "
                                     r"[^\n]+\n\Z")


class WithoutMpi(unittest.TestCase):
    def test_a_program_without_the_library_says_what_to_install(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "ringpost")
            shutil.copy(PROGRAM, program)
            config = os.path.join(ROOT, "configs/sweeps/message_rate.yaml")
            run = subprocess.run(
                [program, "sweep", config, "--out", os.path.join(folder, "out")],
                env={"PATH": os.environ["PATH"], "RINGPOST_ROOT": ROOT,
                     "OMPI_COMM_WORLD_SIZE": "2"},
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False)
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertRegex(run.stderr, r"\A[^\n]*2 processes were started[^\n]*libopenmpi-dev"
                                         r"[^\n]*\n\Z")
            self.assertFalse(os.path.exists(os.path.join(folder, "out")))


if __name__ == "__main__":
    case_report.main()
