"""Coverage of the intervals of prices of constraints, on problems whose multipliers are known."""

from __future__ import annotations

import numpy as np
import pytest

from tests.priced_problems import PROBLEMS, Problem, told

SEEDS = 400


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda one: one.name)
def test_few_prices_are_missing_and_none_is_false(problem: Problem) -> None:
    """Each problem by itself: 400 intervals have a coverage of 95 % up to some 3.3 %."""
    found = [told(problem, seed) for seed in range(SEEDS)]
    held = [one.holds for one in found if one.holds is not None]
    print(f"{problem.name}: {np.mean(held):.3f} of {len(held)}, {found[0].words}")
    assert len(held) >= 0.9 * len(found)
    assert np.mean(held) > 0.92
    assert not any(one.false for one in found)


def test_intervals_hold_as_often_as_they_say() -> None:
    found = [told(problem, seed) for problem in PROBLEMS for seed in range(SEEDS)]
    held = [one.holds for one in found if one.holds is not None]
    print(f"all: {np.mean(held):.3f} of {len(held)}")
    assert 0.93 <= np.mean(held) <= 0.97
