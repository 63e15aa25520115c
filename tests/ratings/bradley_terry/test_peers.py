"""Ratings of whole logs against those of independent packages, to a millionth of a point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.oracles.bradley_terry import Game, Side, World
from tests.ratings.bradley_terry.test_estimates import duel, log, rated
from valmatch.kernels.arrays import Floats
from valmatch.ratings.bradley_terry.fit import POINTS

N = 6


def ratings_of(games: list[Game]) -> Floats:
    """Return our ratings, draws as halves of wins."""
    return rated(World(games, N), "half").ratings


def in_points(strengths: Floats) -> Floats:
    """Return logarithms of strengths as ratings with the mean 1500."""
    ratings: Floats = 1500.0 + (strengths - strengths.mean()) / POINTS
    return ratings


def duels(seed: int, draws: float) -> list[Game]:
    """Return a log in which everybody plays everybody, and may draw."""
    rng = np.random.default_rng(seed)
    games = []
    for _ in range(90):
        a, b = rng.choice(N, 2, replace=False).tolist()
        drawn, won = rng.random() < draws, rng.random() < 1.0 / (1.0 + np.exp(0.4 * (a - b)))
        games.append(duel(a, b, 0.5 if drawn else float(won)))
    return games


@pytest.mark.parametrize("draws", [0.0, 0.3])
def test_choix_finds_the_same_ratings_of_duels(draws: float) -> None:
    choix = pytest.importorskip("choix", reason="needs the package choix")
    for seed in range(5):
        games = duels(seed, draws)
        pairs = []  # each game twice, so that a draw is a win of each
        for game in games:
            a, b = (side.players[0] for side in game.sides)
            first_won, second_won = (a, b), (b, a)
            times = round(2 * game.sides[0].score)
            pairs += times * [first_won] + (2 - times) * [second_won]
        ratings = choix.ilsr_pairwise(N, pairs, tol=1e-13, max_iter=1000)
        np.testing.assert_allclose(ratings_of(games), in_points(ratings), rtol=0.0, atol=1e-6)


def test_choix_finds_the_same_ratings_of_orders() -> None:
    choix = pytest.importorskip("choix", reason="needs the package choix")
    for seed in range(5):
        games = [
            Game([Side(side.players, side.score) for side in game.sides])
            for game in log(seed, kinds=(2, 3, 4, 5), draws=0.0)
        ]
        orders = [
            [side.players[0] for side in sorted(game.sides, key=lambda ranked: -ranked.score)]
            for game in games
        ]
        ratings = choix.ilsr_rankings(N, orders, tol=1e-13, max_iter=1000)
        np.testing.assert_allclose(ratings_of(games), in_points(ratings), rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("draws", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_evalica_finds_the_same_ratings_of_duels(draws: float, weighted: bool) -> None:
    evalica = pytest.importorskip("evalica", reason="needs the package evalica")
    winners = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    for seed in range(5):
        games = duels(seed, draws)
        if weighted:
            weights = np.random.default_rng(seed).uniform(0.2, 3.0, len(games)).tolist()
            games = [
                replace(game, weight=weight) for game, weight in zip(games, weights, strict=True)
            ]
        firsts, seconds = ([g.sides[k].players[0] for g in games] for k in (0, 1))
        ratings = evalica.bradley_terry(
            *(firsts, seconds, [winners[game.sides[0].score] for game in games]),
            weights=[game.weight for game in games],
            tolerance=1e-12,
            limit=1000,
        )
        strengths = np.log(ratings.scores.sort_index().to_numpy())
        np.testing.assert_allclose(ratings_of(games), in_points(strengths), rtol=0.0, atol=1e-6)
