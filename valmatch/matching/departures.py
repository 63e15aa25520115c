"""Loop of arrivals in which players give up: who waits too long leaves the queue.

It is the loop of `valmatch.matching.queue.run` for players who are all known from the start, with
what each of them does if no match is found.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.kernels.compilation import at, unallocating
from valmatch.matching.queue import (
    DISSOLVED,
    NOBODY,
    RULE,
    Counts,
    count_departure,
    count_match,
    count_unmatched,
    driver,
)
from valmatch.matching.rules import Rules


class Departures(NamedTuple):
    """When players give up, and how far the loop is."""

    # (n,): when each player gives up unless playing by then, not before the arrival; infinity for
    # never
    hours: Floats
    order: Ints  # (n,): the players by these hours, equal ones by number
    gone: Bools  # (n,): whether a player has been matched, or has given up
    progress: Ints  # (2,): the players who have arrived, and those of `order` who are done with


def departures_at(hours: Floats) -> Departures:
    """Return the departures of players who give up at these hours, before the first of them."""
    order = np.argsort(hours, kind="stable")
    return Departures(hours, order, np.zeros(hours.size, np.bool_), np.zeros(2, np.int64))


@driver(unallocating)
def run_with_departures(
    times: Floats,
    ratings: Floats,
    departures: Departures,
    rules: Rules,
    queue: Any,  # noqa: ANN401
    counts: Counts,
) -> bool:
    """Let players arrive and give up, with a review at each arrival, until done or out of room.

    At equal times those who give up come first, by their numbers; then reviews of the rule's own;
    then arrivals. If a team loses a player by it, a review follows.

    Shapes: `times`, `ratings` (n,).
    """
    hours, order, gone, progress = departures
    statistics = counts.statistics[0]
    while True:
        taken = progress[0]
        while progress[1] < order.size and gone[at(order[at(progress[1])])]:
            progress[1] += 1
        quits = np.inf
        # One who is still to come gives up after that, and all who follow in the order likewise.
        if progress[1] < order.size and order[at(progress[1])] < taken:
            quits = hours[at(order[at(progress[1])])]
        due = RULE.next_review(rules, queue)
        comes = times[at(taken)] if taken < times.size else np.inf
        if quits <= min(due, comes) and quits < rules.horizon:
            player = order[at(progress[1])]
            gone[at(player)] = True
            dissolved = RULE.leave(times[at(player)], player, rules, queue)
            count_departure(quits, times[at(player)], rules, statistics)
            if not dissolved:
                continue
            now, newcomer = quits, DISSOLVED
        elif comes < due:
            if not RULE.has_room(rules, queue):
                return False
            now = comes
            newcomer = RULE.join(now, ratings[at(taken)], taken, rules, queue)
            progress[0] = taken + 1
        elif due < np.inf:
            now, newcomer = due, NOBODY
        else:
            break
        matches = RULE.review(now, newcomer, rules, queue)
        for match in range(matches):
            RULE.line_up(match, rules, queue, counts.lineup)
            for k in range(counts.lineup.size):
                gone[at(counts.lineup[at(k)]["player"])] = True
            count_match(now, rules, counts)
    arrivals = counts.waits[statistics["matched"] :]
    RULE.still_waiting(rules, queue, arrivals)
    count_unmatched(queue.state[0]["waiting"], arrivals, rules, statistics)
    return True
