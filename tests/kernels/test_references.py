"""Groups of arrays by reference, functions by address: the same as by value and by name."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.support.command import python
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import kernel, part
from valmatch.kernels.references import Address, address_of, by_reference, call


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


@part(inline=True)
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


# Functions that kernels call by address.


class Group(NamedTuple):
    """Some arrays."""

    values: Floats
    counts: Ints


@kernel
def weighted(group: Group, weights: Floats, factor: float, power: int) -> float:
    """Change the group, and return a sum."""
    total = 0.0
    for k in range(group.values.size):
        total += factor * weights[k] * group.values[k] ** power
        group.counts[k] += 1
    return total


@kernel
def largest(group: Group, weights: Floats, factor: float, power: int) -> float:
    """Return the largest value, scaled."""
    values = -math.inf
    for k in range(group.values.size):
        values = max(values, factor * group.values[k])
    return values


@kernel
def twice(address: Address, group: Group, weights: Floats) -> float:
    """Call a function two times, with numbers that are written here."""
    held = by_reference(group)
    return call(address, (held, weights, 0.5, 2)) + call(address, (held, weights, 2.0, 1))


def group_of(size: int) -> tuple[Group, Floats]:
    rng = np.random.default_rng(size)
    return Group(rng.normal(size=size), np.zeros(size, np.int64)), rng.uniform(size=size)


@pytest.mark.parametrize("size", [0, 1, 17])
def test_one_kernel_calls_any_function_of_the_same_types(size: int) -> None:
    group, weights = group_of(size)
    address = address_of(weighted, group, weights, 1.0, 1)
    halves = sum(0.5 * w * v**2 for w, v in zip(weights, group.values, strict=True))
    doubles = sum(2.0 * w * v for w, v in zip(weights, group.values, strict=True))
    assert twice(address, group, weights) == pytest.approx(halves + doubles, rel=1e-14)
    assert group.counts.tolist() == [2] * size
    values = twice(address_of(largest, group, weights, 1.0, 1), group, weights)
    assert values == (2.5 * group.values.max() if size else -math.inf)
    assert group.counts.tolist() == [2] * size
    assert len(getattr(twice, "signatures", [0])) == 1
