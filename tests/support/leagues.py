"""Leagues whose true probabilities are known, and what intervals say of predictions of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.game_logs.rating import tallies
from valmatch.game_logs.reading.tables import Names
from valmatch.game_logs.roster import Roster, blocks_of, difference
from valmatch.kernels.arrays import Floats
from valmatch.ratings.baselines import COIN
from valmatch.ratings.games import Games
from valmatch.ratings.registry import system_named


class League(NamedTuple):
    """Games between players whose skills are normal, in Elo points, and may drift."""

    games: int
    players: int
    spread: float  # standard deviation of the skills
    drift: float = 0.0  # and of their change over the league
    days: int = 0  # over which the games are spread evenly; 0 for no dates

    def play(self, rng: np.random.Generator) -> tuple[Games, Floats]:
        """Return its games, and the true probability of each that the first side wins."""
        n, players = self.games, self.players
        skill = np.tile(rng.normal(0.0, self.spread, players), (50, 1))
        skill += np.cumsum(rng.normal(0.0, self.drift / np.sqrt(50.0), (50, players)), axis=0)
        a = rng.integers(0, players, n)
        b = (a + rng.integers(1, players, n)) % players
        low, high, when = np.minimum(a, b), np.maximum(a, b), np.arange(n) * 50 // n
        true = 1.0 / (1.0 + 10.0 ** ((skill[when, high] - skill[when, low]) / 400.0))
        won = rng.random(n) < true
        points = np.column_stack([won, ~won]).ravel().astype(np.float64)
        days = (np.arange(n) * self.days // n * 86400.0).astype(np.float64)
        rows, sides = np.column_stack([low, high]).ravel(), np.tile([0, 1], n)
        starts = np.arange(0, 2 * n + 1, 2), np.arange(2 * n + 1)
        rates, minutes = points.copy(), np.full(2 * n, 20.0)
        homes = np.full(n, -1)
        known = np.arange(n), days, homes
        games = Games(*known, *starts, points, rows, sides, rates, minutes, points)
        return games, true


def covered(league: League, leagues: int, seed: int) -> Floats:
    """Return how often each paired interval holds the mean difference of expected losses."""
    rng = np.random.default_rng(seed)
    names = Names()
    names.read([f"p{k:04d}" for k in range(league.players)])
    elo, glicko2, zonestats = map(system_named, ("elo", "glicko2", "zonestats"))
    # The first is compared with each of the others.
    chosen = [(elo, {}), (elo, {"K": 10.0}), (zonestats, {}), (glicko2, {}), (COIN, {})]
    some = [
        (system, {one.name: one.published for one in system.parameters} | given)
        for system, given in chosen
    ]
    hits = np.zeros(len(some) - 1)
    for _ in range(leagues):
        games, true = league.play(rng)
        blocks = blocks_of(games, dated=league.days > 0)
        assert len(blocks) >= 20
        sums, losses = [], []
        for system, values in some:
            start = Roster(system, values, names, ())
            sums.append(tallies(start, games, blocks, 0)[:, 0])
            p = start.restarted(values).play(games, 0).assessed.expected[::2]
            losses.append(float(-(true * np.log(p) + (1.0 - true) * np.log(1.0 - p)).mean()))
        for k in range(1, len(some)):
            found = difference("log_loss", sums[0], sums[k])
            assert found.mean is not None
            assert found.half_width is not None
            hits[k - 1] += abs(found.mean - (losses[0] - losses[k])) <= found.half_width
    return hits / leagues
