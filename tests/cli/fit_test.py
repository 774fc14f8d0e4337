"""`ringpost fit`: a number that is known is found again, and goes where it can be used."""

import json
import os
import re
import shutil
import tempfile
import unittest

from tests import case_report
from tests.cli.program import ROOT, ringpost

EXPERIMENT = "workload: {kind: put_latency, operations: 20, warm_up: 2}\n"
KNOWN = """base: p_ib
gpu:
  wqe_build: {cycles: 300, provenance: assumed, source: this test}
  fence_acq_rel_gpu: {value: 250 ns, provenance: assumed, source: this test}
"""
ROW = """- id: {id}
  platform: {platform}
  metric: {metric}
  value: {value}
  unit: us
  source: this test
  experiment: EXPERIMENT
  set: {{transport.ordering: {ordering}, transport.unsafe: true}}
  role: fitted_on
"""
PLAN = """stages:
- rows: [bare]
  move:
  - {platform: p_ib, parameters: [gpu.wqe_build], part: cycles, from: 20, to: 900}
- rows: [fenced]
  move:
  - {platform: p_ib, parameters: [gpu.fence_acq_rel_gpu], part: time, from: 50, to: 1000}
"""


class FitCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("experiment.yaml", EXPERIMENT)
        self.write("known.yaml", KNOWN)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text.replace("EXPERIMENT", self.path("experiment.yaml")))
        return self.path(name)

    def read(self, *names):
        with open(self.path(*names), encoding="utf-8") as file:
            return file.read()

    def measured(self, platform, ordering):
        """The issue latency of a platform."""
        run = ringpost("run", self.path("experiment.yaml"), "--quiet", "--json",
                       self.path("run.json"), "--set", f"platform={platform}", "--set",
                       f"transport.ordering={ordering}", "--set", "transport.unsafe=true")
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(self.read("run.json"))["metrics"]["issue_latency"]["value"]

    def figures(self, platform="P-IB"):
        """Rows of the known platform."""
        rows = "".join(
            ROW.format(id=name, metric="issue_latency", ordering=ordering, platform=platform,
                       value=self.measured(self.path("known.yaml"), ordering))
            for name, ordering in (("bare", "none"), ("fenced", "gpu_fence")))
        return self.write("figures.yaml", rows)

    def fit(self, *arguments, plan=PLAN, status=0, **variables):
        run = ringpost("fit", self.write("plan.yaml", plan), *arguments, **variables)
        self.assertEqual(run.returncode, status, run.stderr)
        return run


class Fitted(FitCase):
    def test_known_numbers_are_found_again_and_make_a_platform(self):
        figures = self.figures()
        run = self.fit("--figures", figures, "--out", self.path("mine.yaml"), "--json",
                       self.path("fit.json"))
        fit = json.loads(self.read("fit.json"))
        known = {"gpu.wqe_build": (300, "cycles"), "gpu.fence_acq_rel_gpu": (250, "ns")}
        self.assertEqual([number["parameters"] for number in fit["numbers"]],
                         [[key] for key in known])
        for number in fit["numbers"]:
            value, unit = known[number["parameters"][0]]
            self.assertAlmostEqual(number["value"] / value, 1, delta=0.01)
            self.assertEqual(number["unit"], unit)
        self.assertEqual([row["row"] for row in fit["residuals"]], ["bare", "fenced"])
        for row in fit["residuals"]:
            self.assertLess(abs(row["relative_error"]), 0.005)
            self.assertRegex(run.stdout, rf"(?m)^{row['row']} .* us .* us +[+-]0\.\d %$")
        text = self.read("mine.yaml")
        self.assertIn("\nbase: p_ib\n", text)
        self.assertRegex(text, r"\n  wqe_build: \{cycles: \d+(\.\d)?, provenance: fitted, "
                               r'source: "bare"\}\n')
        self.assertRegex(text, r"\n#   bare +\S+ us +\S+ us +[+-]0\.\d %\n")
        for ordering in ("none", "gpu_fence"):
            again = self.measured(self.path("mine.yaml"), ordering)
            self.assertAlmostEqual(again / self.measured(self.path("known.yaml"), ordering), 1,
                                   delta=0.005)

    def test_the_same_rows_give_the_same_bytes(self):
        figures = self.figures()
        for name in ("one.yaml", "two.yaml"):
            self.fit("--figures", figures, "--out", self.path(name))
        self.assertEqual(self.read("one.yaml"), self.read("two.yaml"))

    def test_it_writes_the_platform_files_and_nothing_but_the_numbers_in_them(self):
        figures = self.figures()
        shutil.copytree(os.path.join(ROOT, "configs"), self.path("configs"))
        name = self.path("configs", "platforms", "p_ib.yaml")
        before = self.read(name).splitlines()
        others = {other: self.read("configs", "platforms", other)
                  for other in os.listdir(self.path("configs", "platforms"))
                  if other != "p_ib.yaml"}
        self.fit("--figures", figures, "--write", RINGPOST_ROOT=self.folder)
        after = self.read(name).splitlines()
        self.assertEqual(len(before), len(after))
        changed = [new for old, new in zip(before, after) if old != new]
        self.assertCountEqual([line.split(":")[0].strip() for line in changed],
                              ["wqe_build", "fence_acq_rel_gpu"])
        for other, text in others.items():
            self.assertEqual(self.read("configs", "platforms", other), text)


    def test_what_a_derived_platform_is_fitted_to_can_be_run(self):
        for name, shown in (("p_gb200", "P-GB200"), ("p_h100", "P-H100")):
            self.write("known.yaml", KNOWN.replace("p_ib", name))
            figures = self.figures(shown)
            self.fit("--figures", figures, "--out", self.path("mine.yaml"),
                     plan=PLAN.replace("p_ib", name))
            self.assertIn(f"\nbase: {name}\n", self.read("mine.yaml"))
            for ordering in ("none", "gpu_fence"):
                again = self.measured(self.path("mine.yaml"), ordering)
                known = self.measured(self.path("known.yaml"), ordering)
                self.assertAlmostEqual(again / known, 1, delta=0.005)

    def test_a_number_that_is_moved_for_a_derived_platform_stays_that_of_its_base(self):
        figures = self.figures()
        plan = PLAN.replace("p_ib", "p_gb200")
        run = self.fit("--figures", figures, plan=plan, status=2)
        self.assertRegex(run.stderr, r"\A[^\n]*plan\.yaml:4:5: gpu\.wqe_build: of p_gb200 moves "
                                     r"none of these rows; [^\n]*\n\Z")
        # One of the base moves those that have it from there.
        self.write("known.yaml", KNOWN.replace("p_ib", "p_gb200"))
        figures = self.figures("P-GB200")
        self.fit("--figures", figures, plan=PLAN.partition("- rows: [fenced]")[0])

    def test_a_number_is_written_where_it_stands(self):
        self.write("known.yaml", KNOWN.replace("p_ib", "p_gb200"))
        figures = self.figures("P-GB200")
        shutil.copytree(os.path.join(ROOT, "configs"), self.path("configs"))
        run = self.fit("--figures", figures, "--write", plan=PLAN.replace("p_ib", "p_gb200"),
                       status=2, RINGPOST_ROOT=self.folder)
        self.assertRegex(run.stderr, r"\A[^\n]*plan\.yaml:4:5: gpu\.wqe_build: does not stand in "
                                     r"the file of p_gb200, which has it from p_ib; [^\n]*\n\Z")

    def test_the_unit_of_a_row_is_heeded(self):
        self.figures()
        text = self.read("figures.yaml")
        values = [float(value) for value in re.findall(r"value: (\S+)", text)]
        for value in values:
            text = text.replace(f"value: {value!r}\n  unit: us",
                                f"value: {value * 1e3!r}\n  unit: ns")
        self.assertEqual(text.count("unit: ns"), 2)
        self.fit("--figures", self.write("figures.yaml", text), "--json", self.path("fit.json"))
        numbers = json.loads(self.read("fit.json"))["numbers"]
        for number, known in zip(numbers, (300, 250)):
            self.assertAlmostEqual(number["value"] / known, 1, delta=0.01)

    def test_a_number_that_ends_at_its_bound_says_so(self):
        figures = self.figures()
        plan = PLAN.replace("from: 20, to: 900", "from: 20, to: 200")
        run = self.fit("--figures", figures, "--out", self.path("mine.yaml"), "--json",
                       self.path("fit.json"), plan=plan)
        self.assertRegex(run.stdout, r"(?m)^gpu\.wqe_build .* 20 to 200: it is at its upper bound ")
        self.assertNotRegex(run.stdout, r"(?m)^gpu\.fence_acq_rel_gpu .* bound ")
        self.assertIn("\n# gpu.wqe_build is at its upper bound: what the rows ask for may lie "
                      "beyond.\n", self.read("mine.yaml"))
        self.assertEqual([number["at_bound"] for number in
                          json.loads(self.read("fit.json"))["numbers"]], ["to", "none"])

    def test_times_of_a_shared_engine_may_be_moved_where_there_is_one(self):
        self.write("known.yaml", "base: p_h100\n")
        self.write("figures.yaml", ROW.format(id="bare", metric="put_completion_latency",
                                              ordering="none", value=5.0, platform="P-H100"))
        plan = PLAN.partition("- rows: [fenced]")[0].replace("part: cycles", "part: time")
        plan = plan.replace("gpu.wqe_build", "shared_engine.service").replace("p_ib", "p_h100")
        run = self.fit("--figures", self.path("figures.yaml"), plan=plan)
        self.assertRegex(run.stdout, r"(?m)^shared_engine\.service +p_h100 ")
        run = self.fit("--figures", self.path("figures.yaml"), plan=plan.replace("p_h100", "p_ib"),
                       status=2)
        self.assertRegex(run.stderr, r"\A[^\n]*plan\.yaml:4:\d+: shared_engine\.service: p_ib has "
                                     r"no shared engine; [^\n]*\n\Z")


class Mistakes(FitCase):
    def test_rows_that_fix_nothing_more_are_named(self):
        figures = self.figures()
        both = PLAN.partition("- rows: [fenced]")[0]
        run = self.fit("--figures", figures, plan=both.replace("[bare]", "[bare, bare]"), status=2)
        self.assertRegex(run.stderr, r"\A[^\n]*plan\.yaml:2:16: bare: stands here twice; .+\n\Z")
        text = self.read("figures.yaml")
        self.write("figures.yaml", text + text.partition("- id: fenced")[0].replace(
            "id: bare", "id: again"))
        self.fit("--figures", figures, plan=both.replace("[bare]", "[bare, again]"))
        two = both.replace("[bare]", "[bare, again]") + PLAN.rpartition("move:\n")[2]
        run = self.fit("--figures", figures, plan=two, status=2)
        self.assertRegex(run.stderr, r"\A[^\n]*plan\.yaml:2:9: rows: again measures what bare "
                                     r"does, so that they are fewer than the numbers to move; "
                                     r".+\n\Z")
        self.write("figures.yaml", re.sub(r"value: \S+", "value: [0.1, 0.2]", text))
        run = self.fit("--figures", figures, status=2)
        self.assertRegex(run.stderr, r"\A[^\n]*plan\.yaml:2:9: bare: is a range, and gives no "
                                     r"number to fit to; [^\n]*value_range\n\Z")

    def test_a_row_whose_platform_is_not_there_is_named(self):
        self.figures()
        self.write("figures.yaml", self.read("figures.yaml").replace("P-IB", "P-GB300"))
        run = self.fit("--figures", self.path("figures.yaml"), status=2)
        self.assertRegex(run.stderr, r"\A[^\n]*figures\.yaml:1:\d+: bare\.platform: there is no "
                                     r"platform file for P-GB300; did you mean p_gb200\?\n\Z")

    def test_what_cannot_be_fitted_is_named_with_its_place_and_nothing_is_written(self):
        figures = self.figures()
        shape = self.read("figures.yaml").replace("role:", "at_least: 0\n  role:")
        for plan, place, wrong in (
                (PLAN.replace("gpu.wqe_build", "gpu.wqe_bild"), r"4:35: gpu\.wqe_bild",
                 r"is no time of a platform; did you mean gpu\.wqe_build\?"),
                (PLAN.replace("gpu.wqe_build", "gpu.sms_count"), r"4:35: gpu\.sms_count",
                 r"is no time of a platform; .+"),
                (PLAN.replace("from: 20, to: 900", "from: 900, to: 20"), "4:5: from",
                 "900 is not below to, 20; give the lower bound first"),
                (PLAN.replace("from: 20", "from: -1"), r"4:\d+: from",
                 "is no number above zero; .+"),
                (PLAN.replace("part: cycles", "part: cycle"), r"4:\d+: part",
                 "'cycle' is no part of a cost; use cycles or time"),
                (PLAN.replace("platform: p_ib", "platform: p_bi"), r"4:16: platform",
                 r"there is no platform 'p_bi'; did you mean p_ib\?"),
                (PLAN.replace("[bare]", "[bear]"), "2:9: bear", "is no row of the figures; .+"),
                (PLAN.replace("[bare]", "[]"), "2:9: rows", "is empty; give a list"),
                (PLAN.replace("rows: [bare]", "phases: 1"), r"2:\d+: rows",
                 "are fewer than the numbers to move; give each number a row"),
                (PLAN.replace("gpu.fence_acq_rel_gpu", "gpu.wqe_build"), r"7:5: gpu\.wqe_build",
                 "is moved twice; .+"),
                (PLAN.replace("gpu.wqe_build", "path.read_host"), r"4:5: path\.read_host",
                 "of p_ib moves none of these rows; .+"),
                ("stages: []\n", "1:9: stages", "is empty; give a list"),
                ("covers: x\n", "1:1: stages", "are not there; .+"),
                ("covers: (\n" + PLAN, "1:9: covers", "is not a regular expression; .+"),
                ("stage: []\n", "1:1: stage", r"there is no such key; did you mean stages\?")):
            run = self.fit("--figures", figures, "--out", self.path("mine.yaml"), plan=plan,
                           status=2)
            self.assertRegex(run.stderr, rf"\A[^\n]*plan\.yaml:{place}: {wrong}\n\Z")
            self.assertEqual(run.stdout, "")
            self.assertFalse(os.path.exists(self.path("mine.yaml")))
        self.write("figures.yaml", shape)
        run = self.fit("--figures", figures, status=2)
        self.assertRegex(run.stderr, r"\A[^\n]*plan\.yaml:2:9: bare: gives no number to fit to: it "
                                     r"has a shape and no value; [^\n]*\n\Z")

    def test_a_row_that_does_not_run_is_named(self):
        figures = self.figures()
        self.write("experiment.yaml",
                   EXPERIMENT + "faults: {rules: [{where: responder, kind: error}]}\n")
        run = self.fit("--figures", figures, status=2)
        self.assertRegex(run.stderr, r"\A[^\n]*plan\.yaml:2:9: bare: gives no number to fit to: "
                                     r"the run failed: [^\n]*; [^\n]*\n\Z")

    def test_outputs_that_cannot_work_are_refused_before_anything_runs(self):
        figures = self.figures()
        two = PLAN + PLAN.partition("\n")[2].replace("p_ib", "p_gb200")
        for arguments, plan, option, wrong in (
                (("--out", self.path("mine.yaml")), two, "--out", "p_ib and p_gb200 are moved"),
                (("--out", self.path("nowhere", "x")), PLAN, "--out", "there is no folder"),
                (("--out", figures), PLAN, "--out", "is a file that this run reads"),
                (("--json", self.path("plan.yaml")), PLAN, "--json", "is a file that this run"),
                (("--out", os.path.join(ROOT, "configs/platforms/p_ib.yaml")), PLAN, "--out",
                 "is a file that this run reads"),
                (("--rows-only", "--write"), PLAN, "--rows-only", "fits nothing"),
                (("--docs", self.path("known.yaml")), PLAN, "--docs", "use --write")):
            run = self.fit("--figures", figures, *arguments, plan=plan, status=2)
            self.assertRegex(run.stderr, rf"\Acommand line:1:1: {option}: [^\n]*{re.escape(wrong)}"
                                         rf"[^\n]*\n\Z")


if __name__ == "__main__":
    case_report.main()
