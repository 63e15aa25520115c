"""The points of an optimisation, projected on each variable."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from valmatch.plots.optimization.reading import (
    FinalPoint,
    draw_points,
    objective_label,
    read_candidates,
    verdict,
)
from valmatch.plots.parts.labels import label, legend_below
from valmatch.plots.parts.source import RunFiles
from valmatch.plots.parts.style import head, new_figure, spread_out

LEAST_WIDTH = 6.0  # inches that the words above the panels need


def draw(run: RunFiles, found: FinalPoint) -> Figure:
    """Draw objective and constrained responses (down) against each variable (across)."""
    candidates = read_candidates(run, found)
    rows = [
        (objective_label(run, found.bounds), candidates.objective, found.objective.mean),
        *(
            (run.units.response(bound.response), candidates.bounded[bound.name], bound.found.mean)
            for bound in found.bounds
        ),
    ]
    down, across = len(rows), len(found.point)
    figure = new_figure(max(LEAST_WIDTH, 1.2 + 2.3 * across), 1.3 + 2.2 * down)
    grid = figure.subplots(down, across, sharex="col", sharey="row", squeeze=False)
    for line, (what, means, final) in zip(grid, rows, strict=True):
        label(line[0], y=what)
        spread_out(line[0], "y", np.append(means, final))
        for axes, values, best in zip(line, candidates.points.T, found.point.values(), strict=True):
            draw_points(axes, values, means, candidates.feasible)
            axes.axvline(best, color="black", linewidth=0.8, linestyle=":")
            star = {"markersize": 12, "color": "black", "markeredgecolor": "white"}
            axes.plot([best], [final], "*", label=found.role, **star)
    for line, bound in zip(grid[1:], found.bounds, strict=True):
        text = f"dashed: bound {bound.sense} {bound.bound:g}"
        line[-1].set_title(text, loc="right", fontsize=8.5)
        for axes in line:
            axes.axhline(bound.bound, color="black", linewidth=0.9, linestyle=(0, (4, 2)))
    for axes, name, values in zip(grid[-1], found.point, candidates.points.T, strict=True):
        label(axes, run.units.factor(name))
        spread_out(axes, "x", values)
    legend_below(figure, *grid[0, 0].get_legend_handles_labels())
    head(figure, run.heading(f"solver {run.manifest.get('solver')}"), verdict(found))
    return figure
