"""Names of players and games, numbered in the order in which they first come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Bools, Bytes, Ints
from valmatch.kernels.compilation import inlined, njit

S = TypeVar("S", bound=np.generic)


class Texts(NamedTuple):
    """Pieces of text."""

    buffer: Bytes  # (bytes,); UTF-8
    # starts, ends: (pieces,): limits of each piece
    starts: Ints
    ends: Ints

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """Return pieces that hold texts."""
        pieces = [text.encode() for text in texts]
        ends = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
        return cls(np.frombuffer(bytearray().join(pieces), np.uint8), ends[:-1], ends[1:])

    def at(self, index: Ints) -> Texts:
        """Return some of the pieces."""
        return self._replace(starts=self.starts[index], ends=self.ends[index])

    def text(self, k: int) -> str:
        """Return one piece."""
        return self.buffer[self.starts[k] : self.ends[k]].tobytes().decode(errors="replace")


class Names:
    """An exact table of distinct names, some 25 bytes each besides their text."""

    def __init__(self) -> None:
        self.count = 0
        self._text = np.empty(1 << 12, np.uint8)
        self._ends = np.zeros(1 << 8, np.int64)  # name k is _text[_ends[k]:_ends[k + 1]]
        self._hashes = np.empty(1 << 8, np.uint32)
        self._table = np.zeros(1 << 9, np.int32)  # open addressing; number + 1, or 0

    def numbers(self, names: Texts) -> tuple[Ints, Bools]:
        """Return the numbers of some names, and whether each is new."""
        self._reserve(len(names.starts), int((names.ends - names.starts).sum()))
        numbers = np.empty(len(names.starts), np.int64)
        fresh = np.empty(len(names.starts), np.bool_)
        table = self._text, self._ends, self._hashes, self._table
        self.count = _number(names, *table, self.count, numbers, fresh)
        return numbers, fresh

    def ranks(self) -> Ints:
        """Return the rank of each name in the order of all, from 0."""
        texts = self.texts(range(self.count))  # code points are in the order of bytes
        ranks = np.empty(self.count, np.int64)
        ranks[sorted(range(self.count), key=texts.__getitem__)] = np.arange(self.count)
        return ranks

    def texts(self, numbers: Sequence[int]) -> list[str]:
        """Return names by their numbers."""
        if not numbers:
            return []
        low, high = min(numbers), max(numbers) + 1
        ends = self._ends[low : high + 1].tolist()
        text = self._text[ends[0] : ends[-1]].tobytes()
        begin = ends[0]
        if text.isascii():  # then bytes are characters, and one decoding serves all names
            whole = text.decode()
            return [whole[ends[k - low] - begin : ends[k - low + 1] - begin] for k in numbers]
        return [text[ends[k - low] - begin : ends[k - low + 1] - begin].decode() for k in numbers]

    def cells(self, numbers: Ints) -> Texts:
        """Return names by their numbers, without copying them."""
        return Texts(self._text, self._ends[numbers], self._ends[numbers + 1])

    def _reserve(self, names: int, text: int) -> None:
        """Make room for further names of so many bytes in all."""
        self._text = _grown(self._text, int(self._ends[self.count]) + text)
        self._ends = _grown(self._ends, self.count + names + 1)
        self._hashes = _grown(self._hashes, self.count + names)
        needed = 2 * (self.count + names)
        if needed > len(self._table):
            size = 1 << (needed - 1).bit_length()
            self._table = np.zeros(size, np.int32)
            _fill(self._table, self._hashes, self.count)


def _grown(array: NDArray[S], size: int) -> NDArray[S]:
    """Return the array with room for `size` items, at least doubled if it has to grow."""
    if size <= len(array):
        return array
    larger = np.zeros(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


@inlined
def _same_bytes(a: Bytes, a_start: int, a_end: int, b: Bytes, b_start: int, b_end: int) -> bool:
    """Return whether two pieces of text are the same."""
    if a_end - a_start != b_end - b_start:
        return False
    for k in range(a_end - a_start):
        if a[a_start + k] != b[b_start + k]:
            return False
    return True


@inlined
def _hash(buffer: Bytes, start: int, end: int) -> np.int64:
    """Return the 32-bit FNV-1a hash, in arithmetic that fits 64 signed bits."""
    value = np.int64(2166136261)
    for k in range(start, end):
        value = ((value ^ np.int64(buffer[k])) * 16777619) & 0xFFFFFFFF
    return value


@njit
def _number(
    names: Texts,
    text: Bytes,
    text_ends: Ints,
    hashes: NDArray[np.uint32],
    table: NDArray[np.int32],
    count: int,
    numbers: Ints,
    fresh: Bools,
) -> int:
    """Fill `numbers` and `fresh`, add what is new to the table; return the new count."""
    mask, buffer = len(table) - 1, names.buffer
    for cell in range(len(names.starts)):
        start, end = names.starts[cell], names.ends[cell]
        value = _hash(buffer, start, end)
        slot = value & mask
        while table[slot]:
            known = table[slot] - 1
            if hashes[known] == value and _same_bytes(
                text, text_ends[known], text_ends[known + 1], buffer, start, end
            ):
                break
            slot = (slot + 1) & mask
        fresh[cell] = table[slot] == 0
        if fresh[cell]:
            hashes[count] = value
            first = text_ends[count]
            for k in range(end - start):
                text[first + k] = buffer[start + k]
            text_ends[count + 1] = first + end - start
            count += 1
            table[slot] = count
        numbers[cell] = table[slot] - 1
    return count


@njit
def _fill(table: NDArray[np.int32], hashes: NDArray[np.uint32], count: int) -> None:
    """Enter the first `count` names into an empty table."""
    mask = len(table) - 1
    for number in range(count):
        slot = np.int64(hashes[number]) & mask
        while table[slot]:
            slot = (slot + 1) & mask
        table[slot] = number + 1
