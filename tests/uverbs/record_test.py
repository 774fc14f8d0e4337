"""What a program asks of a device is recorded, and asked of our firmware again.

The device that is recorded here is a virtual one: the recorder stands between it and the program,
as between the kernel and the program on a machine with hardware.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

from tests import case_report
from tests.uverbs import pair

REPLAY = os.path.abspath("tools/ringpost/replay_record")
RUN = "workload: {kind: round_trip, operations: 10, warm_up: 1, inline: never}\n"


class Record(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.record = os.path.join(folder.name, "record")
        self.config = os.path.join(folder.name, "run.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(RUN)

    def recorded(self, link, *program):
        """The lines of a program's record."""
        recorder = [pair.PROGRAM, "exec", f"--set=exec.record={self.record}", "--", *program]
        run = subprocess.run(pair.exec_command(pair.new_fabric(), *recorder, link=link),
                             capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(self.record, encoding="ascii") as file:
            return file.read().splitlines()

    def replayed(self, link):
        return subprocess.run([REPLAY, self.record, link], capture_output=True, text=True,
                              timeout=60, check=False)

    def test_the_commands_of_whole_runs_are_answered_alike(self):
        for link, kinds in [("infiniband", ["rc", "dc"]), ("ethernet", ["rc"])]:
            # A record grows: where runs follow each other, numbers of objects differ here.
            for kind in kinds:
                self.recorded(link, pair.PROGRAM, "run", self.config, "--backend", "mlx5",
                              f"--set=transport.kind={kind}")
            run = self.replayed(link)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            calls = re.search(r"(\d+) calls of DevX, 0 differences", run.stdout)
            self.assertGreaterEqual(int(calls[1]), 20 * len(kinds))
            os.remove(self.record)

    def test_a_field_that_is_another_is_named_with_its_line(self):
        lines = self.recorded("infiniband", pair.PROGRAM, "run", self.config, "--backend", "mlx5")
        # A word of the answer to the first QUERY_HCA_CAP, command 0x100, which comes by DEVX_OTHER.
        number = next(n for n, line in enumerate(lines)
                      if line.split()[4:6] == ["0x1000", "0x1000"] and ":01000000" in line)
        head, answer = lines[number].rsplit(":", 1)
        theirs = "%08x" % (int(answer[0x80:0x88], 16) ^ 0x10)
        lines[number] = f"{head}:{answer[:0x80]}{theirs}{answer[0x88:]}"
        with open(self.record, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
        run = self.replayed("infiniband")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn(f"{self.record}:{number + 1}: QUERY_HCA_CAP: 0x40: recorded 0x{theirs}, ",
                      run.stdout)
        self.assertIn(" 1 differences", run.stdout)

    def test_no_line_goes_to_a_file_of_a_program_that_closes_all(self):
        own = self.record + ".own"
        program = ("import os, sys\nos.close(os.open('/dev/infiniband/uverbs0', os.O_RDWR))\n"
                   "os.closerange(3, 256)\nown = open(sys.argv[1], 'w')\n"
                   "os.close(os.open('/dev/infiniband/uverbs0', os.O_RDWR))\n")
        lines = self.recorded("infiniband", sys.executable, "-c", program, own)
        with open(own, encoding="ascii") as file:
            self.assertEqual(file.read(), "")
        self.assertEqual([line.split()[1] for line in lines], ["open", "close"] * 2)

    @pair.needs("ibv_devinfo", "ibverbs-utils")
    def test_opens_commands_and_mappings_are_recorded_by_both_routes(self):
        lines = self.recorded("infiniband", "ibv_devinfo")
        kinds = {line.split()[1] for line in lines}
        self.assertLessEqual({"open", "ioctl", "close"}, kinds)
        self.assertIn("/dev/infiniband/uverbs0", lines[0])
        os.environ["RINGPOST_UVERBS_ABI"] = "write"
        self.addCleanup(os.environ.pop, "RINGPOST_UVERBS_ABI")
        lines = self.recorded("infiniband", "ibv_devinfo")
        self.assertIn("write", {line.split()[1] for line in lines})

    def test_a_file_that_cannot_be_written_is_one_line(self):
        run = subprocess.run([pair.PROGRAM, "exec", "--set=exec.record=/no/folder/record", "--",
                              "true"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertIn("exec.record: /no/folder/record: No such file", run.stderr)

    def test_what_is_no_record_is_one_line(self):
        opens = "1 open 5 /dev/infiniband/uverbs0\n"
        for text, what in [(f"{opens}1 ioctl 5 0 what\n", "line 2: is no call of a record"),
                           (f"{opens}1 close", "line 2: is cut off; the record is not whole"),
                           ("", "is no record: it has no line")]:
            with open(self.record, "w", encoding="ascii") as file:
                file.write(text)
            run = self.replayed("infiniband")
            self.assertEqual(run.returncode, 2)
            self.assertEqual(run.stderr, f"replay_record: {self.record}: {what}\n")


if __name__ == "__main__":
    case_report.main()
