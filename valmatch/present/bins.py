"""Histograms, whose bins hold equally many points of a lattice, and series of who waits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.present.document import Graph

MOST_BINS = 40

NEAR = 0.01  # distance from a point of a lattice, in its steps, that rounding explains


class Lattice(NamedTuple):
    """Equally spaced values: one of them, and how far they are apart."""

    origin: float
    step: float


def histogram(
    values: Floats,
    lattice: Lattice | None,
    title: str,
    axis: str,
    what: str,
    **more: Any,  # noqa: ANN401
) -> Graph:
    """Return the distribution of sorted values, if there are any."""
    if not values.size:
        return Graph(title, axis, what)
    counts, edges = np.histogram(values, bin_edges(values, lattice))
    return Graph(title, axis, what, edges=edges, counts=counts.astype(np.float64), **more)


def bin_edges(values: Floats, lattice: Lattice | None = None) -> Floats:
    """Return the edges of bins for sorted values.

    On a lattice they are half-way between points; no bin reaches beyond the origin of a given one,
    where values may end.
    """
    low, high = float(values[0]), float(values[-1])
    alike = high - low <= 1e-9 * max(abs(low), abs(high))
    if alike and lattice is None:
        reach = 0.05 * abs(low) or 0.5
        return np.array([low - reach, low + reach])
    bins = 1 if alike else min(np.histogram_bin_edges(values, "auto").size - 1, MOST_BINS)
    lattice = lattice or lattice_of(values)
    if lattice is None:
        return np.linspace(low, high, bins + 1)
    first, last = (round((end - lattice.origin) / lattice.step) for end in (low, high))
    count = last - first + 1
    points = max(1, math.ceil(count / MOST_BINS), round(count / bins))
    edges = np.arange(first - 0.5, last + points, points)
    if last <= 0:
        edges = np.arange(last + 0.5, first - points, -points)[::-1]
    return np.asarray(lattice.origin + lattice.step * edges)


def lattice_of(values: Floats) -> Lattice | None:
    """Return the lattice on which sorted values lie that are not all the same, if there is one."""
    gaps = np.diff(values)
    step = float(gaps[gaps > 1e-9 * (values[-1] - values[0])].min())
    places = (values - values[0]) / step
    on = np.abs(places - np.rint(places)).max() <= NEAR
    return Lattice(float(values[0]), step) if on else None


def lattice_of_shares(shares: Floats, wholes: Floats) -> Lattice:
    """Return the lattice near which shares of varying whole numbers lie: from 0 or from 1."""
    return Lattice(float(np.round(shares.mean())), 1.0 / float(wholes.mean()))


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
