"""--pcap writes each packet that was put on the wire, for tshark to read."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

from tests import case_report
from tests.cli.program import ringpost

CONFIG = """
transport: {qps_per_peer: 2}
workload: {kind: message_rate, payload: 6000 B, threads: 2, operations: 200, warm_up: 20}
"""
FAULTS = """
faults: {rules: [{where: wire, kind: drop, probability: 3 %},
                 {where: wire, kind: corrupt, probability: 3 %},
                 {where: wire, kind: duplicate, probability: 3 %, amount: 3 us}]}
"""
FILE_HEADER, FRAME_HEADER = 24, 16


def frame_count(path):
    """The number of frames of a pcap file, which must end behind one."""
    with open(path, "rb") as file:
        data = file.read()
    at, count = FILE_HEADER, 0
    while at < len(data):
        at += FRAME_HEADER + int.from_bytes(data[at + 8:at + 12], "little")
        count += 1
    assert at == len(data), "the file is cut off"
    return count


class Pcap(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def capture(self, text, *arguments):
        """(path of the capture, the counters of the run)"""
        path = os.path.join(self.folder, "run.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        run = ringpost("run", path, "--quiet", "--json", "result.json", "--pcap", "run.pcap",
                       *arguments, folder=self.folder)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        with open(os.path.join(self.folder, "result.json"), encoding="utf-8") as file:
            return os.path.join(self.folder, "run.pcap"), json.load(file)["counters"]

    def sent(self, counters):
        return counters["nic0.packets_sent"] + counters["nic1.packets_sent"]

    def test_each_packet_is_one_frame(self):
        path, counters = self.capture(CONFIG)
        self.assertGreater(self.sent(counters), 440)
        self.assertEqual(frame_count(path), self.sent(counters))

    def test_lost_and_corrupt_packets_are_in_it_as_they_were_sent(self):
        path, counters = self.capture(CONFIG + FAULTS)
        self.assertGreater(counters["nic0.packets_lost"], 0)
        self.assertGreater(counters["nic1.icrc_errors"], 0)
        self.assertEqual(frame_count(path), self.sent(counters))

    @unittest.skipUnless(shutil.which("tshark"), "tshark is not installed")
    def test_tshark_calls_every_frame_infiniband_and_none_malformed(self):
        path, counters = self.capture(CONFIG + FAULTS)
        shown = subprocess.run(
            ["tshark", "--disable-protocol", "rpcordma", "-n", "-r", path, "-T", "fields",
             "-e", "infiniband.bth.opcode", "-e", "_ws.malformed"],
            env={"PATH": os.environ["PATH"], "HOME": "/nowhere"}, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, encoding="utf-8", check=True).stdout.splitlines()
        self.assertEqual(len(shown), self.sent(counters))
        for line in shown:
            self.assertRegex(line, r"\A\d+\t\Z")

    def test_the_same_run_without_a_capture_has_the_same_counters(self):
        _, with_capture = self.capture(CONFIG + FAULTS)
        run = ringpost("run", "run.yaml", "--quiet", "--json", "plain.json", folder=self.folder)
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(os.path.join(self.folder, "plain.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["counters"], with_capture)

    def test_a_path_that_cannot_be_written_is_one_line(self):
        path = os.path.join(self.folder, "run.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("workload: {operations: 1000000000000}\n")
        for bad in [self.folder, os.path.join(self.folder, "missing", "run.pcap")]:
            run = ringpost("run", path, "--pcap", bad)
            self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
            self.assertRegex(run.stderr, r"\A[^\n]*--pcap: [^;\n]+; [^\n]+\n\Z")
        self.assertEqual(os.listdir(self.folder), ["run.yaml"])

    def test_a_full_disk_is_one_line(self):
        path = os.path.join(self.folder, "run.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(CONFIG)
        run = ringpost("run", path, "--quiet", "--pcap", "/dev/full")
        self.assertEqual((run.returncode, run.stdout), (1, ""), run.stderr)
        self.assertRegex(run.stderr, r"\A[^\n]*/dev/full: No space left on device\n\Z")


if __name__ == "__main__":
    case_report.main()
