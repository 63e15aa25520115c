"""What the rating systems of the ladder believe: predictions before, beliefs after a match."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import at, expanded
from valmatch.ratings import elo, trueskill_teams, zonestats

__all__ = [
    "ELO",
    "KNOWN",
    "SYSTEMS",
    "TRUESKILL",
    "ZONESTATS",
    "Game",
    "Rater",
    "new_game",
    "predict",
    "rate",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SYSTEMS = KNOWN, ELO, ZONESTATS, TRUESKILL = range(4)


class Rater(NamedTuple):
    """A rating system with its parameters; those of other systems are of no meaning.

    Attributes
    ----------
    system : int
        One of `SYSTEMS`.
    k, scale : float
        Of Elo.
    t, game_mult, max_game_length : float
        Of ZoneStats.
    beta, tau : float
        Of TrueSkill (points).
    minutes : float
        What a match takes.
    """

    system: int
    k: float
    scale: float
    t: float
    game_mult: float
    max_game_length: float
    beta: float
    tau: float
    minutes: float


class Game(NamedTuple):
    """The players of a match, those of side A first.

    Attributes
    ----------
    means, sigmas : (2 p,) ndarray of float64
        Beliefs.
    rates, minutes, offsets, adjustments : (2 p,) ndarray of float64
    sides : (2 p,) ndarray of int64
        What ZoneStats works on.
    """

    means: Floats
    sigmas: Floats
    rates: Floats
    minutes: Floats
    offsets: Floats
    adjustments: Floats
    sides: Ints


def new_game(team_num: int, minutes: float) -> Game:
    """Return a game of two teams who play all its minutes."""
    size = 2 * team_num
    return Game(
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.full(size, minutes),
        np.zeros(size),
        np.zeros(size),
        np.repeat(np.arange(2), team_num),
    )


@expanded
def _sums(values: Floats) -> tuple[float, float]:
    """Return the sums over side A and over side B."""
    a = b = 0.0
    team_num = values.size // 2
    for k in range(team_num):
        a += values[at(k)]
        b += values[at(team_num + k)]
    return a, b


@expanded
def _variances(tau: float, game: Game) -> float:
    """Return the sum of all variances, each grown by tau squared; that of side A comes first."""
    a = b = 0.0
    team_num = game.sigmas.size // 2
    for k in range(team_num):
        one, other = game.sigmas[at(k)], game.sigmas[at(team_num + k)]
        a += one * one + tau * tau
        b += other * other + tau * tau
    return a + b


@expanded
def predict(p: float, rater: Rater, game: Game) -> float:
    """Return the probability that side A wins by a rating system; p by one that knows it."""
    if rater.system == KNOWN:
        return p
    size = game.means.size
    a, b = _sums(game.means)
    if rater.system == TRUESKILL:
        return trueskill_teams.expected_score(a - b, _variances(0.0, game), size, rater.beta, 0.0)
    team_num = size // 2
    if rater.system == ELO:
        return elo.expected_score(a / team_num, b / team_num, rater.scale)
    return zonestats.predicted_outcome(a / team_num, b / team_num, rater.t)


@expanded
def rate(a_wins: bool, rater: Rater, game: Game) -> None:
    """Replace the beliefs by those after the match."""
    if rater.system == ELO:
        _rate_elo(a_wins, rater, game)
    elif rater.system == TRUESKILL:
        _rate_trueskill(a_wins, rater, game)
    elif rater.system == ZONESTATS:
        _rate_zonestats(a_wins, rater, game)


@expanded
def _rate_elo(a_wins: bool, rater: Rater, game: Game) -> None:
    team_num = game.means.size // 2
    a, b = _sums(game.means)
    expected = elo.expected_score(a / team_num, b / team_num, rater.scale)
    score = 1.0 if a_wins else 0.0
    for k in range(team_num):
        game.means[at(k)] += elo.change(score, expected, 1, rater.k)
        game.means[at(team_num + k)] += elo.change(1.0 - score, 1.0 - expected, 1, rater.k)


@expanded
def _rate_trueskill(a_wins: bool, rater: Rater, game: Game) -> None:
    size = game.means.size
    a, b = _sums(game.means)
    sign = 1.0 if a_wins else -1.0
    variance = _variances(rater.tau, game)
    step, shrink = trueskill_teams.pulls(sign * (a - b), variance, size, rater.beta, 0.0, False)
    for k in range(size):
        skill = game.sigmas[at(k)] * game.sigmas[at(k)] + rater.tau * rater.tau
        game.means[at(k)] += skill * (sign * step if k < size // 2 else -sign * step)
        game.sigmas[at(k)] = math.sqrt(skill * (1.0 - skill * shrink))


@expanded
def _rate_zonestats(a_wins: bool, rater: Rater, game: Game) -> None:
    """Rate the result: winners score 1, losers 0."""
    size = game.means.size
    for k in range(size):
        score = 1.0 if a_wins == (k < size // 2) else 0.0
        game.rates[at(k)] = zonestats.score_per_hour(score, rater.minutes)
    zonestats.adjust(
        game.means,
        game.rates,
        game.minutes,
        game.sides,
        rater.t,
        rater.game_mult,
        rater.max_game_length,
        False,
        game.offsets,
        game.adjustments,
    )
    for k in range(size):
        game.means[at(k)] += game.adjustments[at(k)]
