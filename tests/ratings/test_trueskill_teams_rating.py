"""TrueSkill of teams with draws agrees with `mpmath` and the `trueskill` package."""

from __future__ import annotations

import math
from collections.abc import Sequence

import mpmath
import numpy as np
import pytest
import trueskill

from valmatch.ratings.matches import update_ratings
from valmatch.ratings.trueskill import v_and_w_draw
from valmatch.ratings.trueskill_teams import chances, margin_quantile, pulls

Belief = tuple[float, float]
BETA, TAU = 25.0 / 6.0, 25.0 / 300.0


def rated(
    sides: Sequence[Sequence[Belief]], drawn: bool, draw_probability: float
) -> list[list[Belief]]:
    """Rate a game that the first side wins or draws."""
    quantile = margin_quantile(draw_probability)
    skills = [[sigma**2 + TAU**2 for _, sigma in side] for side in sides]
    first, second = (sum(mu for mu, _ in side) for side in sides)
    players = sum(map(len, sides))
    step, shrink = pulls(first - second, sum(map(sum, skills)), players, BETA, quantile, drawn)
    return [
        [
            (mu + sign * s * step, math.sqrt(s * (1 - s * shrink)))
            for (mu, _), s in zip(side, variances, strict=True)
        ]
        for side, variances, sign in zip(sides, skills, (1.0, -1.0), strict=True)
    ]


def flat(sides: Sequence[Sequence[Belief]]) -> list[float]:
    return [value for side in sides for belief in side for value in belief]


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (5, 5), (1, 3)])
@pytest.mark.parametrize(
    ("drawn", "draw_probability"),
    [(False, 0.0), (False, 0.1), (False, 0.5), (True, 0.02), (True, 0.1), (True, 0.5)],
)
def test_agrees_with_trueskill(size: tuple[int, int], drawn: bool, draw_probability: float) -> None:
    environment = trueskill.TrueSkill(draw_probability=draw_probability, backend="mpmath")
    rng = np.random.default_rng(sum(size))
    for _ in range(5):
        sides = [
            [(float(rng.normal(25, 6)), float(rng.uniform(1, 9))) for _ in range(n)] for n in size
        ]
        groups = [tuple(trueskill.Rating(*belief) for belief in side) for side in sides]
        new = environment.rate(groups, ranks=[0, 0 if drawn else 1], min_delta=1e-12)
        expected = [
            float(value) for side in new for rating in side for value in (rating.mu, rating.sigma)
        ]
        got = flat(rated(sides, drawn, draw_probability))
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_published_vector_of_two_newcomers() -> None:
    """Ratings of 25 and 25/3 become 29.396/7.171 and 20.604/7.171."""
    newcomer = (25.0, 25.0 / 3.0)
    result = flat(rated([[newcomer], [newcomer]], False, 0.1))
    assert [round(value, 3) for value in result] == [29.396, 7.171, 20.604, 7.171]
    drawn = flat(rated([[newcomer], [newcomer]], True, 0.1))
    assert [round(value, 3) for value in drawn] == [25.0, 6.458, 25.0, 6.458]


def test_published_vector_of_three_sides() -> None:
    """Two against four against two, of whom the last two sides draw, as its package has it."""
    beliefs = [(40, 4), (45, 3), (20, 7), (19, 6), (30, 9), (10, 4), (50, 5), (30, 2)]
    expected = [
        (40.877, 3.840), (45.493, 2.934), (19.609, 6.396), (18.712, 5.625), (29.353, 7.673),
        (9.872, 3.891), (48.830, 4.590), (29.813, 1.976),
    ]  # fmt: skip
    got = update_ratings("trueskill", beliefs, [[0, 1], [2, 3, 4, 5], [6, 7]], [1, 0, 0])
    assert got == pytest.approx(np.array(expected), abs=5.1e-4)


@pytest.mark.parametrize("draw_probability", [0.0, 0.02, 0.1, 0.5])
def test_any_number_of_sides_agrees_with_trueskill(draw_probability: float) -> None:
    """Sides of any sizes, with draws unless none can be."""
    environment = trueskill.TrueSkill(draw_probability=draw_probability, backend="mpmath")
    rng = np.random.default_rng(7)
    for _ in range(5):
        sizes = rng.integers(1, 4, int(rng.integers(3, 8)))
        beliefs = np.column_stack([rng.normal(25, 6, sizes.sum()), rng.uniform(1, 9, sizes.sum())])
        sides = [part.tolist() for part in np.split(np.arange(sizes.sum()), sizes.cumsum()[:-1])]
        scores = rng.integers(0, 4, len(sizes)) if draw_probability else rng.permutation(len(sizes))
        groups = [tuple(trueskill.Rating(*beliefs[k]) for k in side) for side in sides]
        new = environment.rate(groups, ranks=(-scores).tolist(), min_delta=1e-13)
        expected = [[float(rating.mu), float(rating.sigma)] for side in new for rating in side]
        parameters = {"draw_probability": draw_probability}
        got = update_ratings("trueskill", beliefs, sides, scores.tolist(), parameters)
        assert got == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.parametrize("margin", [0.0, 1e-9, 1e-6, 1e-4, 1.01e-4, 1e-3, 0.01, 0.1, 1.0, 4.0])
def test_draw_functions_agree_with_mpmath(margin: float) -> None:
    with mpmath.workdps(60):
        for t in [0.0, 1e-9, 1e-3, 0.1, 0.5, 0.999, 1.0, 1.001, 2.0, 5.0, 12.0, 37.0, 60.0]:
            v, w = v_and_w_draw(t, margin)
            lead, half = mpmath.mpf(t), mpmath.mpf(margin)
            exact_v, exact_w = -lead, mpmath.mpf(1)  # the limit of no margin
            if margin:
                a, b = half - lead, -half - lead
                root = mpmath.sqrt(2)
                mass = (mpmath.erfc(-a / root) - mpmath.erfc(-b / root)) / 2
                exact_v = (mpmath.npdf(b) - mpmath.npdf(a)) / mass
                exact_w = exact_v**2 + (a * mpmath.npdf(a) - b * mpmath.npdf(b)) / mass
            assert v == pytest.approx(float(exact_v), rel=1e-12, abs=1e-12)
            assert w == pytest.approx(float(exact_w), rel=1e-10, abs=1e-10)
            assert v_and_w_draw(-t, margin) == (-v, w)


def test_margin_gives_equals_the_draw_probability() -> None:
    """In a game of two known equals the performances differ by less than the margin so often."""
    for p in (0.02, 0.1, 0.5, 0.9):
        margin = margin_quantile(p) * math.sqrt(2) * BETA
        inside = math.erf(margin / (math.sqrt(2) * BETA) / math.sqrt(2))
        assert inside == pytest.approx(p, rel=1e-14)
    assert margin_quantile(0.0) == 0.0


def test_expected_score_counts_a_draw_as_half() -> None:
    even, _ = chances(0.0, 100.0, 2, BETA, margin_quantile(0.3))
    assert even == pytest.approx(0.5, rel=1e-15)
    got, _ = chances(4.0, 100.0, 10, BETA, margin_quantile(0.3))
    c = math.sqrt(100.0 + 10 * BETA**2)
    margin = margin_quantile(0.3) * math.sqrt(10) * BETA
    wins = 0.5 * math.erfc(-(4.0 - margin) / c / math.sqrt(2))
    loses = 0.5 * math.erfc((4.0 + margin) / c / math.sqrt(2))
    assert got == pytest.approx(wins + 0.5 * (1 - wins - loses), rel=1e-14)
