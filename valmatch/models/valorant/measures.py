"""Responses of a day, made of what happened on it, player by player."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints, Records
from valmatch.matching.queue import STATISTICS, Rules, prioritized
from valmatch.models.model import WIN_GAP, Response, amount, count, of_part, share
from valmatch.models.valorant.arrivals import ArrivingPlayers
from valmatch.models.valorant.days import summarize
from valmatch.models.valorant.factors import ValorantFactors
from valmatch.models.valorant.queue_log import DAY

WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
PERCENTILES = (50, 90, 95)
HOURS_AT_ONCE = 1 << 16  # bounds the memory that is taken, whatever the horizon

OfHours: TypeAlias = Callable[[Ints], Ints]  # gives a number of each hour, counted from hour 0


class PlayedDay:
    """A replication of n players and m matches."""

    def __init__(
        self,
        players: ArrivingPlayers,
        log: Floats,
        rules: Rules,
        factors: ValorantFactors,
        clock: OfHours,
    ) -> None:
        self.players, self.rules, self.factors = players, rules, factors
        self.log = log  # the matches as the kernel logs them
        self.start = factors.warm_up  # hour from which on players and matches count
        self.clock = clock  # its hours since the midnight of some Monday, by the clock
        self.hours = log[:, 0]  # (m,): when matches were made
        # (m, team_num): the players of both teams, by number, and their ratings
        self.sides: list[Ints] = np.split(log[:, 3:].astype(np.int64), 2, axis=1)
        self.ratings = [players.ratings[side] for side in self.sides]
        self.gaps = _gaps(self.ratings)  # (m,): the distance of the means of both teams
        n = players.times.size
        self.matched = np.zeros(n, np.bool_)  # (n,): who played
        self.left = np.full(n, rules.horizon)  # (n,): hours at which players left, or the end
        for side in self.sides:
            self.matched[side], self.left[side] = True, self.hours[:, np.newaxis]
        self.gave_up = np.zeros(n, np.bool_)  # (n,): who left without a match
        if players.departures.size:
            self.gave_up = (players.departures < rules.horizon) & ~self.matched
            self.left[self.gave_up] = players.departures[self.gave_up]
        self.waits = 60.0 * (self.left - players.times)  # (n,): minutes in the queue
        self.prioritized = prioritized(players.times, self.left, rules)  # (n,): who became so
        self.counted = players.times >= self.start  # (n,): who arrived late enough to count
        self.late = self.hours >= self.start  # (m,): matches that were made late enough to count


def _gaps(sides: Sequence[Floats]) -> Floats:
    return np.abs(sides[0].mean(axis=1) - sides[1].mean(axis=1))


def _mean(values: Floats | Bools) -> float:
    return float(values.mean()) if values.size else math.nan


def counted(day: PlayedDay) -> Records:
    """Return the responses that are always there, of the time from the start on."""
    ratings = [side[day.late] for side in day.ratings]
    waits = day.waits[day.counted & day.matched]
    sums = np.zeros(1, STATISTICS)
    sums["matches"], sums["matched"] = day.late.sum(), waits.size
    sums["unmatched"] = (day.counted & ~day.matched & ~day.gave_up).sum()
    sums["prioritized"] = day.prioritized[day.counted].sum()
    sums["wait"], sums["longest_wait"] = np.sort(waits).sum(), waits.max(initial=0.0)
    sums["unmatched_wait"] = day.waits[day.counted & ~day.matched].sum()
    sums["team_diff"] = _gaps(ratings).sum()
    sums["player_diff"] = sum(np.ptp(side, axis=1).sum() for side in ratings)
    horizon, n = day.rules.horizon, int(day.counted.sum())
    # Room for a wait, where nobody was matched.
    out = summarize(sums, np.append(waits, 0.0), sums["matched"], n, horizon)
    in_queue = np.maximum(day.left, day.start) - np.maximum(day.players.times, day.start)
    out["avg_queue_length"] = in_queue.sum() / (horizon - day.start)
    return out


DEPARTURES = (
    count("abandoned", "players who gave up"),
    share("abandoned_fraction", "share of players who gave up"),
    amount("avg_wait_abandoned", "minutes", "mean wait of players who gave up, until then"),
)


def _departures(day: PlayedDay) -> list[float]:
    waits, gave_up = day.waits[day.gave_up & day.counted], day.gave_up[day.counted]
    return [float(waits.size), _mean(gave_up), _mean(waits)]


DIFFERENCES = tuple(
    amount(f"{name}_p{percent}", "Elo points", f"{percent}th percentile of {what}")
    for name, what in (
        ("team_diff", "|mean rating - mean rating| over matches"),
        ("player_diff", "max - min rating over matched teams"),
    )
    for percent in PERCENTILES
)


def _differences(day: PlayedDay) -> list[float]:
    ranges = np.concatenate([np.ptp(side[day.late], axis=1) for side in day.ratings])
    return [*_percentiles(day.gaps[day.late], PERCENTILES), *_percentiles(ranges, PERCENTILES)]


def _percentiles(values: Floats, percents: Sequence[int]) -> list[float]:
    return np.percentile(values, percents).tolist() if values.size else [math.nan] * len(percents)


PAIR_DIFF = "mean over matched teams of the mean |rating - rating| of two of their players"
ELO_DIFF = "mean over matches of |mean elo - mean elo|, whatever rating the rule looks at"


def _pairs(day: PlayedDay) -> list[float]:
    # Of players in order of rating, the gap between the k-th and the next lies within k (team_num
    # - k) of the pairs, so that no pair has to be formed.
    below = np.arange(1, day.rules.team_num)
    if not below.size:
        return [math.nan]
    shares = below * below[::-1] / math.comb(day.rules.team_num, 2)
    sides = [np.sort(side[day.late], axis=1) for side in day.ratings]
    return [_mean(np.concatenate([np.diff(side, axis=1) @ shares for side in sides]))]


def _elo(day: PlayedDay) -> list[float]:
    elo = day.players.vectors[:, 0]
    return [_mean(_gaps([elo[side[day.late]] for side in day.sides]))]


FAIRNESS = (
    Response(
        "win_gap", "", "mean over matches of |p - 1/2|, p by Elo with the factor spread", WIN_GAP
    ),
    share("even_fraction", "share of matches with p from 45 to 55 %, p by Elo"),
)


def _fairness(day: PlayedDay) -> list[float]:
    """Return how far predictions are from one half; by Elo spread points are odds of ten to one."""
    leads = 1.0 / (1.0 + 10.0 ** (-day.gaps[day.late] / day.factors.spread)) - 0.5
    return [_mean(leads), _mean(leads <= 0.05)]


OF_BANDS = (
    share("matched_fraction", "share of its players who were matched"),
    amount("avg_wait_time", "minutes", "mean wait of its matched players"),
    amount("wait_p50", "minutes", "median wait of its matched players"),
    amount("wait_p95", "minutes", "95th percentile of the wait of its matched players"),
    amount(
        "avg_team_diff", "Elo points", "mean over its matched players of |mean - mean| of the match"
    ),
)
"""What is measured of players by their ratings."""


def band_names(edges: Sequence[float]) -> list[str]:
    """Return what bands between quantiles are called: bottom_10%, 10-99%, top_1%."""
    names = []
    for low, high in pairwise(edges):
        below, above, top = (f"{100.0 * share:.10g}%" for share in (low, high, 1.0 - low))
        if low == 0.0:
            names.append(f"bottom_{above}" if high < 1.0 else "all")
        else:
            names.append(f"top_{top}" if high == 1.0 else f"{below[:-1]}-{above}")
    return names


def band_responses(factors: ValorantFactors) -> list[Response]:
    """Return the responses of all bands, such as ``wait_p95.top_1%``."""
    return [
        of_part(measure, "rating", band, f"{measure.meaning}; by rating: {band}")
        for band in band_names(factors.bands)
        for measure in OF_BANDS
    ]


def bands_of(ratings: Floats, edges: Sequence[float]) -> Ints:
    """Return the number of each player's band."""
    # A band holds the ratings from its lower quantile on, those of the replication, interpolated
    # linearly, up to below its upper one; the last band holds the greatest too.
    inner = np.quantile(ratings, edges[1:-1]) if ratings.size else np.empty(0)
    return np.searchsorted(inner, ratings, side="right").astype(np.int64)


def empty_bands(ratings: Floats, edges: Sequence[float]) -> list[str]:
    """Return the names of the bands that hold nobody."""
    return [name for k, name in enumerate(band_names(edges)) if k not in bands_of(ratings, edges)]


def _bands(day: PlayedDay) -> list[float]:
    gaps = np.full(day.players.times.size, np.nan)
    for side in day.sides:
        gaps[side] = day.gaps[:, np.newaxis]
    matched, waits, gaps = day.matched[day.counted], day.waits[day.counted], gaps[day.counted]
    bands = bands_of(day.players.ratings[day.counted], day.factors.bands)
    values: list[float] = []
    for band in range(len(day.factors.bands) - 1):
        served = (bands == band) & matched
        wait = waits[served]
        values += [_mean(matched[bands == band]), _mean(wait), *_percentiles(wait, (50, 95))]
        values.append(_mean(gaps[served]))
    return values


OF_TIME = (
    amount("avg_queue_length", "players", "time average of the number of waiting players {}"),
    amount("avg_wait_time", "minutes", "mean wait of matched players who arrived {}"),
    share("prioritized_fraction", "share who became prioritized of the players who arrived {}"),
)
"""What is measured of a part of the time, which stands where the braces are."""


def _of_times(division: str, parts: Mapping[str, str]) -> list[Response]:
    """Return the responses of parts of the time, of which it is said when they are."""
    return [
        of_part(measure, division, part, measure.meaning.format(when))
        for measure in OF_TIME
        for part, when in parts.items()
    ]


WEEKDAYS = _of_times("weekday", {name: f"on {name.capitalize()}s" for name in WEEK})
"""The responses of the days of the week, such as ``avg_wait_time.monday``."""


def hour_responses(factors: ValorantFactors) -> list[Response]:
    """Return the responses of the hours of a day, such as ``avg_queue_length.17-18h``."""
    # Those that the horizon, if it is known, cuts off are not among them.
    hours = range(DAY if factors.horizon is None else min(DAY, math.ceil(factors.horizon)))
    return _of_times("hour", {f"{h}-{h + 1}h": f"from hour {h} to {h + 1} of days" for h in hours})


def _hours(day: PlayedDay) -> list[float]:
    rows = _of_time(day, lambda hours: day.clock(hours) % DAY, DAY)
    return rows[:, : len(hour_responses(day.factors)) // len(rows)].ravel().tolist()


def _weekdays(day: PlayedDay) -> list[float]:
    return _of_time(day, lambda hours: day.clock(hours) // DAY % 7, len(WEEK)).ravel().tolist()


def _of_time(day: PlayedDay, part_of: OfHours, parts: int) -> Floats:
    """Return the queue, the waits and the prioritized of parts of the time, a row each."""
    came, horizon = day.players.times, day.rules.horizon
    queue = time_averages(came, day.left, horizon, part_of, day.start, parts)
    part = part_of(np.floor(day.players.times[day.counted]).astype(np.int64))

    def means(which: Bools, values: Floats | Bools) -> Floats:
        count = np.bincount(part[which], minlength=parts)
        sums = np.bincount(part[which], values[which], minlength=parts)
        return sums / np.where(count > 0, count, math.nan)

    matched, waits = day.matched[day.counted], day.waits[day.counted]
    everybody = np.ones(part.size, np.bool_)
    return np.stack([queue, means(matched, waits), means(everybody, day.prioritized[day.counted])])


def time_averages(
    came: Floats, left: Floats, horizon: float, part_of: OfHours, first: int, parts: int
) -> Floats:
    """Return the time average of the queue in each part of the time, from an hour on."""
    # NaN of parts that never were.
    came, left = np.sort(np.maximum(came, first)), np.sort(np.maximum(left, first))
    moments = [(moment, np.append(0.0, np.cumsum(moment))) for moment in (came, left)]
    waited, time, last = np.zeros(parts), np.zeros(parts), math.ceil(horizon)
    for start in range(first, last, HOURS_AT_ONCE):
        edges = np.arange(start, min(start + HOURS_AT_ONCE, last) + 1, dtype=np.float64)
        edges[-1] = min(edges[-1], horizon)
        part = part_of(np.arange(start, start + edges.size - 1))
        # What has passed since all earlier arrivals, and since all who had left.
        counts = [np.searchsorted(times, edges) for times, _ in moments]
        since = [edges * n - sums[n] for n, (_, sums) in zip(counts, moments, strict=True)]
        # One after the other, so that all is the same however many hours there are at once.
        np.add.at(waited, part, np.diff(since[0] - since[1]))
        np.add.at(time, part, np.diff(edges))
    return waited / np.where(time > 0.0, time, math.nan)


Group: TypeAlias = tuple[
    Callable[[ValorantFactors], Sequence[Response]], Callable[[PlayedDay], Sequence[float]]
]
"""Responses that go together, and their values in the same order, NaN where undefined."""

GROUPS: dict[str, Group] = {
    "differences": (lambda _: DIFFERENCES, _differences),
    "pairs": (lambda _: [amount("avg_pair_diff", "Elo points", PAIR_DIFF)], _pairs),
    "elo": (lambda _: [amount("avg_elo_diff", "Elo points", ELO_DIFF)], _elo),
    "fairness": (lambda _: FAIRNESS, _fairness),
    "bands": (band_responses, _bands),
    "hours": (hour_responses, _hours),
    "weekdays": (lambda _: WEEKDAYS, _weekdays),
}
"""What the factor `measure` may ask for."""


def groups_of(factors: ValorantFactors) -> list[Group]:
    """Return what factors ask for besides the responses that are always there."""
    departures: list[Group] = [(lambda _: DEPARTURES, _departures)] if factors.gives_up else []
    return [*departures, *(GROUPS[name] for name in dict.fromkeys(factors.measure))]
