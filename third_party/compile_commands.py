#!/usr/bin/env python3
"""Writes compile_commands.json, for clangd and clang-tidy, from what Bazel would run.

  third_party/compile_commands.py [BAZEL OPTION]...        for instance --config=clang
"""

import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUFFIXES = (".c", ".cc")
# clangd stops at a flag that only g++ knows.
ONLY_GCC = {"-fno-canonical-system-headers", "-Wno-free-nonheap-object"}


def bazel(*arguments):
    command = ["bazel", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode()


def entry(arguments, execution_root):
    """The entry of one compiler command; None if it compiles no file of this repository."""
    sources = [a for a in arguments if a.endswith(SUFFIXES) and not a.startswith("-")]
    if not sources or sources[0].startswith(("external/", "bazel-out/", "/")):
        return None
    return {
        # The paths of a command are relative to where Bazel runs it.
        "directory": execution_root,
        "file": os.path.join(ROOT, sources[0]),
        "arguments": [a for a in arguments if a not in ONLY_GCC],
    }


def main(options):
    execution_root = bazel("info", "execution_root", *options).strip()
    query = 'mnemonic("CppCompile", //...)'
    graph = json.loads(bazel("aquery", query, "--output=jsonproto", *options))
    entries = {}
    for action in graph.get("actions", []):
        found = entry(action.get("arguments", []), execution_root)
        if found:
            entries[found["file"]] = found
    path = os.path.join(ROOT, "compile_commands.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump([entries[file] for file in sorted(entries)], out, indent=1)
    print(f"{len(entries)} files in {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
