"""Times at which tickets come: a Poisson process whose rate changes by the hour of a day."""

from __future__ import annotations

import math

import numpy as np

from valmatch.draws.addressed import fill_uniforms_of
from valmatch.kernels.arrays import Floats, Words
from valmatch.models.tickets.factor_sections import HOURS
from valmatch.models.tickets.factors import TicketsFactors
from valmatch.models.tickets.sources import GAP

HOUR = 3600.0


def draw_times(factors: TicketsFactors, place: Words) -> Floats:
    """Draw when tickets come: gaps are exponential in expected tickets."""
    rates = _rates(factors)
    edges = np.append(np.arange(math.ceil(factors.hours), dtype=np.float64), factors.hours)
    masses = rates[edges[:-1].astype(np.int64) % HOURS] * np.diff(edges)
    before = np.append(0.0, np.cumsum(masses))
    total = float(before[-1])
    arrived, count = np.zeros(1), math.ceil(total + 5.0 * math.sqrt(total)) + 1
    while arrived[-1] < total:  # drawn anew in the rare case that these gaps are not enough
        gaps = np.empty(count)
        fill_uniforms_of(place, GAP, np.zeros(count, np.int64), np.arange(count), gaps)
        arrived, count = np.cumsum(-np.log(gaps)), 2 * count
    arrived = arrived[arrived < total]
    hour = np.searchsorted(before, arrived, side="right") - 1
    rate = rates[edges[hour].astype(np.int64) % HOURS]
    return np.asarray(HOUR * (edges[hour] + (arrived - before[hour]) / rate))


def most_at_once(factors: TicketsFactors, timeout: float, times: Floats | None) -> int:
    """Return how many tickets wait at once if none is matched: at the busiest time of a log.

    Without a log that is expected at the busiest of the hours in which the run is.
    """
    if times is None:
        hours = np.arange(math.ceil(factors.hours)) % HOURS
        return math.ceil(float(_rates(factors)[hours].max()) * timeout / HOUR)
    before = times.searchsorted(times - timeout, side="right")
    return int((np.arange(1, times.size + 1) - before).max(initial=0))


def _rates(factors: TicketsFactors) -> Floats:
    """Return the tickets an hour of each hour of a day."""
    profile = np.array(factors.arrivals.hourly_profile) / max(factors.arrivals.hourly_profile)
    return np.asarray(factors.arrivals.per_hour * profile / profile.mean())
