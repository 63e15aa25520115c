"""Series over time: who waits, and when matches are made, in bins."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.present.document import Graph

BINS = 48

UNITS = (
    (2 * 86_400.0, 86_400.0, "days"),
    (2 * 3_600.0, 3_600.0, "hours"),
    (600.0, 60.0, "minutes"),
)
"""From so many seconds on, axes of time are in such units."""


def queue_charts(came: Floats, went: Floats, matches: Floats, what: str) -> Iterator[Graph]:
    """Yield how many wait and how many matches are made, in bins of time; all times in seconds.

    Whoever has not gone at the end has NaN.
    """
    times = np.concatenate([came, went])
    if not np.isfinite(times).any():
        return
    first, last = float(np.nanmin(times)), float(np.nanmax(times))
    scale, unit = next((one[1:] for one in UNITS if last >= one[0]), (1.0, "seconds"))
    first, last = first / scale, last / scale
    last = last if last > first else first + 1.0
    edges = np.linspace(first, last, BINS + 1)
    means = waiting_means(edges, came / scale, went / scale)
    yield Graph(f"Waiting {what}, mean", f"time [{unit}]", what, edges=edges, counts=means)
    if matches.size:
        made = np.histogram(matches / scale, edges)[0].astype(np.float64)
        yield Graph("Matches made", f"time [{unit}]", "matches", edges=edges, counts=made)


def waiting_means(edges: Floats, came: Floats, went: Floats) -> Floats:
    """Return the mean number of those who wait in each bin of time."""
    begin, end = np.clip(came, edges[0], edges[-1]), np.fmin(went, edges[-1])
    # The time that all have waited until each edge: of who came before it, until it or the end.
    total = [float(np.clip(np.minimum(end, edge) - begin, 0.0, None).sum()) for edge in edges]
    return np.diff(np.array(total)) / np.diff(edges)
