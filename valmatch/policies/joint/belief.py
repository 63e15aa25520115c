"""The joint belief about all players, what a choice of pairs works with, and what a game tells."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.kernels.compilation import kernel, part
from valmatch.policies.registry import GOALS

LOOKS = 11  # numbers of games that a look-ahead tries: 1, 2, 4, ..., 1024


class Belief(NamedTuple):
    """A normal belief about the ratings of players, N(mean, covariance), and how games end."""

    mean: Floats  # (n,); ratings in points
    covariance: Floats  # (n, n); of these
    draw_weight: float = 0.0  # nu of Davidson's model; 0 where there are no draws


class Pairs(NamedTuple):
    """A choice of pairs under way; pairs i < j are numbered in rows of a triangle."""

    # first, second: (pairs,) their players
    first: Ints
    second: Ints
    # mean, draw_weight: as in `Belief`
    mean: Floats
    covariance: Floats  # (n, n); as it is after the games chosen so far
    draw_weight: float
    exact: bool  # whether values of pairs are wanted that cannot be the best
    goal: int  # place in `GOALS`
    open: Bools  # which pairs may be chosen
    games: Ints  # games of each pair so far, those chosen included
    values: Floats  # what each open pair is worth; -inf of the others
    by_mean: Ints  # (n,); the players, the best first
    names: Ints  # (n,); place of each by name, for ties
    # (n, n); scratch of a look-ahead: covariances of each player with some differences
    parts: Floats
    gaps: Floats  # (n,); scratch: what goes with these
    bends: Floats  # (2 n, 2); scratch of an envelope
    inverse: Floats  # (n,); scratch: the inverses of `gaps`


@part(inline=True)
def number_of(i: int, j: int, n: int) -> int:
    """Return the number of the pair of two of n players."""
    low, high = min(i, j), max(i, j)
    return low * (2 * n - low - 1) // 2 + high - low - 1


def pairs_of(
    belief: Belief, goal: str, open: Bools, games: Ints, names: Ints, exact: bool = True
) -> Pairs:
    """Return a choice about to begin; the arrays given are copied."""
    n = belief.mean.size
    first, second = np.triu_indices(n, 1)
    return Pairs(
        first.copy(),
        second.copy(),
        belief.mean,
        belief.covariance.copy(),
        float(belief.draw_weight),
        exact,
        GOALS.index(goal),
        open.copy(),
        games.copy(),
        np.empty(open.size),
        np.argsort(-belief.mean, kind="stable"),
        names,
        np.empty((n, n)),
        np.empty(n),
        np.empty((2 * n, 2)),
        np.empty(n),
    )


# Outcomes of a game of two players whose lead is known as a normal distribution.
#
# The lead x is in log odds. One wins in proportion to e^(x/2), the other to e^(-x/2), and neither
# to the draw weight nu (Davidson 1970). Means over the lead are trapezoidal sums: of functions
# without poles within pi of the real line they are right to 1e-12 at the steps taken here
# (Trefethen, Weideman, "The exponentially convergent trapezoidal rule", SIAM Review 56, 2014).

_REACH = 8.4  # standard deviations to each side, beyond which a normal distribution holds 4e-17
_STEP = 0.6  # the widest step in standard deviations; half of it where the deviation doubles
_WIDEST = 0.9  # the standard deviation in log odds up to which that step does
_HALVINGS = 9  # after so many the step stays: deviations beyond 460 in log odds are 80,000 points


@kernel
def expected_score_at(lead: float, draw_weight: float) -> float:
    """Return the expected score of a game at a lead."""
    root = math.exp(-0.5 * abs(lead))
    total = 1.0 + root * (root + draw_weight)
    better = (1.0 + 0.5 * root * draw_weight) / total
    return better if lead >= 0.0 else 1.0 - better


@part(inline=True)
def _halvings(deviation: float) -> int:
    """Return how often the step is halved for a standard deviation in log odds."""
    halvings, widest = 0, _WIDEST
    while deviation > widest and halvings < _HALVINGS:
        halvings += 1
        widest *= 2.0
    return halvings


@kernel
def game_information(lead: float, deviation: float, draw_weight: float) -> float:
    """Return the mean information of a game, over a normal distribution of the lead in log odds."""
    step = _STEP / 2 ** _halvings(deviation)
    mean, weights, reach = 0.0, 0.0, round(_REACH / step)
    for k in range(-reach, reach + 1):
        z = k * step
        weight = math.exp(-0.5 * z * z)
        weights += weight
        # The variance of the score at this lead is the information of the game about it.
        root = math.exp(-0.5 * abs(lead + deviation * z))
        total = 1.0 + root * (root + draw_weight)
        odds = root * ((1.0 + root * root) * draw_weight + 4.0 * root)
        mean += weight * (0.25 * odds / (total * total))
    return mean / weights


@part(inline=True)
def _entropy_term(chance: float) -> float:
    return -chance * math.log(chance) if chance > 0.0 else 0.0


@kernel
def mutual_information(lead: float, deviation: float, draw_weight: float) -> float:
    """Return how much the outcome of a game tells of the lead, in nats (Lindley 1956)."""
    step = _STEP / 2 ** _halvings(deviation)
    reach = round(_REACH / step)
    log_nu = math.log(draw_weight) if draw_weight > 0.0 else 0.0
    weights, won, drawn, entropy = 0.0, 0.0, 0.0, 0.0
    for k in range(-reach, reach + 1):
        z = k * step
        weight = math.exp(-0.5 * z * z)
        x = lead + deviation * z
        root = math.exp(-0.5 * abs(x))
        others = root * (root + draw_weight)
        better = 1.0 / (1.0 + others)
        draw = root * draw_weight * better
        worse = root * root * better
        weights += weight
        won += weight * (better if x >= 0.0 else worse)
        drawn += weight * draw
        # The logarithms of the chances are 0, -|x| and ln nu - |x|/2, less that of the total.
        entropy += weight * (math.log1p(others) + worse * abs(x) + draw * (0.5 * abs(x) - log_nu))
    won, drawn, entropy = won / weights, drawn / weights, entropy / weights
    mean = _entropy_term(won) + _entropy_term(drawn) + _entropy_term(1.0 - won - drawn)
    return max(mean - entropy, 0.0)
