"""`run --lookups`: what context caches were asked, and a run that is answered from it."""

import json
import os
import re
import tempfile
import unittest

from tests import case_report
from tests.cli.program import ringpost

# More QPs than contexts fit, so that look-ups hit and miss.
RATE = """transport: {qps_per_peer: 12, publication: per_thread}
workload: {kind: message_rate, operations: 120, warm_up: 12, threads: 12}
"""
SMALL = "{model: random, entries_count: 8}"


class Lookups(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("run.yaml", RATE)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def platform(self, cache, more=""):
        return self.write("mine.yaml", "base: p_ib\ncaches:\n"
                          f"  requester_context: {cache}\n  responder_context: {cache}\n{more}")

    def run_it(self, *arguments, status=0):
        run = ringpost("run", self.path("run.yaml"), "--set", "platform=" + self.path("mine.yaml"),
                       *arguments)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def result(self, *arguments):
        self.run_it("--quiet", "--json", self.path("out.json"), *arguments)
        return json.loads(self.read("out.json"))

    def record(self):
        """The result of a run with small caches, whose look-ups are in lookups.csv."""
        self.platform(SMALL)
        return self.result("--lookups", self.path("lookups.csv"))

    def test_the_file_has_every_look_up_that_is_counted(self):
        counters = self.record()["counters"]
        lines = self.read("lookups.csv").splitlines()
        self.assertEqual(lines[1], "node,cache,qpn,line,found")
        for node in (0, 1):
            for role in ("requester", "responder"):
                for found, name in (("hit", "hits"), ("miss", "misses")):
                    rows = [line for line in lines
                            if re.fullmatch(rf"{node},{role}_context,\d+,0,{found}", line)]
                    self.assertEqual(len(rows), counters[f"nic{node}.{role}_context_{name}"])
        self.assertGreater(counters["nic0.requester_context_hits"], 0)
        self.assertGreater(counters["nic0.requester_context_misses"], 0)
        self.assertEqual(lines[-1], f"end,{len(lines) - 3}")

    def test_a_replay_of_a_run_is_that_run(self):
        recorded = self.record()
        self.platform("{model: replay, file: lookups.csv, unrecorded: refuse}")
        replayed = self.result("--lookups", self.path("again.csv"))
        self.assertEqual(self.read("again.csv"), self.read("lookups.csv"))
        self.assertEqual(replayed["metrics"], recorded["metrics"])
        self.assertNotEqual(replayed["config_hash"], recorded["config_hash"])

    def test_a_replay_keeps_hits_and_misses_where_they_cost_something_else(self):
        recorded = self.record()
        self.platform("{model: replay, file: lookups.csv, unrecorded: refuse}",
                      "nic: {context_miss: {value: 5 us, provenance: assumed, source: a test}}\n")
        replayed = self.result()
        for counter in ("hits", "misses"):
            name = f"nic0.requester_context_{counter}"
            self.assertEqual(replayed["counters"][name], recorded["counters"][name])
        rates = [run["metrics"]["message_rate"]["value"] for run in (replayed, recorded)]
        self.assertLess(rates[0], rates[1])

    def test_the_hash_is_over_what_a_recording_says_and_not_where_it_lies(self):
        self.record()
        cache = "{model: replay, file: FILE, unrecorded: miss}"
        self.platform(cache.replace("FILE", "lookups.csv"))
        one = self.result()["config_hash"]
        text = self.read("lookups.csv")
        self.write("other.csv", text)
        self.platform(cache.replace("FILE", self.path("other.csv")))
        self.assertEqual(self.result()["config_hash"], one)
        self.write("other.csv", re.sub(",miss\n", ",hit\n", text, count=1))
        self.assertNotEqual(self.result()["config_hash"], one)

    def test_a_run_of_more_look_ups_than_were_recorded_fails_or_goes_on_as_asked(self):
        self.record()
        for unrecorded, status in (("refuse", 1), ("miss", 0), ("hit", 0)):
            self.platform("{model: replay, file: lookups.csv, unrecorded: %s}" % unrecorded)
            run = self.run_it("--set", "workload.operations=132", status=status)
            if status == 0:
                continue
            self.assertRegex(run.stderr, r"\A[^\n]*the run failed: [^\n]*lookups\.csv has \d+ "
                                         r"look-ups of QP \d+, line 0, at node 0, and [^\n]*\n\Z")

    def test_a_file_that_was_cut_or_is_none_is_named_with_its_line(self):
        self.record()
        self.platform("{model: replay, file: lookups.csv, unrecorded: refuse}")
        text = self.read("lookups.csv")
        lines = text.splitlines(keepends=True)
        key = r"caches\.requester_context\.file"
        for bad, place, wrong in (
                ("".join(lines[:50]), r"lookups\.csv:50:1", "the file ends after 48 look-ups"),
                (text[:len(lines[0]) + len(lines[1]) + 7], r"lookups\.csv:3:1", "'0,reque' is no"),
                ("", r"lookups\.csv:1:1", "is not 'ringpost-lookups,1'"),
                (text.replace(",miss\n", ",mist\n", 1), r"lookups\.csv:\d+:1", "'.*mist' is no")):
            self.write("lookups.csv", bad)
            run = self.run_it(status=2)
            self.assertRegex(run.stderr, rf"\A[^\n]*{place}: {key}: {wrong}[^\n]*; [^\n]+\n\Z")
        os.remove(self.path("lookups.csv"))
        run = self.run_it(status=2)
        self.assertRegex(run.stderr, rf"\A[^\n]*mine\.yaml:3:\d+: {key}: '[^\n]*' cannot be read "
                                     r"\([^\n]+\); [^\n]+\n\Z")

    def test_no_output_replaces_the_recording_that_a_run_reads(self):
        self.record()
        before = self.read("lookups.csv")
        self.platform("{model: replay, file: lookups.csv, unrecorded: refuse}")
        for option in ("--lookups", "--json"):
            run = self.run_it(option, self.path("lookups.csv"), status=2)
            self.assertRegex(run.stderr, rf"\A[^\n]*{option}: [^\n]*is a file that this run "
                                         r"reads[^\n]*\n\Z")
        self.assertEqual(self.read("lookups.csv"), before)


if __name__ == "__main__":
    case_report.main()
