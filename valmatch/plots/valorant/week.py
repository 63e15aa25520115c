"""A dated log of weeks: queue and waits by the hour of the day and the day of the week."""

from __future__ import annotations

from datetime import datetime

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.kernels.arrays import Floats, Ints
from valmatch.models.valorant.hours import WEEK, time_averages
from valmatch.models.valorant.wall_clock import DAY, wall_hours
from valmatch.plots.parts.labels import label
from valmatch.plots.parts.style import panels

CELLS = len(WEEK) * DAY

MAP, NONE = "YlGnBu", "0.85"
"""Colours of cells, and that of those of which nothing is known."""


def draw(midnight: datetime, horizon: float, came: Floats, left: Floats, wait: Floats) -> Figure:
    """Draw a cell for each hour of each weekday, of the queue and of the waits.

    Shapes: `came`, `left` (n,); `wait` (n,).
    """
    figure, grid = panels(2, 1, width=9.0, height=2.9)
    queue = queue_by_cell(midnight, horizon, came, left)
    waits = waits_by_cell(midnight, came, wait)
    _cells(figure, grid[0], queue, "mean number of waiting players")
    _cells(figure, grid[1], waits, "median wait of matched players [minutes]")
    label(grid[1], "hour of the day")
    return figure


def queue_by_cell(midnight: datetime, horizon: float, came: Floats, left: Floats) -> Floats:
    """Return the time average of the queue, (7, 24); NaN where the log has no such time."""
    gone = np.fmin(left, horizon)

    def cell(hours: Ints) -> Ints:
        return _cell(midnight, hours)

    return time_averages(came, gone, horizon, cell, 0, np.zeros(CELLS)).reshape(-1, DAY)


def waits_by_cell(midnight: datetime, came: Floats, wait: Floats) -> Floats:
    """Return the median wait in minutes of the matched players who arrive then; NaN for none.

    Of a few players whom hardly anybody matches, waits may be of days: means would show them alone.
    """
    matched = ~np.isnan(wait)
    cell = _cell(midnight, np.floor(came[matched]).astype(np.int64))
    order = np.argsort(cell, kind="stable")
    waits = np.split(wait[matched][order], np.searchsorted(cell[order], range(1, CELLS)))
    found = [float(np.median(own)) if own.size else np.nan for own in waits]
    return np.array(found).reshape(-1, DAY)


def _cell(midnight: datetime, hours: Ints) -> Ints:
    """Return the number of the cell that hours belong to."""
    return (wall_hours(midnight, hours) + DAY * midnight.weekday()) % CELLS


def _cells(figure: Figure, axes: Axes, values: Floats, what: str) -> None:
    """Draw cells with a bar that says what their colours are, Monday on top."""
    axes.set_facecolor(NONE)
    edges = np.arange(DAY + 1), np.arange(len(WEEK) + 1)
    drawn = axes.pcolormesh(*edges, values, cmap=MAP, vmin=0.0, rasterized=True)
    axes.invert_yaxis()
    axes.set_xticks(range(0, DAY + 1, 2))
    axes.set_yticks(np.arange(len(WEEK)) + 0.5, [name.capitalize() for name in WEEK])
    axes.tick_params(axis="y", length=0)
    axes.set_title(what, fontsize=9)
    figure.colorbar(drawn, ax=axes, aspect=20, pad=0.02)
