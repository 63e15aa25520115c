"""Chapters on sweeps and Pareto fronts of `optimize`: several points instead of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from valmatch.plots.parts.source import RunFiles
from valmatch.plots.report.chapters import optimize_charts as charts
from valmatch.plots.report.document import Block, Chapter, titled
from valmatch.plots.report.origin import run_name
from valmatch.plots.report.problems import (
    feasible_of,
    objective_in_words,
    problem_in_words,
    verdict_point,
)
from valmatch.plots.report.words import (
    after,
    confidence_in_words,
    counted,
    estimate_of,
    joined,
    value_in_words,
)
from valmatch.plots.sheets.optimization import (
    SweptPoint,
    front_sheet,
    slopes_sheet,
    sure_of,
    sweep_sheet,
)


def sweep_chapter(run: RunFiles, given: Mapping[str, Any]) -> Chapter:
    """Return the chapter on a sweep of a bound or a weight."""
    name, unit = given["sweep"], charts.unit_of_objective(run)
    values = [float(one[name]) for one in given["frontier"]]
    span = f"{min(values):g} to {max(values):g}" if values else "several bounds"
    asked = f"What does {name} cost? {problem_in_words(run, name, span)}"
    chapter = Chapter(f"Sweep of {name} in {run_name(run)}", asked, meant=objective_in_words(run))
    found, remarks = [], []
    for one in given["frontier"]:
        best = verdict_point(one)
        if best is None:
            continue
        value = float(one[name])
        point = {key: float(x) for key, x in best["point"].items()}
        found.append(SweptPoint(value, estimate_of(best["objective"]), feasible_of(one), point))
        remarks += [f"{name} {value:g}: {text}" for text in one.get("remarks", ())]
        if feasible_of(one) is not True:
            remarks.append(f"{name} {value:g}: {one['why']}")
    if not found:
        return chapter
    chapter.found = _sweep_finding(name, found, unit)
    chart = charts.sweep_chart(name, found, unit)
    chapter.blocks.append(Block("", charts=[chart]))
    sheet = sweep_sheet(name, found)
    chapter.blocks.append(Block("The best point of each", sheet=sheet, items=remarks))
    slopes = [
        (float(one["from"]), float(one["to"]), estimate_of(one["objective_per_unit_of_bound"]))
        for one in given.get("prices", ())
    ]
    if slopes:
        chapter.blocks.append(titled(slopes_sheet(name, slopes)))
    return chapter


def _sweep_finding(name: str, found: list[SweptPoint], unit: str) -> str:
    """Say what the objective is at the ends of a sweep."""
    certified = [one for one in found if one.feasible is True]
    sure = sure_of(one.objective for one in found)
    n = f"{len(certified)} of {counted(len(found), 'value')} of {name} have a {sure} point"
    if not certified:
        return f"No value of {name} has a {sure} point ({counted(len(found), 'value')} tried)."
    ends = [certified[0], certified[-1]] if len(certified) > 1 else certified
    said = [f"{value_in_words(one.objective)}{after(unit)} at {one.value:g}" for one in ends]
    first = ends[0].objective
    level = f"{confidence_in_words(first.confidence)} intervals" if first.ci_low else "no intervals"
    counts = sorted({one.objective.n for one in ends})
    many = f"{counts[0]:,}" + (f" to {counts[-1]:,}" if len(counts) > 1 else "")
    of = f"{level}, n = {many} fresh replications each"
    return f"{n}; the best objective is {joined(said)}; {of}."


def front_chapter(run: RunFiles, given: Mapping[str, Any]) -> Chapter:
    """Return the chapter on a Pareto front."""
    objectives: dict[str, Any] = given["objectives"]
    names = list(objectives)
    asked = f"How do {joined(names)} trade off in {run_name(run)}?"
    section = problem_in_words(run)
    chapter = Chapter(f"Pareto front of {run_name(run)}", f"{asked} {_rest(section)}")
    points = [
        (
            {name: estimate_of(mean) for name, mean in one["objectives"].items()},
            {name: float(value) for name, value in one["point"].items()},
        )
        for one in given["front"]
    ]
    tested = int(given["tested"])
    remarks = list(given.get("remarks", ()))
    if not points:
        chapter.found = f"None of {counted(tested, 'tested point')} is certified as feasible."
        chapter.blocks.append(Block("Remarks", items=remarks))
        return chapter
    first = names[0]
    order = sorted(points, key=lambda one: one[0][first].mean or 0.0)
    ends = [order[0], order[-1]] if len(order) > 1 else order
    said = [
        joined([f"{name} {value_in_words(means[name])}" for name in means]) for means, _ in ends
    ]
    mean = ends[0][0][first]
    level = f"{confidence_in_words(mean.confidence)} intervals" if mean.ci_low else "no intervals"
    chapter.found = (
        f"{counted(len(points), f'{sure_of([mean])} point')} of {tested} tested"
        f" {'are' if len(points) != 1 else 'is'} on the front, from {' to '.join(said)};"
        f" {level}, n = {mean.n:,} fresh replications each."
    )
    drawn = charts.front_charts(run, names, [means for means, _ in points])
    chapter.blocks.append(Block("The front", charts=drawn, sheet=front_sheet(points)))
    if remarks:
        chapter.blocks[-1].items = remarks
    return chapter


def _rest(sentence: str) -> str:
    """Return seed and budget of a problem in words."""
    return sentence.partition("? ")[2]
