"""Presentation of a study of `optimize`: what is recommended, its worth, how sure that is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from valmatch.config.factor_paths import flat
from valmatch.experiments.response_list import shown_by
from valmatch.inputs.fields import plain_number
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Response
from valmatch.optimization.problem import START, TODAY
from valmatch.optimization.solvers.registry import label_of_solver
from valmatch.optimization.studies.study import SUMMARY, StudyRecord, StudyResult
from valmatch.present import document as d
from valmatch.present.kinds.responses import compared_parts_tables, glossary, responses_table
from valmatch.present.provenance import unit_of_factor
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.rounding import decimals, mean_and_half, rounded
from valmatch.storage.result_files import damaged
from valmatch.text.terminal import WIDTH, escaped, labelled

SENSES = {"at_most": "<=", "at_least": ">="}

BESIDE = {"start_and_recommended": START, "today_and_recommended": TODAY}
"""Comparisons of a summary with what is beside the recommended point in them."""

NOTE = (
    "Objectives while the search went on are of few replications each; the final test is of"
    " fresh ones."
)

Columns = Mapping[str, Sequence[Any]]


def present(result: StudyResult | StudyRecord, view: d.View) -> d.Presentation:
    """Return what a study shows."""
    record = result.record() if isinstance(result, StudyResult) else result
    with damaged(record.folder / SUMMARY) if record.folder else nullcontext():
        shown = _Shown(record)
        kind = _sweep if "frontier" in shown.given else _front if "front" in shown.given else _study
        found = kind(shown, view)
        found.header = _header(shown) + found.header
    return found


class _Shown:
    """A study with what is known of its responses."""

    def __init__(self, record: StudyRecord) -> None:
        self.record, self.given, self.config = record, record.document, record.config
        self.section = record.section
        self.responses = {response.name: response for response in shown_by(record.config)[0]}
        terms = (self.section.get("objective") or {}).values()
        units = {self.response(term["response"]).unit for term in terms}
        self.unit = units.pop() if len(units) == 1 else ""  # of the objective; "" if terms differ

    def response(self, name: str) -> Response:
        """Return what is known of a response."""
        if name == "objective":
            return Response(name, self.unit, "what is minimised")
        return self.responses.get(name) or Response(name, "", "")

    @property
    def solvers(self) -> list[str]:
        """The names of the solvers."""
        return [name for name in str(self.given.get("solver", "")).split(",") if name]


def _header(shown: _Shown) -> str:
    """Return what stands above the tables: what is optimised, how, on which scales."""
    given = shown.given
    header = f"{d.config_title(shown.config)}, seed {given['seed']}, budget {given['budget']:,}"
    if shown.solvers:
        header += f"\nsolver: {', '.join(map(label_of_solver, shown.solvers))}"
    scales: Mapping[str, str] = given.get("search_scale", {})
    for scale in dict.fromkeys(scales.values()):
        names = ", ".join(name for name, found in scales.items() if found == scale)
        why = "no scale is given, and the range spans over two orders of magnitude"
        said = f"search scale: {scale} for {escaped(names)} ({why})"
        header += "\n" + textwrap.fill(said, WIDTH, subsequent_indent="  ")
    return header


def _question(shown: _Shown, swept: str = "", values: str = "") -> str:
    """Say what was asked of an optimisation, in one sentence."""
    section, given = shown.section, shown.given
    variables = d.joined(list(section.get("variables", ())))
    aim = _terms(section.get("objective") or {})
    if "objectives" in given:
        aim = f"trade off {d.joined(list(given['objectives']))}"
    else:
        verb = "minimise" if " and " in variables else "minimises"
        aim = f"{verb} {aim}" if aim else "is best"
    bounds = [
        f"{one['response']} {sense} {values if name == swept else plain_number(one[key])}"
        f"{d.after(shown.response(one['response']).unit)}"
        for name, one in (section.get("constraints") or {}).items()
        for key, sense in SENSES.items()
        if one.get(key) is not None
    ]
    within = f" with {d.joined(bounds)}" if bounds else ""
    which = f"Which {variables}" if variables else "Which rule"
    solver = f", solver {','.join(shown.solvers)}" if shown.solvers else ""
    spent = f", budget {d.counted(given['budget'], 'replication')} a run"
    of = d.config_name(shown.config)
    return f"{which} of {of} {aim}{within}? Seed {given['seed']}{spent}{solver}."


def _terms(terms: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a weighted sum of responses."""
    parts = []
    for term in terms.values():
        weight = float(term.get("weight", 1.0))
        factor = "" if weight == 1.0 else f"{plain_number(weight)} "
        if weight:
            parts.append(f"{factor}{term['response']}")
    return " + ".join(parts).replace("+ -", "- ")


def _glossary(shown: _Shown) -> str:
    """Say what the objective and the responses with bounds are."""
    terms = shown.section.get("objective") or {}
    bounded = [one["response"] for one in (shown.section.get("constraints") or {}).values()]
    names = dict.fromkeys([term["response"] for term in terms.values()] + bounded)
    said = [f"objective: {_terms(terms)}, less is better"] if terms else []
    meanings = {name: shown.response(name).meaning for name in names}
    return "; ".join([*said, *(f"{name}: {text}" for name, text in meanings.items() if text)])


class Limit(NamedTuple):
    """The mean of a response that has a bound."""

    # response, sense: the response; "<=" or ">="
    response: str
    sense: str
    bound: float  # the bound
    mean: Estimate  # the mean

    @property
    def in_words(self) -> str:
        """The bound."""
        return f"{self.sense} {self.bound:g}"

    def excess(self, value: Any) -> Any:  # noqa: ANN401 - a number or an array
        """Return by how much a value breaks the bound; below 0 by how much it keeps to it."""
        return value - self.bound if self.sense == "<=" else self.bound - value


class VerdictPoint(NamedTuple):
    """The point of a verdict, recommended or of least violation, on fresh replications."""

    point: Mapping[str, float]
    name: str  # what the config calls it; "" where it does not give it
    objective: Estimate  # the mean objective
    constraints: Sequence[str]  # names of the constraints
    limits: Sequence[Limit]  # the mean of each
    feasible: bool | None  # whether it is certified, None for undecided
    value: float  # of a sweep, the value that it is of


def _verdict_point(given: Mapping[str, Any], swept: str = "") -> VerdictPoint | None:
    """Return the point of a verdict, if there is one."""
    best = given.get("recommended") or given.get("least_violation")
    if not best:
        return None
    limits = [
        Limit(one["response"], one["sense"], float(one["bound"]), d.estimate_of(one))
        for one in best["constraints"].values()
    ]
    answer = given["feasible"]
    return VerdictPoint(
        {name: float(value) for name, value in best["point"].items()},
        best.get("name") or "",
        d.estimate_of(best["objective"]),
        list(best["constraints"]),
        limits,
        answer if isinstance(answer, bool) else None,
        float(given[swept]) if swept else 0.0,
    )


def _level(found: Estimate) -> str:
    """Say with what confidence means are known; an interval may well begin at 0."""
    known = found.ci_low is not None
    return f"{d.confidence_in_words(found.confidence)} intervals" if known else "no intervals"


ANSWERS = {True: "yes", False: "no", None: "undecided"}

WORDS_OF_SOLVERS = (
    "gap: distance from the {}, as a share of it; 100 % where the point that a run would recommend"
    " is truly infeasible. area: mean gap over the budget. <= 5 %, <= 10 %: share of the runs whose"
    " certified point has no larger gap. wrong: share of the runs that certified a point which is"
    " truly infeasible."
)

SHARES = (
    "area_under_curve",
    "within_5_percent",
    "within_10_percent",
    "wrongly_called_feasible",
)
"""What is said of each solver besides its median objective; the first of them is no share."""


def _point_table(role: str, shown: _Shown, best: VerdictPoint) -> d.TextTable:
    """Return a table of a point beside those that the config gives."""
    given = {key: shown.given.get(key) or {} for key in BESIDE}
    start = given["start_and_recommended"].get(START) or _starts(shown)
    today = given["today_and_recommended"].get("today")
    points = {role: best.point, START: start, **({TODAY: today} if today else {})}
    columns = [("variable", list(best.point))]
    for name, values in points.items():
        columns.append((name, [f"{values[x]:.4g}" if x in values else "" for x in best.point]))
    return d.TextTable.of_columns(columns)


def _means_table(best: VerdictPoint) -> d.TextTable:
    """Return a table of the means of a point."""
    means = [best.objective, *(limit.mean for limit in best.limits)]
    return d.TextTable.of_columns(
        [
            ("mean of", ["objective", *(limit.response for limit in best.limits)]),
            *d.mean_columns("value", f"± {best.objective.confidence:.0%}", means),
            (d.COUNT, [str(mean.n) for mean in means]),
            ("bound", ["", *(limit.in_words for limit in best.limits)]),
        ]
    )


def solvers_table(given: Mapping[str, Any]) -> d.TextTable:
    """Return a table of a line for each solver."""
    solvers = {name: one for name, one in given.items() if isinstance(one, dict)}
    reference, best = given.get("gap_to", "best known objective"), given.get("best_known")
    heads = ("solver", "runs", "median objective", "area", "<= 5 %", "<= 10 %", "wrong")
    known = "none" if best is None else f"{best:g}"
    table = d.TextTable.of(
        *heads, title=f"Solvers, judged by fresh replications; {reference} {known}"
    )
    for name, line in solvers.items():
        median = line["median_objective"]["value"]
        area, *shares = (line[key]["value"] for key in SHARES)
        shown = "none" if median is None else f"{median:.{max(1, decimals(median, 3))}f}"
        cells = [f"{area:.3f}", *(f"{share:.0%}" for share in shares)]
        table.add(label_of_solver(name), str(line["runs"]), shown, *cells)
    table.notes.append(WORDS_OF_SOLVERS.format(reference))
    return table


def _sure(points: Iterable[VerdictPoint]) -> str:
    """Return what to call points that keep their bounds."""
    return _sure_of(point.objective for point in points)


def _sure_of(objectives: Iterable[Estimate]) -> str:
    """Return what to call points of such objectives: of one replication none is certified."""
    return "certified" if any(found.n > 1 for found in objectives) else "feasible"


# Runs of solvers: one recommended point.


def _study(shown: _Shown, view: d.View) -> d.Presentation:
    """Return what runs of solvers show."""
    given = shown.given
    found = d.Presentation(f"Optimisation of {d.config_name(shown.config)}", _question(shown))
    best = _verdict_point(given)
    if best is None:
        ended = shown.record.status == "complete"
        found.finding = "No run of a solver has come to an end." if ended else ""
        return found
    found.finding = _finding(shown, best)
    found.glossary = _glossary(shown)
    title, role = "The recommended point", "recommended"
    if best.feasible is False:
        title, role = "The point of least violation", "least violation"
    means = _means_table(best)
    means.notes = _no_interval(given)
    remarks = [f"feasible: {ANSWERS[best.feasible]}; {given['why']}", *given.get("remarks", ())]
    found.tables = [
        d.Block(title, table=_point_table(role, shown, best)),
        d.Block("What it is worth", table=means, items=remarks),
    ]
    for key, name in BESIDE.items():
        if key in given:
            found.tables += _beside(shown, key, name, view)
    prices = [price["in_words"] for price in (given.get("prices") or {}).values()]
    if prices:
        found.tables.append(d.Block("What the constraints cost", items=prices))
    if "solvers" in given:
        found.tables.append(d.titled(solvers_table(given["solvers"])))
    if charts := list(_search_charts(shown, best)):
        found.charts = [d.Block("The search", [NOTE], charts=charts, figure="search")]
    beside = (given.get("start_and_recommended") or {}).get("responses", {})
    found.blocks = glossary([shown.response(one) for one in beside if one != "objective"])
    return found


def _no_interval(given: Mapping[str, Any]) -> list[str]:
    """Say why means have no interval, if so."""
    return d.notes_of({"no interval": given.get("no_interval") or ""})


def _starts(shown: _Shown) -> dict[str, float]:
    """Return the start of each variable: where none is given, the value of the factor."""
    values = flat(shown.config.factors.model_dump(mode="json"))
    variables = shown.section.get("variables", {})
    starts = {name: one.get("start", values.get(name)) for name, one in variables.items()}
    return {name: float(start) for name, start in starts.items() if start is not None}


def _finding(shown: _Shown, best: VerdictPoint) -> str:
    """Say what was found, and how sure that is."""
    given, unit, objective = shown.given, shown.unit, best.objective
    of = "replication" if objective.ci_low is None else "fresh replication"
    how = f"{_level(objective)}, n = {d.counted(objective.n, of)}"
    worth = f"objective {d.value_in_words(objective)}{d.after(unit)}"
    if best.limits:
        bounds = [
            f"{x.response} {d.value_in_words(x.mean)}{d.after(shown.response(x.response).unit)}"
            f" ({x.in_words})"
            for x in best.limits
        ]
        worth += f" with {', '.join(bounds)}"
    if best.feasible is False:
        return f"No feasible point was found; that of least violation has {worth}; {how}."
    if best.feasible is None:
        return f"Too close to call: the best point found has {worth}, not certified; {how}."
    named = f", {best.name}," if best.name else ""
    sure = "certified as feasible" if objective.n > 1 else "feasible in its one replication"
    change = _change(given, best.limits, unit)
    return f"The recommended point{named} is {sure}: {worth}; {how}{change}."


def _change(given: Mapping[str, Any], limits: Sequence[Limit], unit: str) -> str:
    """Say how the objective changes against the start, or against today's rule."""
    for key, name in (("today_and_recommended", TODAY), ("start_and_recommended", "the start")):
        facts = (given.get(key) or {}).get("responses", {})
        found = facts.get("objective")
        if not found:
            continue
        broken = _broken(facts, limits, "today" if name == TODAY else START)
        name += f", which breaks {broken}," if broken else ""
        difference = d.estimate_of(found["difference"])
        if difference.mean is None:
            return f"; against {name} its change is undefined"
        spread = mean_and_half(difference)[1]
        half = f" ± {spread}" if spread and not difference.asymmetric else ""
        mean = rounded(difference.mean, difference.half_width)[0]
        sign = "+" if difference.mean > 0.0 else ""
        return f"; against {name} the objective changes by {sign}{mean}{half}{d.after(unit)}"
    return ""


def _broken(facts: Mapping[str, Any], limits: Sequence[Limit], base: str) -> str:
    """Return the bounds that a point breaks by its means, "" for none."""
    means = [(limit, facts.get(limit.response, {}).get(base)) for limit in limits]
    return d.joined(
        [
            f"{limit.response} {limit.in_words} ({float(mean):.4g})"
            for limit, mean in means
            if mean is not None and limit.excess(float(mean)) > 0.0
        ]
    )


def _beside(shown: _Shown, key: str, name: str, view: d.View) -> Iterator[d.Block]:
    """Yield tables of the recommended point beside another one."""
    found: dict[str, Any] = shown.given[key]
    facts: dict[str, Any] = found["responses"]
    base = "today" if name == TODAY else name
    responses = [shown.response(one) for one in facts]
    differences = [d.estimate_of(fact["difference"]) for fact in facts.values()]
    pairs = list(zip(facts.values(), differences, strict=True))
    columns: list[d.Column] = [
        (name, [_mean(fact[base], change) for fact, change in pairs]),
        ("recommended", [_mean(fact["recommended"], change) for fact, change in pairs]),
        *d.mean_columns("change", f"± {differences[0].confidence:.0%}", differences),
    ]
    counts = [str(difference.n) for difference in differences]
    n, spent = int(found["replications"]), int(shown.given.get("spent_beyond_budget", 0))
    places = [k for k, one in enumerate(responses) if d.listed(one, view.responses)]
    table = responses_table(responses, [*columns, (d.COUNT, counts)], places)
    table.spare = d.COUNT if set(counts) == {str(n)} else ""
    table.title = f"{name} and recommended point on the same {d.counted(n, 'fresh replication')}"
    if spent and name == START:
        table.title += f" ({spent:,} made beyond the budget, with those for costs)"
    table.notes = _no_interval(found)
    yield d.Block(f"Beside {name if name == TODAY else 'the start'}", table=table)
    if not view.responses:
        for part in compared_parts_tables(responses, columns):
            yield d.titled(part, folded=True)


def _mean(value: float | None, difference: Estimate) -> str:
    return "undefined" if value is None else rounded(float(value), difference.half_width)[0]


# Sweeps and Pareto fronts: several points instead of one.


def _sweep(shown: _Shown, view: d.View) -> d.Presentation:
    """Return what a sweep of a bound or a weight shows."""
    given = shown.given
    name, of = given["sweep"], d.config_name(shown.config)
    values = [float(one[name]) for one in given["frontier"]]
    span = f"{min(values):g} to {max(values):g}" if values else "several bounds"
    question = f"What does {name} cost? {_question(shown, name, span)}"
    shows = d.Presentation(f"Sweep of {name} in {of}", question, glossary=_glossary(shown))
    found, remarks = [], []
    for one in given["frontier"]:
        best = _verdict_point(one, name)
        if best is None:
            continue
        found.append(best)
        said = [*one.get("remarks", ()), *([] if best.feasible is True else [one["why"]])]
        remarks += [f"{name} {best.value:g}: {text}" for text in said]
    if not found:
        return shows
    shows.finding = _sweep_finding(name, found, shown.unit)
    table = d.TextTable.of_columns(
        [
            (name, [f"{one.value:g}" for one in found]),
            *d.mean_columns("objective", "± 95%", [one.objective for one in found]),
            (_sure(found), [ANSWERS[one.feasible] for one in found]),
            *((x, [f"{one.point[x]:.4g}" for one in found]) for x in found[0].point),
        ]
    )
    table.notes = _no_interval(given)
    shows.tables = [d.Block("The best point of each", table=table, items=remarks)]
    if prices := list(given.get("prices", ())):
        shows.tables.append(d.titled(_slopes_table(name, prices)))
    chart = _sweep_chart(name, found, shown.unit)
    shows.charts = [d.Block("What each value is worth", charts=[chart], figure="frontier")]
    return shows


def _slopes_table(name: str, prices: Sequence[Mapping[str, Any]]) -> d.TextTable:
    """Return a table of what a bound costs between each two certified values of a sweep."""
    means = [d.estimate_of(one["objective_per_unit_of_bound"]) for one in prices]
    return d.TextTable.of_columns(
        [
            *((key, [f"{float(one[key]):g}" for one in prices]) for key in ("from", "to")),
            *d.mean_columns("objective per unit", f"± {means[0].confidence:.0%}", means),
            (d.COUNT, [str(mean.n) for mean in means]),
        ],
        title=f"what {name} costs between two certified bounds",
    )


def _sweep_finding(name: str, found: Sequence[VerdictPoint], unit: str) -> str:
    """Say what the objective is at the ends of a sweep."""
    certified = [one for one in found if one.feasible is True]
    sure, tried = _sure(found), d.counted(len(found), "value")
    if not certified:
        return f"No value of {name} has a {sure} point ({tried} tried)."
    ends = [certified[0], certified[-1]] if len(certified) > 1 else certified
    said = [f"{d.value_in_words(one.objective)}{d.after(unit)} at {one.value:g}" for one in ends]
    counts = sorted({one.objective.n for one in ends})
    many = f"{counts[0]:,}" + (f" to {counts[-1]:,}" if len(counts) > 1 else "")
    return (
        f"{len(certified)} of {tried} of {name} have a {sure} point; the best objective is"
        f" {d.joined(said)}; {_level(ends[0].objective)}, n = {many} fresh replications each."
    )


def _front(shown: _Shown, view: d.View) -> d.Presentation:
    """Return what a Pareto front shows."""
    given, of = shown.given, d.config_name(shown.config)
    objectives: dict[str, Any] = given["objectives"]
    names, tested = list(objectives), int(given["tested"])
    asked = _question(shown).partition("? ")[2]
    found = d.Presentation(
        f"Pareto front of {of}", f"How do {d.joined(names)} trade off in {of}? {asked}"
    )
    points = [
        (
            {name: d.estimate_of(mean) for name, mean in one["objectives"].items()},
            {name: float(value) for name, value in one["point"].items()},
        )
        for one in given["front"]
    ]
    if not points:
        found.finding = f"None of {d.counted(tested, 'tested point')} is certified as feasible."
        found.header = f"\nnone of {tested} tested points is certified as feasible"
        found.tables = [d.Block("Remarks", items=list(given.get("remarks", ())))]
        return found
    found.header = f"\nfront of {', '.join(names)}: {len(points)} of {tested} tested points"
    first = names[0]
    order = sorted(points, key=lambda one: one[0][first].mean or 0.0)
    ends = [order[0], order[-1]] if len(order) > 1 else order
    units = {x: d.after(shown.response(one["response"]).unit) for x, one in objectives.items()}
    said = [
        d.joined([f"{name} {d.value_in_words(means[name])}{units[name]}" for name in names])
        for means, _ in ends
    ]
    mean = ends[0][0][first]
    found.finding = (
        f"{d.counted(len(points), f'{_sure_of([mean])} point')} of {tested} tested"
        f" {'are' if len(points) != 1 else 'is'} on the front, from {' to '.join(said)};"
        f" {_level(mean)}, n = {mean.n:,} fresh replications each."
    )
    columns: list[d.Column] = []
    for name in names:
        columns += d.mean_columns(name, "±", [means[name] for means, _ in points])
    columns += [(x, [f"{point[x]:.4g}" for _, point in points]) for x in points[0][1]]
    table = d.TextTable.of_columns(columns)
    table.repeated, table.notes = 2 * len(names), _no_interval(given)
    found.tables = [d.Block("The front", table=table, items=list(given.get("remarks", ())))]
    labels = {
        name: labelled(objectives[name]["response"], shown.response(one["response"]).unit)
        for name, one in objectives.items()
    }
    charts = _front_charts(labels, [means for means, _ in points])
    found.charts = [d.Block("The objectives against each other", charts=charts, figure="front")]
    return found


# ---- charts ----


def _search_charts(shown: _Shown, best: VerdictPoint) -> Iterator[d.Chart]:
    """Yield charts of how the searches went."""
    label, tables = labelled("objective", shown.unit), shown.record.tables
    if "progress" in tables:
        yield _progress(tables["progress"], label)
    if "candidates" in tables:
        yield from _candidates(shown.record, best, label)


def _progress(columns: Columns, label: str) -> d.Graph:
    """Return the median objective of the runs of each solver over the replications spent."""
    solvers = np.array(columns["solver"])
    spent, values, violation = (
        d.floats(columns[name]) for name in ("replications", "objective", "violation")
    )
    objective = np.where(violation > 0.0, np.nan, values)
    lines = []
    for k, solver in enumerate(dict.fromkeys(columns["solver"])):
        own = solvers == solver
        xs = np.unique(spent[own])
        ys = np.array([_median(objective[own & (spent == x)]) for x in xs.tolist()])
        lines.append(d.Line(solver, xs, ys, colour=k))
    title = f"{label}: median of the runs, judged afresh"
    return d.Graph(title, "replications spent", "", lines)


def _median(values: Floats) -> float:
    """Return the median of objectives; NaN where half of the runs have no feasible point yet."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if 2 * known.size > values.size else float("nan")


def _candidates(record: StudyRecord, best: VerdictPoint, label: str) -> Iterator[d.Chart]:
    """Yield the points of the searches: each variable against the objective."""
    variables, columns = list(best.point), record.tables["candidates"]
    searched = np.array([stage == "search" for stage in columns["stage"]], dtype=bool)
    numbers = {x: d.floats(columns[x])[searched] for x in (*variables, "objective")}
    keeps = np.isfinite(numbers["objective"])
    for name, limit in zip(best.constraints, best.limits, strict=True):
        keeps &= limit.excess(d.floats(columns[name])[searched]) <= 0.0
    value = d.floats([best.objective.mean])
    kinds = {"keeps to bounds": keeps, "breaks a bound": ~keeps}
    for name in variables[:6]:
        lines = [
            d.Line(what, numbers[name][own], numbers["objective"][own], colour=k)
            for k, (what, own) in enumerate(kinds.items())
        ]
        point = best.point[name]
        said = [f"the point found: {point:.4g}: {d.value_in_words(best.objective)}"]
        lines.append(d.Line("the point found", np.array([point]), value, colour=2, said=said))
        axis = labelled(name, unit_of_factor(record.config.model, name))
        marked = [replace(line, marks=True, joined=False) for line in lines]
        yield d.Graph(f"{label} by {name}", axis, "", marked)


def _sweep_chart(name: str, found: Sequence[VerdictPoint], unit: str) -> d.Graph:
    """Return the objective over the values of a sweep; points without certificate apart."""
    lines, sure = [], _sure(found)
    for certified, what, colour in ((True, sure, 0), (False, f"not {sure}", 1)):
        if own := [one for one in found if (one.feasible is True) == certified]:
            said = [f"{one.value:g}: {d.value_in_words(one.objective)}" for one in own]
            xs, means = d.floats(one.value for one in own), [one.objective for one in own]
            lines.append(d.line_of_means(what, xs, means, said, joined=certified, colour=colour))
    return d.Graph(f"Best {labelled('objective', unit)} by {name}", name, "", lines)


def _front_charts(
    labels: Mapping[str, str], points: Sequence[Mapping[str, Estimate]]
) -> list[d.Chart]:
    """Return a chart of each two objectives."""
    names = list(labels)
    charts: list[d.Chart] = []
    for one, other in combinations(names, 2):
        order = sorted(points, key=lambda means: means[one].mean or 0.0)
        xs = d.floats(means[one].mean for means in order)
        said = [
            f"{one} {d.value_in_words(means[one])}, {other} {d.value_in_words(means[other])}"
            for means in order
        ]
        values = [means[other] for means in order]
        line = d.line_of_means("", xs, values, said, joined=len(names) == 2)
        title = f"{labels[other]} against {one}"
        charts.append(d.Graph(title, labels[one], "", [line]))
    return charts
