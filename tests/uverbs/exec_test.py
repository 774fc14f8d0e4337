"""`ringpost exec` runs unmodified programs of Debian's on the virtual ConnectX."""

import subprocess
import tempfile
import unittest

from tests import case_report
from tests.uverbs import pair, perftest_matrix

FIRST_PORT = 21000


class Exec(unittest.TestCase):
    def run_exec(self, *words):
        return subprocess.run([pair.PROGRAM, "exec", *words], capture_output=True, text=True,
                              timeout=pair.PATIENCE_S, check=False)

    def one_line(self, run, status, *parts):
        self.assertEqual(run.returncode, status, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for part in parts:
            self.assertIn(part, run.stderr)

    def test_the_status_of_the_program_is_passed_on(self):
        self.assertEqual(self.run_exec("--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(self.run_exec("--", "sh", "-c", "kill -TERM $$").returncode, 128 + 15)

    def test_words_behind_the_dashes_are_the_program_s(self):
        run = self.run_exec("--", "echo", "--config", "x", "--", "-h")
        self.assertEqual(run.stdout, "--config x -- -h\n", run.stderr)

    def test_what_cannot_run_is_said_in_one_line(self):
        self.one_line(self.run_exec("--", "no_such_program"), 127, "no_such_program")
        self.one_line(self.run_exec("--", "/"), 126, "/")
        self.one_line(self.run_exec(), 2, "ringpost exec -- ib_write_lat")
        self.one_line(self.run_exec("--set=exec.links=ethernet", "--", "true"), 2, "exec.link")
        for text, key in [("exec: {devices: 0}\n", "exec.devices"),
                          ("exec: {links: ethernet}\n", "exec.links")]:
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(text)
                file.flush()
                run = self.run_exec("--config", file.name, "--", "true")
            self.one_line(run, 2, file.name + ":1:", key)

    @pair.needs("ibv_devinfo", "ibverbs-utils")
    def test_devices_are_listed_as_they_are_configured(self):
        for link, layer in [("infiniband", "InfiniBand"), ("ethernet", "Ethernet")]:
            run = self.run_exec("--set=exec.devices=2", f"--set=exec.link={link}",
                                f"--set=exec.fabric={pair.new_fabric()}", "--", "ibv_devinfo", "-v")
            self.assertEqual(run.returncode, 0, run.stderr)
            for part in ("mlx5_0", "mlx5_1", "0x02c9", "4129", "RINGPOST_VIRTUAL", "PORT_ACTIVE",
                         layer):
                self.assertIn(part, run.stdout)


@pair.needs("ibv_rc_pingpong", "ibverbs-utils")
class Pingpong(unittest.TestCase):
    def check(self, name, port):
        for number, options in enumerate([[], ["-e"]]):
            both = pair.Pair(FIRST_PORT + port + number, f"ibv_{name}_pingpong",
                             ["-n", "100", *options])
            self.assertTrue(both.ok(), both.said())

    def test_rc(self):
        self.check("rc", 0)

    def test_uc(self):
        self.check("uc", 10)

    def test_ud(self):
        self.check("ud", 20)

    def test_srq(self):
        self.check("srq", 30)

    def test_what_arrives_is_what_was_sent(self):
        both = pair.Pair(FIRST_PORT + 40, "ibv_rc_pingpong", ["-n", "100", "-c", "-s", "100000"])
        self.assertTrue(both.ok(), both.said())


@pair.needs("ib_write_bw", "perftest")
class Perftest(unittest.TestCase):
    def test_runs_or_refuses_by_itself_a_part_of_the_matrix(self):
        tally = perftest_matrix.run(perftest_matrix.quick(), FIRST_PORT + 100)
        self.assertEqual(tally.failed, [], "\n".join(tally.failed))
        self.assertEqual(tally.passed, 13)
        self.assertEqual(list(tally.refused.values()), [
            "Events feature not available on WRITE verb",
            "Inline feature not available on READ/Atomic verbs"])

    def test_a_failure_of_the_device_is_no_refusal(self):
        both = pair.Pair(FIRST_PORT + 200, "ib_write_lat", ["-F", "-d", "mlx5_7"])
        self.assertFalse(both.ok())
        self.assertEqual(both.refusal(), "", both.said())


if __name__ == "__main__":
    case_report.main()
