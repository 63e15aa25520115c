"""Coverage of the intervals of prices of constraints, on problems whose multipliers are known.

Some minutes on one core.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.support.priced_problems import PROBLEMS, Problem, Told, told

SEEDS = 400


@cache
def tried(number: int) -> list[Told]:
    return [told(PROBLEMS[number], seed) for seed in range(SEEDS)]


@pytest.mark.parametrize(("number", "problem"), list(enumerate(PROBLEMS)))
def test_few_prices_are_missing_and_none_is_false(number: int, problem: Problem) -> None:
    """Each problem by itself: 400 intervals have a coverage of 95 % up to some 3.3 %."""
    found = tried(number)
    held = [one.holds for one in found if one.holds is not None]
    print(f"{problem.name}: {np.mean(held):.3f} of {len(held)}, {found[0].words}")
    assert len(held) >= 0.9 * len(found)
    assert np.mean(held) > 0.92
    assert not any(one.false for one in found)


def test_intervals_hold_as_often_as_they_say() -> None:
    found = [one for number in range(len(PROBLEMS)) for one in tried(number)]
    held = [one.holds for one in found if one.holds is not None]
    print(f"all: {np.mean(held):.3f} of {len(held)}")
    assert 0.93 <= np.mean(held) <= 0.97
