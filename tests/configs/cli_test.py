"""What the command line prints, writes and answers to a shell."""

import json
import os
import subprocess
import tempfile
import unittest

from tests import case_report

ROOT = os.getcwd()  # of the runfiles
PROGRAM = os.path.join(ROOT, "tools/ringpost/ringpost")
QUICKSTART = "configs/quickstart.yaml"
FEW = ["--set", "workload.operations=20", "--set", "workload.warm_up=2"]


class CommandLine(unittest.TestCase):
    def ringpost(self, *arguments, **variables):
        environment = {**os.environ, "RINGPOST_ROOT": ROOT, **variables}
        return subprocess.run(
            [PROGRAM, *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    def assert_refused(self, run, line):
        """Exit status 2, nothing printed, and exactly this line."""
        self.assertEqual((run.returncode, run.stdout, run.stderr), (2, "", line + "\n"))

    def test_a_run_names_what_it_was(self):
        run = self.ringpost("run", QUICKSTART, *FEW)
        self.assertEqual(run.returncode, 0, run.stderr)
        first = run.stdout.splitlines()[0]
        for word in ["ringpost 0.1.0", "simulated", "backend sim", "platform p_ib", "config ",
                     "seed 1"]:
            self.assertIn(word, first)

    def test_equal_runs_write_equal_json(self):
        with tempfile.TemporaryDirectory() as folder:
            texts = []
            for name, locale in [("a", "C"), ("b", "de_DE.UTF-8")]:
                path = os.path.join(folder, name)
                run = self.ringpost("run", QUICKSTART, *FEW, "--quiet", "--json", path,
                                    LC_ALL=locale)
                self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)
                with open(path, encoding="utf-8") as file:
                    texts.append(file.read())
            self.assertEqual(texts[0], texts[1])
            result = json.loads(texts[0])
            self.assertEqual(result["source"], "simulated")
            self.assertGreater(result["metrics"]["issue_latency"]["value"], 0)
            self.assertEqual(sorted(os.listdir(folder)), ["a", "b"])

    def test_a_failed_run_leaves_the_old_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "old.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write("old")
            fault = "faults.rules=[{where: responder, kind: error, at: {wqe: 5}}]"
            run = self.ringpost("run", QUICKSTART, *FEW, "--set", fault, "--json", path)
            self.assertEqual(run.returncode, 1)
            self.assertTrue(run.stderr.startswith("ringpost: the run failed: "), run.stderr)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), "old")
            self.assertEqual(os.listdir(folder), ["old.json"])

    def test_a_missing_folder_is_refused(self):
        run = self.ringpost("run", QUICKSTART, "--json", "/nowhere/x.json")
        self.assert_refused(run, "command line:1:1: --json: there is no folder '/nowhere'; "
                                 "create it, or name a file elsewhere")

    def test_set_replaces_the_environment(self):
        run = self.ringpost("config", QUICKSTART, "--set", "seed=3",
                            RINGPOST_SET="seed=2 workload.payload=1 KiB")
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = {line.split(":")[0].strip(): line for line in run.stdout.splitlines()}
        self.assertRegex(lines["seed"], r"^seed: 3 +# --set$")
        self.assertRegex(lines["payload"], r"^  payload: 1 KiB +# RINGPOST_SET$")

    def test_the_printed_configuration_is_one(self):
        printed = self.ringpost("config", QUICKSTART, "--set", "seed=3").stdout
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "c.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(printed)
            again = self.ringpost("config", path).stdout
        self.assertEqual(printed.splitlines()[0], again.splitlines()[0])

    @unittest.skipIf(os.path.exists("/dev/infiniband/uverbs0"), "there is an RDMA device")
    def test_without_a_nic_backend_mlx5_is_refused_in_one_line(self):
        run = self.ringpost("run", QUICKSTART, "--backend", "mlx5")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stdout, "")
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertIn("no RDMA device is here", run.stderr)

    def test_bad_input_is_2(self):
        for arguments in [["run"], ["run", "none.yaml"], ["frobnicate"],
                          ["run", QUICKSTART, "--seed", "x"], ["reproduce", "--only", "("],
                          ["reproduce", "--figures", QUICKSTART]]:
            run = self.ringpost(*arguments)
            self.assertEqual((run.returncode, run.stdout), (2, ""), arguments)
            self.assertTrue(run.stderr, arguments)

    def test_reproduce_writes_one_object_a_row(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            run = self.ringpost("reproduce", "--only", "^mini_gda_inline_issue_pib$",
                                "--json", path)
            self.assertIn(run.returncode, [0, 3], run.stderr)
            with open(path, encoding="utf-8") as file:
                result = json.load(file)
        self.assertEqual([row["id"] for row in result["rows"]], ["mini_gda_inline_issue_pib"])
        self.assertEqual(result["summary"]["hit"] + result["summary"]["miss"], 1)
        self.assertEqual(run.returncode, 3 if result["summary"]["miss"] else 0)

    def test_unsafe_orderings_are_counted(self):
        run = self.ringpost("run", QUICKSTART, *FEW, "--set", "transport.ordering=none",
                            "--set", "transport.unsafe=true")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"\nviolations: [1-9]")


if __name__ == "__main__":
    case_report.main()
