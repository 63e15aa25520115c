"""Responses of the time after a warm-up: what comes before is simulated and not counted."""

from __future__ import annotations

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Records
from valmatch.matching.queue import STATISTICS
from valmatch.matching.rules import Rules, prioritized
from valmatch.models.valorant.arrivals import ArrivingPlayers
from valmatch.models.valorant.measures import Matches
from valmatch.models.valorant.summary import summarize


def fill_after(
    start: float,
    players: ArrivingPlayers,
    matches: Matches,
    ends: tuple[Bools, Floats],
    rules: Rules,
    out: Records,
) -> None:
    """Fill the responses that are always there with those of the time from `start` on.

    Shapes: `ends` (n,); `out` (1,).
    """
    gave_up, until = ends
    left, matched = until.copy(), np.zeros(until.size, np.bool_)
    for side in matches.sides:
        left[side], matched[side] = matches.hours[:, np.newaxis], True
    counted, late = players.times >= start, matches.hours >= start
    ratings = [players.ratings[side[late]] for side in matches.sides]
    waits = 60.0 * (left - players.times)
    of_matches = np.sort(waits[counted & matched])
    sums = np.zeros(1, STATISTICS)
    sums["matches"], sums["matched"] = late.sum(), of_matches.size
    sums["unmatched"] = (counted & ~matched & ~gave_up).sum()
    sums["prioritized"] = prioritized(players.times, left, rules)[counted].sum()
    sums["wait"], sums["longest_wait"] = of_matches.sum(), of_matches.max(initial=0.0)
    sums["unmatched_wait"] = waits[counted & ~matched].sum()
    sums["team_diff"] = np.abs(ratings[0].mean(axis=1) - ratings[1].mean(axis=1)).sum()
    sums["player_diff"] = sum(np.ptp(side, axis=1).sum() for side in ratings)
    summarize(sums, of_matches, int(counted.sum()), rules.horizon, out)
    in_queue = (np.maximum(left, start) - np.maximum(players.times, start)).sum()
    out["avg_queue_length"] = in_queue / (rules.horizon - start)
