"""Functions that kernels call by address, against the same functions called by name."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from tests.support.interpreted import interpreted
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import kernel
from valmatch.kernels.references import Address, address_of, by_reference, call


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
    found = -math.inf
    for k in range(group.values.size):
        found = max(found, factor * group.values[k])
    return found


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
    found = twice(address_of(largest, group, weights, 1.0, 1), group, weights)
    assert found == (2.5 * group.values.max() if size else -math.inf)
    assert group.counts.tolist() == [2] * size
    assert len(getattr(twice, "signatures", [0])) == 1


def test_arrays_that_lie_apart_are_of_another_type() -> None:
    group, weights = group_of(8)
    records = np.zeros(8, [("x", "f8"), ("n", "i8")])
    records["x"] = group.values
    spread = Group(records["x"], records["n"])
    found = twice(address_of(weighted, spread, weights, 1.0, 1), spread, weights)
    assert found == twice(address_of(weighted, group, weights, 1.0, 1), group, weights)
    assert records["n"].tolist() == [2] * 8


def test_an_address_stays() -> None:
    group, weights = group_of(3)
    first, again = (address_of(weighted, group, weights, 1.0, 1) for _ in range(2))
    assert first == again


def in_full(size: int) -> list[float]:
    group, weights = group_of(size)
    functions = (weighted, largest)
    found = [twice(address_of(one, group, weights, 1.0, 1), group, weights) for one in functions]
    return [float(value) for value in (*found, *group.counts)]


@pytest.mark.slow
def test_the_compiled_call_is_that_of_python() -> None:
    assert interpreted("tests.kernels.test_addresses", "in_full", 9) == str(in_full(9))
