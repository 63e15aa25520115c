"""Profile time, in which sessions start at the same rate all day.

With the weights w of the hours, c[h] is the share of the day's session starts before hour h; the
profile time of the moment 24 day + hour is day + c[h] + (hour - h) (c[h + 1] - c[h]), h the whole
hours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import at, inlined

HOURS = 24


def shares_before(weights: Iterable[float]) -> Floats:
    """Return the share of the session starts before each hour and before the end of the day."""
    sums = np.array([0.0, *np.cumsum(np.array(list(weights)))])
    return np.asarray(sums / sums[-1])


@inlined
def profile_time(moment: float, shares: Floats) -> float:
    """Return the profile time of a moment (hours)."""
    day = math.floor(moment / 24.0)
    hour = moment - 24.0 * day
    h = int(hour)
    return day + shares[at(h)] + (hour - h) * (shares[at(h + 1)] - shares[at(h)])


@inlined
def moment_of(time: float, shares: Floats) -> float:
    """Return the moment (hours) of a profile time: in the last hour that begins before it."""
    day = math.floor(time)
    share = time - day
    h = 0
    for k in range(1, HOURS):
        h += int(shares[at(k)] <= share)
    low, high = shares[at(h)], shares[at(h + 1)]
    return 24.0 * day + (h + (share - low) / (high - low))
