"""Backend mlx5 on an emulated device, beneath Debian's own libibverbs and libmlx5: conformance by
both routes, and whole runs on InfiniBand and Ethernet."""

import json
import os
import re
import subprocess
import tempfile
import unittest
import uuid

from tests import case_report

PROGRAM = os.path.abspath("tools/ringpost/ringpost")
RUN = "workload: {kind: round_trip, operations: 50, warm_up: 5, inline: never}\n"


class Emulated(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.config = os.path.join(self.folder, "run.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(RUN)

    def on_devices(self, link, *command):
        # Sandboxes share /dev/shm, where a fabric of each name is.
        settings = {"devices": 2, "link": link, "fabric": "mlx5_" + uuid.uuid4().hex}
        options = [f"--set=exec.{key}={value}" for key, value in settings.items()]
        return subprocess.run([PROGRAM, "exec", *options, "--", *command], capture_output=True,
                              text=True, timeout=120, check=False)

    def conforms(self, suite):
        """Each case of the suite that is for this backend runs, and passes."""
        program = f"tests/conformance/{suite}_test"
        listed = subprocess.run([program, "--list_content"], capture_output=True, text=True,
                                check=True)
        cases = [line for line in listed.stderr.splitlines() if "Mlx5" in line]
        run = self.on_devices("infiniband", program, "--run_test=*Mlx5*", "--report_level=short")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        passed = re.search(r"(\d+) test cases? out of \d+ passed", run.stdout + run.stderr)
        self.assertIsNotNone(passed, run.stdout + run.stderr)
        self.assertEqual(int(passed[1]), len(cases), run.stdout + run.stderr)
        self.assertGreater(len(cases), 1)

    def test_atomics_conform_by_both_routes_over_rc_and_dc(self):
        self.conforms("atomics")

    def test_data_conforms_by_both_routes_over_rc_and_dc(self):
        self.conforms("data")

    def test_failures_conform_by_both_routes_over_rc_and_dc(self):
        self.conforms("failure")

    def test_messages_conform_by_both_routes_over_rc_and_dc(self):
        self.conforms("messages")

    def test_orders_conform_by_both_routes_over_rc_and_dc(self):
        self.conforms("order")

    def run_json(self, link, *arguments):
        target = os.path.join(self.folder, "result.json")
        run = self.on_devices(link, PROGRAM, "run", self.config, "--backend",
                              "mlx5", "--json", target, *arguments)
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(target, encoding="utf-8") as file:
            return json.load(file)

    def test_a_run_reports_the_nic_as_it_describes_itself(self):
        for link, name in [("infiniband", "InfiniBand"), ("ethernet", "Ethernet (RoCE)")]:
            for route in ("devx", "verbs"):
                result = self.run_json(link, "--set", f"mlx5.route={route}")
                self.assertEqual((result["source"], result["backend"]), ("measured", "mlx5"))
                facts = result["measured_on"]
                self.assertEqual((facts["nic_link"], facts["nic_route"]), (name, route))
                self.assertEqual(facts["nic_board"], "RINGPOST_VIRTUAL")
                for fact in ("nic", "nic_board", "nic_firmware", "nic_mtu", "nic_gid", "doorbell"):
                    self.assertTrue(facts[fact], fact)

    def test_ranks_of_two_processes_and_of_two_nics_meet(self):
        for option in ("mlx5.devices=[mlx5_0, mlx5_1]", "transport.kind=dc",
                       "transport.doorbell=cpu", "transport.doorbell=auto"):
            result = self.run_json("infiniband", "--processes", "2", "--set", option)
            self.assertGreater(result["metrics"]["round_trip_p50"]["value"], 0)

    # O-28: NICs with other names than usual are skipped.
    def test_a_renamed_nic_is_found_by_its_driver_or_by_its_name(self):
        renamed = [PROGRAM, "exec", "--set=exec.devices=2", "--set=exec.name=roce_rail",
                   "--set=exec.fabric=mlx5_" + uuid.uuid4().hex, "--"]
        target = os.path.join(self.folder, "result.json")
        for wanted, found in [("[]", "roce_rail0"), ("['roce_rail1:1']", "roce_rail1"),
                              ("[^roce_rail0]", "roce_rail1")]:
            run = subprocess.run([*renamed, PROGRAM, "run", self.config, "--backend", "mlx5",
                                  "--json", target, "--set", f"mlx5.devices={wanted}"],
                                 capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            with open(target, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["measured_on"]["nic"], found + " port 1")

    def test_what_does_not_fit_is_one_line(self):
        for link, option, part in [
            ("ethernet", "transport.kind=dc", "use transport.kind: rc"),
            ("ethernet", "mlx5.gid_index=9", "the table has 0 "),
            ("infiniband", "mlx5.pkey_index=3", "mlx5.pkey_index 3"),
            ("infiniband", "mlx5.devices=[mlx5_7]", "mlx5_1 port 1 is not in mlx5.devices"),
        ]:
            run = self.on_devices(link, PROGRAM, "run", self.config, "--backend",
                                  "mlx5", "--set", option)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
            self.assertIn(part, run.stderr)


if __name__ == "__main__":
    case_report.main()
