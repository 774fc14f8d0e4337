"""Backend live: the same configurations with host threads, in one process and in several."""

import json
import os
import re
import socket
import tempfile
import threading
import unittest

from tests import case_report
from tests.cli.program import ROOT, ringpost

# What a machine with two busy cores does in well under a second.
WORKLOADS = {
    "put_latency": ("workload: {kind: put_latency, operations: 200, warm_up: 10}",
                    ["issue_latency", "put_completion_latency", "doorbell_to_cqe"]),
    "round_trip": ("workload: {kind: round_trip, operations: 200, warm_up: 10, inline: never}",
                   ["round_trip_p50", "round_trip_p99"]),
    "message_rate": ("""transport: {publication: batched, batch: 8, qps_per_peer: 3}
workload: {kind: message_rate, threads: 3, operations: 3000, warm_up: 30, payload: 5 KiB}""",
                     ["message_rate"]),
}
POLITE = "live: {poll: yield}\n"  # as other tests run beside this one


class Live(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, text):
        path = os.path.join(self.folder, "run.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_json(self, text, *arguments):
        target = os.path.join(self.folder, "result.json")
        run = ringpost("run", self.write(text), "--json", target, *arguments)
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(target, encoding="utf-8") as file:
            return run.stdout, json.load(file)

    def check(self, name, result):
        self.assertEqual((result["source"], result["backend"]), ("measured", "live"))
        for metric in WORKLOADS[name][1]:
            self.assertGreater(result["metrics"][metric]["value"], 0)
        self.assertTrue({"cpu", "cores", "poll", "nic_core", "gpu", "completion"}
                        <= set(result["measured_on"]))
        self.assertNotIn("violations", result)

    def test_every_workload_runs_on_threads_of_one_process(self):
        for name, (text, _) in WORKLOADS.items():
            stdout, result = self.run_json(POLITE + text, "--backend", "live")
            self.check(name, result)
            self.assertEqual(result["measured_on"]["ranks_here"], "0, 1")
            self.assertIn(" | measured | backend live | ", stdout.splitlines()[0])
            self.assertNotIn("simulated", stdout)

    def test_a_measured_result_is_compared_with_a_simulated_one(self):
        self.run_json(POLITE + WORKLOADS["round_trip"][0])
        target = os.path.join(self.folder, "simulated.json")
        os.rename(os.path.join(self.folder, "result.json"), target)
        self.run_json(POLITE + WORKLOADS["round_trip"][0], "--backend", "live")
        run = ringpost("compare", target, os.path.join(self.folder, "result.json"))
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertRegex(run.stdout, r"(?m)^metric +A, simulated +B, measured  unit +error of A$")
        self.assertRegex(run.stdout, r"(?m)^round_trip_p50 .* %$")
        self.assertRegex(run.stdout, r"(?m)^  backend +sim +live$")
        self.assertRegex(run.stdout, r"(?m)^  cpu +- +\S")

    def test_kernels_need_a_gpu(self):
        path = self.write("backend: live\nlive: {threads: gpu}\n")
        run = ringpost("run", path, CUDA_VISIBLE_DEVICES="")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertRegex(
            run.stderr,
            rf"\A{re.escape(path)}:2:17: live\.threads: "
            r"[^;\n]*(GPU|CUDA)[^;\n]*; use host[^\n]*\n\Z",
        )
        # What matters to backend live alone is no matter elsewhere.
        run = ringpost("run", path, "--backend", "sim", CUDA_VISIBLE_DEVICES="")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_every_workload_runs_as_two_processes(self):
        for name, (text, _) in WORKLOADS.items():
            _, result = self.run_json(POLITE + text, "--backend", "live", "--processes", "2")
            self.check(name, result)
            self.assertEqual(result["measured_on"]["ranks_here"], "0")
            self.assertIn("nic0.wqes", result["counters"])
            self.assertNotIn("nic1.wqes", result["counters"])

    def test_ranks_that_are_started_by_hand_meet_at_the_rendezvous(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            place = f"127.0.0.1:{free.getsockname()[1]}"
        path = self.write(POLITE + WORKLOADS["round_trip"][0])
        runs = [None, None]

        def start(rank):
            runs[rank] = ringpost("run", path, "--backend", "live", "--rank", str(rank), "--ranks",
                                  "2", "--rendezvous", place)

        threads = [threading.Thread(target=start, args=[rank]) for rank in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([run.returncode for run in runs], [0, 0], [run.stderr for run in runs])
        self.assertIn("round_trip_p50", runs[0].stdout)
        self.assertNotIn("round_trip_p50", runs[1].stdout)
        self.assertRegex(runs[1].stdout, r"nic1\.wqes +210\n")

    def roce_platform(self):
        """The path of a platform like p_ib, but with Ethernet."""
        path = os.path.join(self.folder, "roce.yaml")
        with open(os.path.join(ROOT, "configs/platforms/p_ib.yaml"), encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("link_layer: infiniband", "link_layer: roce"))
        return path

    def test_two_processes_exchange_frames_over_udp(self):
        udp = f"backend: live\nplatform: {self.roce_platform()}\nlive: {{poll: yield, wire: udp}}\n"
        for name, (text, _) in WORKLOADS.items():
            _, result = self.run_json(udp + text, "--processes", "2")
            self.check(name, result)
            self.assertGreater(result["counters"]["nic0.port_received"], 0)
            self.assertEqual(result["counters"]["nic0.port_bad_frames"], 0)

    def test_ranks_of_one_process_exchange_frames_over_udp(self):
        udp = f"backend: live\nplatform: {self.roce_platform()}\nlive: {{poll: yield, wire: udp}}\n"
        _, result = self.run_json(udp + WORKLOADS["round_trip"][0])
        self.check("round_trip", result)

    def test_udp_refuses_an_infiniband_platform_in_one_line(self):
        self.assert_refused("backend: live\nlive: {wire: udp}", "link_layer: roce")

    def test_each_fault_of_the_wire_strikes_and_nothing_is_lost(self):
        text = "backend: live\n" + POLITE + WORKLOADS["message_rate"][0]
        for kind, counter in (("drop", "dropped"), ("delay", "delayed"), ("reorder", "reordered"),
                              ("duplicate", "duplicated"), ("corrupt", "corrupted")):
            # A lost packet costs a timeout of 134 ms.
            rule = (f"{{where: wire, kind: {kind}, amount: 20 us, probability: 20 %, count: 5, "
                    "at: {rank: 0}}")
            _, result = self.run_json(text + "\nfaults: {rules: [" + rule + "]}")
            self.check("message_rate", result)
            struck = result["counters"]["nic0.faults_" + counter]
            self.assertEqual(struck, 5, kind)
            self.assertEqual(result["counters"]["nic1.faults_" + counter], 0)
            if kind in ("drop", "corrupt"):
                self.assertGreater(result["counters"]["nic0.packets_retransmitted"], 0)

    def test_a_paced_run_says_how_many_completions_were_late(self):
        stdout, result = self.run_json("backend: live\nlive: {poll: yield, pace: platform}\n"
                                       + WORKLOADS["put_latency"][0])
        pace = result["pace"]
        self.assertEqual(pace["held"] + pace["late"], 210)
        self.assertGreaterEqual(pace["late_max_us"], pace["late_p99_us"])
        self.assertGreaterEqual(pace["late_p99_us"], pace["late_median_us"])
        self.assertRegex(stdout, rf"pace: {pace['late']} of 210 completions came later")
        # No completion comes before the platform's: here, 3.3 us after the doorbell.
        self.assertGreater(result["metrics"]["doorbell_to_cqe"]["value"], 2)

    def test_a_platform_slower_than_this_machine_holds_every_completion(self):
        path = os.path.join(self.folder, "slow.yaml")
        with open(os.path.join(ROOT, "configs/platforms/p_ib.yaml"), encoding="utf-8") as file:
            text = file.read()
        slow = re.sub(r"(doorbell_delivery: {value: )[0-9.]+ ns", r"\g<1>200000000 ns", text)
        self.assertNotEqual(slow, text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(slow)
        _, result = self.run_json(f"""backend: live
platform: {path}
live: {{poll: yield, pace: platform}}
workload: {{operations: 3, warm_up: 1}}""")
        self.assertEqual(result["pace"]["held"], 4)
        self.assertGreater(result["metrics"]["doorbell_to_cqe"]["value"], 200_000)

    def assert_refused(self, text, remedy, *arguments):
        run = ringpost("run", self.write(text), *arguments)
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        self.assertRegex(run.stderr, rf"\A[^\n]+: [^\n]+; [^\n]*{remedy}[^\n]*\n\Z")

    def test_what_a_live_run_cannot_do_is_refused_in_one_line(self):
        live = "backend: live\n"
        self.assert_refused("live: {poll: fast}", "spin, yield or sleep")
        self.assert_refused("live: {nic_core: many}", "0 to 1023")
        self.assert_refused("live: {pace: fast}", "off or platform")
        self.assert_refused(live + "workload: {kind: message_rate, threads: 2048}\n"
                            "transport: {qps_per_peer: 2048}", "1024")
        self.assert_refused(live + "workload: {threads: 2}\ntransport: {qps_per_peer: 2}",
                            "message_rate")
        self.assert_refused(live + "faults: {rules: [{where: doorbell, kind: drop}]}",
                            "backend sim")
        self.assert_refused(
            live + "faults: {rules: [{where: cqe, kind: delay, amount: 1 ms}]}", "backend sim")
        self.assert_refused("seed: 1", "live", "--processes", "2")
        self.assert_refused(live, "1 or 2", "--processes", "3")
        self.assert_refused(live, "together", "--rank", "1")
        self.assert_refused(live, "0 to 1", "--rank", "2", "--ranks", "2", "--rendezvous", "a:1")
        self.assert_refused(live, "leave it out", "--trace",
                            os.path.join(self.folder, "trace.json"))

    def test_a_core_that_is_not_there_fails_the_run_in_one_line(self):
        run = ringpost("run", self.write("backend: live\nlive: {nic_core: 1022}"))
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertRegex(run.stderr, r"\A[^\n]*core 1022[^\n]*\n\Z")

    def test_published_figures_are_never_held_against_a_measurement(self):
        experiment = self.write("backend: live\n")
        figures = os.path.join(self.folder, "figures.yaml")
        with open(figures, "w", encoding="utf-8") as file:
            file.write(f"""- id: mine
  platform: P-IB
  metric: issue_latency
  value: 1
  unit: us
  source: 'mine'
  experiment: {experiment}
  role: predicted
""")
        run = ringpost("reproduce", "--figures", figures)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertRegex(run.stderr, r"\A[^\n]*backend: sim\n\Z")


if __name__ == "__main__":
    case_report.main()
