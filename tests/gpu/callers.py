"""Reads what nvcc and nvlink say of the callers: registers, and blocks that fit an SM."""

import os
import re
import subprocess
from collections import namedtuple

from tests.gpu import ptx

# `build` is absent, inlined or separate; `waits`: for each message. `instructions`: not of separate
# ones.
Caller = namedtuple("Caller", "work values ordering build waits registers instructions")

BLOCK = 256
_REGISTERS_PER_SM = 65536
_THREADS_PER_SM = 2048
_WORKS = {"0": "compute", "1": "streaming"}
_NAME = re.compile(
    r"Caller<\(ringpost::workloads::CallerWork\)(\d), (\d+)u, [^<>]*?"
    r"(Absent|(?:Inlined|Separate)<ringpost::Order(\w+), (false|true)>) *>"
)
_LINKED = re.compile(r"properties for '\w*?(_ZN8ringpost\w+)'.*?used (\d+) registers", re.DOTALL)


def blocks_per_sm(registers):
    """Registers are given to a warp in units of 256."""
    per_warp = (registers * 32 + 255) // 256 * 256
    return min(_THREADS_PER_SM // BLOCK, _REGISTERS_PER_SM // (per_warp * (BLOCK // 32)))


def _callers(used, bodies):
    """`used`: registers by mangled name."""
    symbols = list(used)
    names = subprocess.run(
        ["c++filt"] + symbols, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for symbol, name in zip(symbols, names):
        match = _NAME.search(name.replace("(anonymous namespace)", "anonymous"))
        if match is None:
            raise ValueError("no caller: " + name)
        work, values, kind, ordering, waits = match.groups()
        build = kind.split("<")[0].lower()
        yield Caller(_WORKS[work], int(values), ordering, build, waits == "true", used[symbol],
                     bodies.get(symbol, []))


def callers():
    """All of them, in a program that Bazel runs."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "caller_kernels.ptxas"), encoding="utf-8") as file:
        inlined = {symbol: use[0] for symbol, use in ptx.resources(file.read()).items()}
    with open(os.path.join(here, "caller_kernels.ptx"), encoding="utf-8") as file:
        bodies = {symbol: code for symbol, (code, _) in ptx.instructions(file.read()).items()}
    root = os.path.dirname(os.path.dirname(here))
    with open(os.path.join(root, "workloads/caller_separate.objects.nvlink"),
              encoding="utf-8") as file:
        separate = {symbol: int(used) for symbol, used in _LINKED.findall(file.read())}
    return list(_callers(inlined, bodies)) + list(_callers(separate, {}))


def table(found):
    """Registers of a thread and blocks of an SM, a line for each kind of caller."""
    def cell(row, build, waits):
        for c in found:
            ordering = c.ordering == row[2] or build == "absent"
            if (c.work, c.values, c.build, c.waits) == (*row[:2], build, waits) and ordering:
                return f"{c.registers}/{blocks_per_sm(c.registers)}"
        return "-"

    columns = [("absent", False), ("inlined", False), ("separate", False), ("inlined", True),
               ("separate", True)]
    lines = [f"{'':42}{'':9}{'put':>20}{'put and wait':>20}",
             f"{'work':<12}{'values':>8}  {'ordering':<20}"
             + "".join(f"{build:>10}" for build, _ in columns)]
    for row in sorted({(c.work, c.values, c.ordering) for c in found if c.ordering}):
        cells = "".join(f"{cell(row, *column):>10}" for column in columns)
        lines.append(f"{row[0]:<12}{row[1]:>8}  {row[2]:<20}{cells}")
    return lines
