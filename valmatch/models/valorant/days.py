"""Many days of random arrivals, each drawn, matched and summed, in one call of compiled code.

A call of a kernel from Python costs about as much as a tenth of a day, and a day took a dozen of
them. Days that do not fit the memory of the call are left to `valmatch.models.valorant.model`,
which makes room.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import expanded, njit
from valmatch.draws.philox import Words, rewind
from valmatch.matching import joint, team_first
from valmatch.matching.rules import Rules
from valmatch.models.valorant.arrivals import Law, draw_players
from valmatch.models.valorant.controls import add_players
from valmatch.models.valorant.summary import fill_sums

__all__ = ["Days", "joint_days", "new_days", "team_first_days"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Records = NDArray[np.void]

DAYS = 64
"""Most days of a call: their waits stay in a near cache."""

PLAYERS = 65_536
"""Players of all days of a call, about, so that no call takes long."""


class Days(NamedTuple):
    """Memory of the days of a call.

    Attributes
    ----------
    times, ratings, vectors : numpy.ndarray
        (room,), (room,) and (room, 3): the players of the day at work.
    clock : numpy.ndarray
        (2,): see `valmatch.models.valorant.arrivals.arrival_times`.
    log : numpy.ndarray
        No room for any match: nothing is logged.
    waits : numpy.ndarray
        (days, room): minutes of each matched player, then infinity, so that rows can be sorted.
    matched : numpy.ndarray
        (days,): matched players.
    """

    times: Floats
    ratings: Floats
    vectors: Floats
    clock: Floats
    log: Floats
    waits: Floats
    matched: Ints


def new_days(room: int, team_num: int) -> Days:
    """Return memory for as many days of up to `room` players as one call is to make."""
    days = max(1, min(DAYS, PLAYERS // room))
    return Days(
        np.empty(room),
        np.empty(room),
        np.empty((room, 3)),
        np.empty(2),
        np.empty((0, 3 + 2 * team_num)),
        np.empty((days, room)),
        np.empty(days, np.int64),
    )


@expanded
def _play(
    run: Any,  # noqa: ANN401
    reset: Any,  # noqa: ANN401
    replications: Ints,
    gaps: Words,
    normals: Words,
    law: Law,
    rules: Rules,
    lobby: Any,  # noqa: ANN401
    days: Days,
    standard: tuple[float, float],
    controls: Floats,
    out: Records,
) -> int:
    """Make days until one does not fit; return how many are made.

    Parameters
    ----------
    run, reset : callable
        The kernel of a matcher, and what empties its lobby.
    replications : numpy.ndarray
        (n,): their indices.
    gaps, normals : numpy.ndarray
        The two streams, in any position.
    law : Law
        Of the arrivals.
    rules : Rules
        The rules.
    lobby : Lobby
        That of the matcher.
    days : Days
        Memory; waits and matched out.
    standard : tuple of float
        What the ratings are standardised by for the controls.
    controls : numpy.ndarray
        (n, 6) out; nothing where they are not wanted or not known.
    out : numpy.ndarray
        (n,) records of the responses, out, without those that waits must be sorted for.
    """
    # Numba adds plain tuples only, which slices of named ones are.
    center, scale = standard
    for day in range(replications.size):
        rewind(gaps, replications[day] + 1)
        rewind(normals, replications[day] + 1)
        days.clock[:] = 0.0
        count, finished = draw_players(
            gaps, normals, days.clock, *law[:], days.times, days.vectors, days.ratings
        )
        if not finished:
            return day
        times, ratings, waits = days.times[:count], days.ratings[:count], days.waits[day]
        reset(lobby)
        if run(times, ratings, 0, True, rules, lobby, waits, days.log) < count:
            return day
        matched = lobby.state[0]["matched"]
        waits[matched:] = np.inf
        days.matched[day] = matched
        fill_sums(lobby.state[0], count, rules.horizon, out[day])
        if controls.size > 0:
            controls[day] = 0.0
            add_players(times, ratings, center, scale, controls[day])
    return replications.size


@njit
def team_first_days(
    replications: Ints,
    gaps: Words,
    normals: Words,
    law: Law,
    rules: Rules,
    lobby: team_first.Lobby,
    days: Days,
    standard: tuple[float, float],
    controls: Floats,
    out: Records,
) -> int:
    """Make days with team-first matching; see `_play`."""
    return _play(
        team_first.run,
        _reset_team_first,
        replications,
        gaps,
        normals,
        law,
        rules,
        lobby,
        days,
        standard,
        controls,
        out,
    )


@njit
def joint_days(
    replications: Ints,
    gaps: Words,
    normals: Words,
    law: Law,
    rules: Rules,
    lobby: joint.Lobby,
    days: Days,
    standard: tuple[float, float],
    controls: Floats,
    out: Records,
) -> int:
    """Make days with joint matching; see `_play`."""
    return _play(
        joint.run,
        _reset_joint,
        replications,
        gaps,
        normals,
        law,
        rules,
        lobby,
        days,
        standard,
        controls,
        out,
    )


_reset_team_first = expanded(team_first.reset)
_reset_joint = expanded(joint.reset)
