"""A delay injected by a configuration file moves the simulated round trip by as much."""

import json
import os
import tempfile
import unittest

from tests import case_report
from tests.cli.program import ringpost

CONFIG = "workload: {kind: round_trip, operations: 200, warm_up: 20}\n"
DELAY_US = 50


class Delay(unittest.TestCase):
    def round_trip_us(self, rules=""):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(CONFIG + rules)
            run = ringpost("run", path, "--quiet", "--json", "result.json", folder=folder)
            self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)
            with open(os.path.join(folder, "result.json"), encoding="utf-8") as file:
                return json.load(file)["metrics"]["round_trip_p50"]["value"]

    def assert_moved(self, rules, by_us):
        moved = self.round_trip_us(rules) - self.round_trip_us()
        self.assertAlmostEqual(moved, by_us, delta=by_us / 100)

    def test_one_direction_is_delayed_once_a_round(self):
        self.assert_moved("faults: {rules: [{where: responder, kind: delay, at: {rank: 0}, "
                          f"amount: {DELAY_US} us}}]}}\n", DELAY_US)

    def test_a_rule_for_any_rank_delays_both_directions(self):
        self.assert_moved("faults: {rules: [{where: responder, kind: delay, "
                          f"amount: {DELAY_US} us}}]}}\n", 2 * DELAY_US)


if __name__ == "__main__":
    case_report.main()
