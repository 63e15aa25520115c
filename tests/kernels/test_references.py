"""Groups of arrays by reference: the same as by value."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.support.command import python
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import kernel, macro, part
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


@part
def _counted(index: int, inner: Inner) -> float:
    inner.others[index] += 1.0
    return float(inner.values[index])


@macro
def _scaled(index: int, group: Outer) -> float:
    return group.scale * _counted(index, group.inner)


@part
def _total(group: Outer) -> float:
    total = 0.0
    for k in range(group.counts.size):
        group.counts[k] += group.pair[1]
        total += _scaled(k, group)
    return total


@kernel(allocates=True)
def _by_value(group: Outer) -> float:
    return _total(group)


@kernel(allocates=True)
def _by_reference(group: Outer) -> float:
    return _total(by_reference(group))


@kernel(allocates=True)
def _first(group: Outer) -> float:
    return _scaled(0, group)


def outer(size: int) -> Outer:
    inner = Inner(np.arange(size, dtype=float), np.zeros(size))
    return Outer(np.zeros(size, np.int64), inner, 0.5, (3, 7))


def test_a_group_is_the_same_by_reference() -> None:
    assert _first(outer(2)) == 0.0  # a kernel with some of the parts of the others
    for size in (1, 4):
        first, other = outer(size), outer(size)
        assert _by_reference(first) == _by_value(other) == 0.5 * sum(range(size))
        for group in (first, other):
            assert group.counts.tolist() == [7] * size
            assert group.inner.others.tolist() == [1.0] * size


def shifted(size: int) -> Any:  # noqa: ANN401 - no annotation of the class is true of it
    """Return a group of that class whose pair has another place in memory."""
    group: Any = outer(size)
    return group._replace(scale=(0.0, 0.0, 1.0), inner=(*group.inner, 0.25))


@part
def _spread(group: Any) -> float:  # noqa: ANN401
    return float(group.pair[0] + group.pair[1])


@kernel(allocates=True)
def _spread_by_reference(group: Any) -> float:  # noqa: ANN401
    return _spread(by_reference(group))


def spreads(*numbers: int) -> list[float]:
    """Return what a part finds in groups of one class, by their numbers."""
    groups = (outer(1), shifted(1))
    return [_spread_by_reference(groups[number]) for number in numbers]


@pytest.mark.slow
def test_parts_from_the_caches_of_two_processes_are_not_taken_for_each_other(
    tmp_path: Path,
) -> None:
    """Numba numbers functions anew in each process, so that only their types tell these apart."""

    def spreads_of_process(*numbers: int) -> str:
        code = f"from tests.kernels.test_references import spreads; print(*spreads(*{numbers}))"
        return python("-c", code, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}).stdout

    assert spreads_of_process(0) == spreads_of_process(1) == "10.0\n"
    assert len(list(tmp_path.rglob("*.nbc"))) == 2
    for numbers in ((0, 1), (1, 0)):
        assert spreads_of_process(*numbers) == "10.0 10.0\n"
