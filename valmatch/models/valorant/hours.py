"""The queue by the hour of the day."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from valmatch.model import NOT_NEGATIVE, Part, Response

__all__ = ["QUEUE", "hour_responses", "measure_hours"]

Floats = NDArray[np.float64]

DAY = 24

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
    edges = np.append(np.arange(math.ceil(horizon), dtype=np.float64), horizon)
    waited = np.diff(_since(edges, came) - _since(edges, left))
    hour = np.arange(waited.size) % DAY
    time = np.bincount(hour, np.diff(edges), DAY)
    some = np.where(time > 0.0, time, math.nan)
    return np.asarray(np.bincount(hour, waited, DAY) / some)


def _since(hours: Floats, moments: Floats) -> Floats:
    """Return the sum over all earlier moments of the time since then, at some hours."""
    ordered = np.sort(moments)
    count = np.searchsorted(ordered, hours)
    return np.asarray(hours * count - np.append(0.0, np.cumsum(ordered))[count])
