"""Responses that are computed only where the factor `measure` asks for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.matching.rules import Rules, prioritized
from valmatch.models.model import NOT_NEGATIVE, SHARE, Response
from valmatch.models.valorant.arrivals import ArrivingPlayers
from valmatch.models.valorant.bands import band_responses, measure_bands
from valmatch.models.valorant.factors import ValorantFactors
from valmatch.models.valorant.hours import (
    Clock,
    PartOf,
    hour_of_day,
    hour_responses,
    measure_hours,
    measure_waits,
    measure_weekdays,
    weekday,
    weekday_responses,
)

PERCENTILES = (50, 90, 95)

EVEN = 0.05  # largest distance of a predicted share of wins from one half in an even match

DIFFERENCES = tuple(
    Response(
        f"{name}_p{percent}", "Elo points", f"{percent}th percentile of {what}", limits=NOT_NEGATIVE
    )
    for name, what in (
        ("team_diff", "|mean rating - mean rating| over matches"),
        ("player_diff", "max - min rating over matched teams"),
    )
    for percent in PERCENTILES
)

FAIRNESS = (
    Response(
        "win_gap",
        "",
        "mean over matches of |p - 1/2|, p by Elo with the factor spread",
        limits=(0.0, 0.5),
    ),
    Response(
        "even_fraction",
        "",
        "share of matches with p from 45 to 55 %, p by Elo",
        share_of="n_matches",
        limits=SHARE,
    ),
)


PAIRS = (
    Response(
        "avg_pair_diff",
        "Elo points",
        "mean over matched teams of the mean |rating - rating| of two of their players",
        limits=NOT_NEGATIVE,
    ),
)

ELO = (
    Response(
        "avg_elo_diff",
        "Elo points",
        "mean over matches of |mean elo - mean elo|, whatever rating the rule looks at",
        limits=NOT_NEGATIVE,
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
