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
from valmatch.kernels.compilation import at, inlined, njit, unallocating
from valmatch.matching.queue import (
    LINEUP,
    RULE,
    STATISTICS,
    Arrivals,
    Counts,
    clear,
    driver,
    run,
)
from valmatch.matching.rules import Rules
from valmatch.models.model import NOT_NEGATIVE, SHARE, Response, Responses
from valmatch.models.valorant.arrivals import Law, draw_players
from valmatch.models.valorant.controls import add_players

# Waits in order as far as their quantiles go, in less time than it takes to sort them all.
#
# Waits are counted in narrow bins of the same width, and those of the few bins that hold a wanted
# rank are put in order. What is found is exact, whatever the bins.

FEW = 1000  # waits up to which sorting all takes as little time
_MEANS = 6.0  # what is beyond so many means is in the last bin
_MOST_BINS = 2**16
_ROOM = 16  # of so many waits one may be in a bin that holds a wanted rank; else all are sorted


def order(waits: Floats, ranks: Ints) -> None:
    """Put at each rank what is there when the waits are sorted; elsewhere is then whatever.

    Shapes: `waits` (n,); `ranks` (m,).
    """
    n = waits.size
    bins = min(_MOST_BINS, 1 << n.bit_length())
    means = _MEANS * float(waits.mean()) if n > FEW else 0.0
    scale = (bins - 1) / means if means > 0.0 else np.inf
    if scale == np.inf:
        waits.sort()
        return
    few, places = np.empty(n // _ROOM), np.empty(ranks.size, np.int64)
    size = _gather(waits, scale, ranks, np.zeros(bins, np.int32), few, places)
    if size > few.size:
        waits.sort()
        return
    few[:size].sort()
    waits[ranks] = few[places]


@unallocating
def _gather(
    waits: Floats, scale: float, ranks: Ints, counts: Ints, few: Floats, places: Ints
) -> int:
    """Gather the waits of the bins that hold a rank; return how many there are.

    Shapes: `places` (m,).
    """
    last = counts.size - 1
    for k in range(waits.size):
        counts[at(min(int(waits[at(k)] * scale), last))] += 1
    bin_, below, gathered = 0, 0, 0
    for k in range(ranks.size):
        while below + abs(counts[at(bin_)]) <= ranks[at(k)]:
            below += abs(counts[at(bin_)])
            gathered += max(-counts[at(bin_)], 0)
            bin_ += 1
        counts[at(bin_)] = -abs(counts[at(bin_)])  # below 0: wanted
        places[at(k)] = gathered + ranks[at(k)] - below
    size = 0
    for k in range(waits.size):
        if counts[at(min(int(waits[at(k)] * scale), last))] < 0:
            if size < few.size:
                few[at(size)] = waits[at(k)]
            size += 1
    return size


# The responses of a day from its sums and waits, in compiled code.

Struct = Any  # one row of a structured array; the kernels see it as a C struct

QUANTILES = (0.5, 0.9, 0.95, 0.99)  # of the waits of a day

RESPONSES = Responses(
    Response(
        "avg_team_diff",
        "Elo points",
        "mean over matches of |mean rating - mean rating|",
        NOT_NEGATIVE,
    ),
    Response(
        "avg_player_diff", "Elo points", "mean over matched teams of max - min rating", NOT_NEGATIVE
    ),
    Response("avg_wait_time", "minutes", "mean wait of matched players", NOT_NEGATIVE),
    Response(
        "avg_wait_time_all", "minutes", "with unmatched players, up to the horizon", NOT_NEGATIVE
    ),
    *(
        Response(
            f"wait_p{100.0 * share:.0f}",
            "minutes",
            f"{'median' if share == 0.5 else f'{100.0 * share:.0f}th percentile of the'} wait of"
            " matched players",
            NOT_NEGATIVE,
        )
        for share in QUANTILES
    ),
    Response("max_wait_time", "minutes", "longest wait of a matched player", NOT_NEGATIVE),
    Response(
        "avg_queue_length", "players", "time average of the number of waiting players", NOT_NEGATIVE
    ),
    Response(
        "matched_fraction", "", "share of players who were matched", SHARE, share_of="n_players"
    ),
    Response(
        "prioritized_fraction",
        "",
        "share of players who became prioritized",
        SHARE,
        share_of="n_players",
    ),
    Response("n_players", "", "players who arrived", NOT_NEGATIVE, whole=True),
    Response("n_matches", "", "matches", NOT_NEGATIVE, whole=True),
    Response("unmatched", "", "players still waiting at the horizon", NOT_NEGATIVE, whole=True),
)


def order_waits(waits: Floats) -> None:
    """Put the waits of a day in order as far as quantiles read them, in place."""
    last = waits.size - 1
    lower = (np.array(QUANTILES) * last).astype(np.int64)
    order(waits, np.unique(np.concatenate([lower, np.minimum(lower + 1, last)])))


@njit
def summarize(state: Records, waits: Floats, players: int, horizon: float, out_: Records) -> None:
    """Turn the sums of a day and its waits in order into its responses, by name."""
    fill_sums(state[0], players, horizon, out_[0])
    _fill_quantiles(waits, out_[0])


@njit
def fill_quantiles(waits: Floats, matched: Ints, out: Records) -> None:
    """Add to the responses of many days what their waits in order say."""
    for day in range(out.size):
        _fill_quantiles(waits[day, : matched[day]], out[day])


@inlined
def fill_sums(sums: Struct, players: int, horizon: float, out: Struct) -> None:
    """Turn the sums of a day into its responses but for those that waits must be sorted for."""
    matches, matched = sums["matches"], sums["matched"]
    all_waits = sums["wait"] + sums["unmatched_wait"]
    out["avg_team_diff"] = _ratio(sums["team_diff"], matches)
    out["avg_player_diff"] = _ratio(sums["player_diff"], 2 * matches)
    out["avg_wait_time"] = _ratio(sums["wait"], matched)
    out["avg_wait_time_all"] = _ratio(all_waits, players)
    out["max_wait_time"] = sums["longest_wait"] if matched > 0 else np.nan
    out["avg_queue_length"] = all_waits / (60.0 * horizon)
    out["matched_fraction"] = _ratio(matched, players)
    out["prioritized_fraction"] = _ratio(sums["prioritized"], players)
    out["n_players"] = players
    out["n_matches"] = matches
    out["unmatched"] = sums["unmatched"]


@inlined
def _fill_quantiles(ordered: Floats, out: Struct) -> None:
    out["wait_p50"] = _quantile(ordered, QUANTILES[0])
    out["wait_p90"] = _quantile(ordered, QUANTILES[1])
    out["wait_p95"] = _quantile(ordered, QUANTILES[2])
    out["wait_p99"] = _quantile(ordered, QUANTILES[3])


@inlined
def _ratio(total: float, count: int) -> float:
    return total / count if count else np.nan


@inlined
def _quantile(ordered: Floats, q: float) -> float:
    """Return a quantile of sorted values, interpolated linearly; NaN without a value."""
    last = ordered.size - 1
    if last < 0:
        return np.nan
    low = int(q * last)
    high = min(low + 1, last)
    return ordered[low] + (ordered[high] - ordered[low]) * (q * last - low)


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
        if run(Arrivals(times, ratings, 0, True), None, rules, queue, counts) < count:
            return day
        matched = days.statistics[0]["matched"]
        waits[matched:] = np.inf
        days.matched[day] = matched
        fill_sums(days.statistics[0], count, rules.horizon, out[day])
        if controls.size > 0:
            controls[day] = 0.0
            add_players(times, ratings, center, scale, controls[day])
    return replications.size
