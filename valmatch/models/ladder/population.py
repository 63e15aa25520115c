"""Players of the ladder: skills, activities, and the newcomers of a replication."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv, ndtri

from valmatch.draws.addressed import exponential_at, fill_uniforms
from valmatch.kernels.arrays import Floats, Words
from valmatch.kernels.compilation import at, unallocating
from valmatch.models.ladder.sources import ACTIVITY, JOINING, SKILL, SMURF

SAME = 1e-150
"""A coefficient of variation whose square may be no number: all activities are the same."""


class DrawnPlayers(NamedTuple):
    """The players of a replication, in order of their numbers.

    Attributes
    ----------
    skills, activities : (n,) ndarray of float64
        Points; session starts relative to those of the average player.
    joining : (m,) ndarray of float64
        Hours at which the newcomers join, who are the last m.
    """

    skills: Floats
    activities: Floats
    joining: Floats


def draw_population(
    players: int,
    hours: float,
    per_day: float,
    skill: tuple[float, float, float],
    smurfs: tuple[float, float],
    activity_cv: float,
    place: Words,
) -> DrawnPlayers:
    """Draw the players of a replication.

    Parameters
    ----------
    players : int
        At the start.
    hours : float
        Length of the run.
    per_day : float
        Expected newcomers a day.
    skill : tuple of float
        Mean of those at the start, mean of newcomers, standard deviation of both (points).
    smurfs : tuple of float
        Share of the newcomers whose skill is the second number.
    activity_cv : float
        Coefficient of variation of the activities, gamma distributed with mean 1.
    place : (3,) ndarray of uint64
        From `Streams.place`.
    """
    joining = _joining(hours, per_day, place)
    n = players + joining.size
    newcomers = np.arange(n) >= players
    mean, newcomers_mean, std = skill
    skills = np.where(newcomers, newcomers_mean, mean) + std * ndtri(_uniforms(SKILL, n, place))
    share, smurfs_skill = smurfs
    skills[newcomers & (_uniforms(SMURF, n, place) < share)] = smurfs_skill
    if activity_cv < SAME:
        return DrawnPlayers(skills, np.ones(n), joining)
    square = activity_cv * activity_cv
    activities = square * gammaincinv(1.0 / square, _uniforms(ACTIVITY, n, place))
    return DrawnPlayers(skills, activities, joining)


def _uniforms(source: int, n: int, place: Words) -> Floats:
    """Return the first uniform number of a source of each player."""
    out = np.empty(n)
    fill_uniforms(place, source, 0, out)
    return out


def _joining(hours: float, per_day: float, place: Words) -> Floats:
    """Return the hours before `hours` at which newcomers join."""
    if per_day == 0.0:
        return np.empty(0)
    expected = per_day * hours / 24.0
    out = np.empty(int(expected + 6.0 * expected**0.5) + 16)
    while True:
        n = _join_all(hours, per_day, place, out)
        if n < out.size:
            return out[:n]
        out = np.empty(2 * out.size)


@unallocating
def _join_all(hours: float, per_day: float, place: Words, out: Floats) -> int:
    """Write down when newcomers join; return how many do, as far as there is room."""
    time = 0.0
    for newcomer in range(out.size):
        time += exponential_at(place, JOINING, 0, newcomer) * 24.0 / per_day
        if time >= hours:
            return newcomer
        out[at(newcomer)] = time
    return int(out.size)
