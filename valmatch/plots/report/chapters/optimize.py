"""Chapters on optimisations: what is recommended, what it is worth, and whether it is feasible."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from valmatch.config.factor_paths import flat
from valmatch.models.model import Response
from valmatch.optimization.problem import START, TODAY
from valmatch.plots.parts.source import RunFiles, damaged
from valmatch.plots.report.chapters import optimize_charts as charts
from valmatch.plots.report.chapters.optimize_sets import front_chapter, sweep_chapter
from valmatch.plots.report.chapters.replicate import glossary
from valmatch.plots.report.charts import Strip
from valmatch.plots.report.document import Block, Chapter, titled
from valmatch.plots.report.origin import run_name
from valmatch.plots.report.problems import (
    SUMMARY,
    limits_of,
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
    response_of,
    value_in_words,
)
from valmatch.plots.sheets.comparison import compared_sheet
from valmatch.plots.sheets.optimization import limits_sheet, point_sheet, solvers_sheet
from valmatch.plots.sheets.parts import listed
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.rounding import mean_and_half, rounded
from valmatch.text.sheet import COUNT

BESIDE = {"start_and_recommended": START, "today_and_recommended": TODAY}
"""Comparisons of a summary with what is beside the recommended point in them."""


def chapter(run: RunFiles) -> Chapter:
    """Return the chapter on a run of `optimize`."""
    title = f"Optimisation of {run_name(run)}"
    if not (run.folder / SUMMARY).exists() and run.status != "complete":
        return Chapter(title, problem_in_words(run))
    given = run.json(SUMMARY)
    with damaged(run.folder / SUMMARY):
        if "frontier" in given:
            return sweep_chapter(run, given)
        if "front" in given:
            return front_chapter(run, given)
        return _study(run, given, Chapter(title, problem_in_words(run)))


def _study(run: RunFiles, given: Mapping[str, Any], chapter: Chapter) -> Chapter:
    """Return the chapter on runs of solvers."""
    best = verdict_point(given)
    if best is None:
        chapter.found = "No run of a solver has come to an end." if run.status == "complete" else ""
        return chapter
    unit = charts.unit_of_objective(run)
    objective = estimate_of(best["objective"])
    chapter.found = _finding(given, best, objective, unit)
    chapter.meant = objective_in_words(run)
    role = "least violation" if given["feasible"] is False else "recommended"
    beside = given.get("start_and_recommended") or {}
    today = (given.get("today_and_recommended") or {}).get("today")
    start = beside.get(START) or _starts(run)
    point = {name: float(value) for name, value in best["point"].items()}
    title = "The recommended point" if role == "recommended" else "The point of least violation"
    remarks = [f"Feasible: {_answer(given)}; {given['why']}", *given.get("remarks", ())]
    sheet = point_sheet(role, point, start, today)
    chapter.blocks.append(Block(title, sheet=sheet, items=remarks))
    means = limits_sheet(objective, limits_of(best))
    items = [f"No interval: {given['no_interval']}"] if given.get("no_interval") else []
    chapter.blocks.append(Block("What it is worth", sheet=means, items=items))
    for key, name in BESIDE.items():
        if key in given:
            chapter.blocks += _beside(run, given, key, name, unit)
    prices = [price["in_words"] for price in (given.get("prices") or {}).values()]
    if prices:
        chapter.blocks.append(Block("What the constraints cost", items=prices))
    if "solvers" in given:
        chapter.blocks.append(_solvers(given["solvers"]))
    drawn = charts.study_charts(run, given, unit)
    if drawn:
        chapter.blocks.append(Block("The search", charts=drawn, paragraphs=[charts.NOTE]))
    named = [response_of(run, name) for name in beside.get("responses", {}) if name != "objective"]
    chapter.blocks += glossary(named)
    return chapter


def _answer(given: Mapping[str, Any]) -> str:
    return {True: "yes", False: "no"}.get(given["feasible"], str(given["feasible"]))


def _starts(run: RunFiles) -> dict[str, float]:
    """Return the start of each variable: where none is given, the value of the factor."""
    variables = (run.manifest.get("optimize") or {}).get("variables", {})
    values = flat(run.manifest.config.factors if run.manifest.config else {})
    starts = {name: one.get("start", values.get(name)) for name, one in variables.items()}
    return {name: float(start) for name, start in starts.items() if start is not None}


def _finding(
    given: Mapping[str, Any], best: Mapping[str, Any], objective: Estimate, unit: str
) -> str:
    """Say what was found, and how sure that is."""
    bounds = [
        f"{limit.response} {value_in_words(limit.mean)} ({limit.in_words})"
        for limit in limits_of(best)
    ]
    known = objective.ci_low is not None
    level = f"{confidence_in_words(objective.confidence)} intervals" if known else "no intervals"
    of = "fresh replication" if known else "replication"
    how = f"{level}, n = {counted(objective.n, of)}"
    worth = f"objective {value_in_words(objective)}{after(unit)}"
    if bounds:
        worth += f" with {', '.join(bounds)}"
    if given["feasible"] is False:
        return f"No feasible point was found; that of least violation has {worth}; {how}."
    if given["feasible"] is not True:
        return f"Too close to call: the best point found has {worth}, not certified; {how}."
    named = f", {best['name']}," if best.get("name") else ""
    sure = "certified as feasible" if objective.n > 1 else "feasible in its one replication"
    said = f"The recommended point{named} is {sure}: {worth}; {how}"
    change = _change(given, unit)
    return f"{said}{change}."


def _change(given: Mapping[str, Any], unit: str) -> str:
    """Say how the objective changes against the start, or against today's rule."""
    for key, name in (("today_and_recommended", TODAY), ("start_and_recommended", "the start")):
        found = (given.get(key) or {}).get("responses", {}).get("objective")
        if not found:
            continue
        broken = _broken(given, key, "today" if name == TODAY else START)
        name += f", which breaks {broken}," if broken else ""
        difference = estimate_of(found["difference"])
        if difference.mean is None:
            return f"; against {name} its change is undefined"
        spread = mean_and_half(difference)[1]
        half = f" ± {spread}" if spread and not difference.asymmetric else ""
        mean = rounded(difference.mean, difference.half_width)[0]
        sign = "+" if difference.mean > 0.0 else ""
        return f"; against {name} the objective changes by {sign}{mean}{half}{after(unit)}"
    return ""


def _broken(given: Mapping[str, Any], key: str, base: str) -> str:
    """Return the bounds that a point breaks by its means, "" for none."""
    facts, best = given[key]["responses"], verdict_point(given)
    broken = []
    for limit in limits_of(best) if best else ():
        mean = facts.get(limit.response, {}).get(base)
        if mean is not None:
            excess = float(mean) - limit.bound
            if (excess if limit.sense == "<=" else -excess) > 0.0:
                broken.append(f"{limit.response} {limit.in_words} ({float(mean):.4g})")
    return joined(broken)


def _beside(run: RunFiles, given: Mapping[str, Any], key: str, name: str, unit: str) -> list[Block]:
    """Return a table of the recommended point beside another one."""
    found: dict[str, Any] = given[key]
    facts: dict[str, Any] = found["responses"]
    base = "today" if name == TODAY else name
    responses = [
        Response(one, unit, "what is minimised") if one == "objective" else response_of(run, one)
        for one in facts
    ]
    differences = [estimate_of(fact["difference"]) for fact in facts.values()]
    means = [
        [
            _mean(fact[side], change)
            for fact, change in zip(facts.values(), differences, strict=True)
        ]
        for side in (base, "recommended")
    ]
    cells = [mean_and_half(difference) for difference in differences]
    columns = [
        (name, means[0]),
        ("recommended", means[1]),
        ("change", [mean for mean, _ in cells]),
        (f"± {differences[0].confidence:.0%}", [half for _, half in cells]),
        (COUNT, [str(difference.n) for difference in differences]),
    ]
    places = [k for k, one in enumerate(responses) if listed(one, ())]
    sheet = compared_sheet(responses, columns, places)
    if found.get("no_interval"):
        sheet.notes.append(f"No interval: {found['no_interval']}")
    n = int(found["replications"])
    sheet.notes.append(f"Both points on the same {counted(n, 'fresh replication')}.")
    title = f"Beside {name if name == TODAY else 'the start'}"
    return [Block(title, sheet=sheet, strips=[_strip(differences[k]) for k in places])]


def _mean(value: float | None, difference: Estimate) -> str:
    return "undefined" if value is None else rounded(float(value), difference.half_width)[0]


def _strip(found: Estimate) -> Strip:
    ends = (found.mean, found.ci_low, found.ci_high)
    return Strip(*(math.nan if x is None else x for x in ends))


def _solvers(found: Mapping[str, Any]) -> Block:
    """Return the table of a comparison of solvers."""
    lines = {name: one for name, one in found.items() if isinstance(one, dict)}
    reference = str(found.get("gap_to", "best known objective"))
    return titled(solvers_sheet(lines, reference, found.get("best_known")))
