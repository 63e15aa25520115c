"""Sequential tests of scores: the ratio, error rates and games to expect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mpmath
import numba
import numpy as np
import pytest

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.statistics.sequential_tests import (
    FARTHEST,
    NEVER,
    elo_of,
    expected_steps,
    log_likelihood_ratio,
    score_of,
    sequential_test,
)


def largest_likelihood(weights: Sequence[float], mean: float) -> float:
    """Return the greatest sum of w ln q over chances q with a mean, by Newton with halved steps."""
    w = np.array(weights)
    points = np.linspace(0.0, 1.0, len(w))
    held = np.vstack([np.ones(len(w)), points])
    free = np.linalg.svd(held)[2][2:].T
    # Even chances, and enough on one of the ends for the mean.
    end = np.zeros(len(w))
    end[-1 if mean > 0.5 else 0] = 1.0
    share = abs(mean - 0.5) / 0.5
    q: Floats = (1.0 - share) / len(w) + share * end

    def value(chances: Floats) -> float:
        return float(w @ np.log(chances)) if (chances > 0.0).all() else -np.inf

    for _ in range(500):
        gradient = free.T @ (w / q)
        hessian = (free.T * (w / q**2)) @ free
        step = free @ np.linalg.solve(hessian, gradient)
        share = 1.0
        while share > 1e-12 and value(q + share * step) < value(q):
            share *= 0.5
        if share <= 1e-12:
            break
        q = q + share * step
        if np.abs(step).max() < 1e-16:
            break
    return value(q)


def llr(weights: Sequence[float], first: float, second: float) -> float:
    """Return the log likelihood ratio of two means."""
    return largest_likelihood(weights, second) - largest_likelihood(weights, first)


ratio: Any = numba.njit(log_likelihood_ratio)


def random_counts(rng: np.random.Generator, kinds: int) -> list[int]:
    chances = rng.dirichlet(np.full(kinds, rng.uniform(0.3, 3.0)))
    counts: list[int] = rng.multinomial(int(10 ** rng.uniform(0.5, 5.0)), chances).tolist()
    return counts


@pytest.mark.parametrize("kinds", [3, 5])
def test_ratio_is_that_of_direct_optimisation(kinds: int) -> None:
    rng = np.random.default_rng(kinds)
    for _ in range(100):
        counts = random_counts(rng, kinds)
        elo0 = float(rng.uniform(-60.0, 60.0))
        elo1 = elo0 + float(rng.uniform(0.5, 60.0))
        found = sequential_test(counts, elo0, elo1)
        weights = [n or NEVER for n in counts]
        expected = llr(weights, score_of(elo0), score_of(elo1))
        assert found.llr == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_ratio_of_wins_and_losses_alone_is_the_binomial_one() -> None:
    lost, won = 430, 520
    found = sequential_test([lost, 0, won], 0.0, 20.0)
    first, second = score_of(0.0), score_of(20.0)
    binomial = won * math.log(second / first) + lost * math.log((1.0 - second) / (1.0 - first))
    assert found.llr == pytest.approx(binomial, rel=1e-5)  # .001 draws


def test_compiled_ratio_is_the_plain_one() -> None:
    rng = np.random.default_rng(5)
    for kinds in (3, 5):
        for _ in range(50):
            weights = [float(n or NEVER) for n in random_counts(rng, kinds)]
            plain = log_likelihood_ratio(weights, 0.5, 0.53)
            assert ratio(np.array(weights), 0.5, 0.53) == pytest.approx(plain, rel=1e-13, abs=1e-13)


def test_far_hypotheses_have_ratios() -> None:
    for counts in ([0, 0, 1], [10**12, 0, 0], [5, 0, 0, 0, 5]):
        assert math.isfinite(sequential_test(counts, -FARTHEST, FARTHEST).llr)


def test_what_a_test_says() -> None:
    found = sequential_test([170, 600, 230], 0.0, 10.0)
    assert (found.decision, found.games) == ("accept_h1", 1000)
    assert (found.lower_bound, found.upper_bound) == pytest.approx((-math.log(19), math.log(19)))
    assert found.score == pytest.approx(0.53, rel=1e-12)
    assert found.elo == pytest.approx(20.8712, abs=1e-4)
    assert sequential_test([230, 600, 170], 0.0, 10.0).decision == "accept_h0"
    assert sequential_test([20, 60, 22], 0.0, 10.0).decision == "continue"
    pairs = sequential_test([10, 40, 80, 50, 12])
    assert pairs.games == 2 * 192
    assert pairs.score == pytest.approx((0.25 * 40 + 0.5 * 80 + 0.75 * 50 + 12) / 192)
    asymmetric = sequential_test([20, 60, 22], alpha=0.1, beta=0.02)
    bounds = (asymmetric.lower_bound, asymmetric.upper_bound)
    assert bounds == pytest.approx((math.log(0.02 / 0.9), math.log(0.98 / 0.1)))


def precise(counts: Sequence[int], elo0: float, elo1: float) -> dict[str, Any]:
    """Return by 60 digits what a test says, alpha = beta = .05, the counts of 0 taken as .001."""
    with mpmath.workdps(60):
        weights = [mpmath.mpf(n) if n else mpmath.mpf(1) / 1000 for n in counts]
        total, unit = mpmath.fsum(weights), 1 if len(counts) == 3 else 2
        points = [mpmath.mpf(k) / (len(counts) - 1) for k in range(len(counts))]
        score = mpmath.fsum(w * a for w, a in zip(weights, points, strict=True)) / total
        parts = (w * (a - score) ** 2 for w, a in zip(weights, points, strict=True))
        variance = mpmath.fsum(parts) / total
        first, second = (1 / (1 + mpmath.power(10, -mpmath.mpf(e) / 400)) for e in (elo0, elo1))
        upper, games = mpmath.log(19), {}
        for name, truth in {"elo0": first, "elo1": second, "estimate": score}.items():
            drift = (truth - (first + second) / 2) * (second - first) / variance
            ends = [mpmath.exp(-2 * drift * y * variance / (second - first) ** 2) for y in (-1, 1)]
            low, high = (e ** mpmath.log(19) for e in ends)
            at_upper = (low - 1) / (low - high)
            games[name] = unit * (2 * at_upper - 1) * upper / drift
        return {"elo": 400 * mpmath.log10(score / (1 - score)), "score": score, **games}


ALIKE = [
    [n if k == which else 0 for k in range(kinds)]
    for kinds in (3, 5)
    for which in range(kinds)
    for n in (1, 9, 10**4, 10**12)
]
"""Counts where all games ended alike."""


@pytest.mark.parametrize("counts", [*ALIKE, [3, 0, 5], [0, 1, 7, 0, 0]])
@pytest.mark.parametrize(("elo0", "elo1"), [(0.0, 5.0), (-30.0, 10.0)])
def test_counts_of_0_are_those_of_60_digits(counts: list[int], elo0: float, elo1: float) -> None:
    found, expected = sequential_test(counts, elo0, elo1), precise(counts, elo0, elo1)
    for name, games in found.expected_games.items():
        assert games == pytest.approx(float(expected[name]), rel=1e-9), name
    assert found.elo == pytest.approx(float(expected["elo"]), rel=1e-12, abs=1e-12)
    assert found.score == pytest.approx(float(expected["score"]), rel=1e-14)
    assert found.alike == (counts in ALIKE)


def test_score_and_elo_are_inverse() -> None:
    for elo in (-700.0, -3.0, 0.0, 5.0, 400.0):
        assert elo_of(score_of(elo), score_of(-elo)) == pytest.approx(elo, abs=1e-9)
    assert score_of(400.0) == pytest.approx(10.0 / 11.0)


@pytest.mark.parametrize("drift", [-0.3, -0.01, 0.0, 1e-9, 0.02, 0.4])
def test_expected_steps_are_those_of_a_fine_random_walk(drift: float) -> None:
    """The walk on a lattice that never oversteps has the expectation of the gambler's ruin."""
    lower, upper, parts = -2.0, 3.0, 400
    step = 1.0 / parts  # of the walk; its variance a unit of time is 1
    up = 0.5 * (1.0 + drift * step)
    ruin = ((1.0 - up) / up) ** np.arange(1, 5 * parts)
    at_upper = (1 + ruin[: 2 * parts - 1].sum()) / (1 + ruin[: 5 * parts - 1].sum())
    mean = upper * at_upper + lower * (1.0 - at_upper)
    expected = 6.0 if abs(drift) < 1e-6 else mean / drift
    assert expected_steps(drift, 1.0, lower, upper) == pytest.approx(expected, rel=1e-4)


def test_expected_steps_without_a_race_are_those_of_the_drift() -> None:
    assert expected_steps(500.0, 1.0, -3.0, 2.0) == pytest.approx(2.0 / 500.0)
    assert expected_steps(-500.0, 1.0, -3.0, 2.0) == pytest.approx(3.0 / 500.0)


def _play(
    uniforms: Floats, ends: Floats, first: float, second: float, lower: float, upper: float
) -> tuple[int, bool]:
    """Return after how many results a test ends, and whether at its upper bound."""
    counts = np.zeros(len(ends))
    weights = np.empty(len(ends))
    for n in range(len(uniforms)):
        k = 0
        while uniforms[n] >= ends[k]:
            k += 1
        counts[k] += 1.0
        for j in range(len(ends)):
            weights[j] = counts[j] if counts[j] else NEVER
        found = ratio(weights, first, second)
        if found >= upper:
            return n + 1, True
        if found <= lower:
            return n + 1, False
    return -1, False


play: Any = numba.njit(_play)

TESTS, MOST = 5_000, 20_000


def simulated(chances: list[float], elo0: float, elo1: float, seed: int) -> tuple[Floats, Floats]:
    """Return the results of many tests until they end, and whether that was at the upper bound."""
    draws = Streams(seed).stream(None, 1)
    ends = np.cumsum(chances)
    ends[-1] = 2.0
    bound = math.log(19.0)
    made = [
        play(draws.random(MOST), ends, score_of(elo0), score_of(elo1), -bound, bound)
        for _ in range(TESTS)
    ]
    found = np.array(made, float)
    assert (found[:, 0] > 0).all()
    return found[:, 0], found[:, 1]


def chances_at(score: float, kinds: int) -> list[float]:
    """Return chances of results with a mean, of which many are even."""
    base = np.array([0.2, 0.6, 0.2] if kinds == 3 else [0.05, 0.2, 0.5, 0.2, 0.05])
    points = np.linspace(0.0, 1.0, kinds)
    tilt = base * (points - 0.5)
    found: list[float] = (base + (score - 0.5) / float(tilt @ points) * tilt).tolist()
    return found


SIEGMUND = 0.5826
"""By how many deviations of a step a random walk oversteps a bound on average (Siegmund 1985)."""


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [3, 5])
@pytest.mark.parametrize("truth", ["elo0", "elo1"])
def test_errors_are_as_rare_as_promised_and_games_as_expected(kinds: int, truth: str) -> None:
    elo0, elo1 = 0.0, 40.0
    score = score_of(elo0 if truth == "elo0" else elo1)
    chances = chances_at(score, kinds)
    taken, upper = simulated(chances, elo0, elo1, 7 * kinds + (truth == "elo1"))
    wrong = float(upper.mean() if truth == "elo0" else 1.0 - upper.mean())
    assert wrong <= 0.05 + 2.0 * math.sqrt(0.05 * 0.95 / TESTS)
    assert wrong > 0.02  # the test would also stop by chance otherwise
    points = np.linspace(0.0, 1.0, kinds)
    variance = float(np.array(chances) @ (points - score) ** 2)
    apart = score_of(elo1) - score_of(elo0)
    middle = 0.5 * (score_of(elo0) + score_of(elo1))
    step = apart**2 / variance
    bound = math.log(19.0) + SIEGMUND * math.sqrt(step)
    expected = expected_steps((score - middle) * apart / variance, step, -bound, bound)
    error = float(taken.std(ddof=1)) / math.sqrt(TESTS)
    assert abs(taken.mean() - expected) < 3.0 * error
