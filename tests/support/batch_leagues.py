"""Leagues whose true strengths are known, and what intervals of whole logs say of these."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from tests.oracles.bradley_terry import B
from tests.support.contests import duels_of
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.ratings.bradley_terry.contests import Contests, design_of, link
from valmatch.ratings.bradley_terry.covariance import rank_ranges
from valmatch.ratings.bradley_terry.fit import POINTS, NoEstimate
from valmatch.ratings.bradley_terry.rating import HALF, Estimate, Model, estimate, rate
from valmatch.ratings.whole_history import PathModel, player_days
from valmatch.statistics.estimates import range_quantile, t_quantile

LEVEL = 0.95
INFORMATION, SANDWICH, CLUSTERED = "information", "sandwich", "clustered"

DIFFERENCES, RATINGS, COEFFICIENTS = "differences", "ratings", "coefficients"
TOGETHER, RANKS = "differences together", "ranks together"
MEASURES = (DIFFERENCES, RATINGS, COEFFICIENTS, TOGETHER, RANKS)
"""Shares of a world's intervals that hold the truth; of those together, whether all do."""


@dataclass(frozen=True)
class BatchLeague:
    """Games between players whose strengths are normal, in points."""

    name: str  # in tables
    players: int  # of whom those of each game are drawn evenly
    games: int
    spread: float  # standard deviation of the strengths
    sides: int = 2
    team: int = 1  # players of a side
    draw_weight: float = 0.0  # Davidson's nu
    home: float = 0.0  # advantage of the first side, fitted where it is not 0
    voters: int = 0  # clusters of games, with as many votes each; 0: games are independent
    noise: float = 0.0  # standard deviation of how a voter differs from all, drawn for each player
    draws: str = ""  # as `Model` takes it, like the prior
    prior: float | None = None
    kinds: tuple[str, ...] = (INFORMATION,)  # of intervals that are looked at

    def play(self, rng: np.random.Generator) -> tuple[Contests, Floats]:
        """Return the games of one world, and the true strengths of its players."""
        truth = rng.normal(0.0, self.spread, self.players)
        own = rng.normal(0.0, self.noise, (max(self.voters, 1), self.players))
        voters = np.arange(self.games) % max(self.voters, 1)
        drawn = rng.random((self.games, self.players)).argsort(axis=1)
        players = drawn[:, : self.sides * self.team]
        seen = (truth + own)[voters[:, np.newaxis], players]
        strengths = seen.reshape(self.games, self.sides, self.team).mean(axis=2)
        strengths[:, 0] += self.home
        points = self._points(strengths, rng)
        n_sides = self.games * self.sides
        features = np.zeros((n_sides, int(self.home != 0.0)))
        features[:: self.sides] = 1.0
        contests = Contests(
            self.players,
            np.arange(self.games + 1) * self.sides,
            np.arange(n_sides + 1) * self.team,
            points.ravel(),
            players.ravel(),
            features,
            np.ones(self.games),
            voters if self.voters else np.arange(self.games),
        )
        return contests, truth

    def _points(self, strengths: Floats, rng: np.random.Generator) -> Floats:
        """Return the points of the sides of each game."""
        if self.sides > 2:  # the order of strengths with Gumbel's noise is that of Luce
            found: Floats = POINTS * strengths + rng.gumbel(size=strengths.shape)
            return found
        won, drawn = self._chances(strengths[:, 0] - strengths[:, 1])
        uniform = rng.random(len(strengths))
        first = np.where(uniform < won, 1.0, np.where(uniform < won + drawn, 0.5, 0.0))
        return np.column_stack([first, 1.0 - first])

    def _chances(self, leads: Floats) -> tuple[Floats, Floats]:
        """Return how likely the first of two sides wins, and draws, by its lead in points."""
        up = np.exp(0.5 * POINTS * leads)
        total = up + 1.0 / up + self.draw_weight
        return up / total, self.draw_weight / total

    def target(self, truth: Floats) -> Floats:
        """Return what estimates tend to: the strengths, or what fits the true chances best."""
        if not self.noise and self.draws != HALF:
            return truth
        a, b = np.triu_indices(self.players, 1)
        nodes, weights = np.polynomial.hermite_e.hermegauss(41)
        leads = (truth[a] - truth[b])[:, np.newaxis] + math.sqrt(2.0) * self.noise * nodes
        won, drawn = (own @ weights / weights.sum() for own in self._chances(leads))
        scores = np.repeat([1.0, 0.5, 0.0], len(a))
        contests = duels_of(
            self.players,
            np.column_stack([np.tile(a, 3), np.tile(b, 3)]).ravel(),
            np.column_stack([scores, 1.0 - scores]).ravel(),
            np.concatenate([won, drawn, 1.0 - won - drawn]),
        )
        found = rate(design_of(contests), Model(self.draws)).ratings
        rounded: Floats = np.round(found, 6)  # equals stay equal
        return rounded


HALVES: dict[str, Any] = {"draws": HALF, "kinds": (INFORMATION, SANDWICH)}
VOTES: dict[str, Any] = {"noise": 200.0, "kinds": (INFORMATION, CLUSTERED)}

LEAGUES = (
    BatchLeague("duels, 12 players", 12, 1320, 150.0),
    BatchLeague("duels, 12 players, few games", 12, 198, 150.0),
    BatchLeague("duels, 12 equal players", 12, 1320, 0.0),
    BatchLeague("duels, 40 players", 40, 2000, 200.0),
    BatchLeague("teams of 3, 16 players", 16, 800, 200.0, team=3),
    BatchLeague("orders of 8, 20 players", 20, 200, 150.0, sides=8),
    BatchLeague("draws, a side at home, 20 players", 20, 1000, 150.0, draw_weight=0.8, home=60.0),
    BatchLeague("draws as halves, 12 players", 12, 600, 150.0, draw_weight=0.8, **HALVES),
    BatchLeague("prior of the true spread, 40 players", 40, 240, 150.0, prior=150.0),
    BatchLeague("prior of a third of the spread", 40, 240, 300.0, prior=100.0),
    BatchLeague("votes, 400 voters of 5", 12, 2000, 100.0, voters=400, **VOTES),
    BatchLeague(
        "votes with draws, 60 voters of 40", 12, 2400, 100.0, draw_weight=0.5, voters=60, **VOTES
    ),
    BatchLeague("votes, 20 voters of 100", 12, 2000, 100.0, voters=20, **VOTES),
    BatchLeague("votes, 8 voters of 250", 12, 2000, 100.0, voters=8, **VOTES),
    BatchLeague("votes on equals, 60 voters of 40", 12, 2400, 0.0, voters=60, **VOTES),
    BatchLeague("votes on equals, 8 voters of 250", 12, 2000, 0.0, voters=8, **VOTES),
)
"""Leagues of the page `results/batch-coverage`, by which the tests go, too."""


@cache
def _critical(players: int, degrees: float) -> float:
    return range_quantile(LEVEL, players, degrees) / math.sqrt(2.0)


def covered(league: BatchLeague, kind: str, contests: Contests, truth: Floats) -> Floats | None:
    """Return the `MEASURES` of one world; None where somebody in it cannot be rated."""
    design, model = design_of(contests), Model(league.draws, prior=league.prior)
    try:
        found = rate(design, model)
    except NoEstimate:
        return None
    if not found.linked.rated.all():
        return None
    sure = model.uncertainty(found, kind != INFORMATION, np.random.default_rng(0))
    assert sure.covariance is not None
    degrees = league.voters - 1.0 if kind == CLUSTERED else math.inf
    half, critical = t_quantile(0.5 + 0.5 * LEVEL, degrees), _critical(league.players, degrees)
    target = league.target(truth)
    a, b = np.triu_indices(league.players, 1)
    own = np.diag(sure.covariance)
    errors = np.sqrt(own[a] + own[b] - 2.0 * sure.covariance[a, b])
    wrong = np.abs(found.ratings[a] - found.ratings[b] - target[a] + target[b])
    zero = np.abs(found.ratings - found.ratings.mean() - target + target.mean())
    best, worst = rank_ranges(found.ratings, sure.covariance, critical)
    order = np.sort(-target)  # equal strengths have several ranks
    low, high = 1 + np.searchsorted(order, -target), np.searchsorted(order, -target, "right")
    measures = {
        DIFFERENCES: np.mean(wrong <= half * errors),
        RATINGS: np.mean(zero <= half * sure.std_errors),
        COEFFICIENTS: _coefficients(league, found, sure.coefficients, sure.log_draw_weight, half),
        TOGETHER: np.all(wrong <= critical * errors),
        RANKS: np.all((best <= low) & (worst >= high)),
    }
    return np.array([measures[name] for name in MEASURES], np.float64)


def _coefficients(
    league: BatchLeague, found: Estimate, home_errors: Floats, log_error: float, half: float
) -> float:
    """Return the share of home advantage and draw weight that is covered; NaN without them."""
    held = [
        abs(value - league.home) <= half * error
        for value, error in zip(found.coefficients, home_errors, strict=True)
    ]
    if league.draw_weight and league.draws != HALF and not league.noise:
        off = math.log(found.draw_weight) - math.log(league.draw_weight)
        held.append(abs(off) <= half * log_error)
    return float(np.mean(held)) if held else math.nan


def shares(league: BatchLeague, worlds: int, number: int, seed: int = 1) -> dict[str, Floats]:
    """Return (worlds, measures) what intervals cover, but for worlds without ratings."""
    streams = Streams(seed)
    found: dict[str, list[Floats]] = {kind: [] for kind in league.kinds}
    for world in range(worlds):
        contests, truth = league.play(streams.stream(world, number))
        for kind, rows in found.items():
            own = covered(league, kind, contests, truth)
            if own is not None:
                rows.append(own)
    return {kind: np.array(rows).reshape(-1, len(MEASURES)) for kind, rows in found.items()}


LEVELS = (0.5, 0.8, 0.95)
PLAYERS, GAMES = 10, 250


class PathLeague(NamedTuple):
    """Players whose strengths move; the rating knows the drift and the first deviation."""

    name: str
    drift: float
    deviation: float


PATH_LEAGUES = (PathLeague("even games", 5.0, 80.0), PathLeague("lopsided games", 20.0, 350.0))


def path_shares(league: PathLeague, seed: int) -> Floats:
    """Return (levels, 2) shares of intervals that hold: of days, and of the last differences."""
    rng = np.random.default_rng(seed)
    paths, now = league.deviation * rng.normal(size=PLAYERS), 0
    players, points, days, truth = [], [], [], {}
    for _ in range(GAMES):
        step = int(rng.geometric(0.5)) - 1
        now += step
        paths = paths + league.drift * math.sqrt(step) * rng.normal(size=PLAYERS)
        a, b = rng.permutation(PLAYERS)[:2].tolist()
        won = rng.random() < 1.0 / (1.0 + math.exp(B * (paths[b] - paths[a])))
        players += [a, b]
        points += [float(won), float(not won)]
        days.append(now)
        truth[a, now], truth[b, now] = paths[a], paths[b]
    contests = duels_of(PLAYERS, players, points)
    known = player_days(contests, np.array(days))
    model = PathModel(days=known, drift=league.drift, deviation=league.deviation, mean=0.0)
    weights = contests.weights
    linked = link(contests, weights, np.zeros(0, np.int64), all_rated=True)
    found = estimate(model.design(contests), model, linked, weights)
    sure = model.uncertainty(found, False, rng)
    assert found.days is not None
    assert sure.days is not None
    assert sure.covariance is not None
    true = np.array([truth[key] for key in zip(known.players, known.days, strict=True)])
    true = true - true[known.first].mean()
    away = np.abs(found.days - true) / sure.days
    own = np.diag(sure.covariance)
    pairs = np.triu_indices(PLAYERS, 1)
    errors = np.sqrt(own[:, np.newaxis] + own - 2.0 * sure.covariance)[pairs]
    leads = (found.ratings[:, np.newaxis] - found.ratings)[pairs]
    wrong = np.abs(leads - (paths[:, np.newaxis] - paths)[pairs]) / errors
    reaches = [float(norm.ppf(0.5 + 0.5 * level)) for level in LEVELS]
    return np.array([[(away <= z).mean(), (wrong <= z).mean()] for z in reaches])
