"""The fewest games that decide, influences, simulated logs and the best of equals."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest

from tests.support.contests import duels_of
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.bradley_terry.contests import design_of
from valmatch.ratings.bradley_terry.firmness import (
    Cells,
    bought_wins,
    error_of_feature,
    error_of_own_games,
    expected_largest,
    fewest_games,
)
from valmatch.ratings.bradley_terry.fit import NoEstimate
from valmatch.ratings.bradley_terry.rating import Estimate, Model, rate


def played(
    strengths: Floats, pairs: Ints, rng: np.random.Generator, first: float = 0.0, draws: float = 0.0
) -> Floats:
    """Return the points of the sides of games, whose first side has an advantage in points."""
    leads = strengths[pairs[:, 0]] - strengths[pairs[:, 1]] + first
    won = rng.random(len(pairs)) < 1.0 / (1.0 + 10.0 ** (-leads / 400.0))
    points = np.where(rng.random(len(pairs)) < draws, 0.5, won)
    return np.column_stack([points, 1.0 - points]).ravel()


def pairs_of(players: int, games: int, rng: np.random.Generator) -> Ints:
    return np.array([rng.permutation(players)[:2] for _ in range(games)])


def rated(pairs: Ints, points: Floats, model: Model, home: bool = False) -> tuple[Cells, Estimate]:
    contests = duels_of(int(pairs.max()) + 1, pairs.ravel(), points, home=home)
    design = design_of(contests)
    return Cells.of(design, model, [(0, 1)]), rate(design, model)


@pytest.mark.parametrize("home", [False, True])
@pytest.mark.parametrize(
    ("model", "draws"), [(Model(), 0.0), (Model(prior=150.0), 0.3), (Model("half"), 0.3)]
)
def test_influences_are_those_of_a_game_less(model: Model, draws: float, home: bool) -> None:
    rng = np.random.default_rng(1)
    pairs = pairs_of(6, 300, rng)
    cells, made = rated(pairs, played(rng.normal(0, 80, 6), pairs, rng, 30.0, draws), model, home)
    again = cells.fit(cells.weights, made).estimate
    assert again is not None
    np.testing.assert_allclose(again.ratings, made.ratings, atol=1e-6)
    influences = cells.influences(made, [(0, 1), (2, 5)])
    for cell in np.flatnonzero(cells.weights)[::7].tolist():
        ends = []
        for step in (-1e-3, 1e-3):
            weights = cells.weights.copy()
            weights[cell] -= step
            other = cells.fit(weights, made).estimate
            assert other is not None
            ends.append(other.ratings)
        moved = (ends[1] - ends[0]) / 2e-3
        expected = [moved[0] - moved[1], moved[2] - moved[5]]
        np.testing.assert_allclose(influences[cell], expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("model", [Model(), Model("half")])
def test_simulated_logs_have_the_chances_of_the_fit(model: Model) -> None:
    rng = np.random.default_rng(2)
    pairs = pairs_of(4, 400, rng)
    cells, made = rated(pairs, played(rng.normal(0, 80, 4), pairs, rng, draws=0.3), model)
    logs = np.array([cells.simulated(made, rng) for _ in range(400)]).reshape(400, -1, 3)
    counts = cells.weights.reshape(-1, 3)
    assert (logs.sum(axis=2) == counts.sum(axis=1)).all()
    scores = logs[:, :, 0] + 0.5 * logs[:, :, 1]
    by_player = cells.design.contests.players.reshape(-1, 3, 2)[:, 0]
    totals = np.zeros((400, 4))
    for k, (a, b) in enumerate(by_player.tolist()):
        totals[:, a] += scores[:, k]
        totals[:, b] += counts[k].sum() - scores[:, k]
    points = np.zeros(4)
    for (a, b), (won, drawn, lost) in zip(by_player.tolist(), counts.tolist(), strict=True):
        points[a] += won + 0.5 * drawn
        points[b] += lost + 0.5 * drawn
    # At the maximum of the likelihood each player's expected score is the one they had.
    if not model.draws:
        errors = totals.std(axis=0) / math.sqrt(400)
        assert (np.abs(totals.mean(axis=0) - points) < 4.0 * errors).all()
    else:  # half draws stay
        assert (logs[:, :, 1] == counts[:, 1]).all()


def test_bought_wins_are_the_fewest_that_do() -> None:
    rng = np.random.default_rng(3)
    pairs = pairs_of(5, 200, rng)
    points = played(np.array([-80.0, 60.0, 20.0, 0.0, 0.0]), pairs, rng)
    cells, made = rated(pairs, points, Model())
    wins = bought_wins(cells, made, 0, len(cells.weights) - 3)
    assert wins is not None
    for more, first in ((wins - 1, False), (wins, True)):
        added = np.vstack([pairs, np.tile([0, 1], (more, 1))])
        _, again = rated(added, np.append(points, np.tile([1.0, 0.0], more)), Model())
        assert (np.argmax(again.ratings) == 0) == first


# The least number, by trying all smaller sets with a fit of its own.


def fits(wins: Floats) -> Floats:
    """Return the (logs, players) strengths by (logs, players, players) wins, by Newton's method."""
    n, strengths = wins.shape[1], np.zeros(wins.shape[:2])
    games, scores = wins + wins.transpose(0, 2, 1), wins.sum(axis=2)
    for _ in range(60):
        chances = 1.0 / (1.0 + np.exp(strengths[:, np.newaxis, :] - strengths[:, :, np.newaxis]))
        curvature = games * chances * (1.0 - chances)
        information = 1.0 / n - curvature
        information[:, range(n), range(n)] += curvature.sum(axis=2)
        left = scores - (games * chances).sum(axis=2)
        step = np.clip(np.linalg.solve(information, left[:, :, np.newaxis])[:, :, 0], -2.0, 2.0)
        strengths += step
        if np.abs(step).max() < 1e-10:
            break
    return strengths


def linked(wins: Floats) -> np.ndarray:
    reached = (wins > 0.0) | np.eye(wins.shape[1], dtype=bool)
    for k in range(wins.shape[1]):
        reached = reached | (reached[:, :, k : k + 1] & reached[:, k : k + 1, :])
    return np.asarray(reached.all(axis=(1, 2)))


def decides(wins: Floats, a: int, b: int, size: int) -> bool:
    """Return whether some games of a number decide that b is ahead of a."""
    if min(wins[:, b].sum(), wins[a].sum()) <= size:  # unbeaten, or winless
        return True
    kinds = np.argwhere(wins > 0.0)
    sets = np.array(
        [
            np.bincount(chosen, minlength=len(kinds))
            for chosen in combinations_with_replacement(range(len(kinds)), size)
        ]
    )
    sets = sets[(sets <= wins[kinds[:, 0], kinds[:, 1]]).all(axis=1)]
    left = np.tile(wins, (len(sets), 1, 1))
    left[:, kinds[:, 0], kinds[:, 1]] -= sets
    strengths = fits(left[linked(left)])
    return bool((strengths[:, b] > strengths[:, a] + 1e-8).any())


@pytest.mark.slow
@pytest.mark.long
def test_no_smaller_set_decides_in_nearly_all_small_logs() -> None:
    compared, larger = 0, 0
    for seed in range(160):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 6))
        met = [(i, j) for i in range(n) for j in range(i) for _ in range(rng.integers(4, 13))]
        pairs = np.array(met)
        points = played(rng.normal(0.0, 80.0, n), pairs, rng)
        try:
            cells, made = rated(pairs, points, Model())
        except NoEstimate:
            continue
        if not made.linked.rated.all():
            continue
        a, b = np.argsort(-made.ratings)[:2].tolist()
        removed = fewest_games(cells, made, (a, b))
        if removed is None:  # those taken first have left somebody without a rating
            continue
        again = cells.fit(cells.weights - removed, made)
        assert again.low[b] > again.high[a]
        games = int(removed.sum())
        if games > 5:
            continue
        wins = np.zeros((n, n))
        np.add.at(wins, (pairs[:, 0], pairs[:, 1]), points[::2])
        np.add.at(wins, (pairs[:, 1], pairs[:, 0]), points[1::2])
        sizes = [size for size in range(1, games) if decides(wins, a, b, size)]
        least = min(sizes, default=games)
        assert games - least <= 1, seed
        compared, larger = compared + 1, larger + (games > least)
    assert compared >= 80
    assert larger <= 0.05 * compared


# The best of equals, and order.

LOGS = 120  # the standard error of the mean lead is 3 to 7 % of it, that of the coverage .02


def test_the_largest_of_two_and_three() -> None:
    assert expected_largest(1) == pytest.approx(0.0, abs=1e-9)
    assert expected_largest(2) == pytest.approx(1.0 / math.sqrt(math.pi))
    assert expected_largest(3) == pytest.approx(1.5 / math.sqrt(math.pi))


@pytest.mark.slow
@pytest.mark.parametrize("variants", [2, 5, 10])
def test_the_best_of_equals_is_ahead_by_as_much_as_in_simulation(variants: int) -> None:
    """Variants of one strength play a field in which each has as many games."""
    rng = np.random.default_rng(variants)
    field, games = 12, 120
    strengths = np.append(rng.normal(0.0, 40.0, field), np.zeros(variants))
    gains, errors = [], []
    for _ in range(LOGS):
        pairs = pairs_of(field, field * games // 2, rng)
        _, made = rated(pairs, played(strengths, pairs, rng), Model())
        errors.append(error_of_own_games(made)[1])
        entered = np.repeat(field + np.arange(variants), games)
        more = np.column_stack([entered, rng.integers(field, size=len(entered))])
        everything = np.vstack([pairs, more])
        _, made = rated(everything, played(strengths, everything, rng), Model())
        best = made.ratings[field:]
        gains.append(best.max() - best.mean())
    expected = float(np.mean(errors)) * expected_largest(variants)
    assert abs(np.mean(gains) - expected) < 3.0 * np.std(gains) / math.sqrt(len(gains))


@pytest.mark.slow
@pytest.mark.parametrize("sandwich", [False, True])
def test_the_advantage_of_order_is_recovered(sandwich: bool) -> None:
    rng = np.random.default_rng(5)
    strengths, held = rng.normal(0.0, 100.0, 8), 0
    for _ in range(LOGS):
        pairs = pairs_of(8, 500, rng)
        _, made = rated(pairs, played(strengths, pairs, rng, 25.0), Model(), home=True)
        error = error_of_feature(made, 0, sandwich)
        held += abs(made.coefficients[0] - 25.0) <= 1.959964 * error
    assert held / LOGS > 0.95 - 3.0 * math.sqrt(0.95 * 0.05 / LOGS)
