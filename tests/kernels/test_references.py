"""References to groups of arrays: what is read by one, and written through it, is the group's."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import apart, inlined, internal, njit
from valmatch.kernels.references import by_reference


class Inner(NamedTuple):
    """A group in a group, of arrays of one type."""

    values: Floats
    others: Floats


class Outer(NamedTuple):
    """A group of different things."""

    counts: Ints
    inner: Inner
    scale: float
    pair: tuple[int, int]


@internal
def _counted(place: int, inner: Inner) -> float:
    inner.others[place] += 1.0
    return float(inner.values[place])


@inlined
def _scaled(place: int, group: Outer) -> float:
    return group.scale * _counted(place, group.inner)


@apart
def _total(group: Outer) -> float:
    total = 0.0
    for k in range(group.counts.size):
        group.counts[k] += group.pair[1]
        total += _scaled(k, group)
    return total


@njit
def _by_value(group: Outer) -> float:
    return _total(group)


@njit
def _by_reference(group: Outer) -> float:
    return _total(by_reference(group))


@njit
def _first(group: Outer) -> float:
    return _scaled(0, group)


def outer(size: int) -> Outer:
    inner = Inner(np.arange(size, dtype=float), np.zeros(size))
    return Outer(np.zeros(size, np.int64), inner, 0.5, (3, 7))


def test_a_group_is_the_same_by_reference() -> None:
    assert _first(outer(2)) == 0.0  # a kernel with some of the parts of the others
    for size in (1, 4):
        one, other = outer(size), outer(size)
        assert _by_reference(one) == _by_value(other) == 0.5 * sum(range(size))
        for group in (one, other):
            assert group.counts.tolist() == [7] * size
            assert group.inner.others.tolist() == [1.0] * size


def test_what_is_referred_to_is_read_anew_in_the_next_call() -> None:
    group = outer(3)
    assert _by_reference(group._replace(scale=2.0)) == 4 * _by_reference(group) == 6.0
    assert group.inner.others.tolist() == [2.0] * 3


def test_a_part_is_inlined_by_what_it_says_not_by_who_calls_it() -> None:
    """Numba would inline what a part calls that is inlined itself, and all that this calls."""
    _by_reference(outer(1))
    for part, whether in ((_counted, False), (_scaled, True), (_total, False)):
        compiled: Any = part
        assert {one.fndesc.inline for one in compiled.overloads.values()} == {whether}
