"""The Pareto front: each two objectives against each other."""

from __future__ import annotations

from itertools import combinations

from matplotlib.figure import Figure

from valmatch.errors import InputError
from valmatch.plots.labels import label
from valmatch.plots.optimized import on_what
from valmatch.plots.source import Mean, RunFiles, damaged
from valmatch.plots.style import BAD, GOOD, head, panels


def draw(run: RunFiles) -> Figure:
    """Draw the points of a front with their intervals, a panel for each two objectives.

    Raises
    ------
    InputError
        If a file is missing or damaged, or if no point was certified.
    """
    responses, points = read_front(run)
    pairs = list(combinations(responses, 2))
    figure, grid = panels(len(pairs), 3, width=5.0, height=3.8, free=True)
    for axes, (first, second) in zip(grid, pairs, strict=True):
        x, y = ([one[name] for one in points] for name in (first, second))
        axes.errorbar(
            [one.mean for one in x],
            [one.mean for one in y],
            xerr=[[one.mean - one.low for one in x], [one.high - one.mean for one in x]],
            yerr=[[one.mean - one.low for one in y], [one.high - one.mean for one in y]],
            fmt="o",
            color=GOOD,
            ecolor=BAD,
            elinewidth=0.8,
            markersize=4,
        )
        label(axes, run.units.response(responses[first]), run.units.response(responses[second]))
    facts = f"budget {run.fact('budget'):,}, front of {len(points)} rules"
    head(figure, run.heading(facts), on_what([one for point in points for one in point.values()]))
    return figure


def read_front(run: RunFiles) -> tuple[dict[str, str], list[dict[str, Mean]]]:
    """Return the responses of the objectives by their names, and the means at each point.

    Raises
    ------
    InputError
        If ``summary.json`` is missing or damaged, or if no point was certified.
    """
    summary = run.json("summary.json")
    with damaged(run.folder / "summary.json"):
        responses = {name: str(one["response"]) for name, one in summary["objectives"].items()}
        points = [
            {name: Mean.of(point["objectives"][name]) for name in responses}
            for point in summary["front"]
        ]
    if not points:
        why = f" ({run.remark})" if run.remark else ""
        raise InputError(f"{run.folder / 'summary.json'}: no point was certified{why}")
    return responses, points
