"""Histograms, and series of who waits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.present.document import Graph

MOST_BINS = 40


def histogram(
    values: Floats,
    title: str,
    axis: str,
    what: str,
    **more: Any,  # noqa: ANN401
) -> Graph:
    """Return the distribution of sorted values, if there are any."""
    if not values.size:
        return Graph(title, axis, what)
    counts, edges = np.histogram(values, bin_edges(values))
    return Graph(title, axis, what, edges=edges, counts=counts.astype(np.float64), **more)


def bin_edges(values: Floats) -> Floats:
    """Return the edges of bins for sorted values; of whole numbers each bin has equally many."""
    low, high = float(values[0]), float(values[-1])
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        reach = 0.05 * abs(low) or 0.5
        return np.array([low - reach, low + reach])
    bins = min(np.histogram_bin_edges(values, "auto").size - 1, MOST_BINS)
    if (values % 1.0).any():
        return np.linspace(low, high, bins + 1)
    step = max(np.ceil((high - low + 1.0) / MOST_BINS), np.rint((high - low + 1.0) / bins))
    return np.arange(low - 0.5, high + step, step)


BINS = 48  # of series over time

UNITS = (
    (2 * 86_400.0, 86_400.0, "days"),
    (2 * 3_600.0, 3_600.0, "hours"),
    (600.0, 60.0, "minutes"),
)
"""From so many seconds on, axes of time are in such units."""


def queue_charts(came: Floats, went: Floats, matches: Floats, what: str) -> Iterator[Graph]:
    """Yield how many wait, NaN of who has not gone, and how many matches are made, over seconds."""
    times = np.concatenate([came, went])
    if not np.isfinite(times).any():
        return
    end = float(np.nanmax(times))
    scale, unit = next((entry[1:] for entry in UNITS if end >= entry[0]), (1.0, "seconds"))
    first, last = float(np.nanmin(times)) / scale, end / scale
    edges = np.linspace(first, last if last > first else first + 1.0, BINS + 1)
    means = waiting_means(edges, came / scale, went / scale)
    axis = f"time [{unit}]"
    yield Graph(f"Waiting {what}, mean", axis, what, edges=edges, counts=means)
    if matches.size:
        counts = np.histogram(matches / scale, edges)[0].astype(np.float64)
        yield Graph("Matches made", axis, "matches", edges=edges, counts=counts)


def waiting_means(edges: Floats, came: Floats, went: Floats) -> Floats:
    """Return the mean number of those who wait in each bin of time."""
    begin, end = np.clip(came, edges[0], edges[-1]), np.fmin(went, edges[-1])
    # The time that all have waited until each edge: of who came before it, until it or the end.
    total = [float(np.clip(np.minimum(end, edge) - begin, 0.0, None).sum()) for edge in edges]
    return np.diff(np.array(total)) / np.diff(edges)
