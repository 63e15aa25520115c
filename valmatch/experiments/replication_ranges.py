"""Sets of replications as ranges: shards of any size, counted without being listed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from math import gcd
from typing import Any


def common(one: range, other: range) -> int:
    """Return how many replications two ranges have in common.

    Examples
    --------
    >>> common(range(0, 100, 4), range(2, 50, 6)), common(range(0, 9, 2), range(1, 9, 2))
    (4, 0)
    """
    if not one or not other:
        return 0
    shared = gcd(one.step, other.step)
    apart, uneven = divmod(other.start - one.start, shared)
    if uneven:
        return 0
    # The first place of `one`, in its steps, that is a place of `other` (Chinese remainders).
    turn = other.step // shared
    place = one.start + apart * pow(one.step // shared, -1, turn) % turn * one.step
    both = one.step * turn
    low, high = max(one.start, other.start), min(one[-1], other[-1])
    first = place - (place - low) // both * both
    return max(0, (high - first) // both + 1)


class ReplicationRanges(Sequence[int]):
    """Replications, held as ranges that have none in common.

    Those of the shards of one run are found by their remainder, however many there are.
    """

    def __init__(self) -> None:
        self._ranges: dict[int, dict[int, list[range]]] = {}
        self._n = 0

    def add(self, part: range) -> None:
        """Take in replications, none of which are here."""
        if part:
            own = self._ranges.setdefault(part.step, {})
            own.setdefault(part.start % part.step, []).append(part)
            self._n += len(part)

    def common(self, part: range) -> int:
        """Return how many replications of a range are here."""
        found = 0
        for step, own in self._ranges.items():
            near = [own.get(part.start % step, [])] if step == part.step else own.values()
            found += sum(common(part, one) for one in chain.from_iterable(near))
        return found

    @property
    def ranges(self) -> list[range]:
        """The same set in order: one range where nothing is missing between first and last."""
        parts = sorted(self._parts(), key=lambda part: (part.start, part.step))
        if not parts:
            return []
        first, last = parts[0].start, max(part[-1] for part in parts)
        return [range(first, last + 1)] if last - first + 1 == self._n else parts

    def _parts(self) -> Iterator[range]:
        return chain.from_iterable(chain.from_iterable(x.values()) for x in self._ranges.values())

    def __len__(self) -> int:
        return self._n

    def __contains__(self, index: object) -> bool:
        return any(
            index in part
            for step, own in self._ranges.items()
            for part in own.get(index % step if isinstance(index, int) else -1, ())
        )

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self._parts())

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 - of an index or a slice
        if isinstance(place, slice):
            return list(islice(self, *place.indices(len(self))))
        return next(islice(self, range(len(self))[place], None))
