"""The comparison of solvers: progress curves, what the runs came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.errors import InputError
from valmatch.kernels.arrays import Floats
from valmatch.optimization.studies.solver_comparison import bootstrapped
from valmatch.plots.optimization.reading import final_point, objective_label, reference_of
from valmatch.plots.parts.labels import label
from valmatch.plots.parts.source import RunFiles, damaged
from valmatch.plots.parts.style import COLOURS, GREY, LINES, head, new_figure
from valmatch.text.terminal import labelled

SHARES = {
    "called_feasible": "called feasible",
    "wrongly_called_feasible": "wrongly so",
    "within_10_percent": "within 10%",
    "within_5_percent": "within 5%",
}
NUMBERS = ("gap", "replications", "violation")


class Measure(NamedTuple):
    """A statistic over the runs of a solver with its bootstrap interval; NaN where it has none."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Measure:
        """Return what a summary says."""
        keys = ("value", "ci_low", "ci_high")
        return cls(*(np.nan if found[key] is None else float(found[key]) for key in keys))


class Progress(NamedTuple):
    """The runs of a solver over the replications spent."""

    spent: Floats  # (marks,): replications
    # (runs, marks): relative distance from the best objective, at most 1; 1 where the point is
    # infeasible
    gaps: Floats
    excess: Floats  # (runs, marks): by how much the worst bound is violated; NaN where undefined


def draw(run: RunFiles, summary: Mapping[str, Any]) -> Figure:
    """Draw ``progress.csv`` and the solvers of ``summary.json``."""
    progress = read_progress(run)
    with damaged(run.folder / "summary.json"):
        best = summary["solvers"]["best_known"]
        reference = reference_of(summary["solvers"])
        lines = {name: summary["solvers"][name] for name in progress}
        names = ("median_objective", "area_under_curve", *SHARES)
        measures = {
            name: {key: Measure.of(line[key]) for key in names} for name, line in lines.items()
        }
        runs = [int(line["runs"]) for line in lines.values()]
        count = f"{min(runs)}" if min(runs) == max(runs) else f"{min(runs)} to {max(runs)}"
    colours = dict(zip(progress, cycle(COLOURS), strict=False))
    figure = new_figure(10.0, 5.6 + 0.28 * len(progress))
    mosaic: Any = [["curves"] * 3, ["objective", "area", "shares"]]
    places = figure.subplot_mosaic(mosaic, height_ratios=[1.4, 1.0])
    _curves(places["curves"], progress, colours, best, reference)
    bounds = final_point(run, summary).bounds
    if best is None:
        unit = run.units.of_response(bounds[0].response) if len(bounds) == 1 else "its unit"
        label(places["curves"], y=labelled("excess over the worst bound", unit))

    def each(key: str) -> dict[str, list[tuple[Measure, str]]]:
        return {name: [(own[key], colours[name])] for name, own in measures.items()}

    _forest(places["objective"], each("median_objective"), 1.0)
    label(places["objective"], f"median {objective_label(run, bounds)}")
    if best is not None:
        places["objective"].axvline(best, color=GREY, linestyle=":")
        places["objective"].set_title(f"dotted: {reference}", fontsize=8, color=GREY)
    if all(np.isnan(own["median_objective"].value) for own in measures.values()):
        places["objective"].set_xticks([])
    _forest(places["area"], each("area_under_curve"), 100.0)
    places["area"].set_xlim(left=0.0)
    label(places["area"], "mean gap over the budget [%]")
    shares = {
        what: [(own[key], colours[name]) for name, own in measures.items()]
        for key, what in SHARES.items()
    }
    _forest(places["shares"], shares, 100.0)
    places["shares"].set(xlabel="share of the runs [%]", xlim=(-4.0, 104.0))
    facts = f"budget {run.fact('budget'):,}, {count} runs of each solver"
    head(figure, run.heading(facts), "means over runs with 95% bootstrap intervals")
    return figure


def read_progress(run: RunFiles) -> dict[str, Progress]:
    """Return the runs of each solver."""
    table = run.table("progress.csv", NUMBERS, ("solver", "macrorep"), infinite=True)
    if not len(table):
        raise InputError(f"{table.path}: holds no run")
    gap, spent, excess = table.numbers.values()
    gap = np.where(np.isnan(gap), 1.0, np.minimum(gap, 1.0))
    excess[~np.isfinite(excess)] = np.nan
    solvers, macroreps = map(np.array, table.texts.values())
    found = {}
    with damaged(table.path):
        for name in dict.fromkeys(solvers.tolist()):
            own = solvers == name
            numbers = dict.fromkeys(macroreps[own].tolist())
            rows = [own & (macroreps == number) for number in numbers]
            stacks = (np.stack([column[row] for row in rows]) for column in (gap, excess))
            found[name] = Progress(spent[rows[0]], *stacks)
    return found


def _curves(
    axes: Axes,
    progress: Mapping[str, Progress],
    colours: Mapping[str, str],
    best: float | None,
    reference: str,
) -> None:
    """Draw the mean gap of each solver with its band; the mean excess where there is no gap."""
    for (name, own), style in zip(progress.items(), cycle(LINES), strict=False):
        values = 100.0 * own.gaps if best is not None else own.excess
        bands = [_bootstrapped(column) for column in values.T]
        mean, low, high = np.array(bands).T
        axes.fill_between(own.spent, low, high, color=colours[name], alpha=0.2, linewidth=0)
        properties = {"color": colours[name], "linestyle": style, "label": name}
        axes.plot(own.spent, mean, marker="o", markersize=3, **properties)
    axes.set_xlabel("replications spent")
    axes.set_xlim(left=0.0)
    if best is None:
        title = "no run found a feasible point; of the point of least violation:"
        axes.set_ylim(bottom=0.0)
    else:
        title = "gap of the point that would be chosen (100% if infeasible)"
        axes.set_ylabel(f"gap to the\n{reference}, {best:g} [%]")
        axes.set_ylim(-2.0, 102.0)
    axes.set_title(title, loc="left", fontsize=8.5)
    axes.legend(ncols=2)


def _bootstrapped(values: Floats) -> Measure:
    """Return the mean over those runs that have a value."""
    values = values[~np.isnan(values)]
    return Measure.of(bootstrapped(np.mean, values)) if values.size else Measure(*[np.nan] * 3)


def _forest(axes: Axes, rows: Mapping[str, Sequence[tuple[Measure, str]]], scale: float) -> None:
    """Draw measures with intervals, several in a row below each other, each in its colour."""
    for k, measures in enumerate(rows.values()):
        for place, (measure, colour) in enumerate(measures):
            y = k + 0.6 * ((place + 0.5) / len(measures) - 0.5)
            if np.isnan(measure.value):
                across = axes.get_yaxis_transform()
                properties: dict[str, Any] = {"ha": "center", "va": "center", "color": GREY}
                axes.text(0.5, y, "none feasible", transform=across, fontsize=8, **properties)
                continue
            low, high = measure.value - measure.low, measure.high - measure.value
            ends = scale * np.nan_to_num([[low], [high]]).clip(0.0)
            axes.errorbar(
                [scale * measure.value], [y], xerr=ends, fmt="o", color=colour, markersize=5
            )
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set_ylim(len(rows) - 0.4, -0.6)
