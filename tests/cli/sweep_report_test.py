"""The curves of a sweep: as pictures, as a page, and without the program that draws them."""

import os
import re
import shutil
import statistics
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from tests import case_report
from tests.cli import browser
from tests.cli.program import ROOT, ringpost
from tests.cli.table import rows_of

EXPERIMENT = """platform: p_ib
transport: {publication: batched, batch: 16, indices: memory}
workload: {kind: message_rate, operations: 200, warm_up: 20}
"""
# Adversarial loads, so that seeds differ.
SWEEP = """experiment: EXPERIMENT
set: {visibility.mode: adversarial}
axes:
  transport.batch: [2, 8]
  transport.qps_per_peer, workload.threads: [1, 2, 4, 8]
seeds: [1, 2, 3]
"""
DRAWS = shutil.which("gnuplot") is not None


class ReportCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("experiment.yaml", EXPERIMENT)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text.replace("EXPERIMENT", self.path("experiment.yaml")))
        return self.path(name)

    def read(self, *names):
        with open(self.path(*names), encoding="utf-8") as file:
            return file.read()

    def sweep(self, out, *arguments, text=SWEEP, **variables):
        run = ringpost("sweep", self.write("sweep.yaml", text), "--out", self.path(out), *arguments,
                       **variables)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run


class WithoutGnuplot(ReportCase):
    def test_the_table_is_complete_and_one_line_says_what_is_missing(self):
        os.mkdir(self.path("empty"))
        run = self.sweep("out", PATH=self.path("empty"))
        self.assertEqual(len(rows_of(self.path("out"))), 24)
        self.assertRegex(run.stderr, r"\A[^\n]*results\.csv is complete[^\n]*gnuplot-nox[^\n]*\n\Z")
        self.assertFalse(os.path.exists(self.path("out", "report.html")))
        if DRAWS:
            self.sweep("out", "--resume")
            self.assertTrue(os.path.exists(self.path("out", "report.html")))


class OldReport(ReportCase):
    def test_none_of_it_stays_beside_new_results_and_nothing_else_goes(self):
        os.mkdir(self.path("empty"))
        os.mkdir(self.path("out"))
        for name in ("report.html", "old_metric.svg", "my_own.svg"):
            self.write(os.path.join("out", name), "old")
        self.write("out/plots.gp",
                   "# old\nset output 'old_metric.svg'\nset output '../sweep.yaml'\n")
        self.sweep("out", "--force", PATH=self.path("empty"))
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["my_own.svg", "plots.gp", "points.jsonl", "results.csv"])
        self.assertFalse(self.read("out", "plots.gp").startswith("# old"))
        self.assertTrue(os.path.exists(self.path("sweep.yaml")))


class GnuplotThatFails(ReportCase):
    def test_it_is_one_line_and_the_table_stays(self):
        os.mkdir(self.path("bin"))
        for words in ("exit 3", "kill -SEGV $$"):
            with open(self.path("bin", "gnuplot"), "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\necho noise >&2\n{words}\n")
            os.chmod(self.path("bin", "gnuplot"), 0o755)
            run = ringpost("sweep", self.write("sweep.yaml", SWEEP), "--out", self.path("out"),
                           "--force", PATH=self.path("bin"))
            self.assertEqual(run.returncode, 1)
            self.assertRegex(run.stderr,
                             r"\A[^\n]*results\.csv is complete; gnuplot failed[^\n]*\n\Z")
            self.assertEqual(len(rows_of(self.path("out"))), 24)
            self.assertFalse(os.path.exists(self.path("out", "report.html")))


@unittest.skipUnless(DRAWS, "gnuplot is not installed: apt-get install gnuplot-nox")
class Pictures(ReportCase):
    def test_each_metric_has_a_picture_and_each_curve_its_own_points(self):
        self.sweep("out")
        names = sorted(name for name in os.listdir(self.path("out")) if name.endswith(".svg"))
        self.assertEqual(names, ["message_rate.svg", "message_rate_per_qp.svg"])
        for name in names:
            picture = ElementTree.fromstring(self.read("out", name))
            self.assertTrue(picture.tag.endswith("svg"))
            texts = self.read("out", name)
            hovers = re.findall(r"showHypertext\(evt,'([^']*)'\)", texts)
            self.assertEqual(len(hovers), 8)
            curves = 4 * ["transport.batch 2"] + 4 * ["transport.batch 8"]
            self.assertEqual([h.split("\\n")[2] for h in hovers], curves)
            self.assertTrue(all("limited by: " in h and "_hit_rate: " in h for h in hovers))
            self.assertIn("simulated", texts)
            self.assertIn("seeds 1, 2, 3", texts)
            self.assertIn("transport.qps_per_peer, workload.threads", texts)

    def test_both_axes_are_logarithmic_where_the_values_are_geometric(self):
        self.sweep("out", text="experiment: rate_batched\nset: {workload.operations: 2000}\n"
                               "axes:\n  transport.qps_per_peer, workload.threads: [1, 4, 32]\n")
        script = self.read("out", "plots.gp")
        self.assertIn("\nset logscale x\nset logscale y\n", script)
        self.sweep("even", text=SWEEP.replace("[1, 2, 4, 8]", "[2, 4, 6, 8]"))
        self.assertNotIn("\nset logscale", self.read("even", "plots.gp"))

    def test_words_stand_side_by_side(self):
        self.sweep("out", text="experiment: EXPERIMENT\naxes: "
                               "{transport.ordering: [system_fence, gpu_fence]}\n")
        script = self.read("out", "plots.gp")
        self.assertIn("('system_fence' 0, 'gpu_fence' 1)", script)

    def test_a_point_is_the_median_of_its_seeds_and_bars_reach_to_the_extremes(self):
        self.sweep("out")
        rates = {}
        for row in rows_of(self.path("out")):
            key = (row["transport.batch"], row["transport.qps_per_peer"])
            rates.setdefault(key, []).append(float(row["message_rate"]))
        self.assertTrue(any(len(set(values)) > 1 for values in rates.values()))
        script = self.read("out", "plots.gp")
        drawn = re.findall(r"(?m)^(\d+) (\S+) (\S+) (\S+) \"message_rate: ", script)
        expected = [(key[1], statistics.median(values), min(values), max(values))
                    for key, values in rates.items()]
        self.assertEqual(len(drawn), len(expected))
        for (x, *values), (qps, *numbers) in zip(drawn, expected):
            self.assertEqual(x, qps)
            for value, number in zip(values, numbers):
                self.assertAlmostEqual(float(value) / number, 1, delta=1e-5)

    def test_published_values_of_the_same_configuration_stand_beside_the_curve(self):
        self.sweep("out", text="experiment: rate_batched\nset: {workload.operations: 64}\naxes:\n"
                               "  transport.batch: [8, 16]\n"
                               "  transport.qps_per_peer, workload.threads: [1, 2, 32]\n")
        published = re.findall(r"(?m)^(\S+) (\S+) \"published: ", self.read("out", "plots.gp"))
        # Table 5 of the publication has these two, and a rate for each QP is no rate.
        self.assertEqual(sorted(set(published)), [("1", "4.7"), ("32", "133")])
        # In the name and in the colour of the curve that they belong to.
        hovers = re.findall(r"\"published: [^\"]*", self.read("out", "plots.gp"))
        self.assertTrue(all("\\ntransport.batch 16\\n" in hover for hover in hovers), hovers)
        colours = re.findall(r"(?m)lc rgb '(#\w+)' title '(published, |)transport.batch 16'",
                             self.read("out", "plots.gp"))
        self.assertEqual(len({colour for colour, _ in colours}), 1)
        self.assertEqual({name for _, name in colours}, {"", "published, "})
        self.assertIn("Published at transport.qps_per_peer 1, transport.batch 16: 4.7 M msg/s",
                      self.read("out", "report.html"))

    def test_a_curve_is_named_so_that_no_other_key_could_be_meant(self):
        self.sweep("out", text="experiment: EXPERIMENT\n"
                               "set: {transport.ordering: system_fence}\naxes:\n"
                               "  transport.placement: [gpu, host]\n"
                               "  workload.placement: [gpu, host]\n"
                               "  workload.payload: [8 B, 16 B]\n"
                               "plot: {x: workload.payload}\n")
        names = re.findall(r"(?m)^.*lw 1.5 .* title '(.*?)'", self.read("out", "plots.gp"))
        self.assertEqual(names[:4], [f"transport.placement {queues}, workload.placement {payload}"
                                     for queues in ("gpu", "host") for payload in ("gpu", "host")])

    def test_points_that_failed_are_left_out_and_counted(self):
        run = ringpost("sweep", self.write("sweep.yaml", "experiment: EXPERIMENT\naxes:\n"
                       "  faults.rules: [[], [{where: responder, kind: error}]]\n"),
                       "--out", self.path("out"))
        self.assertEqual(run.returncode, 1)
        self.assertIn("1 of 2 points failed", self.read("out", "report.html"))
        self.assertEqual(self.read("out", "message_rate.svg").count("(evt,'message_rate: "), 1)

    def test_two_runs_draw_the_same_bytes_in_any_locale(self):
        self.sweep("one")
        self.sweep("two", LC_ALL="de_DE.UTF-8", HOME=self.folder)
        for name in os.listdir(self.path("one")):
            if name != "points.jsonl":  # in the order in which points were done
                self.assertEqual(self.read("one", name), self.read("two", name), name)

    def test_what_users_write_cannot_break_out_of_a_picture(self):
        shutil.copy(os.path.join(ROOT, "configs/platforms/p_ib.yaml"), self.path("it's <b>.yaml"))
        self.sweep("out", text="experiment: EXPERIMENT\naxes: {platform: [p_ib, "
                               f'"{self.path("it")}\'s <b>.yaml"]}}\n')
        ElementTree.fromstring(self.read("out", "message_rate.svg"))
        self.assertNotIn("<b>", self.read("out", "report.html"))

    def test_text_that_means_something_to_gnuplot_is_shown_as_it_is(self):
        name = "5 % %d %s#x @y $z {w}_^~ é"
        shutil.copy(os.path.join(ROOT, "configs/platforms/p_ib.yaml"), self.path(name + ".yaml"))
        axes = ("axes:\n  platform: [p_ib, \"" + self.path(name + ".yaml") + "\"]\n"
                "  transport.batch: [2, 4, 8]\n")
        for x in ("platform", "transport.batch"):
            self.sweep("out", "--force", text="experiment: EXPERIMENT\n" + axes +
                       f"plot: {{x: {x}}}\n")
            texts = [text.strip() for element in
                     ElementTree.fromstring(self.read("out", "message_rate.svg")).iter()
                     if element.tag.endswith("text") for text in ["".join(element.itertext())]]
            self.assertTrue(any(text.endswith(name + ".yaml") for text in texts), texts)


@unittest.skipUnless(DRAWS and browser.PROGRAM,
                     "gnuplot or Chromium is not installed: apt-get install gnuplot-nox chromium")
class Page(ReportCase):
    def show(self):
        self.sweep("out")
        os.mkdir(self.path("browser"))
        shown = browser.Browser(self.path("browser"))
        self.addCleanup(shown.close)
        self.url = "file://" + self.path("out", "report.html")
        shown.open(self.url)
        return shown

    def test_pointing_at_a_value_shows_it_and_nothing_is_fetched(self):
        page = self.show()
        self.assertEqual(page.value("document.querySelectorAll('svg').length"), 2)
        width = "document.querySelector('svg').getBoundingClientRect().width"
        self.assertGreater(page.value(width), 400)
        marks = "document.querySelectorAll('svg')[0].querySelectorAll('g')"
        # The script of the picture takes the attribute with the text: so it runs.
        self.assertEqual(page.value(f"[...{marks}].filter(g => "
                                    "g.hasAttribute('onmousemove') && g.id == '').length"), 0)
        shown = self.hover(page, series=1, x=2)
        row = [r for r in rows_of(self.path("out"))
               if (r["transport.batch"], r["transport.qps_per_peer"]) == ("8", "4")]
        median = statistics.median(float(r["message_rate"]) for r in row)
        self.assertIn(f"message_rate: {median:.6g} [", shown)
        self.assertIn("transport.qps_per_peer: 4", shown)
        self.assertIn("batch 8", shown)
        self.assertEqual([url for url in page.requests if not url.startswith("data:")], [self.url])
        self.assertEqual(page.complaints, [])

    def hover(self, page, series, x):
        """Moves the mouse to a point of the first plot; returns the text that is visible then."""
        box = ("document.querySelectorAll('svg')[0].querySelector('#hypertext')")
        self.assertEqual(page.value(f"{box}.getAttribute('visibility')"), "hidden")
        point = page.value(f"""(() => {{
            const uses = [...document.querySelectorAll('svg')[0].querySelectorAll('g > use')]
                .filter(use => use.parentNode.tagName == 'g' && use.parentNode.children.length == 2
                        && use.parentNode.firstElementChild.tagName == 'title');
            uses[{4 * series + x}].scrollIntoView({{block: 'center'}});
            const place = uses[{4 * series + x}].getBoundingClientRect();
            return [place.x + place.width / 2, place.y + place.height / 2];
        }})()""")
        page.move(*point)
        self.assertEqual(page.value(f"{box}.getAttribute('visibility')"), "visible")
        return page.value(f"{box}.textContent")

    def test_the_page_names_configuration_seeds_and_that_it_is_simulated(self):
        page = self.show()
        text = page.value("document.body.innerText")
        head = self.read("out", "results.csv").splitlines()[0]
        self.assertIn(head.removeprefix("# "), text)
        self.assertIn("simulated", text)
        self.assertIn("seeds 1, 2, 3", text)
        for row in rows_of(self.path("out")):
            if row["seed"] == "1":
                self.assertIn(row["config_hash"], text)
                self.assertIn(row["limited_by"], text)
        self.assertEqual(page.complaints, [])


if __name__ == "__main__":
    case_report.main()
