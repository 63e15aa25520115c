"""Drawn games of two players agree with `mpmath`, simulation and the `trueskill` package."""

from __future__ import annotations

import math
from itertools import product

import mpmath
import numpy as np
import pytest
import trueskill

from tests.ratings.test_trueskill_rating import random_pairs
from valmatch.ratings.trueskill import draw_probability, update, update_drawn, win_probability


def margins(n: int, seed: int) -> list[float]:
    return [float(m) for m in 10 ** np.random.default_rng(seed).uniform(-2, 1, n)]


@pytest.mark.slow
def test_agrees_with_the_trueskill_package() -> None:
    """The package takes the chance of a draw of equals instead of the margin."""
    for (i, j, noise), margin in zip(random_pairs(300, seed=5), margins(300, seed=6), strict=True):
        beta = math.sqrt(noise)
        with mpmath.workdps(40):
            chance = mpmath.erf(mpmath.mpf(margin) / (2 * beta))
            environment = trueskill.TrueSkill(
                draw_probability=chance, tau=0.0, beta=beta, backend="mpmath"
            )
            ratings = [trueskill.Rating(m, math.sqrt(s)) for m, s in (i, j)]
            for drawn in (True, False):
                new = trueskill.rate_1vs1(*ratings, drawn=drawn, env=environment)
                expected = [float(value) for r in new for value in (r.mu, r.sigma**2)]
                got = (
                    update_drawn(*i, *j, noise, margin)
                    if drawn
                    else update(*i, *j, noise, False, margin)
                )
                assert got == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_the_probability_of_a_draw_agrees_with_mpmath() -> None:
    with mpmath.workdps(60):
        for lead, margin in product([0.0, 1e-6, 0.5, -3.0, 20.0, -80.0], [1e-9, 0.1, 2.0, 50.0]):
            c = mpmath.sqrt(mpmath.mpf(3.0) + 2 * mpmath.mpf(2.5))
            low, high = (-margin - abs(lead)) / c, (margin - abs(lead)) / c
            exact = (mpmath.erfc(-high / mpmath.sqrt(2)) - mpmath.erfc(-low / mpmath.sqrt(2))) / 2
            got = draw_probability(lead, 1.0, 0.0, 2.0, 2.5, margin)
            assert got == pytest.approx(float(exact), rel=1e-11, abs=1e-15)


def test_the_three_outcomes_exclude_each_other() -> None:
    for (i, j, noise), margin in zip(random_pairs(300, seed=7), margins(300, seed=8), strict=True):
        wins = win_probability(*i, *j, noise, False, margin)
        loses = win_probability(*j, *i, noise, False, margin)
        draws = draw_probability(*i, *j, noise, margin)
        assert wins + loses + draws == pytest.approx(1.0, abs=1e-14)
        assert draws == draw_probability(*j, *i, noise, margin)


def test_beliefs_after_a_draw_are_the_moments_of_the_posterior() -> None:
    """Skills of a million games are kept where the performances are close."""
    rng = np.random.default_rng(9)
    belief_i, belief_j, noise, margin = (1.0, 3.0), (-0.5, 2.0), 2.5, 0.8
    size = 1_000_000
    skills = [rng.normal(mean, math.sqrt(var), size) for mean, var in (belief_i, belief_j)]
    shown = [skill + rng.normal(0, math.sqrt(noise), size) for skill in skills]
    kept = np.abs(shown[0] - shown[1]) < margin
    share = draw_probability(*belief_i, *belief_j, noise, margin)
    assert abs(kept.mean() - share) < 4 * math.sqrt(share * (1 - share) / size)
    after = update_drawn(*belief_i, *belief_j, noise, margin)
    for skill, mean, var in zip(skills, after[::2], after[1::2], strict=True):
        own = skill[kept]
        assert abs(own.mean() - mean) < 4 * own.std() / math.sqrt(own.size)
        squares = (own - mean) ** 2
        assert abs(squares.mean() - var) < 4 * squares.std() / math.sqrt(own.size)


def test_kernels_agree_with_their_interpreted_twins() -> None:
    pairs = random_pairs(100, seed=10)
    for (i, j, noise), margin in zip(pairs, margins(100, seed=11), strict=True):
        for kernel in (draw_probability, update_drawn):
            twin = vars(kernel)["py_func"]
            assert kernel(*i, *j, noise, margin) == twin(*i, *j, noise, margin)
