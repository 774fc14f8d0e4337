"""Each fault that a configuration file asks for is one that its run counts, feels or names."""

import json
import os
import tempfile
import unittest

from tests import case_report
from tests.cli.program import ringpost

CONFIG = "workload: {kind: put_latency, operations: 200, warm_up: 20}\n"


class Faults(unittest.TestCase):
    def run_with(self, *rules, more=""):
        """The finished process, and its result if there is one."""
        text = CONFIG + more + "faults:\n  rules:\n" + "".join(f"  - {rule}\n" for rule in rules)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            run = ringpost("run", path, "--quiet", "--json", "result.json", folder=folder)
            result = os.path.join(folder, "result.json")
            if not os.path.exists(result):
                return run, None
            with open(result, encoding="utf-8") as file:
                return run, json.load(file)

    def assert_counted(self, rule, **counters):
        run, result = self.run_with(rule)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        for name, value in counters.items():
            self.assertEqual(result["counters"][name.replace("__", ".")], value, name)

    def assert_failed(self, rule, line):
        run, result = self.run_with(rule)
        self.assertEqual((run.returncode, run.stdout, result), (1, "", None))
        self.assertEqual(run.stderr, f"ringpost: the run failed: {line}\n")

    def test_a_lost_packet_is_sent_again(self):
        self.assert_counted("{where: wire, kind: drop, at: {rank: 0, wqe: 5}, count: 1}",
                            nic0__packets_lost=1, nic0__timeouts=1,
                            nic0__packets_retransmitted=1)

    def test_a_repeated_packet_is_a_duplicate(self):
        self.assert_counted("{where: wire, kind: duplicate, at: {rank: 0}, amount: 1 us}",
                            nic0__packets_duplicated=220, nic1__duplicates=220)

    def test_a_corrupt_packet_fails_its_checksum(self):
        self.assert_counted("{where: wire, kind: corrupt, at: {rank: 0}, count: 1}",
                            nic1__icrc_errors=1, nic0__packets_retransmitted=1)

    def test_a_link_that_is_down_for_a_while_costs_a_timeout(self):
        self.assert_counted("{where: wire, kind: link_down, amount: 1 ms}",
                            nic0__packets_lost=1, nic0__timeouts=1)

    def test_a_doorbell_that_comes_again_says_nothing_new(self):
        self.assert_counted("{where: doorbell, kind: duplicate, amount: 1 us}",
                            nic0__doorbells_merged=220, nic0__wqes=220)

    def test_a_cqe_or_a_fetch_that_comes_late_is_felt(self):
        clean = self.run_with("{where: cqe, kind: delay, amount: 1 ns, at: {rank: 1}}")[1]
        for rule in ["{where: cqe, kind: delay, amount: 50 us}",
                     "{where: fetch, kind: pause, amount: 50 us}",
                     "{where: wire, kind: delay, amount: 50 us, at: {rank: 0}}",
                     "{where: wire, kind: reorder, amount: 50 us, at: {rank: 0}}"]:
            late = self.run_with(rule)[1]
            moved = [result["metrics"]["put_completion_latency"]["value"]
                     for result in (clean, late)]
            self.assertAlmostEqual(moved[1] - moved[0], 50, delta=0.5, msg=rule)

    def test_a_lost_doorbell_ends_the_wait_in_one_line(self):
        self.assert_failed("{where: doorbell, kind: drop, count: 1}",
                           "a put timed out: QP 0x100, WQE 0, syndrome 0x00, vendor syndrome 0x00")

    def test_a_failed_wqe_is_named_with_its_syndrome(self):
        self.assert_failed("{where: requester, kind: error, at: {wqe: 7}}",
                           "a put completed in error: QP 0x100, WQE 7, syndrome 0x02, vendor "
                           "syndrome 0x00")
        self.assert_failed("{where: requester, kind: error, at: {wqe: 7}, "
                           "syndrome: remote_access}",
                           "a put completed in error: QP 0x100, WQE 7, syndrome 0x13, vendor "
                           "syndrome 0x00")

    def test_a_wire_that_loses_everything_ends_in_retry_exceeded(self):
        for behaviour in ("mlx5", "strict"):
            run, _ = self.run_with("{where: wire, kind: drop}",
                                   more=f"nic: {{behaviour: {behaviour}}}\n")
            self.assertEqual(run.returncode, 1)
            self.assertIn("syndrome 0x15, vendor syndrome 0x81", run.stderr)

    def test_equal_seeds_lose_equal_packets(self):
        rule = "{where: wire, kind: drop, at: {rank: 0}, probability: 1 %}"
        lost = [self.run_with(rule, more=f"seed: {seed}\n")[1]["counters"]
                for seed in (7, 7, 8, 9, 10)]
        self.assertEqual(lost[0], lost[1])
        self.assertTrue(any(other != lost[0] for other in lost[2:]))


if __name__ == "__main__":
    case_report.main()
