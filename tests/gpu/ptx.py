"""Reads what ptx_report made: the instructions and the resources of each kernel."""

import os
import re
import subprocess
from collections import namedtuple

# `kernel`, `publication` and `ordering` are the names in the source, without their namespace.
# `blocks`: the basic blocks, see blocks().
Kernel = namedtuple(
    "Kernel", "kernel publication ordering instructions registers spills stack blocks"
)

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
    """{mangled name: (the mnemonics of its body in order and of what it calls, its blocks)} of each
    kernel. `call` stands for one that is not inlined."""
    bodies, entries = {}, []
    # A declaration has no body.
    for kind, head, body in re.findall(r"\.(entry|func)\b([^{;]*)\{(.*?)^\}", ptx,
                                       re.DOTALL | re.MULTILINE):
        symbol = re.match(r"\s*(?:\([^)]*\)\s*)?(\w+)", head)[1]
        bodies[symbol] = body
        if kind == "entry":
            entries.append(symbol)
    return {entry: (_with_calls(entry, bodies), blocks(bodies[entry])) for entry in entries}


def _with_calls(entry, bodies):
    found, todo, seen = [], [entry], set()
    while todo:
        symbol = todo.pop(0)
        if symbol in seen or symbol not in bodies:
            continue
        seen.add(symbol)
        found += _MNEMONIC.findall(bodies[symbol])
        todo += re.findall(r"\bcall\S*\s+(?:\([^)]*\),\s*)?(\w+)", bodies[symbol])
    return found


def blocks(body):
    """[(mnemonics, numbers of the blocks that may follow)] of one kernel, in order."""
    pieces = re.split(r"^(\$L\w+):$", body, flags=re.MULTILINE)
    numbers, parts = {}, []
    for label, text in zip([None] + pieces[1::2], pieces[0::2]):
        numbers[label] = len(parts)
        # A branch ends its block, also where no label follows.
        parts += re.split(r"(?<=;)\n(?=\s*\n)", re.sub(r"(\bbra\b.*;)", r"\1\n", text))
    found = []
    for number, part in enumerate(parts):
        follow = [numbers[label] for label in re.findall(r"\bbra(?:\.uni)?\s+(\$L\w+);", part)]
        ends = re.search(r"^\s*(?:bra\S*\s|ret;)", part, re.MULTILINE)
        if not ends and number + 1 < len(parts):
            follow.append(number + 1)
        found.append((_MNEMONIC.findall(part), follow))
    return found


def loops_without(kernel, through, avoided):
    """Whether a block with `through` is reached again from itself past no instruction that starts
    with one of `avoided`."""
    free = [not any(i.startswith(avoided) for i in part) for part, _ in kernel.blocks]
    for start, (part, follow) in enumerate(kernel.blocks):
        if through not in part or not free[start]:
            continue
        seen, todo = set(), list(follow)
        while todo:
            block = todo.pop()
            if block == start:
                return True
            if block not in seen and free[block]:
                seen.add(block)
                todo += kernel.blocks[block][1]
    return False


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
        code, parts = bodies[symbol]
        kernels.append(
            Kernel(kernel, publication, ordering, code, registers, spills, stack, parts)
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
