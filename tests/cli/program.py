"""Runs the built ringpost as a user would: any folder, home and locale."""

import os
import subprocess

ROOT = os.getcwd()  # of the runfiles
PROGRAM = os.path.join(ROOT, "tools/ringpost/ringpost")

# Longer than any run of these tests, shorter than Bazel's patience with one.
PATIENCE_S = 50


def ringpost(*arguments, folder=None, **variables):
    """The finished process. Of this process's environment it has PATH alone."""
    environment = {"PATH": os.environ["PATH"], "RINGPOST_ROOT": ROOT, **variables}
    return subprocess.run(
        [PROGRAM, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE_S,
    )


def locales():
    """The names of the locales of this machine, as LC_ALL takes them."""
    answer = subprocess.run(["locale", "-a"], stdout=subprocess.PIPE, encoding="utf-8", check=False)
    return answer.stdout.split()
