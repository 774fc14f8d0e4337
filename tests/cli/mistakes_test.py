"""A mistake is one line with place, key and remedy; it ends with status 2 and touches no file."""

import os
import re
import tempfile
import unittest

from tests import case_report
from tests.cli.program import ringpost


class Mistakes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.json = os.path.join(self.folder, "old.json")
        with open(self.json, "w", encoding="utf-8") as file:
            file.write("old")

    def write(self, text):
        path = os.path.join(self.folder, "mistake.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def assert_refused(self, path, line, key, remedy):
        """`remedy` is a regular expression for what would be right."""
        before = sorted(os.listdir(self.folder))
        run = ringpost("run", path, "--json", self.json, "--trace",
                       os.path.join(self.folder, "trace.json"))
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        place = rf"{re.escape(path)}:{line}:\d+: {re.escape(key)}"
        pattern = rf"{place}: [^;\n]+; [^\n]*{remedy}[^\n]*\n"
        self.assertRegex(run.stderr, rf"\A{pattern}\Z")
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        with open(self.json, encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")

    def assert_text_refused(self, text, line, key, remedy):
        self.assert_refused(self.write(text), line, key, remedy)

    def test_unknown_key(self):
        self.assert_text_refused("seed: 1\nworkload:\n  paylod: 8 B\n", 3, "workload.paylod",
                                 r"workload\.payload|payload")

    def test_text_where_a_number_stands(self):
        self.assert_text_refused("# a comment\nseed: many\n", 2, "seed", "number|count")

    def test_missing_unit(self):
        self.assert_text_refused("workload: {payload: 8}\n", 1, "workload.payload", "8 B")

    def test_depth_that_is_no_power_of_two(self):
        self.assert_text_refused("seed: 1\ntransport: {sq_depth_wqebbs: 3}\n", 2,
                                 "transport.sq_depth_wqebbs", "power of two")

    def test_depth_that_is_too_large(self):
        self.assert_text_refused("transport:\n  sq_depth_wqebbs: 131072\n", 2,
                                 "transport.sq_depth_wqebbs", "32768")

    def test_missing_file(self):
        self.assert_refused(os.path.join(self.folder, "nowhere.yaml"), 1, "file", ".+")

    def test_truncated_file(self):
        text = "seed: 1\nworkload: {kind: put_latency, payl"
        self.assert_text_refused(text, 2, "YAML", "complete or correct")

    def test_unknown_platform(self):
        self.assert_text_refused("seed: 1\nplatform: elsewhere\n", 2, "platform", "p_ib")

    def test_unknown_library(self):
        self.assert_text_refused("seed: 1\nlibrary: elsewhere\n", 2, "library", "nvshmem_public")

    def test_a_library_whose_operations_are_simulated_alone(self):
        self.assert_text_refused("backend: live\nlibrary: gin_gdaki\n", 2, "library",
                                 "use backend: sim")

    def test_more_sms_than_the_platform_has(self):
        self.assert_text_refused("platform: p_h100\ntransport: {qps_per_peer: 266}\nworkload:\n"
                                 "  kind: message_rate\n  threads: 266\n  sms_count: 133\n", 6,
                                 "workload.sms_count", "at most 132")

    def test_ordering_that_does_not_reach_the_queues(self):
        self.assert_text_refused("transport:\n  placement: host\n  ordering: gpu_fence\n", 3,
                                 "transport.ordering", "system_release")

    def test_output_in_a_folder_that_is_not_there_is_refused_before_the_run(self):
        # This run would take far longer than the test waits.
        path = self.write("workload: {operations: 1000000000000}\n")
        missing = os.path.join(self.folder, "missing")
        run = ringpost("run", path, "--json", os.path.join(missing, "result.json"))
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        self.assertRegex(run.stderr, r"\A[^\n]*--json: [^;\n]+; [^\n]+\n\Z")
        self.assertFalse(os.path.exists(missing))

    def one_line(self, status, *arguments):
        run = ringpost(*arguments)
        self.assertEqual((run.returncode, run.stdout), (status, ""), run.stderr)
        self.assertRegex(run.stderr, r"\A[^\n]+\n\Z")
        return run.stderr[:-1]

    def test_control_characters_of_the_input_reach_no_terminal(self):
        path = self.write("seed: 1\n")
        for text in ("\x1b[31mred", "a\tb", "a\rb", "a\x7fb", "a\u009b31m"):
            for arguments in (("run", path, f"--set=seed={text}"), ("run", path, f"--{text}"),
                              ("run", path + text), ("run", path, f"--set={text}"),
                              ("compare", path + text, path), ("doctor", "--backend", text)):
                said = self.one_line(2, *arguments)
                self.assertTrue(all(c >= " " and not "\x7f" <= c <= "\x9f" for c in said), said)
        self.assertIn(r"'a\tb'", self.one_line(2, "run", path, "--set=seed=a\tb"))

    def test_a_mistake_of_usage_is_one_line_that_names_the_help(self):
        for arguments, remedy in ((("run",), "see ringpost run --help"),
                                  (("run", "x", "--bogus"), "see ringpost run --help"),
                                  (("bogus",), "see ringpost --help"),
                                  (("compare", "a"), "see ringpost compare --help")):
            self.assertTrue(self.one_line(2, *arguments).endswith("; " + remedy), arguments)

    def test_an_empty_text_is_no_value_of_any_option(self):
        path = self.write("seed: 1\n")
        commands = {
            ("run", path): ("--set", "--backend", "--seed", "--json", "--trace", "--pcap",
                            "--rendezvous"),
            ("config", path): ("--set",),
            ("reproduce",): ("--figures", "--only", "--json"),
            ("doctor",): ("--backend", "--root"),
            ("exec",): ("--config", "--set"),
            ("fit", path): ("--figures", "--out", "--json", "--docs"),
            ("sweep", path): ("--out",)}
        for command, options in commands.items():
            for option in options:
                for words in ((option, ""), (option + "=",)):
                    said = self.one_line(2, *command, *words)
                    self.assertTrue(said.startswith(f"ringpost {command[0]}: {option}: "), said)
        for command in (("run", ""), ("config", ""), ("compare", "", path), ("sweep", "")):
            self.assertIn(": ", self.one_line(2, *command))

    def test_a_value_that_is_null_names_its_key(self):
        path = self.write("seed: 1\n")
        for value in ("null", "~", ""):
            said = self.one_line(2, "run", path, f"--set=workload.payload={value}")
            self.assertRegex(said, r"\A--set:1:18: workload\.payload: has no value; give ")

    def test_a_number_that_is_too_large_is_told_the_largest(self):
        path = self.write("seed: 1\n")
        for key, most in (("workload.operations", "1 to 1000000000000"),
                          ("workload.warm_up", "0 to 1000000000000"),
                          ("seed", "at most 10000000000000000000")):
            for value in ("18446744073709551615", "9" * 30):
                said = self.one_line(2, "run", path, f"--set={key}={value}")
                self.assertIn(f"{key}: {value} is too large; give ", said)
                self.assertTrue(said.endswith(most), said)

    def test_a_pair_that_is_not_built_is_refused_by_run_and_by_config(self):
        path = self.write("transport: {publication: batched, ordering: threadfence}\n")
        for command in ("run", "config"):
            said = self.one_line(2, command, path)
            self.assertIn(f"{path}:1:45: transport.ordering: batched with threadfence is not", said)

    def test_no_output_replaces_what_the_run_reads_or_another_output(self):
        path = self.write("workload: {operations: 1000000000000}\n")
        link = os.path.join(self.folder, "link.json")
        os.symlink(path, link)
        for option in ("--json", "--trace", "--pcap"):
            for name in (path, link, os.path.join(self.folder, ".", "mistake.yaml")):
                self.assertIn(f"{option}: '{name}' is a file that this run reads",
                              self.one_line(2, "run", path, option, name))
        new = os.path.join(self.folder, "new.json")
        self.assertIn("--trace: ", self.one_line(2, "run", path, "--json", new, "--trace", new))
        # One file that is not there, by two names of which one depends on where the run begins.
        near = os.path.relpath(new)
        self.assertIn("--trace: ", self.one_line(2, "run", path, "--json", near, "--trace", new))
        self.assertEqual(sorted(os.listdir(self.folder)), ["link.json", "mistake.yaml", "old.json"])


if __name__ == "__main__":
    case_report.main()
