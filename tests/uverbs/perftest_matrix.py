"""perftest on the virtual ConnectX: its programs with each combination of queues, size, inline and
events that they accept. From the repository's root, after a build of //tools/ringpost:

  cd .bazel/bin/tools/ringpost/ringpost.runfiles/ringpost
  PYTHONPATH=$OLDPWD python3 -m tests.uverbs.perftest_matrix

The last line is 'N passed, N failed, N refused': refused are those that perftest's own parser does
not take, each of which is listed with what it says.
"""

import dataclasses
import itertools
import sys

from tests.uverbs.pair import Pair

_PROGRAMS = [f"ib_{verb}_{what}" for verb in ("write", "read", "send", "atomic")
             for what in ("lat", "bw")]
_ITERATIONS = "20"


@dataclasses.dataclass
class Tally:
    passed: int = 0
    failed: list = dataclasses.field(default_factory=list)
    refused: dict = dataclasses.field(default_factory=dict)


def _options(queues, size, inline, events, connection):
    words = ["-F", "-n", _ITERATIONS]
    words += ["-q", str(queues)] if queues != 1 else []
    words += ["-s", str(size)] if size else []
    words += ["-I", str(inline)] if inline else []
    words += ["-e"] if events else []
    return words + (["-c", connection] if connection != "RC" else [])


def whole():
    """(program, arguments) of the whole matrix."""
    for program, queues, size, inline, events in itertools.product(
            _PROGRAMS, (1, 4), (2, 4096, 8 << 20), (0, 64), (False, True)):
        if "atomic" in program:
            if size != 2:
                continue  # its messages have 8 bytes
            size = 0
        if inline and size > inline:
            continue
        yield program, _options(queues, size, inline, events, "RC")
    for program in ("ib_send_lat", "ib_send_bw", "ib_write_lat", "ib_write_bw"):
        for size in (2, 4096, 65536):
            yield program, _options(1, size, 0, False, "UC")
    for program in ("ib_send_lat", "ib_send_bw"):
        for size, events in itertools.product((2, 2048), (False, True)):
            yield program, _options(1, size, 0, events, "UD")
    for program in ("ib_write_bw", "ib_read_bw", "ib_send_bw"):
        yield program, ["-F", "-n", "5", "-a"]


def quick():
    """A part of it: each program, and each kind of option once."""
    for program in _PROGRAMS:
        yield program, _options(1, 0 if "atomic" in program else 4096, 0, False, "RC")
    yield "ib_write_lat", _options(1, 2, 64, False, "RC")
    yield "ib_write_bw", _options(4, 8 << 20, 0, False, "RC")
    yield "ib_send_bw", _options(4, 4096, 0, True, "RC")
    yield "ib_send_bw", _options(1, 2048, 0, False, "UD")
    yield "ib_write_bw", _options(1, 4096, 0, False, "UC")
    yield "ib_write_bw", _options(1, 4096, 0, True, "RC")  # refused
    yield "ib_read_lat", _options(1, 2, 64, False, "RC")  # refused


def run(matrix, port, progress=lambda line: None):
    tally = Tally()
    for number, (program, arguments) in enumerate(matrix):
        name = " ".join([program, *arguments])
        both = Pair(port + number, program, arguments)
        if both.ok():
            tally.passed += 1
        elif both.refusal():
            tally.refused[name] = both.refusal()
        else:
            tally.failed.append(f"{name}\n{both.said()}")
        progress(f"{'ok' if both.ok() else both.refusal() or 'FAILED'}: {name}")
    return tally


def main():
    tally = run(whole(), 22000, lambda line: print(line, flush=True))
    for failure in tally.failed:
        print(failure)
    print(f"{tally.passed} passed, {len(tally.failed)} failed, {len(tally.refused)} refused")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
