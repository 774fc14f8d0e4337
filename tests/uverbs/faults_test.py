"""`ringpost exec --config`: faults and the pace of a platform reach any program."""

import json
import os
import re
import subprocess
import tempfile
import unittest

from tests import case_report
from tests.uverbs import pair

RETRY_EXCEEDED, REMOTE_ACCESS = 12, 10  # of ibv_wc_status
SLOW = "60 us"


class Configured(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def config(self, text):
        with open(self.path("config.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        return "--config=" + file.name

    def counters(self, side):
        with open(self.path(side), encoding="utf-8") as file:
            [nic] = json.load(file)["nics"]
        return nic

    def run_pair(self, program, words, text, sides=("server", "client"), **more):
        """Both count; those of `sides` have the configuration."""
        options = [[f"--json={self.path(side)}", *([self.config(text)] if side in sides else [])]
                   for side in ("server", "client")]
        return pair.Pair(program, words, options=options, **more)


@pair.needs("ib_write_lat", "perftest")
class Faults(Configured):
    def test_one_percent_of_loss_is_survived_and_its_retries_are_counted(self):
        rules = "faults: {rules: [{where: wire, kind: drop, probability: 1 %}]}\n"
        # A packet that is lost waits for the ACK timeout: 4.096 us * 2^8.
        both = self.run_pair("ib_write_bw", ["-F", "-n", "2000", "-s", "2048", "-u", "8"], rules)
        self.assertTrue(both.ok(), both.said())
        client = self.counters("client")
        lost = client["counters"]["faults_dropped"]
        self.assertGreater(lost, 0)
        self.assertGreater(client["all_qps"]["packets_retransmitted"], 0)
        self.assertEqual(client["all_qps"]["error_cqes"], 0)

    def test_all_faults_of_the_wire_at_once_change_nothing_but_counters(self):
        rules = "faults:\n  rules:\n" + "".join(
            f"  - {{where: wire, kind: {kind}, probability: 2 %, amount: {amount}}}\n"
            for kind, amount in (("delay", "20 us"), ("reorder", "50 us"), ("duplicate", "30 us"),
                                 ("corrupt", "0 ns")))
        both = self.run_pair("ib_send_bw", ["-F", "-n", "2000", "-s", "1024", "-u", "8"], rules)
        self.assertTrue(both.ok(), both.said())
        counters = self.counters("client")["counters"]
        for name in ("delayed", "reordered", "duplicated", "corrupted"):
            self.assertGreater(counters["faults_" + name], 0, name)

    def test_a_link_that_is_down_for_two_seconds_is_outlived(self):
        rules = ("faults: {rules: [{where: wire, kind: link_down, amount: 2000 ms, "
                 "at: {qp: 0, wqe: 5}}]}\n")
        both = self.run_pair("ib_write_lat", ["-F", "-n", "20"], rules, sides=("client",))
        self.assertTrue(both.ok(), both.said())
        client = self.counters("client")
        self.assertGreater(client["counters"]["faults_link_down"], 0)
        self.assertGreater(client["all_qps"]["timeouts"], 0)

    def test_a_link_that_stays_down_ends_in_a_retry_exceeded_error(self):
        rules = ("faults: {rules: [{where: wire, kind: link_down, amount: 1000000 ms, "
                 "at: {qp: 0, wqe: 5}}]}\n")
        both = self.run_pair("ib_write_bw", ["-F", "-n", "20", "-u", "8"], rules,
                             sides=("client",))
        self.assertNotEqual(both.client, 0)
        self.assertRegex(both.client_said, f"Failed status {RETRY_EXCEEDED}")
        self.assertGreater(self.counters("client")["all_qps"]["error_cqes"], 0)

    def test_an_injected_error_is_what_the_program_reports(self):
        rules = ("faults: {rules: [{where: requester, kind: error, at: {qp: 0, wqe: 7}, "
                 "syndrome: remote_access}]}\n")
        both = self.run_pair("ib_write_bw", ["-F", "-n", "50"], rules, sides=("client",))
        self.assertNotEqual(both.client, 0)
        self.assertRegex(both.client_said, f"Failed status {REMOTE_ACCESS}")

    def test_faults_that_no_live_nic_has_are_refused_in_one_line(self):
        for rule in ("{where: cqe, kind: delay, amount: 1 us}", "{where: fetch, kind: pause, "
                     "amount: 1 us}", "{where: doorbell, kind: drop}"):
            run = subprocess.run(
                [pair.PROGRAM, "exec", self.config(f"faults:\n  rules: [{rule}]\n"), "--", "true"],
                capture_output=True, text=True, timeout=pair.PATIENCE_S, check=False)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
            self.assertRegex(run.stderr, r"config\.yaml:2:\d+: faults\.rules: .*use where: wire")


@pair.needs("ib_write_bw", "perftest")
class Pace(Configured):
    def test_completions_come_no_earlier_than_the_platform_says(self):
        with open(self.path("slow.yaml"), "w", encoding="utf-8") as file:
            file.write(f"base: p_ib\nnic:\n  qp_serial: {{value: {SLOW}, "
                       "provenance: assumed, source: this test}\n")
        # So slow that each put of a queue takes so long at least, whatever else it costs.
        text = f"platform: {self.path('slow.yaml')}\nlive: {{pace: platform}}\n"
        puts = 500
        both = self.run_pair("ib_write_bw", ["-F", "-n", str(puts), "-s", "8"], text,
                             sides=("client",))
        self.assertTrue(both.ok(), both.said())
        counters = self.counters("client")["counters"]
        self.assertGreater(counters["pace_held"], 0)
        [row] = re.findall(r"^\s*8\s+\d+\s+\S+\s+\S+\s+(\S+)", both.client_said, re.MULTILINE)
        # Millions of messages a second, of those that end with the last completion.
        self.assertLessEqual(float(row), 1 / 60 * 1.05)


if __name__ == "__main__":
    case_report.main()
