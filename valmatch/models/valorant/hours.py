"""Queue and waits by the hour of the day, and by the day of the week of a dated log."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.models.model import NOT_NEGATIVE, SHARE, Part, Response
from valmatch.models.valorant.wall_clock import DAY

WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

HOURS_AT_ONCE = 1 << 16  # bounds the memory that is taken, whatever the horizon

MEASURES = (
    Response(
        "avg_queue_length",
        "players",
        "time average of the number of waiting players {}",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "avg_wait_time",
        "minutes",
        "mean wait of matched players who arrived {}",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "prioritized_fraction",
        "",
        "share who became prioritized of the players who arrived {}",
        limits=SHARE,
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
        for measure in MEASURES
        for hour in range(hours)
    ]


def weekday_responses() -> list[Response]:
    """Return the responses of the days of the week, such as ``avg_wait_time.monday``."""
    return [
        _of_part(measure, "weekday", name, f"on {name.capitalize()}s")
        for measure in MEASURES
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
