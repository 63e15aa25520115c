"""Responses that are computed only where the factor `measure` asks for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Bools, Floats, Ints, Records
from valmatch.matching.queue import STATISTICS
from valmatch.matching.rules import Rules, prioritized
from valmatch.models.model import NOT_NEGATIVE, SHARE, WIN_GAP, Part, Response
from valmatch.models.valorant.arrivals import ArrivingPlayers
from valmatch.models.valorant.days import summarize
from valmatch.models.valorant.factors import ValorantFactors
from valmatch.models.valorant.queue_log import DAY

# Bands of players by rating, and what is measured of each.

BAND_MEASURES = (
    Response("matched_fraction", "", "share of its players who were matched", SHARE),
    Response("avg_wait_time", "minutes", "mean wait of its matched players", NOT_NEGATIVE),
    Response("wait_p50", "minutes", "median wait of its matched players", NOT_NEGATIVE),
    Response(
        "wait_p95", "minutes", "95th percentile of the wait of its matched players", NOT_NEGATIVE
    ),
    Response(
        "avg_team_diff",
        "Elo points",
        "mean over its matched players of |mean - mean| of the match",
        NOT_NEGATIVE,
    ),
)
"""What is measured of a band."""


def band_names(edges: Sequence[float]) -> list[str]:
    """Return what bands between quantiles are called.

    Examples
    --------
    >>> band_names((0.0, 0.1, 0.99, 1.0))
    ['bottom_10%', '10-99%', 'top_1%']
    """

    def percent(share: float) -> str:
        return f"{100.0 * share:.10g}"

    names = []
    for low, high in pairwise(edges):
        name = f"{percent(low)}-{percent(high)}%"
        if low == 0.0:
            name = f"bottom_{percent(high)}%" if high < 1.0 else "all"
        elif high == 1.0:
            name = f"top_{percent(1.0 - low)}%"
        names.append(name)
    return names


def band_responses(edges: Sequence[float]) -> list[Response]:
    """Return the responses of all bands, such as ``wait_p95.top_1%``."""
    return [
        Response(
            f"{measure.name}.{band}",
            measure.unit,
            f"{measure.meaning}; by rating: {band}",
            part=Part(measure.name, "rating", band),
            limits=measure.limits,
        )
        for band in band_names(edges)
        for measure in BAND_MEASURES
    ]


def bands_of(ratings: Floats, edges: Sequence[float]) -> Ints:
    """Return the number of each player's band.

    A band holds the ratings from its lower quantile on, those of the replication, interpolated
    linearly, up to below its upper one; the last band holds the greatest too.
    """
    inner = np.quantile(ratings, edges[1:-1]) if ratings.size else np.empty(0)
    return np.searchsorted(inner, ratings, side="right").astype(np.int64)


def measure_bands(
    ratings: Floats, waits: Floats, differences: Floats, edges: Sequence[float]
) -> dict[str, float]:
    """Return the responses of `band_responses`; NaN where undefined.

    Shapes: `ratings`, `waits`, `differences` (n,).
    """
    bands, matched = bands_of(ratings, edges), ~np.isnan(waits)
    found = {}
    for number, name in enumerate(band_names(edges)):
        own = bands == number
        served = own & matched
        some, wait = bool(served.any()), waits[served]
        values = (
            float(matched[own].mean()) if own.any() else math.nan,
            float(wait.mean()) if some else math.nan,
            float(np.quantile(wait, 0.5)) if some else math.nan,
            float(np.quantile(wait, 0.95)) if some else math.nan,
            float(differences[served].mean()) if some else math.nan,
        )
        measured = zip(BAND_MEASURES, values, strict=True)
        found.update({f"{response.name}.{name}": value for response, value in measured})
    return found


def empty_bands(ratings: Floats, edges: Sequence[float]) -> list[str]:
    """Return the names of the bands that hold nobody."""
    held = set(bands_of(ratings, edges).tolist())
    return [name for number, name in enumerate(band_names(edges)) if number not in held]


# Queue and waits by the hour of the day, and by the day of the week of a dated log.

WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

HOURS_AT_ONCE = 1 << 16  # bounds the memory that is taken, whatever the horizon

TIME_MEASURES = (
    Response(
        "avg_queue_length",
        "players",
        "time average of the number of waiting players {}",
        NOT_NEGATIVE,
    ),
    Response(
        "avg_wait_time", "minutes", "mean wait of matched players who arrived {}", NOT_NEGATIVE
    ),
    Response(
        "prioritized_fraction",
        "",
        "share who became prioritized of the players who arrived {}",
        SHARE,
    ),
)
"""What is measured of a part of the time, which stands where the braces are."""

PartOf: TypeAlias = Callable[[Ints], Ints]
"""Gives the number of the part of the time that each hour belongs to, counted from hour 0."""

Clock: TypeAlias = Callable[[Ints], Ints]
"""Gives for hours, counted from hour 0, those since the midnight of some Monday, by the clock."""


def hour_responses(horizon: float | None) -> list[Response]:
    """Return the responses of the hours of a day, such as ``avg_queue_length.17-18h``.

    Those that the horizon, if it is known, cuts off are not among them.
    """
    hours = DAY if horizon is None else min(DAY, math.ceil(horizon))
    return [
        _of_part(measure, "hour", f"{hour}-{hour + 1}h", f"from hour {hour} to {hour + 1} of days")
        for measure in TIME_MEASURES
        for hour in range(hours)
    ]


def weekday_responses() -> list[Response]:
    """Return the responses of the days of the week, such as ``avg_wait_time.monday``."""
    return [
        _of_part(measure, "weekday", name, f"on {name.capitalize()}s")
        for measure in TIME_MEASURES
        for name in WEEK
    ]


def _of_part(measure: Response, of: str, name: str, when: str) -> Response:
    part = Part(measure.name, of, name)
    meaning = measure.meaning.format(when)
    return replace(measure, name=f"{measure.name}.{name}", meaning=meaning, part=part)


def hour_of_day(clock: Clock) -> PartOf:
    """Return what gives the hour of the day, by a clock."""
    return lambda hours: clock(hours) % DAY


def weekday(clock: Clock) -> PartOf:
    """Return what gives the day of the week, 0 for Monday, by a clock."""
    return lambda hours: clock(hours) // DAY % len(WEEK)


def measure_hours(
    came: Floats, left: Floats, horizon: float, of_day: PartOf, start: int = 0
) -> Floats:
    """Return the time average of the queue in each hour of the day; NaN of hours that never were.

    Shapes: `came`, `left` (n,).
    """
    if start:
        return time_averages(came, left, horizon, of_day, start, np.zeros(DAY))
    # In the days before the first player nobody waits.
    days = int(min(came.min(initial=horizon), horizon)) // DAY
    time = np.full(DAY, float(days))
    return time_averages(came, left, horizon, of_day, DAY * days, time)


def measure_weekdays(
    came: Floats, left: Floats, horizon: float, of_week: PartOf, start: int = 0
) -> Floats:
    """Return the time average of the queue on each weekday; NaN of those that never were."""
    return time_averages(came, left, horizon, of_week, start, np.zeros(len(WEEK)))


def time_averages(
    came: Floats, left: Floats, horizon: float, part_of: PartOf, first: int, time: Floats
) -> Floats:
    """Return the time average of the queue in each part of the time, from an hour on."""
    came, left = np.sort(np.maximum(came, first)), np.sort(np.maximum(left, first))
    sums = np.append(0.0, np.cumsum(came)), np.append(0.0, np.cumsum(left))
    waited, time, last = np.zeros(time.size), time.copy(), math.ceil(horizon)
    for start in range(first, last, HOURS_AT_ONCE):
        edges = np.arange(start, min(start + HOURS_AT_ONCE, last) + 1, dtype=np.float64)
        edges[-1] = min(edges[-1], horizon)
        part = part_of(np.arange(start, start + edges.size - 1))
        # One after the other, so that all is the same however many hours there are at once.
        np.add.at(
            waited, part, np.diff(_since(edges, came, sums[0]) - _since(edges, left, sums[1]))
        )
        np.add.at(time, part, np.diff(edges))
    return np.asarray(waited / np.where(time > 0.0, time, math.nan))


def _since(hours: Floats, times: Floats, sums: Floats) -> Floats:
    """Return the sum over all earlier times of what has passed since then, at some hours."""
    count = np.searchsorted(times, hours)
    return np.asarray(hours * count - sums[count])


def measure_waits(part: Ints, waits: Floats, prioritized: Floats, parts: int) -> Floats:
    """Return the mean wait and the share of prioritized players of each part, NaN where undefined.

    Shapes: `part` (n,); `waits` (n,); `prioritized` (n,); returns (2, parts).
    """
    matched = ~np.isnan(waits)

    def means(of: Ints, values: Floats) -> Floats:
        count = np.bincount(of, minlength=parts)
        sums = np.bincount(of, values, minlength=parts)
        return np.asarray(sums / np.where(count > 0, count, math.nan))

    return np.stack([means(part[matched], waits[matched]), means(part, prioritized)])


PERCENTILES = (50, 90, 95)

EVEN = 0.05  # largest distance of a predicted share of wins from one half in an even match

DIFFERENCES = tuple(
    Response(f"{name}_p{percent}", "Elo points", f"{percent}th percentile of {what}", NOT_NEGATIVE)
    for name, what in (
        ("team_diff", "|mean rating - mean rating| over matches"),
        ("player_diff", "max - min rating over matched teams"),
    )
    for percent in PERCENTILES
)

FAIRNESS = (
    Response(
        "win_gap", "", "mean over matches of |p - 1/2|, p by Elo with the factor spread", WIN_GAP
    ),
    Response(
        "even_fraction",
        "",
        "share of matches with p from 45 to 55 %, p by Elo",
        SHARE,
        share_of="n_matches",
    ),
)


PAIRS = (
    Response(
        "avg_pair_diff",
        "Elo points",
        "mean over matched teams of the mean |rating - rating| of two of their players",
        NOT_NEGATIVE,
    ),
)

ELO = (
    Response(
        "avg_elo_diff",
        "Elo points",
        "mean over matches of |mean elo - mean elo|, whatever rating the rule looks at",
        NOT_NEGATIVE,
    ),
)


class Matches(NamedTuple):
    """The matches of a replication."""

    hours: Floats  # (n,): when they were made
    sides: tuple[Ints, Ints]  # (n, team_num): the players of both teams, by number


def further_responses(factors: ValorantFactors) -> list[Response]:
    """Return the responses that factors ask for besides those that are always there."""
    found: list[Response] = []
    for group in dict.fromkeys(factors.measure):
        found += {
            "differences": DIFFERENCES,
            "pairs": PAIRS,
            "elo": ELO,
            "fairness": FAIRNESS,
            "bands": band_responses(factors.bands),
            "hours": hour_responses(factors.horizon),
            "weekdays": weekday_responses(),
        }[group]
    return found


def measure(
    factors: ValorantFactors,
    players: ArrivingPlayers,
    matches: Matches,
    until: Floats,
    rules: Rules,
    clock: Clock,
) -> dict[str, float]:
    """Return the responses of `further_responses` by name; NaN where undefined.

    Shapes: `until` (n,).
    """
    start = factors.warm_up
    counted, late = players.times >= start, matches.hours >= start
    ratings = [players.ratings[side] for side in matches.sides]
    gaps = _gaps(ratings)
    ranges = np.concatenate([np.ptp(side[late], axis=1) for side in ratings])
    found: dict[str, float] = {}
    if "differences" in factors.measure:
        for name, values in (("team_diff", gaps[late]), ("player_diff", ranges)):
            found |= _percentiles(name, values)
    if "pairs" in factors.measure:
        found["avg_pair_diff"] = _mean(np.concatenate([pair_diffs(side[late]) for side in ratings]))
    if "elo" in factors.measure:
        elo = players.vectors[:, 0]
        found["avg_elo_diff"] = _mean(_gaps([elo[side[late]] for side in matches.sides]))
    if "fairness" in factors.measure:
        found |= _fairness(gaps[late], factors.spread)
    if not {"bands", "hours", "weekdays"} & {*factors.measure}:
        return found
    waits, differences = (np.full(players.times.size, np.nan) for _ in range(2))
    left = until.copy()
    for side in matches.sides:
        waits[side] = 60.0 * (matches.hours[:, np.newaxis] - players.times[side])
        differences[side] = gaps[:, np.newaxis]
        left[side] = matches.hours[:, np.newaxis]
    those = players.times[counted], left[counted], waits[counted]
    if "bands" in factors.measure:
        found |= measure_bands(
            players.ratings[counted], waits[counted], differences[counted], factors.bands
        )
    if "hours" in factors.measure:
        queue = measure_hours(players.times, left, rules.horizon, hour_of_day(clock), start)
        rows = _by_part(queue, hour_of_day(clock), *those, rules)
        responses = hour_responses(factors.horizon)
        hours = len(responses) // len(rows)
        found |= _named(responses, rows[:, :hours])
    if "weekdays" in factors.measure:
        queue = measure_weekdays(players.times, left, rules.horizon, weekday(clock), start)
        rows = _by_part(queue, weekday(clock), *those, rules)
        found |= _named(weekday_responses(), rows)
    return found


def pair_diffs(teams: Floats) -> Floats:
    """Return the mean absolute difference of two players of each team.

    Of players in order of rating, the gap between the k-th and the next lies within
    k (team_num - k) of the pairs, so that no pair has to be formed.

    Shapes: `teams` (n, team_num); returns (n,).
    """
    team_num = teams.shape[1]
    if team_num < 2:
        return np.empty(0)
    below = np.arange(1, team_num)
    shares = below * (team_num - below) / math.comb(team_num, 2)
    return np.asarray(np.diff(np.sort(teams, axis=1), axis=1) @ shares)


def _gaps(sides: Sequence[Floats]) -> Floats:
    """Return the distance of the means of both teams, match by match."""
    return np.asarray(np.abs(sides[0].mean(axis=1) - sides[1].mean(axis=1)))


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else math.nan


def _by_part(
    queue: Floats, part_of: PartOf, came: Floats, left: Floats, waits: Floats, rules: Rules
) -> Floats:
    """Return the queue, the waits and the prioritized of parts of the time, a row each."""
    part = part_of(np.floor(came).astype(np.int64))
    further = measure_waits(part, waits, prioritized(came, left, rules), queue.size)
    return np.vstack([queue, further])


def _named(responses: Sequence[Response], values: Floats) -> dict[str, float]:
    names = [response.name for response in responses]
    return dict(zip(names, values.ravel().tolist(), strict=True))


def _percentiles(name: str, values: Floats) -> dict[str, float]:
    return {
        f"{name}_p{percent}": float(np.percentile(values, percent)) if values.size else math.nan
        for percent in PERCENTILES
    }


def _fairness(gaps: Floats, spread: float) -> dict[str, float]:
    """Return how far predictions are from one half; by Elo spread points are odds of ten to one."""
    if not gaps.size:
        return dict.fromkeys((response.name for response in FAIRNESS), math.nan)
    leads = 1.0 / (1.0 + 10.0 ** (-gaps / spread)) - 0.5
    return {"win_gap": float(leads.mean()), "even_fraction": float((leads <= EVEN).mean())}


# Players who give up: when they do, and the responses about them.

PATIENCE = 3
"""Source of randomness: how long players wait before they give up, in units of the mean."""

RESPONSES_OF_DEPARTURES = (
    Response("abandoned", "", "players who gave up", NOT_NEGATIVE, whole=True),
    Response("abandoned_fraction", "", "share of players who gave up", SHARE, share_of="n_players"),
    Response(
        "avg_wait_abandoned",
        "minutes",
        "mean wait of players who gave up, until then",
        NOT_NEGATIVE,
    ),
)
"""Responses of a queue in which players give up."""


def impatient(
    chunks: Iterable[ArrivingPlayers], mean: float, streams: Streams, replication: int
) -> Iterator[ArrivingPlayers]:
    """Yield arriving players with the hours at which they give up."""
    players = list(chunks)
    draws = streams.stream(replication, PATIENCE)
    for chunk in players:
        waits = mean / 60.0 * draws.standard_exponential(chunk.times.size)
        yield chunk._replace(departures=chunk.times + waits)


def measure_departures(
    players: ArrivingPlayers, gave_up: Bools, counted: Bools
) -> dict[str, float]:
    """Return the responses about players who gave up, by name; NaN where undefined.

    Shapes: `gave_up`, `counted` (n,).
    """
    waits: Floats = 60.0 * (players.departures - players.times)[gave_up & counted]
    count = int(counted.sum())
    return {
        "abandoned": float(waits.size),
        "abandoned_fraction": waits.size / count if count else np.nan,
        "avg_wait_abandoned": float(waits.mean()) if waits.size else np.nan,
    }


# Responses of the time after a warm-up: what comes before is simulated and not counted.


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
