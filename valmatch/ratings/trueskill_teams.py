"""TrueSkill of any number of sides of any size, with a draw margin.

Source: Herbrich, Minka, Graepel, "TrueSkill: A Bayesian skill rating system" (2006). For two sides
its message passing ends after one sweep, in the closed form of `pulls`. For more, messages go up
and down the order of the sides until they stay.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel, macro
from valmatch.ratings.games import Assessment, Games, Players, order_sides
from valmatch.ratings.parameters import Parameter
from valmatch.ratings.system import SKILL, Chances, SkillSystem, Values, Verbs, Z
from valmatch.ratings.trueskill import normal_cdf, v_and_w, v_and_w_draw


def margin_quantile(draw_probability: float) -> float:
    """Return the draw margin in units of sqrt(players) beta: Phi^-1((p + 1) / 2)."""
    return NormalDist().inv_cdf((draw_probability + 1.0) / 2.0)


@macro
def chances(
    lead: float, variance: float, players: int, beta: float, quantile: float
) -> tuple[float, float]:
    """Return the expected score of a side, and the probability of a draw; NaN without a margin."""
    c = math.sqrt(variance + players * beta * beta)
    margin = quantile * math.sqrt(players) * beta
    wins, ahead = normal_cdf((lead - margin) / c), normal_cdf((lead + margin) / c)
    return 0.5 * (wins + ahead), (ahead - wins if quantile > 0.0 else math.nan)


@kernel
def pulls(
    lead: float, variance: float, players: int, beta: float, quantile: float, drawn: bool
) -> tuple[float, float]:
    """Return step and shrink: a winner of variance s gains s step and keeps 1 - s shrink of s."""
    total = variance + players * beta * beta
    c = math.sqrt(total)
    margin = quantile * math.sqrt(players) * beta / c
    v, w = v_and_w_draw(lead / c, margin) if drawn else v_and_w(lead / c - margin)
    return v / c, w / total


@macro
def _strengths(
    game: int, games: Games, players: Players, numbers: Floats, sums: Assessment
) -> None:
    """Sum up the means and the variances of each side's players, which have grown by tau^2."""
    tau = numbers[1]
    for side in range(games.game_starts[game], games.game_starts[game + 1]):
        mean = variance = 0.0
        for row in range(games.side_starts[side], games.side_starts[side + 1]):
            belief = players.state[games.players[row]]
            mean += belief[0]
            variance += belief[1] * belief[1] + tau * tau
        sums.strengths[side], sums.spreads[side] = mean, variance


@macro
def _chances(
    a: int, b: int, games: Games, numbers: Floats, sums: Assessment
) -> tuple[float, float]:
    """Predict by the performances of both sides."""
    size = games.side_starts[a + 1] - games.side_starts[a]
    size += games.side_starts[b + 1] - games.side_starts[b]
    lead, variance = sums.strengths[a] - sums.strengths[b], sums.spreads[a] + sums.spreads[b]
    return chances(lead, variance, size, numbers[0], numbers[2])


# What is remembered of a side while a game of more than two is rated: the side of a position, the
# messages about its performance (a precision, and this by a mean) of the game with the side before
# it and with the side behind it, and the last two turned into a step and a share.
_POSITION, _AHEAD, _AHEAD_MEAN, _BEHIND, _BEHIND_MEAN = range(5)

_SWEEPS = 1000  # at most; a game of ten sides takes some 20
_STILL = 1e-10  # by which no message moves a mean any more, in standard deviations
_SURE = 1e-12  # least share of a variance that a message leaves


@kernel
def _compare(games: Games, a: int, b: int, numbers: Floats, sums: Assessment, base: float) -> float:
    """Pass messages about a side and the next one in order; return by how much a mean moves."""
    work, beta, quantile = sums.work, numbers[0], numbers[2]
    size_a = games.side_starts[a + 1] - games.side_starts[a]
    size_b = games.side_starts[b + 1] - games.side_starts[b]
    known_a = sums.spreads[a] + size_a * beta * beta
    known_b = sums.spreads[b] + size_b * beta * beta
    # The performances by all but this comparison.
    precision = 1.0 / known_a + work[a, _AHEAD]
    variance_a = 1.0 / precision
    mean_a = ((sums.strengths[a] - base) / known_a + work[a, _AHEAD_MEAN]) / precision
    precision = 1.0 / known_b + work[b, _BEHIND]
    variance_b = 1.0 / precision
    mean_b = ((sums.strengths[b] - base) / known_b + work[b, _BEHIND_MEAN]) / precision
    variance = variance_a + variance_b
    deviation = math.sqrt(variance)
    lead = (mean_a - mean_b) / deviation
    margin = quantile * math.sqrt(size_a + size_b) * beta / deviation
    if games.points[a] == games.points[b]:
        v, w = v_and_w_draw(lead, margin)
    else:
        v, w = v_and_w(lead - margin)
    left = max(1.0 - w, _SURE)
    sharp = w / (variance * left)  # precision of the message about the difference
    pull = (deviation * v + (mean_a - mean_b) * w) / (variance * left)
    moved = work[a, _BEHIND_MEAN], work[b, _AHEAD_MEAN]
    work[a, _BEHIND] = sharp / (1.0 + sharp * variance_b)
    work[a, _BEHIND_MEAN] = (pull + sharp * mean_b) / (1.0 + sharp * variance_b)
    work[b, _AHEAD] = sharp / (1.0 + sharp * variance_a)
    work[b, _AHEAD_MEAN] = (sharp * mean_a - pull) / (1.0 + sharp * variance_a)
    behind: float = abs(work[a, _BEHIND_MEAN] - moved[0]) * math.sqrt(known_a)
    ahead: float = abs(work[b, _AHEAD_MEAN] - moved[1]) * math.sqrt(known_b)
    return max(behind, ahead)


@kernel
def _pass_messages(first: int, last: int, games: Games, numbers: Floats, sums: Assessment) -> None:
    """Order the sides first..last-1 of a game, and pass messages among them until they stay."""
    work, base = sums.work, sums.strengths[first]
    order_sides(first, last, games, work)
    for side in range(first, last):
        for column in range(_AHEAD, _BEHIND_MEAN + 1):
            work[side, column] = 0.0
    for _ in range(_SWEEPS):
        moved = 0.0
        for step in range(2 * (last - first) - 3):  # down the order and up again
            position = first + min(step, 2 * (last - first) - 4 - step)
            a, b = int(work[position, _POSITION]), int(work[position + 1, _POSITION])
            moved = max(moved, _compare(games, a, b, numbers, sums, base))
        if not moved > _STILL:
            break


@macro
def _update(game: int, games: Games, players: Players, numbers: Floats, sums: Assessment) -> bool:
    """Rate a game."""
    first, last, tau = games.game_starts[game], games.game_starts[game + 1], numbers[1]
    lo, hi = games.side_starts[first], games.side_starts[last]
    if last - first == 2:
        score = sums.scored[first]
        sign = -1.0 if score == 0.0 else 1.0
        lead = sign * (sums.strengths[first] - sums.strengths[first + 1])
        variance = sums.spreads[first] + sums.spreads[first + 1]
        step, shrink = pulls(lead, variance, hi - lo, numbers[0], numbers[2], score == 0.5)
        for side in range(first, last):
            sums.work[side, _AHEAD_MEAN] = sign * step if side == first else -sign * step
            sums.work[side, _AHEAD] = shrink
    else:
        _pass_messages(first, last, games, numbers, sums)
        for side in range(first, last):
            work, size = sums.work[side], games.side_starts[side + 1] - games.side_starts[side]
            precision = work[_AHEAD] + work[_BEHIND]
            pull = work[_AHEAD_MEAN] + work[_BEHIND_MEAN]
            pull -= precision * (sums.strengths[side] - sums.strengths[first])
            scale = 1.0 + precision * (sums.spreads[side] + size * numbers[0] * numbers[0])
            work[_AHEAD_MEAN], work[_AHEAD] = pull / scale, precision / scale
            if not math.isfinite(work[_AHEAD_MEAN]):
                return False
    for side in range(first, last):
        for row in range(games.side_starts[side], games.side_starts[side + 1]):
            belief = players.state[games.players[row]]
            skill = belief[1] * belief[1] + tau * tau
            belief[0] += skill * sums.work[side, _AHEAD_MEAN]
            belief[1] = math.sqrt(skill * (1.0 - skill * sums.work[side, _AHEAD]))
    return True


class TrueSkill(SkillSystem):
    """TrueSkill, with draws."""

    name = "trueskill"
    parameters: Sequence[Parameter] = (*SKILL, Parameter("draw_probability", 0.1, 0.0, 0.99))
    verbs = Verbs(_strengths, _chances, _update)
    drift = ("tau",)
    pairs_at_once = 2_000

    def numbers(self, values: Values) -> Sequence[float]:
        """Return beta, tau and the draw margin in standard deviations of an even game."""
        return [values["beta"], values["tau"], margin_quantile(values["draw_probability"])]

    def outcomes(self, values: Values, games: Games, state: Floats, sums: Assessment) -> Chances:
        """Return how games of two sides will end, see `System.outcomes`."""
        lead = sums.strengths[::2] - sums.strengths[1::2]
        variance = sums.spreads[::2] + sums.spreads[1::2]
        noise = values["beta"] * np.sqrt(np.diff(games.side_starts[games.game_starts]))
        margin = margin_quantile(values["draw_probability"]) * noise

        def wins(lead: Floats, deviation: Floats) -> Floats:
            return np.array([normal_cdf(x) for x in ((lead - margin) / deviation).tolist()])

        won = wins(lead, np.sqrt(variance + noise * noise))
        low, high = (wins(lead + side * np.sqrt(variance), noise) for side in (-Z, Z))
        expected = sums.expected[::2]
        return Chances(expected, won, 2.0 * (expected - won), low, high)


SYSTEM = TrueSkill()
