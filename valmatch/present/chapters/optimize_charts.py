"""Charts of optimisations: the search, sweeps, fronts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from valmatch.present.document import Chart, Graph, Line, estimate_of, value_in_words
from valmatch.present.sheets import SweptPoint, sure_of
from valmatch.present.source import RunFiles
from valmatch.statistics.estimates import Estimate
from valmatch.storage.contents import MANIFEST
from valmatch.storage.result_files import damaged
from valmatch.text.terminal import labelled

CANDIDATES, PROGRESS = "candidates.csv", "progress.csv"

NOTE = (
    "Objectives while the search went on are of few replications each; the final test is of"
    " fresh ones."
)

MOST = 100_000  # most rows of a file that are read


def unit_of_objective(run: RunFiles) -> str:
    """Return the unit that all terms of the objective have, "" where they differ."""
    with damaged(run.folder / MANIFEST):
        section: dict[str, Any] = run.manifest.get("optimize") or {}
        terms = (section.get("objective") or {}).values()
        units = {run.units.of_response(term["response"]) for term in terms}
    return units.pop() if len(units) == 1 else ""


def study_charts(run: RunFiles, given: Mapping[str, Any], unit: str) -> list[Chart]:
    """Return charts of how the searches went."""
    label = labelled("objective", unit)
    drawn: list[Chart] = []
    if (run.folder / PROGRESS).exists():
        drawn.append(_progress(run, label))
    if (run.folder / CANDIDATES).exists():
        names = [name for name in ("objective", *_bounds(given)) if name]
        drawn += _candidates(run, given, names, label)
    return drawn


def _bounds(given: Mapping[str, Any]) -> list[str]:
    best = given.get("recommended") or given.get("least_violation") or {}
    return list(best.get("constraints", ()))


def _progress(run: RunFiles, label: str) -> Graph:
    """Return the median objective of the runs of each solver over the replications spent."""
    columns = ("replications", "objective", "violation")
    table = run.table(PROGRESS, columns, ("solver",), infinite=True, most=MOST)
    solvers = np.array(table.texts["solver"])
    spent = table.numbers["replications"]
    objective = np.where(table.numbers["violation"] > 0.0, np.nan, table.numbers["objective"])
    lines = []
    for k, solver in enumerate(dict.fromkeys(table.texts["solver"])):
        own = solvers == solver
        xs = np.unique(spent[own])
        ys = np.array([_median(objective[own & (spent == x)]) for x in xs.tolist()])
        lines.append(Line(solver, xs, ys, colour=k))
    title = f"{label}: median of the runs, judged afresh"
    return Graph(title, "replications spent", "", lines)


def _median(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Return the median of objectives; NaN where half of the runs have no feasible point yet."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if 2 * known.size > values.size else float("nan")


def _candidates(
    run: RunFiles, given: Mapping[str, Any], names: Sequence[str], label: str
) -> list[Chart]:
    """Return the points of the searches: each variable against the objective."""
    best = given.get("recommended") or given.get("least_violation")
    if not best:
        return []
    variables = list(best["point"])
    table = run.table(CANDIDATES, (*variables, *names), ("stage",), most=MOST)
    searched = np.array([stage == "search" for stage in table.texts["stage"]], dtype=bool)
    numbers = {name: values[searched] for name, values in table.numbers.items()}
    keeps = np.isfinite(numbers["objective"])
    for name, bound in best["constraints"].items():
        sign = 1.0 if bound["sense"] == "<=" else -1.0
        keeps &= sign * (numbers[name] - float(bound["bound"])) <= 0.0
    charts: list[Chart] = []
    for name in variables[:6]:
        lines = []
        kinds = ((keeps, "keeps to bounds", 0), (~keeps, "breaks a bound", 1))
        for own, what, colour in kinds:
            xs, ys = numbers[name][own], numbers["objective"][own]
            lines.append(Line(what, xs, ys, marks=True, joined=False, colour=colour))
        point = np.array([float(best["point"][name])])
        mean = estimate_of(best["objective"])
        value = np.array([np.nan if mean.mean is None else mean.mean])
        said = [f"the point found: {point[0]:.4g}: {value_in_words(mean)}"]
        lines.append(Line("the point found", point, value, None, None, True, False, 2, said))
        charts.append(Graph(f"{label} by {name}", run.units.factor(name), "", lines))
    return charts


def sweep_chart(name: str, found: Sequence[SweptPoint], unit: str) -> Graph:
    """Return the objective over the values of a sweep; points without certificate apart."""
    lines = []
    certified = [one for one in found if one.feasible is True]
    others = [one for one in found if one.feasible is not True]
    sure = sure_of(one.objective for one in found)
    for own, what, colour in ((certified, sure, 0), (others, f"not {sure}", 1)):
        if own:
            xs = np.array([one.value for one in own])
            means = [one.objective for one in own]
            joined = colour == 0
            said = [f"{one.value:g}: {value_in_words(one.objective)}" for one in own]
            lines.append(Line(what, xs, *_columns(means), True, joined, colour, said))
    return Graph(f"Best {labelled('objective', unit)} by {name}", name, "", lines)


def _columns(
    means: Sequence[Estimate],
) -> tuple[
    np.ndarray[tuple[int], np.dtype[np.float64]],
    np.ndarray[tuple[int], np.dtype[np.float64]],
    np.ndarray[tuple[int], np.dtype[np.float64]],
]:
    """Return means and the ends of their intervals as arrays."""
    rows = [(one.mean, one.ci_low, one.ci_high) for one in means]
    values = np.array([[np.nan if x is None else x for x in row] for row in rows])
    return values[:, 0], values[:, 1], values[:, 2]


def front_charts(
    run: RunFiles, names: Sequence[str], points: Sequence[Mapping[str, Estimate]]
) -> list[Chart]:
    """Return a chart of each two objectives."""
    charts: list[Chart] = []
    for one, other in combinations(names, 2):
        order = sorted(points, key=lambda means: means[one].mean or 0.0)
        xs, _, _ = _columns([means[one] for means in order])
        said = [
            f"{one} {value_in_words(means[one])}, {other} {value_in_words(means[other])}"
            for means in order
        ]
        joined = len(names) == 2
        ends = _columns([means[other] for means in order])
        line = Line("", xs, *ends, True, joined, 0, said)
        label = run.units.response(other)
        charts.append(Graph(f"{label} against {one}", run.units.response(one), "", [line]))
    return charts
