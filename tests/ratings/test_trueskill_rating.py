"""TrueSkill agrees with published vectors, `mpmath`, simulation and `trueskill`, also of teams."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import trueskill

from valmatch.ratings.matches import update_ratings
from valmatch.ratings.trueskill import (
    draw_probability,
    draw_quality,
    draw_quality_normalised,
    hazard_excess,
    normal_cdf,
    true_draw_probability,
    update,
    update_drawn,
    v_and_w,
    v_and_w_draw,
    win_probability,
)
from valmatch.ratings.trueskill_teams import chances, margin_quantile

VECTORS = json.loads((Path(__file__).parents[1] / "fixtures" / "opponent_vectors.json").read_text())
FORMS = ("corrected", "as_printed")
Belief = tuple[float, float]


def exact_cdf(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def exact_v(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.npdf(x) / exact_cdf(x)


def exact_update(winner: Belief, loser: Belief, noise: float, printed: bool) -> list[mpmath.mpf]:
    """Win probability of the winner, then the four updated values, by (10), (1), (2)."""
    (mw, vw), (ml, vl) = [[mpmath.mpf(value) for value in belief] for belief in (winner, loser)]
    total = vw + vl + 2 * mpmath.mpf(noise)
    root = total if printed else mpmath.sqrt(total)
    x = (mw - ml) / root
    v = exact_v(x)
    w = v * (v + x)
    means = [mw + vw / root * v, ml - vl / root * v]
    variances = [vw * (1 - vw / total * w), vl * (1 - vl / total * w)]
    return [exact_cdf(x), means[0], variances[0], means[1], variances[1]]


def random_pairs(n: int, seed: int) -> list[tuple[Belief, Belief, float]]:
    rng = np.random.default_rng(seed)
    means = rng.normal(0, 4, (n, 2))
    variances = rng.uniform(0.05, 6, (n, 2))
    noises = rng.uniform(0.1, 5, n)
    return [
        ((float(m[0]), float(s[0])), (float(m[1]), float(s[1])), float(e))
        for m, s, e in zip(means, variances, noises, strict=True)
    ]


@pytest.mark.parametrize("vector", VECTORS["updates"])
@pytest.mark.parametrize("form", FORMS)
def test_vectors_are_reproduced(vector: dict[str, Any], form: str) -> None:
    i, j = (vector["mu_i"], vector["var_i"]), (vector["mu_j"], vector["var_j"])
    noise, printed, want = vector["noise_var"], form == "as_printed", vector[form]
    if vector["winner"] == "i":
        got = update(*i, *j, noise, printed)
    else:
        mean_j, var_j, mean_i, var_i = update(*j, *i, noise, printed)
        got = (mean_i, var_i, mean_j, var_j)
    expected = [float(want[key]) for key in ("mu_i", "var_i", "mu_j", "var_j")]
    assert got == pytest.approx(expected, rel=1e-12, abs=0)
    for value, text in (
        (win_probability(*i, *j, noise, printed), want["p_i_wins"]),
        (draw_quality(*i, *j, noise), vector["q"]),
        (draw_quality_normalised(*i, *j, noise), vector["q_tilde"]),
    ):
        assert value == pytest.approx(float(text), rel=1e-12, abs=0)


@pytest.mark.slow
def test_normal_functions_agree_with_mpmath() -> None:
    with mpmath.workdps(40):
        for x in np.concatenate([np.linspace(-60, 37, 2001), [-1e-9, 0.0, 1e-9]]):
            exact = mpmath.mpf(float(x))
            v = exact_v(exact)
            expected = [float(v), float(v * (v + exact))]
            assert v_and_w(float(x)) == pytest.approx(expected, rel=1e-12, abs=0)
            if x > -37:  # below, the probability is no normal float
                cdf = float(exact_cdf(exact))
                assert normal_cdf(float(x)) == pytest.approx(cdf, rel=1e-12, abs=0)


@pytest.mark.parametrize("y", [1e2, 1e4, 1e8, 1e15, 1e150, 1e300])
def test_far_left_tail_follows_the_asymptotic_series(y: float) -> None:
    v, w = v_and_w(-y)
    inverse_square = y**-2.0
    assert v == pytest.approx(y * (1 + inverse_square - 2 * inverse_square**2), rel=1e-10)
    assert w == pytest.approx(1 - inverse_square + 6 * inverse_square**2, rel=1e-9)
    assert hazard_excess(y) == pytest.approx(1 / y, rel=3 * inverse_square + 1e-15)
    assert normal_cdf(-y) == 0.0


@pytest.mark.parametrize("y", [40.0, 1e4, 1e300])
def test_far_right_tail_vanishes(y: float) -> None:
    assert v_and_w(y) == pytest.approx((0.0, 0.0), abs=1e-300)
    assert normal_cdf(y) == 1.0


@pytest.mark.parametrize("printed", [False, True])
def test_update_agrees_with_mpmath(printed: bool) -> None:
    with mpmath.workdps(40):
        for winner, loser, noise in random_pairs(1000, seed=1):
            expected = [float(value) for value in exact_update(winner, loser, noise, printed)]
            p = win_probability(*winner, *loser, noise, printed)
            got = update(*winner, *loser, noise, printed)
            assert [p, got[1], got[3]] == pytest.approx(expected[::2], rel=1e-12, abs=0)
            # A mean that passes near zero has no relative accuracy left: measure by its terms.
            for value, want, before in ((got[0], 1, winner), (got[2], 3, loser)):
                assert abs(value - expected[want]) <= 1e-12 * (abs(before[0]) + abs(expected[want]))


@pytest.mark.parametrize("printed", [False, True])
def test_information_only_grows_and_total_probability_is_one(printed: bool) -> None:
    for winner, loser, noise in random_pairs(200, seed=3):
        mean_w, var_w, mean_l, var_l = update(*winner, *loser, noise, printed)
        assert 0 < var_w < winner[1]
        assert 0 < var_l < loser[1]
        assert mean_w > winner[0]
        assert mean_l < loser[0]
        p = win_probability(*winner, *loser, noise, printed)
        q = win_probability(*loser, *winner, noise, printed)
        assert p + q == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize("printed", [False, True])
def test_belief_is_a_martingale(printed: bool) -> None:
    """The expected new mean is the old one, because phi(d / c) weighs both steps."""
    for i, j, noise in random_pairs(200, seed=4):
        p = win_probability(*i, *j, noise, printed)
        q = win_probability(*j, *i, noise, printed)
        expected = p * update(*i, *j, noise, printed)[0] + q * update(*j, *i, noise, printed)[2]
        assert expected == pytest.approx(i[0], abs=1e-12)


def test_true_draw_probability_is_the_density_of_the_performance_difference() -> None:
    expected = math.exp(-(1.5**2) / (4 * 2.5)) / math.sqrt(4 * math.pi * 2.5)
    assert true_draw_probability(1.0, -0.5, 2.5) == pytest.approx(expected, rel=1e-14)


# Drawn games.


def margins(n: int, seed: int) -> list[float]:
    return [float(m) for m in 10 ** np.random.default_rng(seed).uniform(-2, 1, n)]


@pytest.mark.slow
def test_beliefs_after_any_result_agree_with_the_trueskill_package() -> None:
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
        posterior = skill[kept]
        assert abs(posterior.mean() - mean) < 4 * posterior.std() / math.sqrt(posterior.size)
        squares = (posterior - mean) ** 2
        assert abs(squares.mean() - var) < 4 * squares.std() / math.sqrt(posterior.size)


BETA = 25.0 / 6.0


def test_published_vectors() -> None:
    """Two newcomers; two against four against two, of whom the last two sides draw."""
    newcomers = [(25.0, 25.0 / 3.0)] * 2
    won, drawn = (
        update_ratings("trueskill", newcomers, [[0], [1]], scores) for scores in ([1, 0], [1, 1])
    )
    assert won.ravel().round(3).tolist() == [29.396, 7.171, 20.604, 7.171]
    assert drawn.ravel().round(3).tolist() == [25.0, 6.458, 25.0, 6.458]
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
    for count in (2, 2, 2, 3, 4, 5, 7):
        sizes = rng.integers(1, 6, count)
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
