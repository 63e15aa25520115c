"""The joint belief about all players, and what a choice of pairs works with."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.kernels.compilation import part
from valmatch.policies.registry import GOALS

POINTS = math.log(10.0) / 400.0  # log odds of a point, b

LOOKS = 11  # numbers of games that a look-ahead tries: 1, 2, 4, ..., 1024


class Belief(NamedTuple):
    """A normal belief about the ratings of players, N(mean, covariance), and how games end."""

    mean: Floats  # (n,); ratings in points
    covariance: Floats  # (n, n); of these
    draw_weight: float = 0.0  # nu of Davidson's model; 0 where there are no draws
    points: float = POINTS  # log odds of a point


class Pairs(NamedTuple):
    """A choice of pairs under way; pairs i < j are numbered in rows of a triangle."""

    # first, second: (pairs,) their players
    first: Ints
    second: Ints
    # mean, draw_weight, points: as in `Belief`
    mean: Floats
    covariance: Floats  # (n, n); as it is after the games chosen so far
    draw_weight: float
    points: float
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
        float(belief.points),
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
