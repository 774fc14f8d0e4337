"""A sweep that cannot work is refused in one line, before it runs, and touches no file."""

import fcntl
import os
import shutil

from tests import case_report
from tests.cli.program import ROOT, ringpost
from tests.cli.sweep_case import EXPERIMENT, SWEEP, SweepCase


class Mistakes(SweepCase):
    def refused(self, place, key, remedy, *arguments, text=SWEEP, out="out"):
        """`place` and `remedy` are regular expressions."""
        before = {}
        if os.path.isdir(self.path(out)):
            before = {name: self.bytes_of(out, name) for name in os.listdir(self.path(out))}
        run = ringpost("sweep", self.write("sweep.yaml", text), "--out", self.path(out), *arguments)
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        self.assertRegex(run.stderr, rf"\A[^\n]*{place}: {key}: [^;\n]+; [^\n]*{remedy}[^\n]*\n\Z")
        if os.path.isdir(self.path(out)):
            self.assertEqual(before, {name: self.bytes_of(out, name)
                                      for name in os.listdir(self.path(out))})

    def test_results_that_are_there_are_neither_mixed_nor_replaced_unasked(self):
        self.sweep("out")
        self.refused(r"command line:1:1", "--out", "--resume .*--force")
        other = SWEEP.replace("8 B", "16 B")
        self.refused(r"command line:1:1", "--out", "--force", "--resume", text=other)
        os.remove(self.path("out", "points.jsonl"))
        self.refused(r"command line:1:1", "--out", "--force", "--resume")
        self.refused(r"command line:1:1", "--resume", "one of the two", "--resume", "--force")
        self.sweep("out", "--force", text=other)
        self.assertEqual(self.rows("out")[0]["workload.payload"], "16 B")

    def test_another_experiment_under_the_same_name_is_another_sweep(self):
        self.sweep("out")
        self.write("experiment.yaml", EXPERIMENT.replace("20", "21"))
        self.refused(r"command line:1:1", "--out", "--force", "--resume")

    def test_an_axis_that_is_no_key_is_named_with_its_place(self):
        text = SWEEP.replace("workload.payload", "workload.paylod")
        self.refused(r"sweep\.yaml:4:3", r"workload\.paylod", "payload", text=text)

    def test_a_value_of_the_wrong_type_is_named_with_its_place(self):
        self.refused(r"sweep\.yaml:4:27", r"workload\.payload", "B, KiB", text=SWEEP.replace(
            "64 B", "64"))
        self.refused(r"sweep\.yaml:3:24", r"transport\.ordering", "gpu_fence", text=SWEEP.replace(
            "gpu_fence", "1"))
        self.refused(r"sweep\.yaml:5:9", "seed", "whole number", text=SWEEP.replace("3,", "three,"))

    def test_a_list_for_two_keys_has_a_value_for_each(self):
        text = ("experiment: EXPERIMENT\naxes:\n"
                "  transport.batch, workload.threads: [1, [2, 2, 2]]\n")
        self.refused(r"sweep\.yaml:3:42", r"transport\.batch, workload\.threads", "one for each",
                     text=text)

    def test_settings_that_conflict_at_one_point_are_refused_before_any_runs(self):
        text = "experiment: EXPERIMENT\naxes:\n  workload.threads: [1, 2]\n"
        self.refused(r"sweep\.yaml:3:25", r"workload\.threads", "or message_rate", text=text)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_points_that_are_the_same_run_are_refused_however_they_are_written(self):
        for text, place, key, wrong in (
                ("axes: {workload.payload: [1 KiB, 8 B, 1024 B]}", "2:39", "workload.payload",
                 "1024 B is the same as 1 KiB"),
                ("axes: {workload.payload: [8 B], nic.run_length: [4, 04]}", "2:53",
                 "nic.run_length", "04 is the same as 4"),
                ("axes: {workload.payload: [8 B]}\nseeds: [3, 03]", "3:12", "seed",
                 "03 is the same as 3"),
                ("points: [{workload.payload: 8 B}, {workload.payload: 8 B}]", "2:54",
                 "workload.payload", "points 0 and 1 are the same run"),
                ("points: [{workload.payload: 8 B}, {}]", "1:1", "points",
                 "points 0 and 1 are the same run")):
            run = ringpost("sweep", self.write("sweep.yaml", f"experiment: EXPERIMENT\n{text}\n"),
                           "--out", self.path("out"))
            self.assertEqual((run.returncode, run.stdout, run.stderr), (2, "", (
                f"{self.path('sweep.yaml')}:{place}: {key}: {wrong}; remove one of the two\n")))
            self.assertFalse(os.path.exists(self.path("out")))

    def test_no_file_that_a_sweep_reads_lies_where_it_writes(self):
        os.mkdir(self.path("in"))
        platform = os.path.join(ROOT, "configs/platforms/p_ib.yaml")
        for name, text in (("results.csv", SWEEP),
                           ("other.yaml", SWEEP.replace("EXPERIMENT", self.path("in/exp.yaml")))):
            self.write("in/exp.yaml", EXPERIMENT)
            path = self.write(os.path.join("in", name), text)
            with open(path, encoding="utf-8") as file:
                before = file.read()
            for out in (self.path("in"), os.path.relpath(self.path("in")), self.path("in/../in")):
                run = ringpost("sweep", path, "--out", out, "--force")
                self.assertEqual((run.returncode, run.stdout), (2, ""))
                self.assertRegex(run.stderr, r"\Acommand line:1:1: --out: [^\n]* lies in this "
                                             r"folder[^\n]*; name another folder\n\Z")
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), before)
        shutil.copy(platform, self.path("in", "mine.yaml"))
        self.refused(r"command line:1:1", "--out", "another folder", "--force", out="in", text=(
            "experiment: EXPERIMENT\nset: {platform: " + self.path("in", "mine.yaml") + "}\n"
            "axes: {workload.payload: [8 B]}\n"))

    def test_no_file_of_any_of_its_names_is_replaced_unasked(self):
        for name in ("results.csv", "points.jsonl", "report.html", "plots.gp", "fits.csv",
                     "message_rate.svg"):
            folder = f"out of {name}"
            os.mkdir(self.path(folder))
            self.write(os.path.join(folder, name), "mine")
            self.refused(r"command line:1:1", "--out", "--force", out=folder)
            self.refused(r"command line:1:1", "--out", "--force", "--resume", out=folder)

    def test_a_metric_that_no_run_has_is_named_and_the_others_listed(self):
        text = ("experiment: EXPERIMENT\naxes: {workload.payload: [8 B, 16 B]}\n"
                "plot: {metrics: [issue_latency, isue_latency]}\n")
        run = self.sweep("out", text=text, status=2)
        self.assertRegex(run.stderr, r"\A[^\n]*sweep\.yaml:3:33: plot\.metrics: no run has a "
                                     r"metric isue_latency; use [^\n]*issue_latency[^\n]*\n\Z")
        # One run told; the other one did not run.
        self.assertEqual(len(self.rows("out")), 1)
        self.assertFalse(os.path.exists(self.path("out", "report.html")))
        self.sweep("out", "--resume", text=text.replace("isue", "issue"))
        self.assertEqual(len(self.rows("out")), 2)

    def test_what_is_to_be_replaced_stays_where_no_run_has_the_metric(self):
        text = "experiment: EXPERIMENT\naxes: {workload.payload: [8 B, 16 B]}\n"
        self.sweep("out", text=text)
        names = sorted(os.listdir(self.path("out")))
        before = self.bytes_of("out")
        run = self.sweep("out", "--force", text=text + "plot: {metrics: [nope]}\n", status=2)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertEqual(sorted(os.listdir(self.path("out"))), names)
        self.assertEqual(self.bytes_of("out"), before)

    def test_a_metric_of_one_kind_of_run_may_be_plotted_beside_others(self):
        text = ("experiment: EXPERIMENT\naxes: {workload.kind: [put_latency, round_trip]}\n"
                "plot: {metrics: [issue_latency, round_trip_p50]}\n")
        self.sweep("out", text=text)
        self.assertEqual(len(self.rows("out")), 2)

    def test_the_sweeps_of_this_repository_are_free_of_mistakes(self):
        names = os.listdir(os.path.join(ROOT, "configs/sweeps"))
        self.assertGreater(len(names), 0)
        for name in names:
            # All points are checked before the folder is.
            run = ringpost("sweep", os.path.join(ROOT, "configs/sweeps", name), "--out",
                           "/proc/nowhere")
            self.assertRegex(run.stderr, r"\Acommand line:1:1: --out: [^\n]+\n\Z")

    def test_ten_million_points_are_refused_at_once(self):
        values = ", ".join(str(n) for n in range(1, 217))
        text = (f"experiment: EXPERIMENT\naxes:\n  workload.operations: [{values}]\n"
                f"  workload.warm_up: [{values}]\n  nic.run_length: [{values}]\n")
        self.refused(r"sweep\.yaml:3:3", "axes", "fewer values", text=text)

    def test_files_that_are_no_sweeps_are_refused_in_one_line(self):
        for text, place, key in (
                ("axes: {seed: [1]}\n", "1:8", "seed"),
                ("axes: {workload.payload: []}\n", "1:26", r"workload\.payload"),
                ("axes: {workload.payload: 8 B}\n", "1:26", r"workload\.payload"),
                ("axes: {workload.payload: [8 B, 8 B]}\n", "1:32", r"workload\.payload"),
                ("experiment: EXPERIMENT\n", "1:1", "axes"),
                ("axes: {workload.payload: [8 B]}\n", "1:1", "experiment"),
                ("experiment: nowhere\naxes: {workload.payload: [8 B]}\n", "1:1", "file"),
                ("experimnt: EXPERIMENT\n", "1:1", "experimnt"),
                ("experiment: EXPERIMENT\nset: {workload.payload: 8 B}\n"
                 "axes: {workload.payload: [8 B]}\n", "2:7", r"workload\.payload"),
                ("experiment: EXPERIMENT\naxes: {workload.payload: [8 B]}\nplot: {x: seed}\n",
                 "3:11", r"plot\.x")):
            self.refused(place, key, ".", text=text)

    def test_folders_that_cannot_be_written_to_are_refused(self):
        self.write("file", "")
        self.refused(r"command line:1:1", "--out", "another", out="file")
        self.refused(r"command line:1:1", "--out", "elsewhere", out="/proc/nowhere")
        for jobs in ("0", "-1", "1025", "1.5", "x", "99999999999999999999"):
            self.refused(r"command line:1:1", "--jobs", "give 1 to 1024", "--jobs", jobs)
            self.refused(r"command line:1:1", "--jobs", "give 1 to 1024", f"--jobs={jobs}")

    def test_two_sweeps_do_not_write_to_one_folder(self):
        os.mkdir(self.path("out"))
        folder = os.open(self.path("out"), os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.refused(r"command line:1:1", "--out", "another folder")


if __name__ == "__main__":
    case_report.main()
