"""A trace that Perfetto opens, and one put told in the terminal."""

import collections
import json
import os
import re
import tempfile
import unittest

from tests import case_report
from tests.cli.program import ringpost

LATENCY = "workload: {kind: put_latency, operations: 30, warm_up: 3}\n"
RATE = """transport: {publication: batched, batch: 4, qps_per_peer: 8}
workload: {kind: message_rate, operations: 64, warm_up: 32, threads: 8, sms_count: 2}
"""
SHARED = """transport: {publication: ordered_handoff, qps_per_peer: 1, batch: 2}
workload: {kind: message_rate, operations: 24, warm_up: 8, threads: 4, threads_per_qp: 4}
"""
WARP = """transport: {publication: cooperative}
workload: {kind: message_rate, operations: 64, warm_up: 32, threads: 32, threads_per_qp: 32}
"""
TRIP = "workload: {kind: round_trip, operations: 20, warm_up: 2}\n"
LONG = "workload: {kind: put_latency, operations: 5, warm_up: 1, payload: 16 KiB}\n"
ALL = (LATENCY, RATE, SHARED, WARP, TRIP, LONG)


def ps(number):
    """Of a time in microseconds, exactly."""
    return round(number * 1e6)


class TraceCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, text):
        with open(self.path("config.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path("config.yaml")

    def run_it(self, text, *arguments, status=0):
        run = ringpost("run", self.write(text), *arguments)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def trace(self, text, *arguments):
        self.run_it(text, "--quiet", "--trace", self.path("trace.json"), *arguments)
        with open(self.path("trace.json"), encoding="utf-8") as file:
            return file.read()

    def events(self, text):
        return json.loads(self.trace(text))["traceEvents"]


class File(TraceCase):
    def test_a_disk_that_is_full_ends_the_run_in_one_line(self):
        run = self.run_it(LATENCY, "--quiet", "--trace", "/dev/full", status=1)
        self.assertRegex(run.stderr, r"\A[^\n]*/dev/full[^\n]*\n\Z")

    def test_every_track_has_a_name_and_its_slices_nest(self):
        for text in ALL:
            with self.subTest(text):
                events = self.events(text)
                processes = {e["pid"]: e["args"]["name"] for e in events
                             if e["ph"] == "M" and e["name"] == "process_name"}
                threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events
                           if e["ph"] == "M" and e["name"] == "thread_name"}
                self.assertEqual(len(set(processes.values())), len(processes))
                self.assertEqual({re.sub(r"node \d+: ", "", name) for name in processes.values()},
                                 {"threads", "NIC", "QPs"})
                tracks = collections.defaultdict(list)
                for event in events:
                    self.assertIn(event["ph"], "XMstf")
                    self.assertIn(event["pid"], processes)
                    if event["ph"] == "X":
                        self.assertIn((event["pid"], event["tid"]), threads)
                        tracks[event["pid"], event["tid"]].append(event)
                self.assertEqual(set(tracks), set(threads))
                names = " ".join(threads.values())
                for name in ("thread 0", "QP ", "doorbell", "fetch", "transmit", "link", "respond",
                             "cqe"):
                    self.assertIn(name, names)
                for slices in tracks.values():
                    self.assert_nests(slices)

    def assert_nests(self, slices):
        """In the order of the file, each begins after the last one, or lies within it."""
        around = []
        for event in slices:
            begin = ps(event["ts"])
            end = begin + ps(event["dur"])
            while around and around[-1] <= begin:
                around.pop()
            if around:
                self.assertLessEqual(end, around[-1])
            around.append(end)

    def puts(self, events):
        """Of each put its slice among the QPs, and the stages below it."""
        processes = {e["pid"]: e["args"]["name"] for e in events
                     if e["ph"] == "M" and e["name"] == "process_name"}
        of_qps = [e for e in events if e["ph"] == "X" and processes[e["pid"]].endswith("QPs")]
        puts = []
        for event in of_qps:
            if event["name"].startswith("WQE "):
                puts.append((event, []))
            else:
                self.assertEqual(event["args"], puts[-1][0]["args"])
                puts[-1][1].append(event)
        return puts

    def test_the_stages_of_a_put_follow_each_other_from_its_issue_to_its_cqe(self):
        for text in ALL:
            with self.subTest(text):
                puts = self.puts(self.events(text))
                self.assertGreaterEqual(len(puts), 6)
                for put, stages in puts:
                    at = ps(put["ts"])
                    for stage in stages:
                        self.assertEqual(ps(stage["ts"]), at)
                        self.assertGreater(stage["dur"], 0)
                        at += ps(stage["dur"])
                    self.assertEqual(at, ps(put["ts"]) + ps(put["dur"]))
                    names = [stage["name"] for stage in stages]
                    self.assertEqual(names[-1], "CQE")
                    for earlier, later in zip(("write WQE", "doorbell", "transmit", "link"),
                                              ("doorbell", "transmit", "link", "respond")):
                        self.assertLess(names.index(earlier), names.index(later), names)

    def test_arrows_lead_from_the_issue_of_each_put_to_the_wait_that_ends_with_its_cqe(self):
        for text in (LATENCY, RATE, SHARED, WARP, LONG):
            with self.subTest(text):
                events = self.events(text)
                arrows = collections.defaultdict(list)
                for event in events:
                    if event["ph"] in "stf":
                        arrows[event["id"]].append(event)
                self.assertEqual(len(arrows), len(self.puts(events)))
                for steps in arrows.values():
                    steps.sort(key=lambda e: (ps(e["ts"]), "stf".index(e["ph"])))
                    self.assertEqual(steps[0]["ph"] + steps[-1]["ph"], "sf")
                    self.assertEqual({e["ph"] for e in steps[1:-1]}, {"t"})
                    names = [self.around(events, step)["name"] for step in steps]
                    self.assertRegex(names[0], r"\Aissue \d+\Z")
                    self.assertRegex(names[-1], r"\Await \d+\Z")

    def around(self, events, step):
        """The slice of its track that begins last before this time, or with it."""
        within = [event for event in events if event["ph"] == "X"
                  and (event["pid"], event["tid"]) == (step["pid"], step["tid"])
                  and ps(event["ts"]) <= ps(step["ts"]) <= ps(event["ts"]) + ps(event["dur"])]
        self.assertTrue(within, f"an arrow to nowhere: {step}")
        return max(within, key=lambda event: ps(event["ts"]))

    def test_equal_seeds_give_equal_bytes_and_a_trace_changes_no_result(self):
        for text in ALL:
            first = self.trace(text, "--json", self.path("with.json"))
            self.assertEqual(first, self.trace(text, "--seed=1"))
            self.run_it(text, "--quiet", "--json", self.path("without.json"))
            with open(self.path("with.json"), encoding="utf-8") as one:
                with open(self.path("without.json"), encoding="utf-8") as two:
                    self.assertEqual(one.read(), two.read())


class Timeline(TraceCase):
    def table(self, output):
        """Rows of the timeline: stage, begin, end, duration; in picoseconds."""
        row = re.compile(r"(?m)^([A-Za-z][\w ]*?) +(\d+)\.(\d{3}) +(\d+)\.(\d{3}) +(\d+)\.(\d{3})$")
        return [(m[1], int(m[2] + m[3]), int(m[4] + m[5]), int(m[6] + m[7]))
                for m in row.finditer(output)]

    def test_its_stages_add_up_to_the_latency_that_the_run_reports(self):
        for text in (LATENCY, LONG, "transport: {ordering: system_fence}\n" + LATENCY,
                     "transport: {indices: memory}\n" + LATENCY):
            run = self.run_it(text, "--timeline", "--json", self.path("run.json"))
            rows = self.table(run.stdout)
            self.assertEqual(rows[0][1], 0)
            for before, after in zip(rows, rows[1:]):
                self.assertEqual(before[2], after[1])
            for _, begin, end, duration in rows:
                self.assertEqual(end - begin, duration)
            total = int(re.search(r"(?m)^sum +(\d+\.\d{3})$", run.stdout)[1].replace(".", ""))
            self.assertEqual(sum(row[3] for row in rows), total)
            with open(self.path("run.json"), encoding="utf-8") as file:
                metrics = json.load(file)["metrics"]
            self.assertEqual(total, ps(metrics["put_completion_latency"]["value"]))
            issued = re.search(r"(?m)^the thread went on after (\d+\.\d{3}) ns", run.stdout)
            self.assertAlmostEqual(float(issued[1]) / 1e3, metrics["issue_latency"]["value"], 2)

    def test_one_is_found_also_where_threads_divide_the_warm_up_or_share_a_queue(self):
        warm_up = "operations: 64, warm_up: 600, threads: 32, threads_per_qp: 32}\n"
        for publication in ("cooperative, batch: 32", "ordered_handoff, batch: 32", "locked"):
            text = (f"transport: {{publication: {publication}}}\n"
                    f"workload: {{kind: message_rate, {warm_up}")
            self.assertRegex(self.run_it(text, "--timeline").stdout, r"(?m)^sum +\d+\.\d{3}$")
        text = ("platform: p_h100\nranks: 3\nvisibility: {checker: off}\n"
                "transport: {kind: dc, publication: cooperative, qps_per_peer: 4, "
                "sq_depth_wqebbs: 64}\n"
                "workload: {kind: connection_scaling, writes_per_visit: 32, "
                "threads: 64, threads_per_qp: 32, sms_count: 2}\n")
        self.assertRegex(self.run_it(text, "--timeline").stdout, r"(?m)^sum +\d+\.\d{3}$")

    def test_any_put_can_be_asked_for_by_its_numbers(self):
        median = self.run_it(LATENCY, "--timeline").stdout
        wqe, qpn = re.search(r"(?m)^WQE (\d+) of QP (\d+), from thread 0 of node 0,",
                             median).groups()
        again = self.run_it(LATENCY, "--timeline", f"{qpn}:{wqe}").stdout
        self.assertEqual(self.table(median), self.table(again))
        other = self.run_it(LATENCY, f"--timeline={qpn}:1").stdout
        self.assertIn(f"\nWQE 1 of QP {qpn}, from thread 0", other)

    def test_what_cannot_be_shown_is_refused_in_one_line(self):
        for text, arguments, wrong in (
                (LATENCY, ("--timeline", "64"), "'64' names no put; give QPN:WQE"),
                (LATENCY, ("--timeline", "64:x"), "'64:x' names no put; give QPN:WQE"),
                (LATENCY, ("--timeline", "64:99999"), "no thread posted WQE 99999 of QP 64; look"),
                (LATENCY, ("--timeline", "--quiet"), "--quiet prints nothing; leave out one"),
                ("backend: live\n" + LATENCY, ("--timeline",), "backend live has no trace")):
            run = self.run_it(text, *arguments, status=2)
            self.assertEqual(run.stdout, "")
            self.assertRegex(run.stderr, rf"\Acommand line:1:1: --timeline: "
                                         rf"[^\n]*{re.escape(wrong)}[^\n]*\n\Z")


if __name__ == "__main__":
    case_report.main()
