"""A workload by way of a proxy: the same file on each backend, and what is refused."""

import json
import os
import tempfile
import unittest

from tests import case_report
from tests.cli.program import ringpost

RUN = """transport: {path: proxy, qps_per_peer: 2}
proxy: {workers: 2, batch: 4}
workload: {kind: message_rate, threads: 2, operations: 4000, warm_up: 40}
live: {poll: yield}
"""


class Proxy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "run.yaml")
        self.target = os.path.join(folder.name, "result.json")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(RUN)

    def run_json(self, *arguments):
        run = ringpost("run", self.path, "--json", self.target, *arguments)
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(self.target, encoding="utf-8") as file:
            return json.load(file)

    def test_two_processes_have_workers_of_their_own(self):
        for arguments in [("--backend", "sim"), ("--backend", "live"),
                          ("--backend", "live", "--processes", "2")]:
            result = self.run_json(*arguments)
            self.assertGreater(result["metrics"]["message_rate"]["value"], 0)
            counters = result["counters"]
            self.assertEqual(counters["proxy0.operations"], 4040)
            self.assertLessEqual(counters["proxy0.doorbells"], 4040)

    def test_each_workload_runs_by_the_one_key(self):
        for kind, payload in [("put_latency", "8 B"), ("round_trip", "8 B"), ("goodput", "9 KiB")]:
            for backend in ["sim", "live"]:
                settings = [f"workload.kind={kind}", f"workload.payload={payload}",
                            "workload.threads=1", "workload.operations=200"]
                self.run_json("--backend", backend, *(w for s in settings for w in ("--set", s)))

    def test_what_a_proxy_does_not_take_is_refused_in_one_line(self):
        for setting, said in [
            ("transport.publication=batched", "transport.publication: "),
            ("transport.ordering=system_release", "transport.ordering: "),
            ("transport.doorbell=cpu", "leave it gpu: a worker rings"),
            ("transport.batch=2", "use proxy.batch"),
            ("proxy.affinity=fast", "'fast' is no list of cores"),
            ("workload.threads_per_qp=2", "a tuned ring has one producer"),
        ]:
            run = ringpost("run", self.path, "--set", setting)
            self.assertEqual(run.returncode, 2, setting)
            self.assertIn(said, run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)

    def test_a_core_that_is_not_there_is_refused(self):
        run = ringpost("run", self.path, "--backend", "live", "--set", "proxy.affinity=1023")
        self.assertEqual(run.returncode, 1)
        self.assertIn("proxy.affinity: proxy workers cannot run on core 1023", run.stderr)


if __name__ == "__main__":
    case_report.main()
