"""Charts as figures of matplotlib: a panel for each, several panels in a figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.present.document import Chart, Graph, Intervals, Line
from valmatch.present.plot_options import Inches
from valmatch.present.style import (
    BAD,
    COLOURS,
    FAINT,
    GOOD,
    GREY,
    LINES,
    legend_below,
    panels,
    room,
    wrapped,
)
from valmatch.text.terminal import escaped, shortened

COLUMNS, MOST_ROWS = 3, 8
"""Panels beside each other and below each other; what has no room goes on in a further figure."""

MOST_POINTS = 2000  # points of a line; of more, every k-th is drawn
MOST_VECTOR_MARKS = 300  # marks beyond which an SVG file holds a picture of them, to stay small
NAME = 30  # most characters of a name beside a row or in a legend


def figures_of(
    name: str, charts: Sequence[Chart], heading: str, size: Inches = None
) -> dict[str, Figure]:
    """Return charts as figures: name, name-2, name-3 and so on."""
    count = math.ceil(len(charts) / (COLUMNS * MOST_ROWS))
    ends = [round(k * len(charts) / count) for k in range(count + 1)]
    return {
        name if k == 0 else f"{name}-{k + 1}": _figure(charts[first:last], heading, size)
        for k, (first, last) in enumerate(pairwise(ends))
    }


def _figure(charts: Sequence[Chart], heading: str, size: Inches) -> Figure:
    rows = max((len(c.rows) for c in charts if isinstance(c, Intervals)), default=0)
    height = max(0.9 + 0.26 * rows, 2.8 if any(isinstance(c, Graph) for c in charts) else 0.0)
    needed = (3.6, height)
    if len(charts) == 1:
        needed = (8.0, max(height, 4.4 if not rows else 1.6))
    figure, grid = panels(len(charts), COLUMNS, *needed, size)
    legend: dict[str, Any] = {}
    for axes, chart in zip(grid, charts, strict=True):
        if isinstance(chart, Graph):
            _draw_graph(axes, chart)
        else:
            _draw_intervals(axes, chart)
        axes.set_title(wrapped(escaped(chart.title), room(axes)[0] - 0.3, 3), fontsize=8.5)
        handles, names = axes.get_legend_handles_labels()
        legend = dict(zip(names, handles, strict=True)) | legend
    if legend:
        legend_below(figure, list(legend.values()), list(legend))
    figure.suptitle(wrapped(heading, figure.get_figwidth(), 2), fontsize=9.5)
    return figure


def _draw_graph(axes: Axes, chart: Graph) -> None:
    """Draw lines or bars over two axes."""
    if not any(np.isfinite(line.y).any() for line in chart.lines) and chart.counts is None:
        middle: Any = {"transform": axes.transAxes, "ha": "center", "va": "center", "color": GREY}
        axes.text(0.5, 0.5, "no values", **middle)
        axes.set(xticks=[], yticks=[])
        return
    if chart.edges is not None and chart.counts is not None:
        axes.stairs(chart.counts, chart.edges, fill=True, color=FAINT, alpha=0.8)
        axes.set_ylim(bottom=0.0)
    if chart.mean is not None and math.isfinite(chart.mean[0]):
        mean, low, high = chart.mean
        if math.isfinite(low) and math.isfinite(high):
            axes.axvspan(low, high, color=BAD, alpha=0.2, linewidth=0)
        axes.axvline(mean, color=BAD)
    for line in chart.lines:
        _draw_line(axes, line)
    if chart.diagonal:
        axes.axline((0.5, 0.5), slope=1.0, color=GREY, linewidth=0.9, zorder=0)
    # What bands of few replications need of the vertical axis is cut off.
    bands = np.concatenate([line.y for line in chart.lines if not line.marks] or [np.zeros(0)])
    bands = bands[np.isfinite(bands)]
    if bands.size and (reach := float(np.ptp(bands))) > 0.0:
        bottom, top = axes.get_ylim()
        axes.set_ylim(max(bottom, bands.min() - reach), min(top, bands.max() + reach))
    if chart.names:
        every = math.ceil(len(chart.names) / 12)
        places = range(0, len(chart.names), every)
        axes.set_xticks(places, [shortened(escaped(chart.names[k]), 12) for k in places])
        axes.tick_params(axis="x", rotation=45 if len(chart.names) > 3 else 0)
    width, height = room(axes)
    axes.set_xlabel(wrapped(chart.x, width - 0.15))
    axes.set_ylabel(wrapped(chart.y, height - 0.1))


def _draw_line(axes: Axes, line: Line) -> None:
    """Draw points, the line through them, and bars or a band around them."""
    shown = slice(None, None, max(1, math.ceil(line.x.size / MOST_POINTS)))
    x, y = line.x[shown], line.y[shown]
    k = line.colour % len(COLOURS)
    name = shortened(escaped(line.name), NAME) or None
    style: dict[str, Any] = {"color": COLOURS[k], "linestyle": LINES[k % len(LINES)], "label": name}
    style |= {"rasterized": x.size > MOST_VECTOR_MARKS and not line.joined, "markersize": 3.5}
    style |= {"marker": "o" if line.marks or _alone(y).any() else ""}
    style |= {} if line.joined else {"linestyle": "", "alpha": 0.7, "markeredgewidth": 0.0}
    if line.low is not None and line.high is not None:
        low, high = line.low[shown], line.high[shown]
        if line.marks:
            reach = np.nan_to_num(np.stack([y - low, high - y])).clip(0.0)
            axes.errorbar(x, y, yerr=reach, **style)
            return
        axes.fill_between(x, low, high, color=COLOURS[k], alpha=0.2, linewidth=0)
    axes.plot(x, y, **style)


def _alone(values: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which values have none beside them, so that no line shows them."""
    gap = np.isnan(np.concatenate([[np.nan], values, [np.nan]]))
    return np.asarray(gap[:-2] & ~gap[1:-1] & gap[2:])


def _draw_intervals(axes: Axes, chart: Intervals) -> None:
    """Draw means with their intervals, one below the other; grey where one holds 0."""
    if chart.zero:
        axes.axvline(0.0, color="0.6", linewidth=0.9, zorder=0)
    for y, row in enumerate(chart.rows):
        if not math.isfinite(row.mean):
            across = axes.get_yaxis_transform()
            axes.text(0.02, y, "undefined", transform=across, va="center", color=GREY)
            continue
        known = math.isfinite(row.low) and math.isfinite(row.high)
        ends = [[max(0.0, row.mean - row.low)], [max(0.0, row.high - row.mean)]] if known else None
        colour, face = (GOOD, GOOD) if chart.is_sure(row) else (GREY, "white")
        mark: dict[str, Any] = {"color": colour, "markerfacecolor": face, "markersize": 4.5}
        axes.errorbar([row.mean], [y], xerr=ends, fmt="o", **mark)
    names = [shortened(escaped(row.name), NAME) for row in chart.rows]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="x", color="0.9", linewidth=0.6)
    axes.locator_params(axis="x", nbins=4)
