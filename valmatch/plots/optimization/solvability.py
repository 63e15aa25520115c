"""Progress curves and solvability profiles as the papers of SimOpt define them.

Eckman, Henderson & Shashaani (2023), "Diagnostic tools for evaluating and comparing
simulation-optimization algorithms", INFORMS Journal on Computing 35: the progress curve of a run is
its optimality gap over the budget in units of the gap of the starting solution,
|f(x) - f(x*)| / |f(x_0) - f(x*)|; a run is alpha-solved at the first time at which that is at most
alpha; the profile is the share of the runs that are. x* is the best known solution, or else the
best of the experiment. The papers have no infeasible points: here their gap counts as 1, and where
the start is one, gaps are in units of the best known objective.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.kernels.arrays import Floats
from valmatch.optimization.studies.solver_comparison import bootstrapped
from valmatch.plots.optimization.reading import reference_of
from valmatch.plots.parts.labels import label
from valmatch.plots.parts.source import RunFiles, damaged
from valmatch.plots.parts.style import COLOURS, LINES, head, panels

ALPHAS = (0.01, 0.05, 0.10)  # shares of the initial gap at which a run counts as solved


def draw(run: RunFiles, summary: Mapping[str, Any]) -> Figure | None:
    """Draw mean progress curves and the profiles of `ALPHAS`.

    None where no feasible point is known.
    """
    with damaged(run.folder / "summary.json"):
        best = summary["solvers"]["best_known"]
        reference = reference_of(summary["solvers"])
        start = summary["solvers"].get("start_objective")  # former releases did not judge it
        if not best:
            return None
        scale = abs(best) if start in (None, best) else abs(start - best)
        unit = f"the {reference}" if start in (None, best) else "that of the start"
        solvers = read_progress_curves(run, float(best), float(scale))
    figure, grid = panels(1 + len(ALPHAS), 2, width=5.2, height=3.0)
    first, *others = grid
    looks = zip(solvers.items(), cycle(COLOURS), cycle(LINES), strict=False)
    for (name, (spent, curves)), colour, style in looks:
        properties = {"color": colour, "linestyle": style}
        _line(first, spent, curves, name, properties)
        solved = np.minimum.accumulate(curves, axis=1)
        for axes, alpha in zip(others, ALPHAS, strict=True):
            _line(axes, spent, np.where(solved <= alpha, 100.0, 0.0), name, properties)
    label(first, y=f"gap, as a share of {unit}")
    first.set_title("mean progress curve", loc="left", fontsize=8.5)
    first.set_ylim(-0.02, 1.02)
    for axes, alpha in zip(others, ALPHAS, strict=True):
        title = f"{alpha:.0%}-solved: gap of at most {alpha:.0%} of {unit}"
        axes.set_title(title, loc="left", fontsize=8.5)
        label(axes, y="share of the runs [%]")
        axes.set_ylim(-2.0, 102.0)
    for axes in grid:
        axes.set_xlabel("replications spent")
        axes.set_xlim(left=0.0)
    first.legend()
    head(
        figure,
        run.heading(f"budget {run.fact('budget'):,}"),
        f"{reference} {best:.6g}; means over runs with 95% bootstrap intervals",
    )
    return figure


def read_progress_curves(
    run: RunFiles, best: float, scale: float
) -> dict[str, tuple[Floats, Floats]]:
    """Return the marks of each solver and the progress curves of its runs: (runs, marks), <= 1."""
    names = ("replications", "objective", "violation")
    table = run.table("progress.csv", names, ("solver", "macrorep"), infinite=True)
    spent, objective, violation = (table.numbers[name] for name in names)
    gap = np.minimum(1.0, np.abs(objective - best) / scale)
    gap[~(violation <= 0.0) | np.isnan(gap)] = 1.0
    solvers, macroreps = (np.array(table.texts[name]) for name in ("solver", "macrorep"))
    found = {}
    with damaged(table.path):
        for name in dict.fromkeys(solvers.tolist()):
            own = solvers == name
            rows = [
                own & (macroreps == macrorep) for macrorep in dict.fromkeys(macroreps[own].tolist())
            ]
            found[name] = spent[rows[0]], np.stack([gap[row] for row in rows])
    return found


def _line(
    axes: Axes, spent: Floats, values: Floats, name: str, properties: Mapping[str, Any]
) -> None:
    """Draw the mean over runs with its band."""
    bands = [bootstrapped(np.mean, column) for column in values.T]
    mean, low, high = (
        np.array([band[key] for band in bands], np.float64)
        for key in ("value", "ci_low", "ci_high")
    )
    axes.fill_between(spent, low, high, color=properties["color"], alpha=0.2, linewidth=0)
    axes.plot(spent, mean, label=name, **properties)
