"""One run of perftest: its options, and what is in both programs' buffers when it has ended.

A buffer has a slice for each queue, to send from, and behind these one for each queue, to receive
in. The bandwidth programs go on by a cache line or more with each message, as long as two of them
fit a page; then, and in the latency programs, all messages have one place.
"""

import dataclasses
import typing

ITERATIONS = 5  # the fewest that perftest takes
ALL_SIZES = [2 << i for i in range(23)]  # those of -a: 2 B to 8 MiB
MTU = 4096

_CACHE_LINE = 64
_PAGE = 4096


@dataclasses.dataclass(frozen=True)
class Move:
    """A message, from one side's buffer to the other's: offsets in them."""
    client_sends: bool
    source: int
    target: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Case:
    verb: str  # write, read, send or atomic
    what: str  # lat or bw
    connection: str = "RC"
    queues: int = 1
    size: typing.Optional[int] = None  # None: the program's own; 0: all, in one run
    inline: typing.Optional[int] = None  # None: the program's own
    events: bool = False
    atomic: str = ""

    def program(self):
        return f"ib_{self.verb}_{self.what}"

    def options(self):
        """Those that the cases differ by."""
        words = ["-c", self.connection] if self.connection != "RC" else []
        words += ["-q", str(self.queues)] if self.queues != 1 else []
        words += ["-a"] if self.size == 0 else ["-s", str(self.size)] if self.size else []
        words += ["-I", str(self.inline)] if self.inline is not None else []
        words += ["-e"] if self.events else []
        return words + (["-A", self.atomic] if self.atomic else [])

    def arguments(self):
        # Its NIC gives up after 4 s times 7 retries: a process that waits for a core is no loss.
        return ["-F", "-n", str(ITERATIONS), "-u", "20", *self.options()]

    def name(self):
        return " ".join([self.program(), *self.options()])

    def sizes(self):
        if self.size == 0:
            return [size for size in ALL_SIZES if self.connection != "UD" or size <= MTU]
        if self.verb == "atomic":
            return [8]
        return [self.size or (65536 if self.what == "bw" else 2)]

    def slice_bytes(self):
        """Of one queue, in one direction."""
        return max(*self.sizes(), _PAGE)

    def buffer_bytes(self):
        return 2 * self.queues * self.slice_bytes() + (_CACHE_LINE if self.is_ud() else 0)

    def is_ud(self):
        return self.connection == "UD"

    def both_send(self):
        return self.what == "lat" and self.verb in ("write", "send")

    def places(self, size):
        """Offsets in a slice of the last message in each place, in their order."""
        step = max(-(-size // _CACHE_LINE), 1) * _CACHE_LINE
        count = _PAGE // step if self.what == "bw" and size <= _PAGE // 2 else 1
        return [i % count * step for i in range(max(ITERATIONS - count, 0), ITERATIONS)]

    def moves(self, size):
        """The messages of that size, but for those whose place a later one has."""
        for queue in range(self.queues):
            for place in self.places(size):
                sent_from = queue * self.slice_bytes() + place
                arrives_at = sent_from + self.queues * self.slice_bytes()
                if self.verb == "read":
                    yield Move(False, arrives_at, sent_from, size)
                    continue
                arrives_at += _CACHE_LINE if self.is_ud() else 0
                yield Move(True, sent_from, arrives_at, size)
                if self.both_send():
                    yield Move(False, sent_from, arrives_at, size)
