"""The frontier of a sweep: the objective against the bound or weight that was swept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from valmatch.errors import InputError
from valmatch.plots.optimization.reading import (
    ANSWERS,
    FinalPoint,
    final_point,
    objective_label,
    on_what,
)
from valmatch.plots.parts.labels import label, legend_below
from valmatch.plots.parts.source import Mean, RunFiles, damaged
from valmatch.plots.parts.style import BAD, GOOD, GREY, MOST_VECTOR_MARKS, head, panels
from valmatch.text.terminal import labelled

MARKS = {"true": ("o", GOOD, GOOD), "undecided": ("s", GREY, "white"), "false": ("X", BAD, BAD)}
NAMES = {"true": "certified", "undecided": "undecided", "false": "not feasible"}
ON_A_LOG = {**NAMES, "true": "feasible on this log"}


def draw(run: RunFiles) -> Figure:
    """Draw objective and constrained responses over the values of a sweep."""
    name, values, found = read_frontier(run)
    first = found[0].bounds
    swept = next((bound for bound in first if bound.name == name), None)
    figure, grid = panels(1 + len(first), 1, width=6.5, height=3.0)
    label(grid[0], y=objective_label(run, first))
    _means(grid[0], values, [point.objective for point in found], found)
    for k, (axes, bound) in enumerate(zip(grid[1:], first, strict=True)):
        label(axes, y=run.units.response(bound.response))
        limits = [point.bounds[k].bound for point in found]
        axes.plot(values, limits, color="black", linewidth=1.0, linestyle=(0, (4, 2)))
        axes.set_title(f"dashed: bound ({bound.sense})", loc="right", fontsize=8.5)
        _means(axes, values, [point.bounds[k].found for point in found], found)
    unit = run.units.of_response(swept.response) if swept else ""
    what = f"{name}: bound on {swept.response}" if swept else f"{name}: weight"
    for axes in grid:
        label(axes, labelled(what, unit))
    legend_below(figure, *grid[0].get_legend_handles_labels())
    facts = f"solver {run.manifest.get('solver')}, budget {run.fact('budget'):,}"
    head(figure, run.heading(facts), on_what([point.objective for point in found]))
    return figure


def read_frontier(run: RunFiles) -> tuple[str, NDArray[np.float64], list[FinalPoint]]:
    """Return what was swept, its values, and what was found for each."""
    summary = run.json("summary.json")
    with damaged(run.folder / "summary.json"):
        name, points = str(summary["sweep"]), list(summary["frontier"])
        values = np.array([float(point[name]) for point in points])
    if not points:
        why = f" ({run.remark})" if run.remark else ""
        raise InputError(f"{run.folder / 'summary.json'}: no value was solved for{why}")
    return name, values, [final_point(run, point) for point in points]


def _means(
    axes: Axes,
    values: NDArray[np.float64],
    means: Sequence[Mean],
    found: Sequence[FinalPoint],
) -> None:
    """Draw means with intervals, with a mark that says whether the point is certified."""
    mean = np.array([value.mean for value in means])
    half = np.array([value.high - value.mean for value in means])
    names = ON_A_LOG if np.isnan(half).all() else NAMES
    axes.plot(values, mean, color=GREY, linewidth=0.9)
    for answer in ANSWERS:
        own = np.array([point.feasible == answer for point in found])
        marker, colour, face = MARKS[answer]
        if own.any():
            axes.errorbar(
                values[own],
                mean[own],
                yerr=np.nan_to_num(half[own]),
                fmt=marker,
                color=colour,
                markerfacecolor=face,
                markersize=6,
                label=names[answer],
                rasterized=values.size > MOST_VECTOR_MARKS,
            )
