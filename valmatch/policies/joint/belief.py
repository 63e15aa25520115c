"""The joint belief about all players, and what a choice of pairs works with."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.kernels.compilation import inlined

POINTS = math.log(10.0) / 400.0
"""Log odds of a point, b."""

GOALS = ("best", "order", "widest")
"""What a look-ahead is for: to name the best, to order neighbours, to narrow what is widest."""

LOOKS = 11
"""Numbers of games that a look-ahead tries: 1, 2, 4, ..., 1024."""


class Belief(NamedTuple):
    """A normal belief about the ratings of players, N(mean, covariance), and how games end.

    Attributes
    ----------
    mean : (n,) ndarray of float64
        Ratings in points.
    covariance : (n, n) ndarray of float64
        Of these.
    draw_weight : float
        nu of Davidson's model; 0 where there are no draws.
    points : float
        Log odds of a point.
    """

    mean: Floats
    covariance: Floats
    draw_weight: float = 0.0
    points: float = POINTS


class Pairs(NamedTuple):
    """A choice of pairs under way; pairs i < j are numbered in rows of a triangle.

    Attributes
    ----------
    mean, draw_weight, points
        As in `Belief`.
    covariance : (n, n) ndarray
        As it is after the games chosen so far.
    exact : bool
        Whether values of pairs are wanted that cannot be the best.
    goal : int
        Place in `GOALS`.
    open : (n (n - 1) / 2,) ndarray of bool
        Which pairs may be chosen.
    games : (n (n - 1) / 2,) ndarray of int64
        Games of each pair so far, those chosen included.
    values : (n (n - 1) / 2,) ndarray
        Out: what each open pair is worth; -inf of the others. In: upper bounds of that, such as
        what open pairs were worth before games were chosen, which is of use to some policies.
    by_mean : (n,) ndarray of int64
        The players, the best first.
    names : (n,) ndarray of int64
        Place of each by name, for ties.
    parts : (n, n) ndarray
        Scratch of a look-ahead: covariances of each player with some differences.
    gaps : (n,) ndarray
        Scratch: what goes with these.
    bends : (2 n, 2) ndarray
        Scratch of an envelope.
    inverse : (n,) ndarray
        Scratch: the inverses of `gaps`.
    moved : (n,) ndarray
        k, if the covariance has lost k k' since pairs were valued.
    sides : (n (n - 1) / 2, 4) ndarray
        Scratch: what bounds of values are made of, see `lookahead`; infinite before they are known.
    """

    mean: Floats
    covariance: Floats
    draw_weight: float
    points: float
    exact: bool
    goal: int
    open: Bools
    games: Ints
    values: Floats
    by_mean: Ints
    names: Ints
    parts: Floats
    gaps: Floats
    bends: Floats
    inverse: Floats
    moved: Floats
    sides: Floats


@inlined
def number_of(i: int, j: int, n: int) -> int:
    """Return the number of the pair of two of n players."""
    low, high = min(i, j), max(i, j)
    return low * (2 * n - low - 1) // 2 + high - low - 1


def pairs_of(
    belief: Belief, goal: str, open: Bools, games: Ints, names: Ints, exact: bool = True
) -> Pairs:
    """Return a choice about to begin; the arrays given are copied."""
    n = belief.mean.size
    return Pairs(
        belief.mean,
        belief.covariance.copy(),
        float(belief.draw_weight),
        float(belief.points),
        exact,
        GOALS.index(goal),
        open.copy(),
        games.copy(),
        np.full(open.size, np.inf),
        np.argsort(-belief.mean, kind="stable"),
        names,
        np.empty((n, n)),
        np.empty(n),
        np.empty((2 * n, 2)),
        np.empty(n),
        np.zeros(n),
        np.full((open.size, 4), np.inf),
    )
