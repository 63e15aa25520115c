"""The search of one run: what it evaluated and what it would have chosen when."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats
from valmatch.optimization.solver_run import RUN, STAGE
from valmatch.plots.optimization.reading import (
    Candidates,
    FinalPoint,
    draw_points,
    objective_label,
    points_of,
    read_candidates,
    verdict,
)
from valmatch.plots.parts.labels import label, legend_below
from valmatch.plots.parts.source import Mean, RunFiles
from valmatch.plots.parts.style import BAD, head, panels, spread_out


class SearchHistory(NamedTuple):
    """A search over the replications spent."""

    candidates: Candidates  # the points
    spent: Floats  # (n,): replications spent when the last one of each point was made
    changed: Floats  # replications spent when the incumbent changed
    incumbents: NDArray[np.int64]  # its row in `candidates` then; -1 where it was not evaluated
    total: int  # replications spent in all


def draw(run: RunFiles, found: FinalPoint) -> Figure:
    """Draw objective and constrained responses of the points over the replications spent."""
    search = read_search(run, found)
    figure, grid = panels(1 + len(found.bounds), 1, width=8.0, height=2.6)
    points = search.candidates
    label(grid[0], y=objective_label(run, found.bounds))
    _panel(grid[0], search, points.objective, found.objective, found)
    for axes, bound in zip(grid[1:], found.bounds, strict=True):
        axes.axhline(bound.bound, color="black", linewidth=1.0, linestyle=(0, (4, 2)))
        label(axes, y=run.units.response(bound.response))
        axes.set_title(f"dashed: bound {bound.sense} {bound.bound:g}", loc="right", fontsize=8.5)
        _panel(axes, search, points.bounded[bound.name], bound.found, found)
    grid[-1].set_xlabel("points evaluated on this log" if found.of_log else "replications spent")
    legend_below(figure, *grid[0].get_legend_handles_labels())
    figure.set_figheight(figure.get_figheight() + 0.2)
    head(figure, run.heading(f"solver {run.manifest.get('solver')}"), verdict(found), lines=4)
    return figure


def read_search(run: RunFiles, found: FinalPoint) -> SearchHistory:
    """Return what the files of one run hold."""
    candidates = read_candidates(run, found)
    row_of = {tuple(point): row for row, point in enumerate(candidates.points.tolist())}
    table = run.table("evaluations.csv", (*found.point, "replication"))
    stages = table.numbers["replication"] % RUN // STAGE
    spent = np.full(len(candidates.points), np.nan)
    for order, (point, stage) in enumerate(
        zip(points_of(table, found).tolist(), stages.tolist(), strict=True), 1
    ):
        if stage == 0 and tuple(point) in row_of:
            spent[row_of[tuple(point)]] = order
    trajectory = run.table("trajectory.csv", ("replications", *found.point))
    # The last row is the point that the search came to, after its certification.
    changed = trajectory.numbers["replications"]
    incumbents = [row_of.get(tuple(p), -1) for p in points_of(trajectory, found).tolist()]
    total = int(changed[-1]) if changed.size else len(table)
    return SearchHistory(
        candidates, spent, changed[:-1], np.array(incumbents[:-1], np.int64), total
    )


def _panel(
    axes: Axes, search: SearchHistory, means: Floats, final: Mean, found: FinalPoint
) -> None:
    """Draw a mean of each point, of the incumbents and of the point that the search came to."""
    draw_points(axes, search.spent, means, search.candidates.feasible)
    end = float(np.nanmax(np.append(search.spent, 0.0)))
    known = search.incumbents >= 0
    if known.any():
        at = np.append(search.changed[known], end)
        height = means[search.incumbents[known]]
        height = np.append(height, height[-1])
        axes.step(at, height, where="post", color="black", linewidth=1.2, label="incumbent")
    if search.total > end:
        axes.axvspan(end, search.total, color="0.93", linewidth=0, label="certification")
    half = final.high - final.mean
    axes.errorbar(
        [search.total],
        [final.mean],
        yerr=None if np.isnan(half) else [half],
        fmt="*",
        markersize=11,
        color="black",
        markeredgecolor="white",
        label=f"{found.role}, on {'this log' if found.of_log else 'fresh replications'}",
    )
    axes.set_xlim(-0.02 * search.total, 1.02 * search.total)
    undefined = int(np.isnan(means).sum())
    if undefined:
        text = f"undefined at {undefined:,} of {means.size:,} points"
        axes.set_title(text, loc="left", fontsize=8.5, color=BAD)
    spread_out(axes, "y", np.append(means, final.mean))
