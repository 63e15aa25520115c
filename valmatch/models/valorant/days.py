"""Many days of random arrivals, each drawn, matched and summed, in one call of compiled code.

Days that do not fit the memory of the call are left to `valmatch.models.valorant.model`.
"""

from typing import Any, NamedTuple

import numpy as np

from valmatch.draws.streams import rewind
from valmatch.kernels.arrays import Floats, Ints, Records, Words
from valmatch.kernels.compilation import kernel, macro
from valmatch.matching.queue import RULE, Arrivals, Counts, Rules, clear, driver, new_counts, run
from valmatch.models.model import Responses, amount, count, share
from valmatch.models.valorant.arrivals import Law, add_players, draw_players

Struct = Any  # one row of a structured array; the kernels see it as a C struct

RESPONSES = Responses(
    amount("avg_team_diff", "Elo points", "mean over matches of |mean rating - mean rating|"),
    amount("avg_player_diff", "Elo points", "mean over matched teams of max - min rating"),
    amount("avg_wait_time", "minutes", "mean wait of matched players"),
    amount("avg_wait_time_all", "minutes", "with unmatched players, up to the horizon"),
    amount("wait_p50", "minutes", "median wait of matched players"),
    amount("wait_p90", "minutes", "90th percentile of the wait of matched players"),
    amount("wait_p95", "minutes", "95th percentile of the wait of matched players"),
    amount("wait_p99", "minutes", "99th percentile of the wait of matched players"),
    amount("max_wait_time", "minutes", "longest wait of a matched player"),
    amount("avg_queue_length", "players", "time average of the number of waiting players"),
    share("matched_fraction", "share of players who were matched"),
    share("prioritized_fraction", "share of players who became prioritized"),
    count("n_players", "players who arrived"),
    count("n_matches", "matches"),
    count("unmatched", "players still waiting at the horizon"),
)


def summarize(sums: Records, waits: Floats, matched: Ints, players: int, horizon: float) -> Records:
    """Return the responses of a day, by name, from its sums and the waits of who was matched."""
    out = RESPONSES.record()
    fill_sums(sums[0], players, horizon, out[0])
    fill_quantiles(waits[np.newaxis], matched, out)
    return out


QUANTILES = {"wait_p50": 0.5, "wait_p90": 0.9, "wait_p95": 0.95, "wait_p99": 0.99}


def fill_quantiles(waits: Floats, matched: Ints, out: Records) -> None:
    """Sort the waits of days, and add their quantiles, interpolated linearly, to the responses."""
    for of_day, n in zip(waits, matched.tolist(), strict=False):
        of_day[:n].sort()
    days, last = np.arange(matched.size), matched - 1
    for name, q in QUANTILES.items():
        low = (q * last).astype(np.int64)
        below, above = waits[days, low], waits[days, np.minimum(low + 1, last)]
        with np.errstate(over="ignore", invalid="ignore"):  # without a match waits are anything
            values = below + (above - below) * (q * last - low)
        out[name] = np.where(matched > 0, values, np.nan)


@macro
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


@macro
def _ratio(total: float, count: int) -> float:
    return total / count if count else np.nan


DAYS = 64  # most days of a call: their waits stay in a near cache
PLAYERS = 65_536  # players of all days of a call, about, so that no call takes long


class Days(NamedTuple):
    """Memory of the days of a call."""

    times: Floats  # (room,): of the players of the day at work
    ratings: Floats  # (room,)
    vectors: Floats  # (room, 3)
    clock: Floats  # (2,): see `valmatch.models.valorant.arrivals.arrival_times`
    counts: Counts  # of the day at work; nothing is logged
    waits: Floats  # (days, room): minutes of each matched player
    matched: Ints  # (days,): matched players


def new_days(room: int, team_num: int) -> Days:
    """Return memory for as many days of up to `room` players as one call is to make."""
    days = max(1, min(DAYS, PLAYERS // room))
    return Days(
        np.empty(room),
        np.empty(room),
        np.empty((room, 3)),
        np.empty(2),
        new_counts(np.empty(0), np.empty((0, 3 + 2 * team_num))),
        np.empty((days, room)),
        np.empty(days, np.int64),
    )


@driver(kernel(allocates=True))
def make_days(
    replications: Ints,
    words: tuple[Words, Words],
    law: Law,
    rules: Rules,
    queue: Any,  # noqa: ANN401
    days: Days,
    controls: tuple[float, float, Floats],
    out: Records,
) -> int:
    """Make days until one does not fit; return how many are made."""
    # Words of gaps and of skills; controls, if there is room for any, are a center and a scale of
    # ratings, and the sums of each day over players.
    (gaps, normals), (center, scale, sums) = words, controls
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
        counts = Counts(days.counts.statistics, days.counts.lineup, waits, days.counts.log)
        clear(counts.statistics)
        if run(Arrivals(times, ratings, 0), None, rules, queue, counts) < count:
            return day
        days.matched[day] = counts.statistics[0]["matched"]
        fill_sums(counts.statistics[0], count, rules.horizon, out[day])
        if sums.size > 0:
            sums[day] = 0.0
            add_players(times, ratings, center, scale, sums[day])
    return replications.size
