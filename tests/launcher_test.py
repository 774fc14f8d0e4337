"""When the launcher builds, and what it hands to the program; with stand-ins for what it calls."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

from tests import case_report

LAUNCHER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "ringpost")
RANK_VARIABLES = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"]

# Notes that it ran, and leaves a program that says how it was called.
BAZEL = """#!/bin/bash
echo "$@" >>"$LOG"
[[ ! -e $ROOT/broken.cc ]] || exit 1
mkdir -p "$ROOT/.bazel/out/k8-opt/bin/tools/ringpost"
cat >"$ROOT/.bazel/out/k8-opt/bin/tools/ringpost/ringpost" <<'EOF'
#!/bin/bash
printf '%s|' "$RINGPOST_ROOT" "$PWD" "$@"
exit 3
EOF
chmod +x "$ROOT/.bazel/out/k8-opt/bin/tools/ringpost/ringpost"
"""
SETUP = '#!/bin/bash\necho "setup $*" >>"$LOG"\n[[ -z ${MISSING:-} ]] || exit 1\n'
RUN_TESTS = 'import sys\nprint("tests", *sys.argv[1:])\n'


class Launcher(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        base = os.path.realpath(folder.name)
        self.root = os.path.join(base, "a checkout")
        self.elsewhere = os.path.join(base, "elsewhere")
        self.log = os.path.join(base, "log")
        self.path = os.path.join(base, "bin")
        os.makedirs(self.elsewhere)
        for name in ["transport", "configs/schema", "configs/platforms"]:
            os.makedirs(os.path.join(self.root, name))
        self.write(os.path.join(self.path, "bazel"), BAZEL)
        self.write("third_party/setup.sh", SETUP)
        self.write("tests/run.py", RUN_TESTS)
        self.write("transport/a.cc", "")
        self.write("configs/a.yaml", "")
        self.launcher = os.path.join(self.root, "ringpost")
        shutil.copy(LAUNCHER, self.launcher)

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def launch(self, *arguments, launcher=None, **variables):
        environment = {"PATH": self.path + ":/usr/bin:/bin", "ROOT": self.root, "LOG": self.log}
        return subprocess.run(
            [launcher or self.launcher, *arguments],
            cwd=self.elsewhere,
            env={**environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    def calls(self):
        """What was called since the last time this was asked."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as file:
            lines = file.read().splitlines()
        os.unlink(self.log)
        return lines

    def touch(self, name):
        # Clocks of file systems tick in milliseconds.
        time.sleep(0.02)
        self.write(name, "")

    def test_hands_over_arguments_folder_and_status(self):
        run = self.launch("run", "a b.yaml", "")
        self.assertEqual(run.stdout, f"{self.root}|{self.elsewhere}|run|a b.yaml||")
        self.assertEqual(run.returncode, 3)

    def test_no_argument_stays_none(self):
        self.assertEqual(self.launch().stdout, f"{self.root}|{self.elsewhere}|")

    def test_builds_once(self):
        self.launch()
        self.assertEqual(len(self.calls()), 2)  # setup.sh and Bazel
        self.launch()
        self.assertEqual(self.calls(), [])

    def test_builds_again_after_a_change(self):
        for change in ["transport/a.cc", "transport/new.h", "BUILD", "configs/schema/a.cc"]:
            with self.subTest(change=change):
                self.launch()
                self.calls()
                self.touch(change)
                self.launch()
                self.assertEqual(len(self.calls()), 2)

    def test_builds_again_after_a_file_was_removed(self):
        self.launch()
        self.calls()
        time.sleep(0.02)
        os.unlink(os.path.join(self.root, "transport/a.cc"))
        self.launch()
        self.assertEqual(len(self.calls()), 2)

    def test_a_configuration_is_no_source(self):
        self.launch()
        self.calls()
        self.touch("configs/a.yaml")
        self.touch("configs/platforms/new.yaml")
        self.launch()
        self.assertEqual(self.calls(), [])

    def test_a_rank_runs_what_is_built(self):
        self.launch()
        self.calls()
        self.touch("transport/a.cc")
        for variable in RANK_VARIABLES:
            with self.subTest(variable=variable):
                self.assertEqual(self.launch("x", **{variable: "0"}).returncode, 3)
                self.assertEqual(self.calls(), [])

    def test_a_failed_build_runs_nothing_and_is_tried_again(self):
        self.launch()
        self.touch("broken.cc")
        self.touch("transport/a.cc")
        for _ in range(2):
            run = self.launch()
            self.assertEqual((run.returncode, run.stdout), (1, ""))

    def test_no_install_is_passed_on(self):
        self.launch("--no-install", "x")
        self.assertEqual(self.calls()[0], "setup --no-install")

    def test_missing_packages_stop_it(self):
        run = self.launch("--no-install", MISSING="yes")
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertEqual(len(self.calls()), 1)

    def test_runs_the_tests(self):
        run = self.launch("test", "--config=asan", "//x")
        self.assertEqual(run.stdout, "tests --config=asan //x\n")

    def test_started_through_a_link(self):
        link = os.path.join(self.elsewhere, "rp")
        os.symlink(self.launcher, link)
        self.assertEqual(self.launch(launcher=link).stdout, f"{self.root}|{self.elsewhere}|")

    def test_empty_environment(self):
        self.launch()
        run = subprocess.run(
            [self.launcher], env={}, cwd="/", stdout=subprocess.PIPE, text=True, check=False
        )
        self.assertEqual(run.stdout, f"{self.root}|/|")


if __name__ == "__main__":
    case_report.main()
