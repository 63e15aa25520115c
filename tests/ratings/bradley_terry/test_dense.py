"""The fit of counts is the fit of the games themselves, and has no estimate where that has none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.contests import duels_of
from valmatch.kernels.arrays import Floats
from valmatch.ratings.bradley_terry.connections import levels_of
from valmatch.ratings.bradley_terry.contests import Contests, design_of, duel_chances
from valmatch.ratings.bradley_terry.dense import (
    Counts,
    contrasts,
    fit_counts,
    frame_of,
    frame_of_belief,
    new_counts,
    space_of,
)
from valmatch.ratings.bradley_terry.fit import POINTS, NoEstimate
from valmatch.ratings.bradley_terry.rating import Model, rate


def played(n: int, games: int, nu: float, home: float, seed: int) -> tuple[Counts, Contests]:
    """Return games of random pairs as counts and one by one."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0.0, 150.0 * POINTS, n)
    counts, points, players = new_counts(n), [], []
    for _ in range(games):
        i, j = rng.permutation(n)[:2]
        lead = np.array([truth[i] - truth[j] + home * POINTS])
        chances = duel_chances(lead, math.log(nu) if nu else -math.inf)
        drawn = float(rng.random())
        result = int(drawn > chances.first[0]) + int(drawn > 1.0 - chances.second[0])
        (counts.won, counts.drawn, counts.lost)[result][i, j] += 1.0
        points += [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]][result]
        players += [i, j]
    return counts, duels_of(n, players, points, home=home != 0.0)


def shipped(contests: Contests, model: Model) -> tuple[Floats, Floats, Floats] | None:
    """Return ratings, covariance and coefficients by the shipped fit; None without all of them."""
    try:
        basis = rate(design_of(contests), levels_of(contests), model)
    except NoEstimate:
        return None
    if not basis.linked.rated.all():
        return None
    sure = model.uncertainty(basis, False, np.random.default_rng(0))
    assert sure.covariance is not None
    return basis.ratings, sure.covariance, np.append(basis.coefficients, basis.draw_weight)


@pytest.mark.parametrize("prior", [None, 80.0, 350.0])
@pytest.mark.parametrize(("nu", "home"), [(0.0, 0.0), (0.8, 0.0), (0.0, 60.0), (0.8, 60.0)])
def test_it_is_the_shipped_fit(prior: float | None, nu: float, home: float) -> None:
    fitted = 0
    for seed in range(12):
        n = 3 + seed % 5
        counts, contests = played(n, 4 * n + 9 * seed, nu, home, seed)
        expected = shipped(contests, Model(prior=prior))
        frame = frame_of(n, prior, home > 0.0, nu > 0.0)
        space = space_of(frame)
        assert fit_counts(counts, frame, space) == (expected is not None)
        if expected is None:
            continue
        fitted += 1
        ratings, covariance, coefficients = expected
        strengths = space.places[:n] / POINTS
        assert strengths - strengths.mean() == pytest.approx(ratings - ratings.mean(), abs=2e-5)
        assert space.covariance / POINTS**2 == pytest.approx(covariance, rel=1e-5, abs=1e-5)
        if home:
            assert space.places[n] / POINTS == pytest.approx(coefficients[0], abs=2e-5)
        assert math.exp(space.places[n + 1]) == pytest.approx(coefficients[-1], rel=1e-6)
    assert fitted >= 5


def test_compiled_and_plain_agree() -> None:
    counts, _ = played(4, 40, 0.5, 30.0, 3)
    frame = frame_of(4, 200.0, True, True)
    compiled, plain = space_of(frame), space_of(frame)
    assert fit_counts(counts, frame, compiled)
    assert fit_counts.py_func(counts, frame, plain)  # type: ignore[attr-defined]
    assert plain.places == pytest.approx(compiled.places, abs=1e-12)
    assert plain.covariance == pytest.approx(compiled.covariance, rel=1e-10)


def test_it_goes_on_from_an_earlier_estimate() -> None:
    few, _ = played(5, 60, 0.5, 0.0, 1)
    more, _ = played(5, 90, 0.5, 0.0, 2)
    frame = frame_of(5, 350.0, False, True)
    fresh, going = space_of(frame), space_of(frame)
    assert fit_counts(few, frame, going)
    assert fit_counts(more, frame, going)
    assert fit_counts(more, frame, fresh)
    assert going.places == pytest.approx(fresh.places, abs=1e-9)


@pytest.mark.parametrize(
    ("won", "drawn"),
    [
        ([(0, 1), (1, 2)], []),  # nobody beats 0
        ([(0, 1), (1, 0)], []),  # 2 has not played
        ([(0, 1), (1, 2)], [(0, 1), (1, 2)]),  # ratings and the weight of draws run off
        ([], [(0, 1), (1, 2)]),
    ],
)
def test_there_is_no_estimate(won: list[tuple[int, int]], drawn: list[tuple[int, int]]) -> None:
    counts = new_counts(3)
    for pair in won:
        counts.won[pair] += 1.0
    for pair in drawn:
        counts.drawn[pair] += 1.0
    frame = frame_of(3, None, False, bool(drawn))
    assert not fit_counts(counts, frame, space_of(frame))


def test_contrasts_are_orthonormal_and_have_mean_0() -> None:
    basis = contrasts(6)
    assert basis.T @ basis == pytest.approx(np.eye(5), abs=1e-14)
    assert basis.sum(axis=0) == pytest.approx(np.zeros(5), abs=1e-14)


def test_a_belief_without_games_is_itself_and_with_games_adds_their_information() -> None:
    rng = np.random.default_rng(4)
    root = contrasts(4) @ rng.normal(0.0, 60.0, (3, 3))
    covariance = root @ root.T
    mean = np.array([100.0, 30.0, -40.0, -90.0])
    frame = frame_of_belief(mean, covariance, 0.0)
    space = space_of(frame)
    assert fit_counts(new_counts(4), frame, space)
    assert space.places[:4] / POINTS == pytest.approx(mean)
    assert space.covariance / POINTS**2 == pytest.approx(covariance, abs=1e-6)
    counts = new_counts(4)
    counts.won[0, 1] = counts.lost[0, 1] = 50.0
    assert fit_counts(counts, frame, space)
    lead = (space.places[0] - space.places[1]) / POINTS
    assert 0.0 < lead < 70.0
    v, e = np.linalg.pinv(covariance), np.array([1.0, -1.0, 0.0, 0.0])
    p = 1.0 / (1.0 + math.exp(-POINTS * lead))
    expected = np.linalg.pinv(v + 100.0 * POINTS**2 * p * (1.0 - p) * np.outer(e, e))
    assert space.covariance / POINTS**2 == pytest.approx(expected, rel=1e-6, abs=1e-6)
