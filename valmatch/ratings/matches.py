"""One match in plain numbers: what any rating system expects of it, and what it makes of it."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel, variant
from valmatch.ratings.games import (
    Assessment,
    Games,
    Players,
    add_scores,
    one_game,
    open_game,
    unassessed,
)
from valmatch.ratings.parameters import values_of
from valmatch.ratings.registry import system_named
from valmatch.ratings.system import NO_VERBS, Verbs

Verb = Callable[..., Any]


@cache
def kernel_of(function: Verb, verbs: Verbs, deviation: int = -1) -> Verb:
    """Return the compiled function of a system, made of one that is the same for all."""
    names = (f"{verb.__module__.split('.')[-1]}{verb.__name__}" for verb in verbs)
    parts: dict[str, Any] = {**verbs._asdict(), "deviation": deviation}
    return kernel(variant(function, "_".join((*names, str(deviation + 1))), **parts))


Sides = Sequence[Sequence[int]]  # the players of each side, by their rows in the state

HOUR = 60.0


class Circumstances(NamedTuple):
    """What else counts of a match, with some systems.

    Attributes
    ----------
    games : array_like of int or None
        Games of each player before this one; None for none, of players whose state is that of
        newcomers or who shall count as such.
    time : float
        When it is, in the unit of the parameter `period` of glicko2.
    home : int
        The side that plays at home; -1 for none.
    minutes : float
        How long it takes, for zonestats.
    """

    games: ArrayLike | None = None
    time: float = 0.0
    home: int = -1
    minutes: float = 20.0


ORDINARY = Circumstances()  # on neutral ground, between players of whom only the state counts


def newcomers(system: str, n: int, parameters: Mapping[str, float] = {}) -> Floats:
    """Return the state of players without a game.

    Parameters
    ----------
    system : str
        One of `valmatch.ratings.NAMES`.
    n : int
        How many players.
    parameters : mapping
        Parameters that are not as published.

    Returns
    -------
    (n, columns) ndarray of float64
        The first column is the rating, or the mean of the belief about it.

    Examples
    --------
    >>> newcomers("trueskill", 2).round(3)
    array([[25.   ,  8.333],
           [25.   ,  8.333]])
    """
    chosen = system_named(system)
    state = chosen.newcomer(values_of(chosen, parameters, {}))
    return np.tile(np.array(state, np.float64), (n, 1))


def expected_scores(
    system: str,
    state: ArrayLike,
    sides: Sides,
    parameters: Mapping[str, float] = {},
    circumstances: Circumstances = ORDINARY,
) -> Floats:
    """Return the expected score of each side against each other one.

    Parameters
    ----------
    system : str
        One of `valmatch.ratings.NAMES`.
    state : (n, columns) array_like
        What is known of the players, see `newcomers`.
    sides : sequence of sequences of int
        The players of each side, by their rows in `state`.
    parameters : mapping
        Parameters that are not as published.
    circumstances : Circumstances
        What else counts.

    Returns
    -------
    (sides, sides) ndarray of float64
        A draw is half a win. NaN on the diagonal.

    Examples
    --------
    Two against two by Elo, by their mean ratings:

    >>> state = [[1500.0], [1700.0], [1600.0], [1300.0]]
    >>> expected_scores("elo", state, [[0, 1], [2, 3]]).round(3)
    array([[  nan, 0.703],
           [0.297,   nan]])
    """
    return _played(system, state, sides, [0.0] * len(sides), parameters, circumstances)[0]


def update_ratings(
    system: str,
    state: ArrayLike,
    sides: Sides,
    scores: Sequence[float],
    parameters: Mapping[str, float] = {},
    circumstances: Circumstances = ORDINARY,
) -> Floats:
    """Return what is known of the players after a match.

    Parameters
    ----------
    system, state, sides, parameters, circumstances
        As `expected_scores` takes them.
    scores : sequence of float
        Of each side: the greatest wins, equal ones draw; every player has the side's.

    Returns
    -------
    (n, columns) ndarray of float64

    Raises
    ------
    OverflowError
        If the players are too far apart for finite numbers.

    Examples
    --------
    A free for all of three newcomers by the Plackett-Luce model of openskill:

    >>> state = newcomers("openskill", 3)
    >>> update_ratings("openskill", state, [[0], [1], [2]], [30, 20, 10]).round(3)
    array([[27.869,  8.205],
           [25.717,  8.058],
           [21.414,  8.058]])
    """
    return _played(system, state, sides, scores, parameters, circumstances, rate=True)[1]


def _played(
    name: str,
    state: ArrayLike,
    sides: Sides,
    scores: Sequence[float],
    parameters: Mapping[str, float],
    circumstances: Circumstances,
    rate: bool = False,
) -> tuple[Floats, Floats]:
    """Return the expected scores of a match and what is known of the players after it."""
    system = system_named(name)
    known = np.array(state, np.float64)
    rows = [row for side in sides for row in side]
    if len(set(rows)) < len(rows) or not all(sides) or len(sides) != len(scores):
        raise ValueError(f"sides {sides!r}, scores {scores!r}: of each side its players and score")
    if len(sides) < 2:
        raise ValueError(f"sides {sides!r}: a match has two or more")
    match = one_game(np.array([len(side) for side in sides]))
    match.players[:] = rows
    match.times[:], match.homes[:] = circumstances.time, circumstances.home
    match.minutes[:], match.points[:] = circumstances.minutes, scores
    match.scores[:] = scores
    match.rates[:] = HOUR * match.points[match.sides] / match.minutes
    before = 0 if circumstances.games is None else circumstances.games
    counts = np.broadcast_to(np.asarray(before, np.int64), len(known)).copy()
    numbers = np.asarray(system.numbers(values_of(system, parameters, {})), np.float64)
    expected = np.full((len(sides), len(sides)), np.nan)
    function = kernel_of(_assess, system.verbs)
    if not function(match, Players(known, counts), numbers, rate, unassessed(match), expected):
        raise OverflowError(f"{name}: the players are too far apart for finite numbers")
    return expected, known


strengths, chances, update = NO_VERBS
"""What stands for the functions of a system in `_assess`."""


def _assess(
    match: Games, players: Players, numbers: Floats, rate: bool, sums: Assessment, expected: Floats
) -> bool:
    """Predict a match, and rate it if wanted; return whether that can be done."""
    strengths(0, match, players, numbers, sums)
    open_game(0, match, sums)
    for a in range(len(match.points)):
        for b in range(a + 1, len(match.points)):
            expected[a, b], _ = chances(a, b, match, numbers, sums)
            expected[b, a] = 1.0 - expected[a, b]
            add_scores(a, b, expected[a, b], match, sums)
    return update(0, match, players, numbers, sums) if rate else True
