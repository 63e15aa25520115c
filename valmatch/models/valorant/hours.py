"""The queue by the hour of the day."""

from __future__ import annotations

import math

import numpy as np

from valmatch.arrays import Floats
from valmatch.models.model import NOT_NEGATIVE, Part, Response

DAY = 24

HOURS_AT_ONCE = 1 << 16
"""Bounds the memory that is taken, whatever the horizon."""

QUEUE = "avg_queue_length"
"""The first part of the names of these responses; the whole name of that of all hours."""


def hour_responses(horizon: float | None) -> list[Response]:
    """Return the responses of the hours of a day, such as ``avg_queue_length.17-18h``.

    Those that the horizon, if it is known, cuts off are not among them.
    """
    hours = DAY if horizon is None else min(DAY, math.ceil(horizon))
    return [
        Response(
            f"{QUEUE}.{hour}-{hour + 1}h",
            "players",
            f"time average of the number of waiting players from hour {hour} to {hour + 1} of days",
            part=Part(QUEUE, "hour", f"{hour}-{hour + 1}h"),
            limits=NOT_NEGATIVE,
        )
        for hour in range(hours)
    ]


def measure_hours(came: Floats, left: Floats, horizon: float) -> Floats:
    """Return the time average of the queue in each hour of the day; NaN of hours that never were.

    Parameters
    ----------
    came, left : numpy.ndarray
        (n,): hours at which players began and ceased to wait.
    horizon : float
        End of the run; of several days, the averages are over all.
    """
    came, left = np.sort(came), np.sort(left)
    sums = np.append(0.0, np.cumsum(came)), np.append(0.0, np.cumsum(left))
    # In the days before the first player nobody waits.
    days, last = int(min(came[:1].min(initial=horizon), horizon)) // DAY, math.ceil(horizon)
    waited, time = np.zeros(DAY), np.full(DAY, float(days))
    for start in range(DAY * days, last, HOURS_AT_ONCE):
        edges = np.arange(start, min(start + HOURS_AT_ONCE, last) + 1, dtype=np.float64)
        edges[-1] = min(edges[-1], horizon)
        hour = np.arange(start, start + edges.size - 1) % DAY
        # One after the other, so that all is the same however many hours there are at once.
        np.add.at(
            waited, hour, np.diff(_since(edges, came, sums[0]) - _since(edges, left, sums[1]))
        )
        np.add.at(time, hour, np.diff(edges))
    return np.asarray(waited / np.where(time > 0.0, time, math.nan))


def _since(hours: Floats, times: Floats, sums: Floats) -> Floats:
    """Return the sum over all earlier times of what has passed since then, at some hours.

    Parameters
    ----------
    hours : numpy.ndarray
        The hours.
    times, sums : numpy.ndarray
        Ascending, and the sums of the first 0, 1, 2, ... of them.
    """
    count = np.searchsorted(times, hours)
    return np.asarray(hours * count - sums[count])
