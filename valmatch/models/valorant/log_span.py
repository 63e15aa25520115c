"""The time that a queue log spans: rows far from all others, long gaps, long logs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from valmatch.kernels.arrays import Floats

DAY, YEAR = 24.0, 24.0 * 365.25
"""Hours."""

LONGEST = 20  # years that a log may span

LONG, LATE = 3, 10
"""Years from which on a log is long, or begins late."""

GAP = 30  # days without any arrival that are remarked upon


def far_rows(hours: Floats) -> list[int]:
    """Return which rows of a log that spans too much are far from its middle one.

    What is left then spans no more than `LONGEST` years.

    Examples
    --------
    >>> far_rows(np.array([0.5, 9e6, 1.0, 1.5]))
    [1]
    """
    if np.ptp(hours) <= LONGEST * YEAR:
        return []
    middle = np.partition(hours, (hours.size - 1) // 2)[(hours.size - 1) // 2]
    return [int(row) for row in np.flatnonzero(np.abs(hours - middle) > LONGEST * YEAR / 2.0)]


def span_remarks(hours: Floats) -> Iterator[str]:
    """Yield what is unusual about the times of a log, in order of arrival.

    Shapes: `hours` (n,).
    """
    first, last = float(hours[0]), float(hours[-1])
    if first > LATE * YEAR:
        yield (
            f"the first arrival is {first / YEAR:,.1f} years after hour 0 (hours are counted from"
            " the start of the log)"
        )
    if last - first > LONG * YEAR:
        yield f"the log spans {(last - first) / YEAR:,.1f} years"
    gaps = np.diff(hours)
    if gaps.size and gaps.max() > GAP * DAY:
        place = int(gaps.argmax())
        many = int((gaps > GAP * DAY).sum())
        others = f", the longest of {many:,} gaps of more than {GAP} days" if many > 1 else ""
        yield (
            f"nobody arrives for {gaps[place] / DAY:,.1f} days from hour {hours[place]:,.1f} on"
            f"{others}"
        )
