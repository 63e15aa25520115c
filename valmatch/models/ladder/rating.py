"""Matches of two teams, predicted and rated by any rating system of `valmatch.ratings`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import inlined
from valmatch.ratings.dispatch import verbs_by_number
from valmatch.ratings.games import (
    Assessment,
    Games,
    Players,
    add_scores,
    one_game,
    open_game,
)
from valmatch.ratings.registry import systems_of_results
from valmatch.ratings.system import System, Values
from valmatch.ratings.zonestats import score_per_hour

KNOWN = -1
"""The system that knows the skills, instead of the place of one among `_SYSTEMS`."""

_SYSTEMS = systems_of_results()
_strengths, _chances, _update = verbs_by_number(_SYSTEMS)


class Rater(NamedTuple):
    """A rating system with its parameters.

    Attributes
    ----------
    system : int
        Its place among the systems that the ladder knows, or `KNOWN`.
    deviation : int
        The column of its state that is the deviation of the rating; -1 without one.
    numbers : numpy.ndarray
        What its functions take when they rate.
    stored : numpy.ndarray
        What they take when they predict: by the deviations as they are stored.
    """

    system: int
    deviation: int
    numbers: Floats
    stored: Floats


def rater_of(system: System | None, values: Values) -> Rater:
    """Return a rating system with the values of its parameters; None is that which knows."""
    if system is None:
        return Rater(KNOWN, -1, np.zeros(1), np.zeros(1))
    still = {**values, **dict.fromkeys(system.drift, 0.0)}
    numbers, stored = (np.array(system.numbers(own), np.float64) for own in (values, still))
    return Rater(_SYSTEMS.index(system), system.deviation, numbers, stored)


def new_match(team_num: int, minutes: float) -> Games:
    """Return a match of two teams who play all its minutes."""
    match = one_game(np.full(2, team_num))
    match.minutes[:] = minutes
    return match


@inlined
def predict(
    now: float, p: float, rater: Rater, match: Games, rated: Players, found: Assessment
) -> float:
    """Return the probability that side A wins by a rating system; p by the one that knows it.

    Parameters
    ----------
    now : float
        Hours.
    p : float
        The probability by the true skills.
    rater : Rater
        The system.
    match : Games
        One game of two sides.
    rated : Players
        What the system keeps of all players.
    found : Assessment
        Working memory.
    """
    if rater.system == KNOWN:
        return p
    match.times[0] = now
    _strengths(rater.system, 0, match, rated, rater.stored, found)
    return _chances(rater.system, 0, 1, match, rater.stored, found)[0]


@inlined
def rate(
    now: float, a_wins: bool, rater: Rater, match: Games, rated: Players, found: Assessment
) -> None:
    """Rate a match that ends: winners score 1, losers 0.

    Parameters are those of `predict`. A match that cannot be rated with finite numbers changes no
    rating.
    """
    if rater.system == KNOWN:
        return
    match.times[0] = now
    match.points[0], match.points[1] = (1.0, 0.0) if a_wins else (0.0, 1.0)
    for row in range(match.players.size):
        match.rates[row] = score_per_hour(match.points[match.sides[row]], match.minutes[row])
    _strengths(rater.system, 0, match, rated, rater.numbers, found)
    open_game(0, match, found)
    expected, _ = _chances(rater.system, 0, 1, match, rater.numbers, found)
    add_scores(0, 1, expected, match, found)
    _update(rater.system, 0, match, rated, rater.numbers, found)
