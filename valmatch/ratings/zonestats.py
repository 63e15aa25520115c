"""The ZoneStats rating: a zero-sum rule over all pairs of opponents in a game.

Source: "Player Rating: Quick View of the Algorithm", equations 1 to 6 with their eight steps.
Times are in minutes, ratings and adjustments in rating points.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import kernel, macro
from valmatch.ratings.games import Assessment, Games, Players
from valmatch.ratings.parameters import Parameter
from valmatch.ratings.registry import EVERY_PLAYER, MOST_DISTANT
from valmatch.ratings.system import (
    Column,
    Ranges,
    System,
    Values,
    Verbs,
    logistic_chances,
    mean_strengths,
)

T = 120.0
GAME_MULT = 2.0
MAX_GAME_LENGTH = 20.0
INITIAL_RATING = 500.0

# Offsets that are equal in theory differ by rounding, which must not decide whose time caps a game.
_EQUALLY_FAR = 1.0 - 1e-12


@macro
def score_per_hour(score: float, minutes: float) -> float:
    """Return SPH = score / hours in game (step 1)."""
    return 60.0 * score / minutes  # in this order equal rates of whole numbers are equal floats


@macro
def predicted_outcome(rating: float, opponents_rating: float, t: float) -> float:
    """Return the share of contests that a player is predicted to win (equation 1)."""
    lead = (rating - opponents_rating) / t
    odds = math.exp(-abs(lead))  # of the weaker player; never overflows
    return (1.0 if lead >= 0.0 else odds) / (1.0 + odds)


@macro
def time_together(
    join: float, minutes: float, opponents_join: float, opponents_minutes: float
) -> float:
    """Return the minutes that both were in the game at once, for which equation 3 has more."""
    end = min(join + minutes, opponents_join + opponents_minutes)
    return max(0.0, end - max(join, opponents_join))


class Rules(NamedTuple):
    """The parameters of a game."""

    t: float
    game_mult: float
    max_game_length: float
    every_player: bool  # whether every player caps a game, see `cap_scale`


class RatedGame(NamedTuple):
    """The n rated players of a game, and what the game adds to their ratings."""

    ratings: Floats  # (n,)
    rates: Floats  # (n,) what decides a contest: scores per hour
    minutes: Floats  # (n,) in the game
    joins: Floats  # (n,) minutes at which they joined; () where contests count the shorter time
    sides: Ints  # (n,)
    offsets: Floats  # (n,) out: sum of each player's points before the cap
    adjustments: Floats  # (n,) out: what is added to each rating


# By equation 5 the player farthest from zero decides, by the whole time in the game, which
# MAX_GAME_LENGTH does not limit; of several equally far the one with the shortest time. With
# `every_player` it is the greatest factor that leaves every player within their limit (step 7).
@kernel
def cap_scale(rules: Rules, offsets: Floats, minutes: Floats) -> float:
    """Return the factor <= 1 that caps a game at GAME_MULT points per minute (equation 5)."""
    if rules.every_player:
        scale = 1.0
        for i in range(len(offsets)):
            limit = rules.game_mult * min(rules.max_game_length, minutes[i])
            if abs(offsets[i]) * scale > limit:
                scale = limit / abs(offsets[i])
        return scale
    highest = 0.0
    for i in range(len(offsets)):
        highest = max(highest, abs(offsets[i]))
    if highest == 0.0:
        return 1.0
    shortest = math.inf
    for i in range(len(offsets)):
        if abs(offsets[i]) >= highest * _EQUALLY_FAR:
            shortest = min(shortest, minutes[i])
    return min(1.0, shortest * rules.game_mult / highest)


@kernel
def adjust(rules: Rules, game: RatedGame) -> float:
    """Work out what a game adds to each rating (equations 1 to 6); return the cap's factor."""
    offsets, n = game.offsets, len(game.ratings)
    offsets[:] = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            if game.sides[i] == game.sides[j]:
                continue
            won = 1.0 if game.rates[i] > game.rates[j] else 0.0
            if game.rates[i] == game.rates[j]:
                won = 0.5
            result = won - predicted_outcome(game.ratings[i], game.ratings[j], rules.t)
            mine, theirs = game.minutes[i], game.minutes[j]
            if game.joins.size > 0:
                mine = theirs = time_together(game.joins[i], mine, game.joins[j], theirs)
            points = result * rules.game_mult * min(rules.max_game_length, mine, theirs)
            offsets[i] += points
            offsets[j] -= points
    scale = cap_scale(rules, offsets, game.minutes)
    for i in range(n):
        game.adjustments[i] = offsets[i] * scale
    return scale


@macro
def _chances(
    a: int, b: int, games: Games, numbers: Floats, sums: Assessment
) -> tuple[float, float]:
    """Predict by equation 1 between the mean ratings."""
    return logistic_chances(a, b, numbers[0], 0.0, sums)


@macro
def _update(game: int, games: Games, players: Players, numbers: Floats, sums: Assessment) -> bool:
    """Rate all players of a game."""
    lo = games.side_starts[games.game_starts[game]]
    hi = games.side_starts[games.game_starts[game + 1]]
    for row in range(lo, hi):  # the ratings, in whose place the adjustments will stand
        sums.gains[row] = players.state[games.players[row], 0]
    rules = Rules(numbers[0], numbers[1], numbers[2], numbers[3] > 0.0)
    rated = RatedGame(
        sums.gains[lo:hi],
        games.rates[lo:hi],
        games.minutes[lo:hi],
        games.minutes[lo:lo],  # logs do not say when a player joined
        games.sides[lo:hi],
        sums.offsets[lo:hi],
        sums.gains[lo:hi],
    )
    sums.scales[game] = adjust(rules, rated)
    for row in range(lo, hi):
        players.state[games.players[row], 0] += sums.gains[row]
    return True


class ZoneStats(System):
    """The pairwise logistic rule of ZoneStats; a side is predicted by its mean rating."""

    name = "zonestats"
    parameters = (
        Parameter("T", T, 1e-3, 1e6).as_factor(
            "Spread of the ratings: predictions are logistic in the lead over T.", "points"
        ),
        Parameter("GAME_MULT", GAME_MULT, 1e-6, 1e6).as_factor(
            "Multiplier of all adjustments, also their cap.", "points per minute"
        ),
        Parameter("MAX_GAME_LENGTH", MAX_GAME_LENGTH, 1e-3, 1e6).as_factor(
            "Length beyond which a match counts no more.", "minutes"
        ),
    )
    unit = ("T", "GAME_MULT")
    columns = (Column("rating"),)
    verbs = Verbs(mean_strengths, _chances, _update)
    tuned_first = ("GAME_MULT",)

    def __init__(self, cap: str = MOST_DISTANT) -> None:
        self._every_player = cap == EVERY_PLAYER

    def newcomer(self, values: Values) -> Sequence[float]:
        """Return the rating of a player without a game (step 2)."""
        return (INITIAL_RATING,)

    def numbers(self, values: Values) -> Sequence[float]:
        """Return the parameters, and whether every player caps a game."""
        return [*super().numbers(values), float(self._every_player)]

    def sane(self, values: Values, minutes: float) -> Ranges:
        """Return the limits of a fit, see `System.sane`: those of Elo, for a usual game."""
        scale, counted = values["T"] * math.log(10.0), min(minutes, values["MAX_GAME_LENGTH"])
        most = values["GAME_MULT"] * counted / math.log(10.0)  # points of a game, in units of T
        return {
            "T": (2.0 * most, 1000.0 * most),
            "GAME_MULT": (scale / 1000.0 / counted, scale / 2.0 / counted),
        }


SYSTEM = ZoneStats()
