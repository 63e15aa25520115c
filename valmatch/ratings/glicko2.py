"""The ratings Glicko and Glicko-2 of a player over one rating period, on the scale of step 2.

Sources: Glickman, "Example of the Glicko-2 system" (2022), whose steps are named here; "The Glicko
system" (1995, revised 1999); "Parameter estimation in large dynamic paired comparison experiments"
(Applied Statistics 48, 1999).
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel, macro
from valmatch.ratings.games import Assessment, Games, Players, score_of
from valmatch.ratings.parameters import Parameter
from valmatch.ratings.system import (
    Chances,
    Column,
    Ranges,
    System,
    Values,
    Verbs,
    Z,
    decided_chances,
)

SCALE = 173.7178
INITIAL_RATING = 1500.0
DEVIATION = 350.0

LEAST_VOLATILITY = 1e-12
MOST_VOLATILITY = 1e3

_LEAST_INFORMATION = 1e-100  # as which results count that tell less, so that nothing overflows

_TOLERANCE = 1e-12  # of ln sigma^2
_ILLINOIS_STEPS = 60  # a handful is usual; then halving, for functions over many magnitudes
_HALVINGS = 60

_MOST_DEVIATION = 1e12
_LATEST = sys.float_info.max

# Columns of the state. Glicko has no volatilities, so that its base begins in their place.
_RATING, _DEVIATION, _VOLATILITY = 0, 1, 2
_INFORMATION, _SURPRISE, _TIME = -3, -2, -1


@macro
def damping(phi: float) -> float:
    """Return g(phi) = 1 / sqrt(1 + 3 phi^2 / pi^2) (step 3)."""
    return 1.0 / math.sqrt(1.0 + 3.0 * phi * phi / (math.pi * math.pi))


@macro
def expected_score(lead: float, phi: float) -> float:
    """Return the expected score E = 1 / (1 + exp(-g(phi) lead)) (step 3)."""
    odds = math.exp(-damping(phi) * abs(lead))  # of the weaker player; never overflows
    return (1.0 if lead >= 0.0 else odds) / (1.0 + odds)


@macro
def result(lead: float, phi: float, score: float) -> tuple[float, float]:
    """Return what one result adds to the sums of steps 3 and 4."""
    g = damping(phi)
    odds = math.exp(-g * abs(lead))
    information = g * g * odds / ((1.0 + odds) * (1.0 + odds))
    expected = (1.0 if lead >= 0.0 else odds) / (1.0 + odds)
    return information, g * (score - expected)


# With w = (phi^2 + v + e^x) / v, f(x) is e^x (surprise^2 - information w) / (2 w^2) - (x - a) /
# tau^2, which needs no division by an information of nearly zero.
@macro
def volatility_slope(
    x: float, phi: float, a: float, information: float, surprise: float, tau: float
) -> float:
    """Return f(x) of step 5, of which x = ln sigma'^2 is a root."""
    variance = math.exp(x)
    w = 1.0 + information * (phi * phi + variance)
    pull = variance * (surprise * surprise - information * w) / (2.0 * w * w)
    return pull - (x - a) / (tau * tau)


@kernel
def new_volatility(
    phi: float, volatility: float, information: float, surprise: float, tau: float
) -> float:
    """Return sigma' by the Illinois algorithm (step 5), within the limits of this module."""
    information = max(information, _LEAST_INFORMATION)
    start = a = 2.0 * math.log(volatility)
    at_a = volatility_slope(a, phi, start, information, surprise, tau)
    excess = surprise * surprise - information * (1.0 + information * phi * phi)
    if excess > 0.0:  # Delta^2 > phi^2 + v
        b = math.log(excess) - 2.0 * math.log(information)
        at_b = volatility_slope(b, phi, start, information, surprise, tau)
    else:  # f(x) >= 0 for all x <= a - tau^2 / 2, so that the loop ends
        b = a - tau
        at_b = volatility_slope(b, phi, start, information, surprise, tau)
        while at_b < 0.0:
            b -= tau
            at_b = volatility_slope(b, phi, start, information, surprise, tau)
    for step in range(_ILLINOIS_STEPS + _HALVINGS):
        if abs(b - a) <= _TOLERANCE or at_a == at_b:
            break
        c = a + (a - b) * at_a / (at_b - at_a) if step < _ILLINOIS_STEPS else 0.5 * (a + b)
        at_c = volatility_slope(c, phi, start, information, surprise, tau)
        if (at_c > 0.0) != (at_b > 0.0):
            a, at_a = b, at_b
        else:
            at_a *= 0.5
        b, at_b = c, at_c
        if at_c == 0.0:
            break
    return min(max(math.exp(0.5 * b), LEAST_VOLATILITY), MOST_VOLATILITY)


@macro
def updated(
    phi: float, volatility: float, information: float, surprise: float, tau: float
) -> tuple[float, float, float]:
    """Return what a rating period makes of a player who has played in it (steps 5 to 7)."""
    sigma = new_volatility(phi, volatility, information, surprise, tau)
    variance = phi * phi + sigma * sigma
    variance /= 1.0 + variance * information
    return variance * surprise, math.sqrt(variance), sigma


@macro
def grown(deviation: float, c: float, periods: float) -> float:
    """Return sqrt(RD^2 + c^2 t): the deviation after periods (step 1 of Glicko, 6 of Glicko-2)."""
    return math.sqrt(deviation * deviation + periods * c * c)


@macro
def _same_period(played: int, last: float, time: float, period: float) -> bool:
    """Return whether a moment is in the rating period of the last of the games played, if any."""
    if period == 0.0 or played == 0:
        return False
    return bool(np.floor(time / period) == np.floor(last / period))


@macro
def _onset(player: int, players: Players, time: float, numbers: Floats) -> tuple[float, float]:
    """Return a player's rating and deviation at the start of the period of a moment."""
    state, played, period = players.state[player], players.games[player], numbers[1]
    volatile = players.state.shape[1] == _GLICKO2_COLUMNS
    if _same_period(played, state[_TIME], time, period):
        base = 3 if volatile else 2
        return state[base], state[base + 1]
    rating, deviation, passed = state[_RATING], state[_DEVIATION], 1.0
    if played == 0:
        return rating, deviation
    # The deviation has grown: by Glicko-2 for each whole period without a game, by Glicko for each
    # period. Where the moment is not known, that is the next period.
    if period > 0.0:
        more = np.floor(time / period) - np.floor(state[_TIME] / period)
        passed = more if more > 1.0 else 1.0
    if not volatile:
        return rating, min(grown(deviation, numbers[0], passed), numbers[3])
    if passed > 1.0:
        phi = grown(deviation / SCALE, state[_VOLATILITY], passed - 1.0)
        deviation = min(phi * SCALE, _MOST_DEVIATION)
    return rating, deviation


@macro
def _strengths(
    game: int, games: Games, players: Players, numbers: Floats, sums: Assessment
) -> None:
    """Work out the mean rating and the mean squared deviation of each side before the period."""
    time = games.times[game]
    for side in range(games.game_starts[game], games.game_starts[game + 1]):
        lo, hi = games.side_starts[side], games.side_starts[side + 1]
        total = variance = 0.0
        for row in range(lo, hi):
            rating, deviation = _onset(games.players[row], players, time, numbers)
            total += rating
            variance += deviation * deviation
        sums.strengths[side], sums.spreads[side] = total / (hi - lo), variance / (hi - lo)


@macro
def _chances(
    a: int, b: int, games: Games, numbers: Floats, sums: Assessment
) -> tuple[float, float]:
    """Predict by the deviations of both sides."""
    lead = (sums.strengths[a] - sums.strengths[b]) / SCALE
    phi = math.sqrt(sums.spreads[a] + sums.spreads[b]) / SCALE
    return expected_score(lead, phi), math.nan


@macro
def _update(game: int, games: Games, players: Players, numbers: Floats, sums: Assessment) -> bool:
    """Add each player's results to those of the period, and rate the player by all of them."""
    first, last, time = games.game_starts[game], games.game_starts[game + 1], games.times[game]
    volatile = players.state.shape[1] == _GLICKO2_COLUMNS
    base = 3 if volatile else 2
    for side in range(first, last):
        for row in range(games.side_starts[side], games.side_starts[side + 1]):
            player = games.players[row]
            state = players.state[player]
            if not _same_period(players.games[player], state[_TIME], time, numbers[1]):
                # What the last period has made of a player is what this one starts from.
                state[base], state[base + 1] = _onset(player, players, time, numbers)
                if volatile:
                    state[base + 2] = state[_VOLATILITY]
                state[_INFORMATION] = state[_SURPRISE] = 0.0
            state[_TIME] = time
            for other in range(first, last):
                if other != side:
                    lead = (state[base] - sums.strengths[other]) / SCALE
                    phi = math.sqrt(sums.spreads[other]) / SCALE
                    information, surprise = result(lead, phi, score_of(games, side, other))
                    state[_INFORMATION] += information
                    state[_SURPRISE] += surprise
            information, surprise = state[_INFORMATION], state[_SURPRISE]
            if volatile:
                known = state[base + 1] / SCALE, state[base + 2]
                gain, phi, volatility = updated(*known, information, surprise, numbers[0])
                state[_RATING] = state[base] + gain * SCALE
                state[_DEVIATION] = min(phi * SCALE, _MOST_DEVIATION)
                state[_VOLATILITY] = volatility
            else:
                # Step 2 of Glicko, which is step 7 with a volatility of 0.
                phi = state[base + 1] / SCALE
                variance = phi * phi / (1.0 + phi * phi * information)
                state[_RATING] = state[base] + SCALE * variance * surprise
                state[_DEVIATION] = max(SCALE * math.sqrt(variance), numbers[2])
    return True


class Glicko2(System):
    """Glicko-2; a side is predicted by the means of its players' ratings and squared deviations."""

    # Each player meets each opposing side as one opponent of that. All games of equal floor(time /
    # period) count as played at once: they are predicted from the ratings before, which the columns
    # ``base_...`` hold; `rating`, `deviation` and `volatility` are what the games so far make of
    # these at the end of the period. With a period of 0 every game is one, and nobody is ever idle.
    # A log without times is one period, if `period` is not 0.

    name = "glicko2"
    parameters: Sequence[Parameter] = (
        Parameter("deviation", DEVIATION, 1e-6, 1e6).as_factor(
            "Deviation of a newcomer's rating.", "points"
        ),
        Parameter("volatility", 0.06, 1e-9, 10.0).as_factor(
            "Volatility of a newcomer's skill from period to period."
        ),
        Parameter("tau", 0.5, 0.01, 10.0).as_factor(
            "How much the volatility may change, its tau.", name="volatility_tau"
        ),
        Parameter("period", 0.0, 0.0, 1e12).as_factor(
            "Length of a rating period; 0: every match is a period of its own.", "hours"
        ),
    )
    columns: Sequence[Column] = (
        Column("rating"),
        Column("deviation", 1e-12, _MOST_DEVIATION),
        Column("volatility", LEAST_VOLATILITY, MOST_VOLATILITY),
        Column("base_rating", printed=False),
        Column("base_deviation", 1e-12, _MOST_DEVIATION, printed=False),
        Column("base_volatility", LEAST_VOLATILITY, MOST_VOLATILITY, printed=False),
        Column("information", 0.0, 1e15, printed=False),
        Column("surprise", -1e15, 1e15, printed=False),
        Column("time", -_LATEST, _LATEST, printed=False),
    )
    verbs = Verbs(_strengths, _chances, _update)
    deviation = _DEVIATION
    tuned_first: Sequence[str] = ("deviation", "volatility")

    def newcomer(self, values: Values) -> Sequence[float]:
        """Return what is known of a player without a game (step 1)."""
        known = (INITIAL_RATING, *(values[of.name] for of in self.columns if of.name in values))
        return (*known, *known, 0.0, 0.0, 0.0)

    def numbers(self, values: Values) -> Sequence[float]:
        """Return tau and the length of a period."""
        return [values["tau"], values["period"]]

    def outcomes(self, values: Values, games: Games, state: Floats, sums: Assessment) -> Chances:
        """Return how games of two sides will end, see `System.outcomes`."""
        lead = (sums.strengths[::2] - sums.strengths[1::2]) / SCALE
        phi = np.sqrt(sums.spreads[::2] + sums.spreads[1::2]) / SCALE
        ends = (lead - Z * phi).tolist(), (lead + Z * phi).tolist()
        bounds = (np.array([expected_score(x, 0.0) for x in end]) for end in ends)
        return decided_chances(sums, *bounds)

    def sane(self, values: Values, minutes: float) -> Ranges:
        """Return the limits of a fit, see `System.sane`: far around what Glickman recommends."""
        return {"deviation": (10.0, 1000.0), "volatility": (1e-3, 0.5), "tau": (0.1, 2.0)}


_GLICKO2_COLUMNS = len(Glicko2.columns)


class Glicko(Glicko2):
    """Glicko: Glicko-2 without volatilities, whose deviations grow by `c` in each period."""

    # With a `period` of 0 every game is one, so that they grow before each game, and not while a
    # player is idle.

    name = "glicko"
    parameters = (
        Glicko2.parameters[0],
        Parameter("c", 34.6, 0.0, 1e6).as_factor(
            "Growth of a deviation in one rating period.", "points", "deviation_growth"
        ),
        Parameter("floor", 30.0, 0.0, 1e6).as_factor(
            "Least deviation of a rating.", "points", "least_deviation"
        ),
        Glicko2.parameters[-1],
    )
    columns = tuple(
        replace(column, low=0.0) if "deviation" in column.name else column
        for column in Glicko2.columns
        if "volatility" not in column.name
    )
    tuned_first = ("deviation", "c")

    def numbers(self, values: Values) -> Sequence[float]:
        """Return growth, length of a period, least and greatest deviation."""
        floor = min(values["floor"], values["deviation"])
        return [values["c"], values["period"], floor, values["deviation"]]

    def sane(self, values: Values, minutes: float) -> Ranges:
        """Return the limits of a fit, see `System.sane`: far around what Glickman recommends."""
        return {"deviation": (10.0, 1000.0), "c": (0.1, 200.0), "floor": (1.0, DEVIATION)}


GLICKO, GLICKO2 = Glicko(), Glicko2()
