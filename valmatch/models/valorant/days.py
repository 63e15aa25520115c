"""Many days of random arrivals, each drawn, matched and summed, in one call of compiled code.

A call of a kernel from Python costs about as much as a tenth of a day, and a day took a dozen of
them. Days that do not fit the memory of the call are left to `valmatch.models.valorant.model`,
which makes room.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from valmatch.draws.philox import rewind
from valmatch.kernels.arrays import Floats, Ints, Records, Words
from valmatch.kernels.compilation import njit
from valmatch.matching.queue import LINEUP, RULE, STATISTICS, Counts, clear, driver, run
from valmatch.matching.rules import Rules
from valmatch.models.valorant.arrivals import Law, draw_players
from valmatch.models.valorant.controls import add_players
from valmatch.models.valorant.summary import fill_sums

DAYS = 64  # most days of a call: their waits stay in a near cache
PLAYERS = 65_536  # players of all days of a call, about, so that no call takes long


class Days(NamedTuple):
    """Memory of the days of a call."""

    # times, ratings, vectors: (room,), (room,) and (room, 3): the players of the day at work
    times: Floats
    ratings: Floats
    vectors: Floats
    clock: Floats  # (2,): see `valmatch.models.valorant.arrivals.arrival_times`
    # statistics, lineup, log: see `valmatch.matching.queue.Counts`; there is no room in the log,
    # nothing is logged
    statistics: Records
    lineup: Records
    log: Floats
    # (days, room): minutes of each matched player, then infinity, so that rows can be sorted
    waits: Floats
    matched: Ints  # (days,): matched players


def new_days(room: int, team_num: int) -> Days:
    """Return memory for as many days of up to `room` players as one call is to make."""
    days = max(1, min(DAYS, PLAYERS // room))
    return Days(
        np.empty(room),
        np.empty(room),
        np.empty((room, 3)),
        np.empty(2),
        np.zeros(1, STATISTICS),
        np.zeros(2 * team_num, LINEUP),
        np.empty((0, 3 + 2 * team_num)),
        np.empty((days, room)),
        np.empty(days, np.int64),
    )


@driver(njit)
def make_days(
    replications: Ints,
    gaps: Words,
    normals: Words,
    law: Law,
    rules: Rules,
    queue: Any,  # noqa: ANN401
    days: Days,
    standard: tuple[float, float],
    controls: Floats,
    out: Records,
) -> int:
    """Make days until one does not fit; return how many are made.

    Shapes: `replications` (n,); `controls` (n, 6); `out` (n,).
    """
    center, scale = standard
    for day in range(replications.size):
        rewind(gaps, replications[day] + 1)
        rewind(normals, replications[day] + 1)
        days.clock[:] = 0.0
        count, finished = draw_players(
            gaps, normals, days.clock, law, days.times, days.vectors, days.ratings
        )
        if not finished:
            return day
        times, ratings, waits = days.times[:count], days.ratings[:count], days.waits[day]
        RULE.reset(queue)
        clear(days.statistics)
        counts = Counts(days.statistics, days.lineup, waits, days.log)
        if run(times, ratings, 0, True, rules, queue, counts) < count:
            return day
        matched = days.statistics[0]["matched"]
        waits[matched:] = np.inf
        days.matched[day] = matched
        fill_sums(days.statistics[0], count, rules.horizon, out[day])
        if controls.size > 0:
            controls[day] = 0.0
            add_players(times, ratings, center, scale, controls[day])
    return replications.size
