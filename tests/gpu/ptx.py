"""Reads what ptx_report made: the instructions and the resources of each kernel."""

import os
import re
import subprocess
from collections import namedtuple

# `kernel`, `publication` and `ordering` are the names in the source, without their namespace.
Kernel = namedtuple("Kernel", "kernel publication ordering instructions registers spills stack")

_NAME = re.compile(r"(?:\w+::)*(\w+)<(?:\w+::)*(\w+), (?:\w+::)*(\w+)>")
_RESOURCES = re.compile(
    r"Compiling entry function '(\w+)'.*?"
    r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads.*?"
    r"Used (\d+) registers",
    re.DOTALL,
)
_MNEMONIC = re.compile(r"^\s*(?:@!?%p\d+\s+)?([a-z]\w*(?:[.:]+\w+)*)[ ;]", re.MULTILINE)


def _demangle(symbols):
    command = ["c++filt"] + symbols
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def instructions(ptx):
    """{mangled name: the mnemonics of its body, in order} of each kernel."""
    found = {}
    for body in ptx.split(".entry ")[1:]:
        symbol = re.match(r"\w+", body)[0]
        found[symbol] = _MNEMONIC.findall(body)
    return found


def resources(report):
    """{mangled name: (registers, bytes spilled, bytes of stack)} of each kernel."""
    found = {}
    for symbol, stack, stores, loads, registers in _RESOURCES.findall(report):
        found[symbol] = (int(registers), int(stores) + int(loads), int(stack))
    return found


def read(stem):
    """The kernels of STEM.ptx and STEM.ptxas, by name."""
    with open(stem + ".ptx", encoding="utf-8") as file:
        bodies = instructions(file.read())
    with open(stem + ".ptxas", encoding="utf-8") as file:
        used = resources(file.read())
    kernels = []
    for symbol, name in zip(bodies, _demangle(list(bodies))):
        kernel, publication, ordering = _NAME.search(name).groups()
        registers, spills, stack = used[symbol]
        kernels.append(
            Kernel(kernel, publication, ordering, bodies[symbol], registers, spills, stack)
        )
    return sorted(kernels, key=lambda k: k[:3])


def put_kernels():
    """The kernels of put_kernels.cu, in a program that Bazel runs."""
    here = os.path.dirname(os.path.abspath(__file__))
    return read(os.path.join(here, "put_kernels"))


def register_table(kernels):
    """Registers and bytes spilled, a line for each pair; '-' where a pair has no such kernel."""
    names = sorted({k.kernel for k in kernels})
    rows = {}
    for k in kernels:
        rows.setdefault((k.publication, k.ordering), {})[k.kernel] = f"{k.registers}/{k.spills}"
    lines = [f"{'publication':<16}{'ordering':<20}" + "".join(f"{n:>16}" for n in names)]
    for (publication, ordering), row in sorted(rows.items()):
        cells = "".join(f"{row.get(n, '-'):>16}" for n in names)
        lines.append(f"{publication:<16}{ordering:<20}{cells}")
    return lines
