"""Chapters on optimisations: what is recommended, what it is worth, and whether it is feasible."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from valmatch.config.factor_paths import flat
from valmatch.inputs.fields import plain_number
from valmatch.models.model import Response
from valmatch.optimization.problem import START, TODAY
from valmatch.present.chapters import optimize_charts as charts
from valmatch.present.document import (
    Block,
    Presentation,
    after,
    confidence_in_words,
    counted,
    estimate_of,
    joined,
    listed,
    titled,
    value_in_words,
)
from valmatch.present.provenance import run_name
from valmatch.present.responses import glossary
from valmatch.present.sheets import (
    Limit,
    SweptPoint,
    compared_sheet,
    front_sheet,
    limits_sheet,
    point_sheet,
    slopes_sheet,
    solvers_sheet,
    sure_of,
    sweep_sheet,
)
from valmatch.present.source import RunFiles, response_of
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.rounding import mean_and_half, rounded
from valmatch.storage.contents import MANIFEST
from valmatch.storage.result_files import damaged
from valmatch.text.terminal import COUNT

# The problem of an optimisation in words, and verdicts on points as summaries hold them.

SUMMARY = "summary.json"

SENSES = {"at_most": "<=", "at_least": ">="}


def problem_in_words(run: RunFiles, swept: str = "", values: str = "") -> str:
    """Say what was asked of an optimisation, in one sentence."""
    with damaged(run.folder / MANIFEST):
        section: dict[str, Any] = run.manifest.get("optimize") or {}
        variables = joined(list(section.get("variables", ())))
        terms = section.get("objective") or {}
        pareto = run.manifest.get("pareto")
        aim = _terms(terms)
        if pareto:
            aim = f"trade off {joined([part.strip() for part in str(pareto).split(',')])}"
        elif not aim:
            aim = "is best"
        else:
            aim = f"minimises {aim}"
        bounds = [
            f"{one['response']} {sense} {values if name == swept else plain_number(one[key])}"
            f"{after(run.units.of_response(one['response']))}"
            for name, one in (section.get("constraints") or {}).items()
            for key, sense in SENSES.items()
            if one.get(key) is not None
        ]
    within = f" with {joined(bounds)}" if bounds else ""
    which = f"Which {variables}" if variables else "Which rule"
    aim = aim.replace("minimises", "minimise", 1) if " and " in variables else aim
    solver = f", solver {run.manifest.get('solver')}" if run.manifest.get("solver") else ""
    budget = run.manifest.budget
    spent = f", budget {counted(budget, 'replication')} a run" if budget else ""
    seed = f"seed {run.manifest.seed}"
    return f"{which} of {run_name(run)} {aim}{within}? {seed[:1].upper()}{seed[1:]}{spent}{solver}."


def _terms(terms: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a weighted sum of responses."""
    parts = []
    for term in terms.values():
        weight = float(term.get("weight", 1.0))
        factor = "" if weight == 1.0 else f"{plain_number(weight)} "
        if weight:
            parts.append(f"{factor}{term['response']}")
    return " + ".join(parts).replace("+ -", "- ")


def objective_in_words(run: RunFiles) -> str:
    """Say what the objective and the responses with bounds are."""
    with damaged(run.folder / MANIFEST):
        section: dict[str, Any] = run.manifest.get("optimize") or {}
        terms = section.get("objective") or {}
        bounded = [one["response"] for one in (section.get("constraints") or {}).values()]
        names = dict.fromkeys([term["response"] for term in terms.values()] + bounded)
        said = [f"objective: {_terms(terms)}, less is better"] if terms else []
    meanings = {name: response_of(run, name).meaning for name in names}
    return "; ".join([*said, *(f"{name}: {text}" for name, text in meanings.items() if text)])


def verdict_point(found: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the point of a verdict: the recommended one, or that of least violation."""
    return found.get("recommended") or found.get("least_violation")


def limits_of(best: Mapping[str, Any]) -> list[Limit]:
    """Return the bounds of a verdict with the means of their responses."""
    return [
        Limit(one["response"], one["sense"], float(one["bound"]), estimate_of(one))
        for one in best["constraints"].values()
    ]


def feasible_of(found: Mapping[str, Any]) -> bool | None:
    """Return the answer of a verdict, None for undecided."""
    answer = found["feasible"]
    return answer if isinstance(answer, bool) else None


# Chapters on sweeps and Pareto fronts of `optimize`: several points instead of one.


def sweep_chapter(run: RunFiles, given: Mapping[str, Any]) -> Presentation:
    """Return the chapter on a sweep of a bound or a weight."""
    name, unit = given["sweep"], charts.unit_of_objective(run)
    values = [float(one[name]) for one in given["frontier"]]
    span = f"{min(values):g} to {max(values):g}" if values else "several bounds"
    asked = f"What does {name} cost? {problem_in_words(run, name, span)}"
    chapter = Presentation(
        f"Sweep of {name} in {run_name(run)}", asked, glossary=objective_in_words(run)
    )
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
    chapter.finding = _sweep_finding(name, found, unit)
    chart = charts.sweep_chart(name, found, unit)
    chapter.blocks.append(Block("", charts=[chart], figure="frontier"))
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
    level = _level(first)
    counts = sorted({one.objective.n for one in ends})
    many = f"{counts[0]:,}" + (f" to {counts[-1]:,}" if len(counts) > 1 else "")
    of = f"{level}, n = {many} fresh replications each"
    return f"{n}; the best objective is {joined(said)}; {of}."


def front_chapter(run: RunFiles, given: Mapping[str, Any]) -> Presentation:
    """Return the chapter on a Pareto front."""
    objectives: dict[str, Any] = given["objectives"]
    names = list(objectives)
    asked = f"How do {joined(names)} trade off in {run_name(run)}?"
    section = problem_in_words(run)
    chapter = Presentation(f"Pareto front of {run_name(run)}", f"{asked} {_rest(section)}")
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
        chapter.finding = f"None of {counted(tested, 'tested point')} is certified as feasible."
        chapter.blocks.append(Block("Remarks", items=remarks))
        return chapter
    first = names[0]
    order = sorted(points, key=lambda one: one[0][first].mean or 0.0)
    ends = [order[0], order[-1]] if len(order) > 1 else order
    said = [
        joined([f"{name} {value_in_words(means[name])}" for name in means]) for means, _ in ends
    ]
    mean = ends[0][0][first]
    level = _level(mean)
    chapter.finding = (
        f"{counted(len(points), f'{sure_of([mean])} point')} of {tested} tested"
        f" {'are' if len(points) != 1 else 'is'} on the front, from {' to '.join(said)};"
        f" {level}, n = {mean.n:,} fresh replications each."
    )
    drawn = charts.front_charts(run, names, [means for means, _ in points])
    chapter.blocks.append(
        Block("The front", charts=drawn, sheet=front_sheet(points), figure="front")
    )
    if remarks:
        chapter.blocks[-1].items = remarks
    return chapter


def _level(found: Estimate) -> str:
    """Say with what confidence means are known; an interval may well begin at 0."""
    known = found.ci_low is not None
    return f"{confidence_in_words(found.confidence)} intervals" if known else "no intervals"


def _rest(sentence: str) -> str:
    """Return seed and budget of a problem in words."""
    return sentence.partition("? ")[2]


BESIDE = {"start_and_recommended": START, "today_and_recommended": TODAY}
"""Comparisons of a summary with what is beside the recommended point in them."""


def chapter(run: RunFiles) -> Presentation:
    """Return the chapter on a run of `optimize`."""
    title = f"Optimisation of {run_name(run)}"
    if not (run.folder / SUMMARY).exists() and run.status != "complete":
        return Presentation(title, problem_in_words(run))
    given = run.json(SUMMARY)
    with damaged(run.folder / SUMMARY):
        if "frontier" in given:
            return sweep_chapter(run, given)
        if "front" in given:
            return front_chapter(run, given)
        return _study(run, given, Presentation(title, problem_in_words(run)))


def _study(run: RunFiles, given: Mapping[str, Any], chapter: Presentation) -> Presentation:
    """Return the chapter on runs of solvers."""
    best = verdict_point(given)
    if best is None:
        chapter.finding = (
            "No run of a solver has come to an end." if run.status == "complete" else ""
        )
        return chapter
    unit = charts.unit_of_objective(run)
    objective = estimate_of(best["objective"])
    chapter.finding = _finding(given, best, objective, unit)
    chapter.glossary = objective_in_words(run)
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
        chapter.blocks.append(
            Block("The search", charts=drawn, paragraphs=[charts.NOTE], figure="search")
        )
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
    known, level = objective.ci_low is not None, _level(objective)
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
    return [Block(title, sheet=sheet)]


def _mean(value: float | None, difference: Estimate) -> str:
    return "undefined" if value is None else rounded(float(value), difference.half_width)[0]


def _solvers(found: Mapping[str, Any]) -> Block:
    """Return the table of a comparison of solvers."""
    lines = {name: one for name, one in found.items() if isinstance(one, dict)}
    reference = str(found.get("gap_to", "best known objective"))
    return titled(solvers_sheet(lines, reference, found.get("best_known")))
