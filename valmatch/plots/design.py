"""Means of each response at the points of a design, against the factors that vary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from valmatch.errors import InputError
from valmatch.kernels.arrays import Floats, Ints
from valmatch.plots.parts.labels import entitle, label, legend_below
from valmatch.plots.parts.pages import MOST_ROWS, by_division, named, numbered, pages_of
from valmatch.plots.parts.source import FileTable, RunFiles, damaged
from valmatch.plots.parts.style import (
    COLOURS,
    GOOD,
    GREY,
    LINES,
    MOST_VECTOR_MARKS,
    head,
    new_figure,
    panels,
)

ESTIMATE = ("n", "undefined", "mean", "ci_low", "ci_high")
MOST_LINES = 8
MOST_TICKS = 5
COLUMNS, MOST_COLUMNS = 3, 6
"""Panels beside each other: of a response each, and of several."""
MOST_BARS = 2000  # intervals in a figure beyond which an SVG file holds a picture of them
PANEL = 3.2
MAP = "cividis"


class Factor(NamedTuple):
    """A factor that varies."""

    name: str  # column of ``design.csv``
    values: Floats  # its value in each row; the index into `names` where it is no number
    names: Sequence[str]  # the values in words, in order of appearance; [] where they are numbers

    @property
    def levels(self) -> Floats:
        """The different values."""
        return np.unique(self.values)

    def shown(self, level: float) -> str:
        """Return a value in words."""
        return self.names[int(level)] if self.names else f"{level:g}"


class Means(NamedTuple):
    """The means of ``design.csv``, row by row."""

    factors: Sequence[Factor]  # those that vary
    rows: dict[str, Ints]  # rows of each response
    # n, undefined: replications in which the response is defined, and in which it is not
    n: Floats
    undefined: Floats
    # mean, low, high: of the response, with its interval; NaN where undefined
    mean: Floats
    low: Floats
    high: Floats


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``design.csv``, a row of panels for each response where several factors vary.

    Responses of bands, hours and weekdays are in further figures, as are those that have no room.
    """
    table, swept = _read(run)
    means = _means_of(run, table, swept)
    points = len(set(table.texts["point"]))
    confidence = table.numbers["confidence"][0]
    fact = f"{points:,} point{'s' * (points != 1)}, means with {confidence:.0%} intervals"
    if len(means.factors) < 3:
        drawer, beside = _first_factor, COLUMNS
    elif _is_grid(means, points):
        drawer, beside = _small_multiples, _blocks(means)
    else:
        drawer, beside = _every_factor, 1
    figures: dict[str, Figure] = {}
    for division, own in by_division(list(means.rows), run.units.responses).items():
        drawn = []
        for page in pages_of(own, beside * MOST_ROWS):
            shown = means._replace(rows={name: means.rows[name] for name in page})
            drawn.append(drawer(run, shown))
            head(drawn[-1], run.heading(fact))
        figures |= numbered(named("design", division), drawn)
    return figures


def _read(run: RunFiles) -> tuple[FileTable, list[str]]:
    """Return ``design.csv`` with the names of its factors."""
    header, path = run.header("design.csv"), run.folder / "design.csv"
    with damaged(path):
        swept = header[header.index("config_id") + 1 : header.index("response")]
    if not swept:
        raise InputError(f"{path}: damaged: no factor stands between config_id and response")
    table = run.table("design.csv", (*ESTIMATE, "confidence"), ("point", "response", *swept))
    if not len(table):
        raise InputError(f"{path}: holds no points")
    return table, swept


def _means_of(run: RunFiles, table: FileTable, swept: Sequence[str]) -> Means:
    """Return the means by response, with the factors; of the chosen responses if any are."""
    rows: dict[str, list[int]] = {}
    for row, response in enumerate(table.texts["response"]):
        rows.setdefault(response, []).append(row)
    return Means(
        [_factor(table, name) for name in swept],
        {response: np.array(rows[response]) for response in run.choice(rows)},
        *(table.numbers[name] for name in ESTIMATE),
    )


def _factor(table: FileTable, name: str) -> Factor:
    cells = table.texts[name]
    try:
        return Factor(name, np.array([float(cell) for cell in cells]), [])
    except ValueError:
        known = list(dict.fromkeys(cells))
        return Factor(name, np.array([float(known.index(cell)) for cell in cells]), known)


# ---- one or two factors ----


def _first_factor(run: RunFiles, means: Means) -> Figure:
    """Draw each response against the first factor; the second one gives lines or colours."""
    figure, grid = panels(len(means.rows), COLUMNS, width=PANEL, height=2.5, free=True)
    first, *rest = means.factors
    points = max(rows.size for rows in means.rows.values())
    # Of a space-filling design every point has a value of its own.
    coloured = bool(rest) and rest[0].levels.size >= min(points, MOST_LINES + 1)
    for axes, (response, rows) in zip(grid, means.rows.items(), strict=True):
        label(axes, y=run.units.response(response))
        if coloured:
            _means(axes, first, means, rows, color="0.75", linestyle="")
            _dots(axes, first, rest[0], means, rows)
        else:
            _lines(axes, means, rows)
        _x_axis(axes, run, first)
        _undefined(axes, means, rows)
    if coloured:
        _colour_bar(figure, grid, run, rest[0])
    elif rest:
        _legend(figure, grid, run.units.factor(rest[0].name))
    return figure


def _legend(figure: Figure, grid: Sequence[Axes], title: str) -> None:
    """Say below all panels what the lines are."""
    drawn = next((axes for axes in grid if axes.lines), None)
    if drawn is not None:
        legend_below(figure, *drawn.get_legend_handles_labels(), title=title)


def _colour_bar(figure: Figure, grid: Sequence[Axes], run: RunFiles, factor: Factor) -> None:
    """Say below all panels what the colours are."""
    marks = ScalarMappable(Normalize(factor.levels[0], factor.levels[-1]), MAP)
    bar = figure.colorbar(marks, ax=grid, location="bottom", aspect=60, pad=0.02)
    bar.set_label(run.units.factor(factor.name))
    _name_ticks(bar.ax, factor)


def _lines(axes: Axes, means: Means, rows: Ints) -> None:
    """Draw a line with intervals, or one for each value of the second factor."""
    if len(means.factors) == 1:
        _means(axes, means.factors[0], means, rows, color=GOOD)
        return
    first, second, *_ = means.factors
    for k, level in enumerate(second.levels.tolist()):
        own = rows[second.values[rows] == level]
        properties = {"color": COLOURS[k], "linestyle": LINES[k % len(LINES)]}
        _means(axes, first, means, own, label=second.shown(level), **properties)


def _means(axes: Axes, factor: Factor, means: Means, rows: Ints, **properties: Any) -> None:  # noqa: ANN401
    """Draw means with intervals in the order of a factor."""
    own = rows[np.argsort(factor.values[rows], kind="stable")]
    mean = means.mean[own]
    below, above = mean - means.low[own], means.high[own] - mean
    axes.errorbar(
        factor.values[own],
        mean,
        yerr=np.nan_to_num(np.stack([below, above])).clip(0.0),
        marker="o",
        markersize=3.5,
        linewidth=1.1,
        rasterized=means.mean.size * len(means.factors) > MOST_BARS,
        **properties,
    )


def _dots(axes: Axes, first: Factor, second: Factor, means: Means, rows: Ints) -> None:
    """Draw means coloured by the second factor."""
    axes.scatter(
        first.values[rows],
        means.mean[rows],
        c=second.values[rows],
        s=22,
        cmap=MAP,
        vmin=second.levels[0],
        vmax=second.levels[-1],
        zorder=3,
        rasterized=rows.size > MOST_VECTOR_MARKS,
    )


# ---- three factors on a grid ----


def _is_grid(means: Means, points: int) -> bool:
    """Return whether there are three factors all of whose values meet, few enough to be told."""
    sizes = sorted(factor.levels.size for factor in means.factors)
    few = len(sizes) == 3 and sizes[0] <= MOST_COLUMNS and sizes[1] <= MOST_LINES
    return few and points == math.prod(sizes)


def _blocks(means: Means) -> int:
    """Return how many responses have room beside each other on a grid of three factors."""
    return max(1, MOST_COLUMNS // min(factor.levels.size for factor in means.factors))


def _small_multiples(run: RunFiles, means: Means) -> Figure:
    """Draw each response (down) at each value of the factor of the fewest values (across).

    The factor of the most values goes along the axis, that between gives the lines.
    """
    order = sorted(means.factors, key=lambda factor: (-factor.levels.size, bool(factor.names)))
    means = means._replace(factors=order)
    first, second, third = order
    across, responses = third.levels.size, list(means.rows.items())
    blocks = min(len(responses), _blocks(means))
    rows = math.ceil(len(responses) / blocks)
    figure = new_figure(max(6.0, 0.8 + 2.2 * blocks * across), 1.3 + 2.0 * rows)
    grid = figure.subplots(rows, blocks * across, sharex=True, squeeze=False)
    for k, (response, own) in enumerate(responses):
        left = k % blocks * across
        line = grid[k // blocks, left : left + across].tolist()
        _multiples(line, means, own)
        label(line[0], y=run.units.response(response))
        if k < blocks:
            for axes, level in zip(line, third.levels.tolist(), strict=True):
                what = f"{third.name.removeprefix('factors.')} = {third.shown(level)}"
                # What is said in the middle would stand in the same place.
                entitle(axes, "\n".join(filter(None, (what, axes.get_title()))))
        if k + blocks >= len(responses):
            for axes in line:
                axes.tick_params(labelbottom=True)
                _x_axis(axes, run, first)
    for empty in grid.ravel()[len(responses) * across :]:
        empty.remove()
    _legend(figure, grid.ravel().tolist(), run.units.factor(second.name))
    return figure


def _multiples(line: Sequence[Axes], means: Means, rows: Ints) -> None:
    """Draw a response at each value of the last factor, on one scale."""
    third = means.factors[-1]
    for axes, level in zip(line, third.levels.tolist(), strict=True):
        own = rows[third.values[rows] == level]
        _lines(axes, means, own)
        _undefined(axes, means, own)
        if axes is not line[0]:
            axes.sharey(line[0])
            axes.tick_params(labelleft=False)


# ---- more factors ----


def _every_factor(run: RunFiles, means: Means) -> Figure:
    """Draw each response (down) against each factor (across)."""
    down, across = len(means.rows), len(means.factors)
    figure = new_figure(1.0 + 2.2 * across, 0.8 + 1.5 * down)
    grid = figure.subplots(down, across, sharex="col", sharey="row", squeeze=False)
    for line, (response, rows) in zip(grid, means.rows.items(), strict=True):
        label(line[0], y=run.units.response(response))
        for axes, factor in zip(line, means.factors, strict=True):
            _means(axes, factor, means, rows, color=GOOD, linestyle="")
            _undefined(axes, means, rows)
    for axes, factor in zip(grid[-1], means.factors, strict=True):
        _x_axis(axes, run, factor)
    return figure


def _undefined(axes: Axes, means: Means, rows: Ints) -> None:
    """Say in how many replications a response is undefined."""
    undefined = int(np.nansum(means.undefined[rows]))
    if undefined:
        of = undefined + int(np.nansum(means.n[rows]))
        entitle(axes, f"undefined in {undefined:,} of {of:,}", color=GREY)


def _x_axis(axes: Axes, run: RunFiles, factor: Factor) -> None:
    """Label the axis of a factor, over all its values though means may be undefined."""
    label(axes, run.units.factor(factor.name))
    low, high = factor.levels[0], factor.levels[-1]
    margin = 0.06 * (high - low) or 0.5
    axes.set_xlim(low - margin, high + margin)
    _name_ticks(axes, factor)
    if not factor.names and factor.levels.size <= MOST_TICKS:
        apart = float(np.diff(factor.levels).min(initial=high - low))
        if apart >= (high - low) / MOST_TICKS:
            axes.set_xticks(factor.levels, [f"{level:g}" for level in factor.levels])


def _name_ticks(axes: Axes, factor: Factor) -> None:
    """Write the values in words that stand for numbers."""
    if factor.names:
        axes.set_xticks(range(len(factor.names)), factor.names)
