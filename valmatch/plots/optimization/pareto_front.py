"""The Pareto front: each two objectives against each other."""

from __future__ import annotations

from itertools import combinations

from matplotlib.figure import Figure

from valmatch.errors import InputError
from valmatch.plots.optimization.reading import on_what
from valmatch.plots.parts.labels import label
from valmatch.plots.parts.source import Mean, RunFiles, damaged
from valmatch.plots.parts.style import BAD, GOOD, head, panels


def draw(run: RunFiles) -> Figure:
    """Draw the points of a front with their intervals, a panel for each two objectives."""
    responses, points = read_front(run)
    pairs = list(combinations(responses, 2))
    figure, grid = panels(len(pairs), 3, width=5.0, height=3.8, free=True)
    for axes, (first, second) in zip(grid, pairs, strict=True):
        x, y = ([point[name] for point in points] for name in (first, second))
        axes.errorbar(
            [mean.mean for mean in x],
            [mean.mean for mean in y],
            xerr=[[mean.mean - mean.low for mean in x], [mean.high - mean.mean for mean in x]],
            yerr=[[mean.mean - mean.low for mean in y], [mean.high - mean.mean for mean in y]],
            fmt="o",
            color=GOOD,
            ecolor=BAD,
            elinewidth=0.8,
            markersize=4,
        )
        label(axes, run.units.response(responses[first]), run.units.response(responses[second]))
    facts = f"budget {run.fact('budget'):,}, rules on the front: {len(points)}"
    head(figure, run.heading(facts), on_what([mean for point in points for mean in point.values()]))
    return figure


def read_front(run: RunFiles) -> tuple[dict[str, str], list[dict[str, Mean]]]:
    """Return the responses of the objectives by their names, and the means at each point."""
    summary = run.json("summary.json")
    with damaged(run.folder / "summary.json"):
        responses = {
            name: str(objective["response"]) for name, objective in summary["objectives"].items()
        }
        points = [
            {name: Mean.of(point["objectives"][name]) for name in responses}
            for point in summary["front"]
        ]
    if not points:
        why = f" ({run.remark})" if run.remark else ""
        raise InputError(f"{run.folder / 'summary.json'}: no point was certified{why}")
    return responses, points
