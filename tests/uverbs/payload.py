"""What is in the buffers of both programs of a perftest run, beside what should be.

Both are mapped from files, by perftest's own --mmap. libperftest_buffer.so fills each with a
pattern of its side's own before the first message, so that the files' contents at the end follow
from the patterns and the messages: each message where it belongs, and every other byte as it was.
"""

import mmap
import os
import random
import shutil
import tempfile

from tests.uverbs.perftest_case import ITERATIONS

LIBRARY = os.path.abspath("tests/uverbs/libperftest_buffer.so")
# A prime, so that no two slices of a buffer begin with the same bytes.
PATTERN_BYTES = 1_048_573
SIDES = ("server", "client")
_PIECE = 1 << 18
_GRH = 40  # what a UD queue pair may write before each message
_MASK = (1 << 64) - 1


def patterns(seed):
    """One for each side, of bytes from 128: ib_write_lat waits for a byte to become a number."""
    draw = random.Random(seed)
    high = bytes(value | 0x80 for value in range(256))
    return [draw.randbytes(PATTERN_BYTES).translate(high) for _ in SIDES]


class Folder:
    """In shared memory: the patterns, and the buffers of the runs that are under way."""

    def __init__(self, seed):
        self.path = tempfile.mkdtemp(prefix="ringpost-perftest-", dir="/dev/shm")
        self._patterns = dict(zip(SIDES, patterns(seed)))
        for side in SIDES:
            with open(self.pattern_path(side), "wb") as file:
                file.write(self.pattern(side))

    def pattern(self, side):
        return self._patterns[side]

    def pattern_path(self, side):
        return os.path.join(self.path, side + ".pattern")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)


class Buffers:
    """Those of one run, while it and its check last."""

    def __init__(self, folder, case):
        self._folder, self._case = folder, case
        self._path = tempfile.mkdtemp(dir=folder.path)
        for side in SIDES:
            with open(self.path(side), "wb") as file:
                file.truncate(case.buffer_bytes())

    def path(self, side):
        return os.path.join(self._path, side)

    def words(self):
        return [["--mmap=" + self.path(side)] for side in SIDES]

    def environments(self):
        return [{"LD_PRELOAD": LIBRARY, "RINGPOST_TEST_PATTERN": self._folder.pattern_path(side)}
                for side in SIDES]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self._path)

    def differences(self):
        """A line for the first wrong byte of each side; none where all is right."""
        lines = []
        with open(self.path(SIDES[0]), "rb") as server, open(self.path(SIDES[1]), "rb") as client:
            found = [mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) for file in (server, client)]
            for side, image, right in zip(SIDES, found, self._expected(found)):
                at = right.first_difference(image)
                if at is not None:
                    lines.append(f"the {side}'s byte {at} of {len(image)} is {image[at]}, "
                                 f"not {right.read(at, 1)[0]}")
            for image in found:
                image.close()
        return lines

    def _expected(self, found):
        case = self._case
        server, client = [Image(self._folder.pattern(side), case.buffer_bytes())
                          for side in SIDES]
        if case.verb == "atomic":
            _run_atomics(case, server, client)
            return server, client
        for size in case.sizes():
            if (case.verb, case.what) == ("write", "lat"):
                # Its messages end with their number, for which the other side waits.
                for image in (server, client):
                    image.write(size - 1, bytes([ITERATIONS]))
            for move in case.moves(size):
                source, target = (client, server) if move.client_sends else (server, client)
                if case.is_ud():
                    header = move.target - _GRH
                    target.write(header, found[0 if move.client_sends else 1][header:move.target])
                target.write(move.target, source.read(move.source, size))
        return server, client


class Image:
    """What a buffer should hold: the pattern, repeated, but for the pieces that were written to."""

    def __init__(self, pattern, size):
        self.size = size
        self._pattern = pattern * 2  # a piece is shorter than it
        self._written = {}

    def _piece(self, number):
        begin = number * _PIECE % PATTERN_BYTES
        return (self._written.get(number) or
                self._pattern[begin:begin + min(_PIECE, self.size - number * _PIECE)])

    def _parts(self, at, size):
        """(piece, where in it, bytes) of a range."""
        while size:
            number, begin = divmod(at, _PIECE)
            part = min(size, _PIECE - begin)
            yield number, begin, part
            at, size = at + part, size - part

    def read(self, at, size):
        return b"".join(self._piece(number)[begin:begin + part]
                        for number, begin, part in self._parts(at, size))

    def write(self, at, data):
        done = 0
        for number, begin, part in self._parts(at, len(data)):
            if number not in self._written:
                self._written[number] = bytearray(self._piece(number))
            self._written[number][begin:begin + part] = data[done:done + part]
            done += part

    def first_difference(self, found):
        if len(found) != self.size:
            return min(len(found), self.size)
        for number in range(-(-self.size // _PIECE)):
            piece, right = found[number * _PIECE:(number + 1) * _PIECE], self._piece(number)
            if piece != right:
                return number * _PIECE + next(i for i, (a, b) in enumerate(zip(piece, right))
                                              if a != b)
        return None


def _run_atomics(case, server, client):
    """Each returns the word that it found; one adds 1, the other puts 0 in place of 0."""
    for queue in range(case.queues):
        for place in case.places(8):
            local = queue * case.slice_bytes() + place
            remote = local + case.queues * case.slice_bytes()
            count = ITERATIONS if case.what == "lat" else 1
            value = int.from_bytes(server.read(remote, 8), "little")
            added = 0 if case.atomic == "CMP_AND_SWAP" else 1
            client.write(local, ((value + added * (count - 1)) & _MASK).to_bytes(8, "little"))
            server.write(remote, ((value + added * count) & _MASK).to_bytes(8, "little"))
