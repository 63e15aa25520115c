"""Statistics of a queue, counted while it runs, whatever its rule."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Records
from valmatch.kernels.compilation import at, inlined, shared
from valmatch.matching.rules import Rules, is_prioritized

Struct = Any  # one row of a structured array; the kernels see it as a C struct

LINEUP = np.dtype([("player", "i8"), ("team", "i8"), ("arrival", "f8"), ("rating", "f8")])
"""A player of a match: who, the number of the team, since when, and the rating that the rule saw.

Teams are numbered in order of formation, those that are formed with their match 2m and 2m + 1.
"""

STATISTICS = np.dtype(
    [
        ("matches", "i8"),
        ("matched", "i8"),  # players
        ("unmatched", "i8"),  # players who wait to the horizon
        ("prioritized", "i8"),  # players who became so, matched or not
        ("wait", "f8"),  # minutes, of matched players
        ("longest_wait", "f8"),  # minutes, of a matched player
        ("unmatched_wait", "f8"),  # minutes up to the horizon, or until giving up
        ("team_diff", "f8"),  # Elo points, differences of team means
        ("player_diff", "f8"),  # Elo points, rating ranges of matched teams
    ]
)
NOTHING = np.zeros(1, STATISTICS)


class Counts(NamedTuple):
    """What is counted while players arrive, wait and are matched."""

    statistics: Records  # (1,); sums
    lineup: Records  # (2 team_num,); the players of the match that is counted
    waits: Floats  # minutes of each matched player in order of matching; room for whoever waits
    # (matches, 3 + 2 team_num); as many matches as there is room for: hour, numbers of both teams,
    # players of both
    log: Floats


def new_counts(waits: Floats, log: Floats) -> Counts:
    """Return counts of nothing, with this memory of waits and matches."""
    return Counts(np.zeros(1, STATISTICS), np.zeros(log.shape[1] - 3, LINEUP), waits, log)


@shared
def clear(statistics: Records) -> None:
    """Set all sums to 0 for the next replication."""
    statistics[0] = NOTHING[0]


@inlined
def count_match(now: float, rules: Rules, counts: Counts) -> None:
    """Count the match that is lined up, and log it where there is room."""
    statistics, team_num = counts.statistics[0], rules.team_num
    # In variables, because memory that is written for each player would show.
    matched, prioritized = statistics["matched"], statistics["prioritized"]
    wait, longest_wait = statistics["wait"], statistics["longest_wait"]
    gap, spread = 0.0, 0.0
    for side in range(2):
        total, least, most = 0.0, np.inf, -np.inf
        for k in range(side * team_num, (side + 1) * team_num):
            player = counts.lineup[at(k)]
            rating, arrival = player["rating"], player["arrival"]
            total += rating
            least, most = min(least, rating), max(most, rating)
            minutes = 60.0 * (now - arrival)
            counts.waits[at(matched)] = minutes
            matched += 1
            prioritized += int(is_prioritized(arrival, now, rules))
            wait += minutes
            longest_wait = max(longest_wait, minutes)
        gap = total / team_num - gap
        spread += most - least
    statistics["matched"], statistics["prioritized"] = matched, prioritized
    statistics["wait"], statistics["longest_wait"] = wait, longest_wait
    statistics["team_diff"] += abs(gap)
    statistics["player_diff"] += spread
    number = statistics["matches"]
    statistics["matches"] = number + 1
    if number < counts.log.shape[0]:
        _log_match(now, number, team_num, counts)


@inlined
def _log_match(now: float, number: int, team_num: int, counts: Counts) -> None:
    """Log the match that is lined up."""
    row = counts.log[at(number)]
    row[0] = now
    for k in range(2 * team_num):
        player = counts.lineup[at(k)]
        row[at(1 + k // team_num)], row[at(3 + k)] = player["team"], player["player"]


@inlined
def count_departure(now: float, arrival: float, rules: Rules, statistics: Struct) -> None:
    """Count a player who gives up."""
    statistics["prioritized"] += int(is_prioritized(arrival, now, rules))
    statistics["unmatched_wait"] += 60.0 * (now - arrival)


@inlined
def count_unmatched(count: int, arrivals: Floats, rules: Rules, statistics: Struct) -> None:
    """Count the players who are still waiting at the horizon."""
    statistics["unmatched"] += count
    for k in range(count):
        statistics["prioritized"] += int(is_prioritized(arrivals[at(k)], rules.horizon, rules))
        statistics["unmatched_wait"] += 60.0 * (rules.horizon - arrivals[at(k)])
