"""Hours of a dated log as the clocks of its time zone count them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np

from valmatch.kernels.arrays import Ints

DAY = 24

SECONDS_AN_HOUR = 3600


def wall_hours(midnight: datetime | None, hours: Ints) -> Ints:
    """Return hours since a midnight as clocks on the wall count them.

    They differ from the time that has passed where clocks have been put forward or back since
    then, which only a zone with a name knows.
    """
    if midnight is None or isinstance(midnight.tzinfo, timezone) or not hours.size:
        return hours
    begin = midnight.astimezone(UTC)

    def offset(hour: int) -> int:
        """Return by how many seconds clocks have been put forward since the midnight."""
        try:
            there = (begin + timedelta(hours=hour)).astimezone(midnight.tzinfo)
        except OverflowError:  # after the year 9999
            return 0
        moved = (there.utcoffset() or timedelta()) - (midnight.utcoffset() or timedelta())
        return round(moved.total_seconds())

    days, day = np.unique(hours // DAY, return_inverse=True)
    at = {d: offset(DAY * d) for first in days.tolist() for d in (first, first + 1)}
    seconds = np.array([at[d] for d in days.tolist()])[day.reshape(hours.shape)]
    for number, d in enumerate(days.tolist()):
        if at[d] != at[d + 1]:
            own = day.reshape(hours.shape) == number
            seconds[own] = [offset(hour) for hour in hours[own].tolist()]
    return hours + seconds // SECONDS_AN_HOUR
