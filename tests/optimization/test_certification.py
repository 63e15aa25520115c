"""Certification: its error rate on known truths, a path of points, and what it reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy import stats

from tests.support.certifying import along, certify, days
from valmatch.kernels.arrays import Floats
from valmatch.models.model import ANY
from valmatch.optimization.certification import (
    RESERVE,
    AdjustedOutcomes,
    Beside,
    Certificate,
    FeasibilityTest,
    Fresh,
    PathTests,
    factor,
    lengths,
    of_few_values,
)
from valmatch.optimization.solvers.search import (
    Level,
    Noise,
    PointEstimates,
    Proposal,
    without_controls,
)
from valmatch.statistics.estimates import UNLIMITED, t_quantile

ALPHA = 0.1


def finalists(
    points: list[float], means: Floats | None = None, error: float = 0.0
) -> PointEstimates:
    """Return points of which the search knows `means`, or nothing."""
    shape = len(points), 2
    return PointEstimates(
        np.array(points)[:, None],
        np.full(len(points), 9),
        np.zeros(shape) if means is None else means,
        np.full(shape, error),
        np.zeros(2),
        np.ones(len(points), np.bool_),
    )


def normal(rng: np.random.Generator) -> Floats:
    """Return noise of mean 0."""
    return rng.normal(0.0, 1.0, (2_000, 2))


def skewed(rng: np.random.Generator) -> Floats:
    """Return noise of mean 0 and skewness 1, thrice that of the mean wait of a day."""
    return rng.gamma(4.0, 1.0, (2_000, 2)) - 4.0


Draw = Callable[[np.random.Generator], Floats]


def stage(
    rng: np.random.Generator,
    objective: Callable[[float], float],
    excess: Callable[[float], float],
    draw: Draw = normal,
) -> Callable[[Floats, int], Floats]:
    """Return an evaluation with noise that is common to all points."""
    noise = draw(rng)

    def evaluate(unit: Floats, n: int) -> Floats:
        x = float(unit[0])
        return np.array([objective(x), excess(x)]) + noise[:n]

    return evaluate


def certified(
    seed: int,
    excess: Callable[[float], float],
    points: list[float],
    budget: int = 300,
    objective: Callable[[float], float] = lambda x: -x,
    noise: Draw = normal,
) -> Certificate:
    rng = np.random.default_rng(seed)
    stages = stage(rng, objective, excess, noise), stage(rng, objective, excess, noise)
    return certify(finalists(points), stages, budget, ALPHA)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [normal, skewed])
@pytest.mark.parametrize("points", [[0.5], [0.1, 0.3, 0.5, 0.7, 0.9]])
def test_infeasible_points_pass_less_often_than_stated(noise: Draw, points: list[float]) -> None:
    # All points violate by a hair: the hardest case for the test.
    runs = 1000
    passes = (certified(k, lambda x: 1e-9, points, noise=noise).feasible for k in range(runs))
    wrong = sum(feasible is True for feasible in passes)
    assert 0 < wrong < ALPHA * runs


def test_bounds_widen_with_the_skewness_on_their_side_alone() -> None:
    rng = np.random.default_rng(3)
    outcomes = rng.gamma(4.0, 1.0, (60, 1)) * [0.0, 1.0, -1.0]
    noise = Noise.unknown(np.array([UNLIMITED] * 2))
    below, above = AdjustedOutcomes(outcomes, without_controls).margins(ALPHA, noise)
    student = t_quantile(1.0 - RESERVE * ALPHA, 59) * outcomes.std(axis=0, ddof=1) / math.sqrt(60)
    np.testing.assert_allclose([below[0], above[1]], student[1:], rtol=1e-12)
    assert above[0] == pytest.approx(below[1])
    assert above[0] > 1.02 * student[1]
    # Means of equal outcomes are rounded, too.
    equal = AdjustedOutcomes(np.full((72, 3), 0.1), without_controls).margins(ALPHA, noise)
    assert np.abs(equal).max() < 1e-12


def test_the_bound_of_a_small_skewed_sample_goes_over_to_that_of_cantelli() -> None:
    narrow = factor(0.2, 0.2, 60, 59, ALPHA)
    assert narrow == pytest.approx(t_quantile(1.0 - RESERVE * ALPHA, 59), rel=0.03)
    between = factor(3.0, 3.0, 400, 399, ALPHA), factor(0.0, 6.0, 400, 399, ALPHA)
    widest = math.sqrt((1.0 - RESERVE * ALPHA) / (RESERVE * ALPHA))
    assert narrow < between[0] < between[1] < factor(6.0, 6.0, 40, 39, ALPHA) == widest


YES, NO = 0.98, -0.02
"""Excesses of yes and no over a limit of 2 %."""


@pytest.mark.parametrize(
    ("values", "limits", "history", "passes"),
    [
        ([NO] * 200, (0.0, 1.0), None, True),  # .98^200 = .018
        ([NO] * 100, (0.0, 1.0), None, False),  # .13
        ([NO] * 200, ANY, (NO, YES), True),  # the search has seen both
        ([NO] * 5_000, ANY, None, False),  # nothing says how often there is another
        ([NO] * 4_999 + [YES], ANY, None, False),  # nor where it was seen once
        ([NO] * 4_990 + [YES] * 10, ANY, None, True),
        ([NO] * 9, ANY, "constant", True),
    ],
)
def test_what_has_few_values_passes_by_exact_bounds_or_not_at_all(
    values: list[float],
    limits: tuple[float, float],
    history: tuple[float, float] | str | None,
    passes: bool,
) -> None:
    noise = Noise.unknown(np.array([limits]) - 0.02)
    if history == "constant":
        noise.constant[0] = True
    elif isinstance(history, tuple):
        noise.low[0], noise.high[0] = history
    outcomes = np.column_stack([np.zeros(len(values)), values])
    test = FeasibilityTest(np.zeros(1), AdjustedOutcomes(outcomes, without_controls), 0.05, noise)
    assert (test.passes, test.fails) == (passes, False)


def test_bounds_of_yes_and_no_are_those_of_clopper_and_pearson() -> None:
    noise = Noise.unknown(np.array([UNLIMITED]))
    found = of_few_values(np.array([NO] * 195 + [YES] * 5), noise, 0, 0.05)
    assert found is not None
    assert found[1] + 0.02 == pytest.approx(stats.beta.ppf(0.95, 6, 195))
    assert found[0] + 0.02 == pytest.approx(stats.beta.ppf(0.05, 5, 196))
    assert of_few_values(np.arange(3.0), noise, 0, 0.05) is None


def test_the_best_feasible_point_is_found() -> None:
    # Feasible up to x = 0.6; better the larger x.
    for seed in range(50):
        found = certified(seed, lambda x: 5.0 * (x - 0.6), [0.2, 0.4, 0.55, 0.7, 0.9])
        assert found.feasible is True
        assert found.unit[0] in (0.4, 0.55)


def test_undefined_replications_make_a_point_infeasible() -> None:
    def excess(x: float) -> float:
        return math.nan if x > 0.5 else -1.0

    found = certified(3, excess, [0.9, 0.4])
    assert (found.feasible, found.unit[0], found.undefined) == (True, 0.4, 0)
    nothing = certified(4, lambda x: math.nan, [0.9, 0.4])
    assert nothing.feasible is False
    assert nothing.undefined == len(nothing.outcomes)


@pytest.mark.slow
def test_a_tempting_infeasible_point_beside_a_safe_one_passes_no_more_often() -> None:
    runs = 1000
    wrong = sum(
        certified(k, lambda x: 1e-9 if x > 0.5 else -1.0, [0.9, 0.1]).unit[0] == 0.9
        for k in range(runs)
    )
    assert wrong / runs <= ALPHA + 4 * math.sqrt(ALPHA * (1 - ALPHA) / runs)
    # Nor does the safe one fail because of it.
    assert all(certified(k, lambda x: 2 * x - 1.0, [0.9, 0.1]).feasible for k in range(20))


BUDGET = 300


def points_along(
    points: list[float],
    fresh: Fresh,
    beside: Sequence[Beside] = (),
    surer: Floats | None = None,
    common: float = 0.99,
) -> PathTests:
    """Test points along a path."""
    path = [np.array([x]) for x in points]
    return along(path, fresh, BUDGET, ALPHA, beside, surer, common)


def wrong(tests: PathTests, excess: Callable[[float], float]) -> bool:
    """Return whether a point passed that is infeasible."""
    return any(test.passes and excess(float(test.unit[0])) > 0.0 for test in tests.all)


@pytest.mark.slow
@pytest.mark.parametrize("common", [0.99, 0.0])
@pytest.mark.parametrize("first", [-2.0, -1e-9, 1e-9])
def test_infeasible_points_of_a_path_pass_less_often_than_stated(
    first: float, common: float
) -> None:
    # Points violate by a hair, but for the first: the hardest cases for the tests.
    def excess(x: float) -> float:
        return 1e-9 if x > 0.2 else first

    runs, mistakes = 1000, 0
    for seed in range(runs):
        fresh, _ = days(np.random.default_rng(seed), BUDGET, excess)
        beside = [Beside(np.array([0.3]), 0.3, short=True)]
        surer = np.array([0.95])
        tests = points_along([0.1, 0.5, 0.9], fresh, beside, surer, common)
        mistakes += wrong(tests, excess)
        assert first > -1.0 or tests.path[0].passes
    assert 0 < mistakes < ALPHA * runs


def test_points_along_a_path_meet_the_same_replications_until_one_fails() -> None:
    fresh, starts = days(np.random.default_rng(1), BUDGET, lambda x: -3.0 if x < 0.5 else 3.0)
    tests = points_along([0.1, 0.3, 0.7, 0.9], fresh)
    many, few = lengths(BUDGET, 4, 0.99)
    assert many + 3 * few <= BUDGET
    assert [(len(test.outcomes), test.passes) for test in tests.path] == [
        (many, True),
        (few, True),
        (few, False),
    ]
    assert (starts, tests.spent) == ([0], many + 2 * few)
    assert tests.passed is tests.path[1]


def test_a_level_is_what_the_rule_of_bayes_says() -> None:
    rng = np.random.default_rng(6)
    level, doubt, error = 0.3, 0.2, 0.1
    truths = rng.normal(0.0, level, 2_000_000)
    seen = -0.4 + truths + rng.normal(0.0, doubt, truths.size) + rng.normal(0.0, error, truths.size)
    found = truths[np.abs(seen - 0.2) < 0.01]
    before = Level(np.zeros(1), np.full(1, level))
    proposal = Proposal(np.zeros(1), np.full(1, -0.4), np.full(1, doubt), before)
    after = before.after(proposal, np.full(1, 0.2), np.full(1, error))
    assert after.shift[0] == pytest.approx(
        found.mean(), abs=5 * found.std() / math.sqrt(found.size)
    )
    assert after.doubt[0] == pytest.approx(found.std(), rel=5 / math.sqrt(2 * found.size))
    certain = Level(np.zeros(1), np.zeros(1))
    same = certain.after(proposal._replace(doubt=np.zeros(1)), np.ones(1), np.zeros(1))
    assert (same.shift[0], same.doubt[0]) == (0.0, 0.0)
