"""Pools of a replication that are looked at again: by another search, or without one ticket.

Each is put into a world of its own stretch of time, in which it has one review, with all tickets at
the ages that they have in the replication; so one run of the kernel looks at all.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Ints
from valmatch.matching.tickets.columns import FEW, SEARCHES, Played, Search, Service, Tickets
from valmatch.matching.tickets.playing import play_columns
from valmatch.rule_sets.table import Table

SMALL_LOOKS, LOOKS = 600, 48
"""Reviews at which the latest tickets are searched in both ways; those at which all who are left
over are looked at without each of the oldest."""

FIRST = 10  # tickets, the oldest, without each of which a pool is looked at
MOST = 40  # tickets of a pool, the oldest, that are looked at


World: TypeAlias = tuple[Table, Tickets, Service]


class Blocking(NamedTuple):
    """Who blocks whom."""

    share: float  # of reviews after which several tickets wait: at which one blocks others
    blockers: list[tuple[int, int]]  # who blocks, and who would have a match without it, each once


def search_gap(table: Table, tickets: Tickets, service: Service, start: float) -> float:
    """Return the share of the players whom an exhaustive search matches that a pass leaves out."""
    world, now = (table, tickets, service), _moments(start, service, SMALL_LOOKS)
    came = tickets.times.searchsorted(now, side="right")
    live = tickets.times.searchsorted(np.array(now) - service.timeout, side="right")
    latest = [np.arange(max(end - FEW, first), end) for end, first in zip(came, live, strict=True)]
    passed, matched = (
        sum(int(tickets.sizes[chosen].sum()) for chosen in matched_at(world, latest, now, search))
        for search in SEARCHES
    )
    return 1.0 - passed / matched if matched else math.nan


def blocking(
    table: Table, tickets: Tickets, service: Service, played: Played, start: float
) -> Blocking:
    """Return who blocks whom; a ticket of a proposal that fails counts as waiting meanwhile."""
    until = played.ends.copy()
    until[played.tickets] = played.proposals
    fewer, moments, without = [], [], []
    for now in _moments(start, service, LOOKS):
        pool = np.flatnonzero((tickets.times <= now) & (until > now))[:MOST]
        # The whole pool has no match, unless a review has fewer passes than it could need.
        for gone in (-1, *pool[:FIRST]) if pool.size > 1 else ():
            fewer.append(pool[pool != gone])
            moments.append(now)
            without.append(int(gone))
    blockers: list[list[tuple[int, int]]] = []
    complete = False
    matched = matched_at((table, tickets, service), fewer, moments, "pass")
    for gone, blocked in zip(without, matched, strict=True):
        if gone < 0:
            complete = blocked.size > 0
            blockers.append([])
        elif not complete:
            blockers[-1] += [(gone, int(ticket)) for ticket in blocked]
    pairs = sorted({pair for of_pool in blockers for pair in of_pool})
    return Blocking(sum(map(bool, blockers)) / len(blockers) if blockers else math.nan, pairs)


def _moments(start: float, service: Service, most: int) -> list[float]:
    assert service.review
    first, last = math.ceil(start / service.review), math.floor(service.horizon / service.review)
    ticks = np.unique(np.linspace(first, last, min(most, last - first + 1)).astype(np.int64))
    return [float(tick * service.review) for tick in ticks]


def matched_at(
    world: World, pools: Sequence[Ints], moments: Sequence[float], search: Search
) -> list[Ints]:
    """Return the tickets of each pool that have a match after one review at its moment."""
    table, tickets, service = world
    sizes = np.array([pool.size for pool in pools], np.int64)
    chosen = np.concatenate([*pools, np.empty(0, np.int64)]).astype(np.int64)
    of = np.repeat(np.arange(sizes.size), sizes)
    # A pool that is left over times out before the next one has its review.
    apart = 2.0 * service.timeout
    ages = np.asarray(moments, np.float64)[of] - tickets.times[chosen]
    again = tickets.take(chosen)._replace(
        times=apart * (of + 1) - ages,
        cancels=np.full(of.size, np.inf),
        answers=np.empty((of.size, 0)),
    )
    horizon = apart * (sizes.size + 1)
    service = service._replace(horizon=horizon, review=apart, acceptance=None, foresight=None)
    has_match = np.zeros(chosen.size, np.bool_)
    has_match[play_columns(table, again, service, search).tickets] = True
    return [chosen[has_match & (of == number)] for number in range(sizes.size)]
