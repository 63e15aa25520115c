"""Search scales that no one gave: found, kept and said; digits of means."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from tests.support.wide_model import ENTRY, posed
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build
from valmatch.models.registry import OWN
from valmatch.optimization.problem import Variable, default_ends, problem_of


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OWN, "wide", ENTRY)


def variable(low: float, high: float, start: float, whole: bool = False) -> Variable:
    """Return a variable whose scale is not given."""
    ends = default_ends(low, high, start, whole)
    return Variable("x", low, high, math.inf, start, start, math.inf, whole, ends)


@pytest.mark.parametrize(
    ("low", "high", "start", "whole"),
    [
        (10, 400, 100, False),  # 40 times
        (5, 500, 100, False),  # just two orders
        (0, 100, 3, True),  # from 1 to 100
        (-5, 10, 1, False),  # across 0
        (-1000, 1000, 5, False),
        (0.9, 0.999, 0.95, False),
    ],
)
def test_narrow_ranges_are_searched_linearly(
    low: float, high: float, start: float, whole: bool
) -> None:
    one = variable(low, high, start, whole)
    assert one.ends is None
    assert one.to_unit(0.5 * (low + high)) == 0.5


@pytest.mark.parametrize(
    ("low", "high", "start", "whole", "quarter"),
    [
        (0, 2400, 600, False, 360),
        (0, 2400, 0, False, 360),
        (0, 2400, 2400, False, 360),
        (1, 10_000, 2000, False, 633),
        (1e-12, 1.0, 0.1, False, 1.73e-5),
        (0, 1e5, 3.0, False, 4440),
        (0, 500, 300, True, 75),
        (1, 500, 4, True, 68),
        (-1000, 0, -5, False, -850),
        (-10_000, -1, -30, False, -7930),
    ],
)
def test_wide_ranges_are_searched_from_both_ends(
    low: float, high: float, start: float, whole: bool, quarter: float
) -> None:
    one = variable(low, high, start, whole)
    assert one.ends
    values = [one.from_unit(unit) for unit in np.linspace(0.0, 1.0, 401)]
    assert (values[0], values[-1]) == (low, high)
    assert all(a <= b for a, b in pairwise(values))
    assert whole or len(set(values)) == len(values)
    assert values[100] == pytest.approx(quarter, rel=0.05)
    units = [one.to_unit(value) for value in values]
    assert (units[0], units[-1]) == (0.0, 1.0)
    again = [one.from_unit(unit) for unit in units]
    assert again == pytest.approx(values, rel=1e-8, abs=1e-11 * (high - low) * (low < 0))
    assert not whole or again == values
    assert one.from_unit(one.to_unit(start)) == pytest.approx(start, rel=1e-9)


def test_what_a_config_says_of_a_scale_is_kept() -> None:
    for said in ({"scale": 20.0}, {"std": 100.0}, {"mean": 30.0, "std": 100.0}):
        config = posed("low")
        config["optimize"]["variables"]["x.3"] |= said
        loaded = load_config(config)
        variables = problem_of(loaded, build(loaded)).variables
        assert [bool(one.ends) for one in variables] == [True, True, True, False, True, True]
