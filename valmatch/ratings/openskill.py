"""The Plackett-Luce model of openskill, for any number of sides of any size.

Source: Weng, Lin, "A Bayesian approximation method for online ranking" (2011), algorithm 4, as
version 6 of the openskill library has it, number by number: `tests` compare the two. Squares are
taken by the power function, whose last bit is not always that of a product; the points of a side
are cut to whole numbers when sides are ranked.
"""

import math
from collections.abc import Sequence

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import macro
from valmatch.ratings.games import Assessment, Games, Players, order_sides
from valmatch.ratings.system import Chances, SkillSystem, Values, Verbs, Z, decided_chances
from valmatch.ratings.trueskill import normal_cdf

KAPPA = 0.0001  # the least share of a variance that a game leaves

_SQRT_2 = math.sqrt(2.0)

# What is remembered of a side while a game is rated; the first is the side of a position.
_POSITION, _STEP, _SHRINK, _VARIANCE, _ODDS, _SUM, _TIES = range(7)


@macro
def grown_deviation(sigma: float, tau: float) -> float:
    """Return the deviation of a skill after a drift of deviation `tau`."""
    return math.sqrt(sigma * sigma + tau * tau)


@macro
def _before(mine: float, other: float, row: int, other_row: int) -> bool:
    """Return whether the first one comes first: the greater number, of equal ones the first row."""
    return mine > other or (mine == other and row < other_row)


@macro
def _sums(side: int, games: Games, players: Players, tau: float, two: float) -> tuple[float, float]:
    """Return the sums of the means and variances of a side, added up from its best player on."""
    lo, hi = games.side_starts[side], games.side_starts[side + 1]
    mean = variance = 0.0
    last_row, last = -1, math.inf
    for _ in range(lo, hi):
        best_row, best = -1, 0.0
        for row in range(lo, hi):
            belief = players.state[games.players[row]]
            shown = belief[0] - 3.0 * grown_deviation(belief[1], tau)
            if _before(last, shown, last_row, row) and (
                best_row < 0 or _before(shown, best, row, best_row)
            ):
                best_row, best = row, shown
        belief = players.state[games.players[best_row]]
        mean += belief[0]
        variance += grown_deviation(belief[1], tau) ** two
        last_row, last = best_row, best
    return mean, variance


@macro
def _strengths(
    game: int, games: Games, players: Players, numbers: Floats, sums: Assessment
) -> None:
    """Sum up the means and the variances of each side's players."""
    for side in range(games.game_starts[game], games.game_starts[game + 1]):
        mean, variance = _sums(side, games, players, 0.0, numbers[2])
        sums.strengths[side], sums.spreads[side] = mean, variance


@macro
def _chances(
    a: int, b: int, games: Games, numbers: Floats, sums: Assessment
) -> tuple[float, float]:
    """Predict by the normal distribution; the library adds two performances for any teams."""
    variance = 2.0 * numbers[0] ** numbers[2] + sums.spreads[a] + sums.spreads[b]
    lead = (sums.strengths[a] - sums.strengths[b]) / math.sqrt(variance)
    return 0.5 * (1.0 + math.erf(lead / _SQRT_2)), math.nan


@macro
def _rank(side: int, games: Games) -> float:
    """Return the rank of a side, whose order alone counts: the least is the best."""
    rank: float = np.trunc(-games.points[side])
    return rank


@macro
def _prepare(
    first: int, last: int, games: Games, players: Players, numbers: Floats, work: Floats
) -> float:
    """Note places, sums, odds and ties of the sides of a game; return c of the source."""
    order_sides(first, last, games, work)
    total = 0.0
    for position in range(first, last):
        side = int(work[position, _POSITION])
        work[side, _STEP], work[side, _VARIANCE] = _sums(
            side, games, players, numbers[1], numbers[2]
        )
        total += work[side, _VARIANCE] + numbers[0] ** numbers[2]
    c = math.sqrt(total)
    for side in range(first, last):
        work[side, _ODDS] = math.exp(work[side, _STEP] / c)
    for side in range(first, last):
        work[side, _SUM] = work[side, _TIES] = 0.0
        for position in range(first, last):
            other = int(work[position, _POSITION])
            if _rank(other, games) >= _rank(side, games):
                work[side, _SUM] += work[other, _ODDS]
            if _rank(other, games) == _rank(side, games):
                work[side, _TIES] += 1.0
    return c


@macro
def _update(game: int, games: Games, players: Players, numbers: Floats, sums: Assessment) -> bool:
    """Rate a game, unless an exponential overflows."""
    first, last, work = games.game_starts[game], games.game_starts[game + 1], sums.work
    c = _prepare(first, last, games, players, numbers, work)
    for side in range(first, last):
        omega = delta = 0.0
        for position in range(first, last):
            other = int(work[position, _POSITION])
            if _rank(other, games) <= _rank(side, games):
                share = work[side, _ODDS] / work[other, _SUM]
                delta += share * (1.0 - share) / work[other, _TIES]
                if other == side:
                    omega += (1.0 - share) / work[other, _TIES]
                else:
                    omega -= share / work[other, _TIES]
        variance = work[side, _VARIANCE]
        work[side, _STEP] = omega * (variance / c)
        work[side, _SHRINK] = delta * (variance / c ** numbers[2]) * (math.sqrt(variance) / c)
        if not math.isfinite(work[side, _STEP]) or not math.isfinite(work[side, _SHRINK]):
            return False
    for side in range(first, last):
        for row in range(games.side_starts[side], games.side_starts[side + 1]):
            belief = players.state[games.players[row]]
            sigma = grown_deviation(belief[1], numbers[1])
            piece = sigma ** numbers[2] / work[side, _VARIANCE]
            belief[0] += piece * work[side, _STEP]
            belief[1] = sigma * math.sqrt(max(1.0 - piece * work[side, _SHRINK], KAPPA))
    return True


class OpenSkill(SkillSystem):
    """The Plackett-Luce model of openskill, for any number of sides."""

    name = "openskill"
    verbs = Verbs(_strengths, _chances, _update)

    def numbers(self, values: Values) -> Sequence[float]:
        """Return beta, tau, and the exponent of a square: not known to the compiler."""
        return [values["beta"], values["tau"], 2.0]

    def outcomes(self, values: Values, games: Games, state: Floats, sums: Assessment) -> Chances:
        """Return how games of two sides will end, see `System.outcomes`."""
        beliefs = state[games.players]
        means = np.add.reduceat(beliefs[:, 0], games.side_starts[:-1])
        variances = np.add.reduceat(beliefs[:, 1] ** 2, games.side_starts[:-1])
        lead, deviation = means[::2] - means[1::2], np.sqrt(variances[::2] + variances[1::2])
        noise = math.sqrt(2.0) * values["beta"]  # as the library has it, whatever the teams
        ends = (((lead + side * deviation) / noise).tolist() for side in (-Z, Z))
        return decided_chances(sums, *(np.array([normal_cdf(x) for x in end]) for end in ends))


SYSTEM = OpenSkill()
