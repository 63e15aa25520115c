"""The Glicko rating of a player over one rating period.

Source: Glickman, "The Glicko system" (1995, revised 1999), whose steps are named here, and
"Parameter estimation in large dynamic paired comparison experiments" (Applied Statistics 48, 1999).

Deviations grow by `c` from period to period up to that of a newcomer, and shrink with every result
down to a floor. What a result tells is what it tells in Glicko-2, whose functions are used here: in
units of 400 / ln 10 points, step 2 is step 7 of Glicko-2 with a volatility of 0.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import part
from valmatch.ratings.games import Assessment, Games, Players, score_of
from valmatch.ratings.glicko2 import (
    DEVIATION,
    INITIAL_RATING,
    NEWCOMER,
    PERIOD,
    SCALE,
    chances_by_deviations,
    outcomes_by_deviations,
    result,
    same_period,
)
from valmatch.ratings.system import (
    Chances,
    Column,
    Factor,
    Parameter,
    Range,
    System,
    Values,
    Verbs,
)

C = 34.6
FLOOR = 30.0

_MOST_DEVIATION = 1e12
_LATEST = sys.float_info.max

# Columns of the state.
_RATING, _DEVIATION = 0, 1
_BASE_RATING, _BASE_DEVIATION, _INFORMATION, _SURPRISE, _TIME = range(2, 7)


@part(inline=True)
def grown(deviation: float, c: float, periods: float, ceiling: float) -> float:
    """Return the onset deviation min(sqrt(RD^2 + c^2 t), ceiling) of a period (step 1)."""
    return min(math.sqrt(deviation * deviation + periods * c * c), ceiling)


@part(inline=True)
def updated(
    deviation: float, information: float, surprise: float, floor: float
) -> tuple[float, float]:
    """Return what a rating period makes of a player who has played in it (step 2).

    Examples
    --------
    The example of the source: a player of 1500 and 200 meets three opponents.

    >>> information = surprise = 0.0
    >>> for rating, deviation, score in ((1400, 30, 1.0), (1550, 100, 0.0), (1700, 300, 0.0)):
    ...     more = result((1500 - rating) / SCALE, deviation / SCALE, score)
    ...     information, surprise = information + more[0], surprise + more[1]
    >>> gain, deviation = updated(200, information, surprise, 30)
    >>> round(1500 + gain), round(deviation, 1)
    (1464, 151.4)
    """
    phi = deviation / SCALE
    variance = phi * phi / (1.0 + phi * phi * information)
    return SCALE * variance * surprise, max(SCALE * math.sqrt(variance), floor)


@part(inline=True)
def _onset(player: int, players: Players, time: float, numbers: Floats) -> float:
    """Return a player's deviation at the start of another period than that of the last game.

    Where the moment is not known, that is the next period.
    """
    deviation: float = players.state[player, _DEVIATION]
    if players.games[player] == 0:
        return deviation
    periods = 1.0
    if numbers[1] > 0.0:
        passed = np.floor(time / numbers[1]) - np.floor(players.state[player, _TIME] / numbers[1])
        if passed > 1.0:
            periods = passed
    return grown(deviation, numbers[0], periods, numbers[3])


@part(inline=True)
def _strengths(
    game: int, games: Games, players: Players, numbers: Floats, found: Assessment
) -> None:
    """Work out the mean rating and the mean squared deviation of each side before the period."""
    time = games.times[game]
    for side in range(games.game_starts[game], games.game_starts[game + 1]):
        lo, hi = games.side_starts[side], games.side_starts[side + 1]
        rating = variance = 0.0
        for row in range(lo, hi):
            player = games.players[row]
            last = players.state[player, _TIME]
            if same_period(players.games[player], last, time, numbers[1]):
                mean = players.state[player, _BASE_RATING]
                deviation = players.state[player, _BASE_DEVIATION]
            else:
                mean = players.state[player, _RATING]
                deviation = _onset(player, players, time, numbers)
            rating += mean
            variance += deviation * deviation
        found.strengths[side], found.spreads[side] = rating / (hi - lo), variance / (hi - lo)


@part(inline=True)
def _update(game: int, games: Games, players: Players, numbers: Floats, found: Assessment) -> bool:
    """Add each player's results to those of the period, and rate the player by all of them."""
    first, last, time = games.game_starts[game], games.game_starts[game + 1], games.times[game]
    for side in range(first, last):
        for row in range(games.side_starts[side], games.side_starts[side + 1]):
            player = games.players[row]
            state = players.state[player]
            if not same_period(players.games[player], state[_TIME], time, numbers[1]):
                state[_BASE_RATING] = state[_RATING]
                state[_BASE_DEVIATION] = _onset(player, players, time, numbers)
                state[_INFORMATION] = state[_SURPRISE] = 0.0
            state[_TIME] = time
            for other in range(first, last):
                if other != side:
                    lead = (state[_BASE_RATING] - found.strengths[other]) / SCALE
                    phi = math.sqrt(found.spreads[other]) / SCALE
                    information, surprise = result(lead, phi, score_of(games, side, other))
                    state[_INFORMATION] += information
                    state[_SURPRISE] += surprise
            gain, state[_DEVIATION] = updated(
                state[_BASE_DEVIATION], state[_INFORMATION], state[_SURPRISE], numbers[2]
            )
            state[_RATING] = state[_BASE_RATING] + gain
    return True


class Glicko(System):
    """Glicko; a side is predicted by the means of its players' ratings and squared deviations.

    Each player meets each opposing side as one opponent of that rating and deviation.

    A deviation grows by `c` in each period, sqrt(RD^2 + c^2), up to `deviation`, which newcomers
    have, and no result takes it below `floor`. With c = 34.6, Glickman's example, a deviation of 50
    is one of 350 after 100 periods. Periods, their predictions and the columns ``base_...`` are
    those of `valmatch.ratings.glicko2.Glicko2`; with a `period` of 0 every game is one, so that
    deviations grow before each game, and not while a player is idle.
    """

    name = "glicko"
    parameters = (
        NEWCOMER,
        Parameter(
            "c",
            C,
            0.0,
            1e6,
            Factor(C, "points", "Growth of a deviation in one rating period.", "deviation_growth"),
        ),
        Parameter(
            "floor",
            FLOOR,
            0.0,
            1e6,
            Factor(FLOOR, "points", "Least deviation of a rating.", "least_deviation"),
        ),
        PERIOD,
    )
    columns = (
        Column("rating"),
        Column("deviation", 0.0, _MOST_DEVIATION),
        Column("base_rating", printed=False),
        Column("base_deviation", 0.0, _MOST_DEVIATION, printed=False),
        Column("information", 0.0, 1e15, printed=False),
        Column("surprise", -1e15, 1e15, printed=False),
        Column("time", -_LATEST, _LATEST, printed=False),
    )
    verbs = Verbs(_strengths, chances_by_deviations, _update)
    deviation = _DEVIATION
    tuned_first = ("deviation", "c")

    def newcomer(self, values: Values) -> Sequence[float]:
        """Return what is known of a player without a game (step 1)."""
        known = (INITIAL_RATING, values["deviation"])
        return (*known, *known, 0.0, 0.0, 0.0)

    def numbers(self, values: Values) -> Sequence[float]:
        """Return growth, length of a period, least and greatest deviation."""
        floor = min(values["floor"], values["deviation"])
        return [values["c"], values["period"], floor, values["deviation"]]

    def outcomes(self, values: Values, games: Games, state: Floats, found: Assessment) -> Chances:
        """Return how games of two sides will end, see `System.outcomes`."""
        return outcomes_by_deviations(found)

    def sane(self, name: str, values: Values, minutes: float) -> Range | None:
        """Return the limits of a fit, see `System.sane`: far around what Glickman recommends."""
        ranges = {"deviation": (10.0, 1000.0), "c": (0.1, 200.0), "floor": (1.0, DEVIATION)}
        return ranges.get(name)


SYSTEM = Glicko()
