"""perftest on the virtual ConnectX: its programs with each combination of connection, queues, size,
inline and events that they accept, and what each run leaves in both buffers.

  bazel run //tests/uverbs:perftest_matrix

The last line is 'N passed, N failed, N refused': refused are those that perftest's own parser does
not take. They are listed before it, with what perftest says.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import itertools
import time

from tests.uverbs.pair import Pair
from tests.uverbs.payload import Buffers, Folder
from tests.uverbs.perftest_case import ALL_SIZES, MTU, Case

QUEUES = (1, 2, 16)
MOST_INLINE = 912  # of which perftest makes 884 over UD
INLINE = {"lat": (None, 0, MOST_INLINE), "bw": (None, MOST_INLINE)}  # None, of bw: 0
ATOMICS = ("CMP_AND_SWAP", "FETCH_AND_ADD")

# 16 queues with all sizes, on a machine that is busy.
PATIENCE_S = 120

# What perftest says of options that do not go together. Any other end is a failure.
REFUSALS = (
    "Events feature not available on WRITE verb",
    "Inline feature not available on READ/Atomic verbs",
    "Message size cannot be changed for Atomic tests",
    "Multiple QPs only available on bw tests",
    "UC connection not possible in READ/ATOMIC verbs",
    "UD connection only possible in SEND verb",
)


@dataclasses.dataclass
class Tally:
    passed: int = 0
    failed: list = dataclasses.field(default_factory=list)
    refused: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(list))

    def lines(self):
        for failure in self.failed:
            yield failure
        for message, names in sorted(self.refused.items()):
            yield f"refused with '{message}':"
            yield from ("  " + name for name in names)
        yield (f"{self.passed} passed, {len(self.failed)} failed, "
               f"{sum(map(len, self.refused.values()))} refused")


def combinations():
    """Of all but sizes: those that perftest refuses are among them."""
    for verb, what, connection, queues, events in itertools.product(
            ("write", "read", "send", "atomic"), ("lat", "bw"), ("RC", "UC", "UD"), QUEUES,
            (False, True)):
        for inline, atomic in itertools.product(INLINE[what], ATOMICS):
            if verb == "atomic" or atomic == ATOMICS[0]:
                yield Case(verb, what, connection, queues, None, inline, events,
                           atomic if verb == "atomic" else "")
    for what in ("lat", "bw"):
        yield Case("atomic", what, size=16, atomic=ATOMICS[0])


def is_refused(case):
    """What perftest's parser does not take, of `combinations`."""
    atomic = case.verb == "atomic"
    return any((case.verb == "write" and case.events,
                (atomic or case.verb == "read") and case.inline is not None,
                (atomic or case.verb == "read") and case.connection == "UC",
                case.verb != "send" and case.connection == "UD",
                case.what == "lat" and case.queues != 1,
                atomic and case.size is not None))


def sized(case):
    """The same with all sizes in one run, and with some in a run of their own: what is in the
    buffers in between, the next size writes over."""
    if case.verb == "atomic" or is_refused(case):
        return [case]
    most = MTU if case.is_ud() else 65536
    sizes = [size for size in ALL_SIZES if size <= most] if case.queues == 1 else [2, 64, 512, 2048]
    return [dataclasses.replace(case, size=size) for size in [0, *sizes]]


def whole():
    """Of what is refused, one with each set of options: their values do not matter."""
    seen = set()
    for case in combinations():
        options = dataclasses.replace(case, queues=min(case.queues, 2), atomic="",
                                      inline=None if case.inline is None else 0)
        if not is_refused(case) or options not in seen:
            yield from sized(case)
        seen.add(options)


def quick():
    """A part of it: each program, and each kind of option once."""
    for verb, what in itertools.product(("write", "read", "send"), ("lat", "bw")):
        yield Case(verb, what, size=4096)
    for what, atomic in itertools.product(("lat", "bw"), ATOMICS):
        yield Case("atomic", what, queues=1 if what == "lat" else 2, atomic=atomic)
    yield Case("write", "lat", size=2, inline=64)
    yield Case("write", "bw", queues=2, size=8 << 20)
    yield Case("send", "bw", queues=2, size=4096, events=True)
    yield Case("send", "bw", "UD", queues=2, size=64)
    yield Case("send", "lat", "UD", size=0)
    yield Case("write", "bw", "UC", size=2048)
    yield Case("write", "bw", events=True)  # refused
    yield Case("read", "lat", inline=64)  # refused


def refusal(both):
    """perftest's own word on options that do not go together, or nothing."""
    if both.client is None:
        for line in both.server_said.splitlines():
            if line.strip() in REFUSALS:
                return line.strip()
    return ""


def run_in(case, buffers):
    return Pair(case.program(), case.arguments(), words=buffers.words(),
                environments=buffers.environments(), patience_s=PATIENCE_S)


def run_one(case, folder):
    """(refusal, failure) of a case: at most one of them has text."""
    with Buffers(folder, case) as buffers:
        both = run_in(case, buffers)
        if both.ok():
            wrong = buffers.differences()
            wrong += ["it was to be refused"] if is_refused(case) else []
            return "", "\n".join([case.name(), *wrong]) if wrong else ""
    refused = refusal(both) if is_refused(case) else ""
    return refused, "" if refused else f"{case.name()}\n{both.said()}"


def run(matrix, seed, at_once=1, progress=lambda line: None):
    tally = Tally()
    matrix = list(matrix)
    with Folder(seed) as folder, concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for case, (refused, failure) in zip(matrix, pool.map(lambda case: run_one(case, folder),
                                                             matrix)):
            if refused:
                tally.refused[refused].append(case.name())
            elif failure:
                tally.failed.append(failure)
            else:
                tally.passed += 1
            progress(f"{'FAILED' if failure else refused or 'ok'}: {case.name()}")
    return tally


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1, help="of the buffers' contents")
    parser.add_argument("--at-once", type=int, default=2, help="pairs of programs")
    arguments = parser.parse_args()
    begun = time.monotonic()
    tally = run(whole(), arguments.seed, arguments.at_once, lambda line: print(line, flush=True))
    for line in tally.lines():
        print(line)
    print(f"{time.monotonic() - begun:.0f} s, seed {arguments.seed}")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
