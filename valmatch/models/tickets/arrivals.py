"""Times at which tickets come: a Poisson process whose rate changes by the hour of a day."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from valmatch.draws.addressed import fill_uniforms_of
from valmatch.kernels.arrays import Floats, Words
from valmatch.matching.tickets.blocks import BLOCK
from valmatch.models.tickets.factor_sections import HOURS
from valmatch.models.tickets.factors import TicketsFactors
from valmatch.models.tickets.sources import GAP

HOUR = 3600.0


def draw_times(factors: TicketsFactors, place: Words, block: int = BLOCK) -> Iterator[Floats]:
    """Draw when tickets come, block by block: gaps are exponential in expected tickets."""
    held, some = np.empty(0), False
    for came in _moments(factors, place, block):
        times = np.concatenate((held, came))
        # Who comes at the last moment waits for others who come at it.
        edge = int(times.searchsorted(times[-1:].max(initial=-np.inf)))
        if edge:
            some = True
            yield times[:edge]
        held = times[edge:]
    if held.size or not some:
        yield held


def _moments(factors: TicketsFactors, place: Words, block: int) -> Iterator[Floats]:
    """Yield when tickets come, some at a time."""
    rates = _rates(factors)
    edges = np.append(np.arange(math.ceil(factors.hours), dtype=np.float64), factors.hours)
    masses = rates[edges[:-1].astype(np.int64) % HOURS] * np.diff(edges)
    before = np.append(0.0, np.cumsum(masses))
    total = float(before[-1])
    gaps, nobody, last = np.empty(block), np.zeros(block, np.int64), 0.0
    for first in itertools.count(0, block):
        fill_uniforms_of(place, GAP, nobody, np.arange(first, first + block), gaps)
        steps = -np.log(gaps)
        steps[0] += last
        arrived = np.cumsum(steps)
        last = float(arrived[-1])
        arrived = arrived[arrived < total]
        hour = np.searchsorted(before, arrived, side="right") - 1
        rate = rates[edges[hour].astype(np.int64) % HOURS]
        yield HOUR * (edges[hour] + (arrived - before[hour]) / rate)
        if last >= total:
            return


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
