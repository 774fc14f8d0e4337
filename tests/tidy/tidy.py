#!/usr/bin/env python3
"""Checks the style of every tracked file: sizes, words, and who includes whom.

  tests/tidy/tidy.py [PATH]...        all tracked files, if no path is given

Each check counts as one. The last line is 'N passed, N failed, N skipped'.
"""

import os
import subprocess
import sys

import layers
import size
import words
from source import Source

CHECKS = [
    size.function_length,
    size.file_length,
    size.line_length,
    words.left_overs,
    words.internal_words,
    words.host_clock,
    words.verbs,
    words.knows_its_device,
    words.platform_dependence,
    words.asks_whether_simulated,
    layers.include_layers,
    layers.own_header_first,
]


def tracked_files(paths):
    answer = subprocess.run(
        ["git", "ls-files", "-z", "--", *paths], stdout=subprocess.PIPE, check=True
    ).stdout.decode()
    return [path for path in answer.split("\0") if os.path.isfile(path)]


def read(paths):
    """The text files among `paths`."""
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                yield Source(path, file.read())
        except UnicodeDecodeError:
            continue  # captures and the like have no style


def main(arguments):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    paths = [os.path.relpath(path, root) for path in arguments]
    os.chdir(root)
    sources = list(read(tracked_files(paths)))
    failed = 0
    for check in CHECKS:
        found = [(s.path, line, what) for s in sources for line, what in check(s)]
        failed += bool(found)
        print(f"{'FAILED' if found else 'ok'}: {check.__doc__}")
        for path, line, what in found:
            print(f"  {path}:{line}: {what}")
    print(f"{len(CHECKS) - failed} passed, {failed} failed, 0 skipped", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
