"""Names of players or games, numbered in the order in which they first come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Bytes, Ints
from valmatch.kernels.compilation import inlined, njit

S = TypeVar("S", bound=np.generic)


class Texts(NamedTuple):
    """Pieces of text."""

    buffer: Bytes  # (bytes,); UTF-8
    # starts, ends: (pieces,): limits of each piece
    starts: Ints
    ends: Ints

    def at(self, places: Ints) -> Texts:
        """Return the pieces at some places."""
        return self._replace(starts=self.starts[places], ends=self.ends[places])


class Names:
    """An exact table of distinct names, some 25 bytes each besides their text."""

    def __init__(self) -> None:
        self.count = 0
        self._text = np.empty(1 << 12, np.uint8)
        self._ends = np.zeros(1 << 8, np.int64)  # name k is _text[_ends[k]:_ends[k + 1]]
        self._hashes = np.empty(1 << 8, np.uint32)
        self._table = np.zeros(1 << 9, np.int32)  # open addressing; number + 1, or 0

    def numbers(self, buffer: Bytes, starts: Ints, ends: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the numbers of the names in cells of a buffer.

        Shapes: `buffer` (bytes,); `starts`, `ends` (cells,).
        """
        self._reserve(len(starts), int((ends - starts).sum()))
        result = np.empty(len(starts), np.int64)
        fresh = np.empty(len(starts), np.bool_)
        self.count = _number(
            buffer,
            starts,
            ends,
            self._text,
            self._ends,
            self._hashes,
            self._table,
            self.count,
            result,
            fresh,
        )
        return result, fresh

    def number(self, name: str) -> int:
        """Return the number of one name."""
        text = np.frombuffer(name.encode(), np.uint8)
        numbers, _ = self.numbers(text, np.array([0]), np.array([len(text)]))
        return int(numbers[0])

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
def same_bytes(a: Bytes, a_start: int, a_end: int, b: Bytes, b_start: int, b_end: int) -> bool:
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
    buffer: Bytes,
    starts: Ints,
    ends: Ints,
    text: Bytes,
    text_ends: Ints,
    hashes: NDArray[np.uint32],
    table: NDArray[np.int32],
    count: int,
    result: Ints,
    fresh: NDArray[np.bool_],
) -> int:
    """Fill `result` and `fresh`, add what is new to the table; return the new count."""
    mask = len(table) - 1
    for cell in range(len(starts)):
        start, end = starts[cell], ends[cell]
        value = _hash(buffer, start, end)
        slot = value & mask
        while table[slot]:
            known = table[slot] - 1
            if hashes[known] == value and same_bytes(
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
        result[cell] = table[slot] - 1
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
