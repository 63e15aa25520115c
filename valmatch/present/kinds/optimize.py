"""Presentation of a study of `optimize`: what is recommended, its worth, how sure that is."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
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
from valmatch.optimization.studies.study import StudyRecord, StudyResult
from valmatch.present import document as d
from valmatch.present.kinds.responses import compared_parts_tables, glossary, responses_table
from valmatch.present.provenance import unit_of_factor
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.rounding import decimals, mean_and_half, rounded
from valmatch.text.terminal import WIDTH, escaped, labelled

SENSES = {"at_most": "<=", "at_least": ">="}

BESIDE = {"start_and_recommended": START, "today_and_recommended": TODAY}
"""Comparisons of a summary with what is beside the recommended point in them."""

VARIABLES = 6  # variables against which the points of searches are drawn

NOTE = (
    "Objectives while the search went on are of few replications each; the final test is of"
    " fresh ones."
)

ANSWERS = {True: "yes", False: "no", None: "undecided"}

Document = Mapping[str, Any]


def present(result: StudyResult | StudyRecord, view: d.View) -> d.Presentation:
    """Return what a study shows."""
    study = _Study(result.record() if isinstance(result, StudyResult) else result)
    document = study.document
    kind = _sweep if "frontier" in document else _front if "front" in document else _point
    page = kind(study, view)
    page.header = _header(study) + page.header
    return page


class _Study:
    """A study with what is known of its responses."""

    def __init__(self, record: StudyRecord) -> None:
        self.record, self.document, self.config = record, record.document, record.config
        self.name = d.config_name(record.config)
        self.variables: Document = record.section.get("variables") or {}
        self.terms: Document = record.section.get("objective") or {}
        self.constraints: Document = record.section.get("constraints") or {}
        self.solvers = [name for name in str(self.document.get("solver", "")).split(",") if name]
        self._responses = {response.name: response for response in shown_by(record.config)[0]}
        units = {self.response(term["response"]).unit for term in self.terms.values()}
        self.unit = units.pop() if len(units) == 1 else ""  # of the objective; "" if terms differ

    def response(self, name: str) -> Response:
        """Return what is known of a response."""
        if name == "objective":
            return Response(name, self.unit, "what is minimised")
        return self._responses.get(name) or Response(name, "", "")

    def after(self, name: str) -> str:
        """Return the unit of a response as it stands behind a number."""
        return d.after(self.response(name).unit)

    @property
    def aim(self) -> str:
        """The objective, a weighted sum of responses."""
        parts = []
        for term in self.terms.values():
            weight = float(term.get("weight", 1.0))
            factor = "" if weight == 1.0 else f"{plain_number(weight)} "
            parts += [f"{factor}{term['response']}"] if weight else []
        return " + ".join(parts).replace("+ -", "- ")

    @property
    def notes(self) -> list[str]:
        """Why means have no interval, if so."""
        return _no_interval(self.document)


def _no_interval(document: Document) -> list[str]:
    why = document.get("no_interval")
    return [f"no interval: {why}"] if why else []


def _header(study: _Study) -> str:
    """Return what stands above the tables: what is optimised, how, on which scales."""
    document = study.document
    header = f"{d.config_title(study.config)}, seed {document['seed']}"
    header += f", budget {document['budget']:,}"
    if study.solvers:
        header += f"\nsolver: {', '.join(map(label_of_solver, study.solvers))}"
    scales: Mapping[str, str] = document.get("search_scale", {})
    for scale in dict.fromkeys(scales.values()):
        names = ", ".join(name for name, of_name in scales.items() if of_name == scale)
        why = "no scale is given, and the range spans over two orders of magnitude"
        line = f"search scale: {scale} for {escaped(names)} ({why})"
        header += "\n" + textwrap.fill(line, WIDTH, subsequent_indent="  ")
    return header


def _question(study: _Study, swept: str = "", values: str = "") -> str:
    """Say what was asked of an optimisation, in one sentence."""
    document, variables = study.document, d.joined(list(study.variables))
    aim = f"minimise {study.aim}" if len(study.variables) > 1 else f"minimises {study.aim}"
    if "objectives" in document:
        aim = f"trade off {d.joined(list(document['objectives']))}"
    elif not study.aim:
        aim = "is best"
    bounds = [
        f"{constraint['response']} {sense}"
        f" {values if name == swept else plain_number(constraint[key])}"
        f"{study.after(constraint['response'])}"
        for name, constraint in study.constraints.items()
        for key, sense in SENSES.items()
        if constraint.get(key) is not None
    ]
    within = f" with {d.joined(bounds)}" if bounds else ""
    which = f"Which {variables}" if variables else "Which rule"
    solver = f", solver {','.join(study.solvers)}" if study.solvers else ""
    spent = f", budget {d.counted(document['budget'], 'replication')} a run"
    return f"{which} of {study.name} {aim}{within}? Seed {document['seed']}{spent}{solver}."


def _glossary(study: _Study) -> str:
    """Say what the objective and the responses with bounds are."""
    used = [*study.terms.values(), *study.constraints.values()]
    meanings = {term["response"]: study.response(term["response"]).meaning for term in used}
    parts = [f"objective: {study.aim}, less is better"] if study.terms else []
    return "; ".join([*parts, *(f"{name}: {text}" for name, text in meanings.items() if text)])


# Points, and what is known of them on fresh replications.


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
    limits: Mapping[str, Limit]  # the mean of each constraint
    feasible: bool | None  # whether it is certified, None for undecided
    value: float  # of a sweep, the value that it is of


def _verdict(document: Document, swept: str = "") -> VerdictPoint | None:
    """Return the point of a verdict, if there is one."""
    best = document.get("recommended") or document.get("least_violation")
    if not best:
        return None
    limits = {
        name: Limit(
            constraint["response"],
            constraint["sense"],
            float(constraint["bound"]),
            _estimate(constraint),
        )
        for name, constraint in best["constraints"].items()
    }
    answer = document["feasible"]
    return VerdictPoint(
        {name: float(value) for name, value in best["point"].items()},
        best.get("name") or "",
        _estimate(best["objective"]),
        limits,
        answer if isinstance(answer, bool) else None,
        float(document[swept]) if swept else 0.0,
    )


def _estimate(entry: Document) -> Estimate:
    """Return an estimate that a summary holds."""
    keys = ("mean", "std", "std_error", "ci_low", "ci_high", "min", "max")
    values = (entry.get(key) for key in keys)
    numbers = [None if x is None or math.isnan(float(x)) else float(x) for x in values]
    mean, std, error, low, high, least, most = numbers
    n, undefined = int(entry["n"]), int(entry.get("undefined", 0))
    level, remarks = float(entry["confidence"]), tuple(entry.get("remarks", ()))
    return Estimate(n, undefined, mean, std, error, low, high, level, least, most, remarks)


def _level(mean: Estimate) -> str:
    """Say with what confidence means are known; an interval may well begin at 0."""
    known = mean.ci_low is not None
    return f"{d.confidence_in_words(mean.confidence)} intervals" if known else "no intervals"


def _sure(objectives: Sequence[Estimate]) -> str:
    """Return what to call points of such objectives: of one replication none is certified."""
    return "certified" if any(mean.n > 1 for mean in objectives) else "feasible"


# Runs of solvers: one recommended point.


def _point(study: _Study, view: d.View) -> d.Presentation:
    """Return what runs of solvers show."""
    document = study.document
    page = d.Presentation(f"Optimisation of {study.name}", _question(study))
    best = _verdict(document)
    if best is None:
        ended = study.record.status == "complete"
        page.finding = "No run of a solver has come to an end." if ended else ""
        return page
    page.finding, page.glossary = _finding(study, best), _glossary(study)
    title, role = "The recommended point", "recommended"
    if best.feasible is False:
        title, role = "The point of least violation", "least violation"
    means = _means_table(best)
    means.notes = study.notes
    remarks = document.get("remarks", ())
    remarks = [f"feasible: {ANSWERS[best.feasible]}; {document['why']}", *remarks]
    page.tables = [
        d.Block(title, table=_point_table(role, study, best)),
        d.Block("What it is worth", table=means, items=remarks),
    ]
    for key, name in BESIDE.items():
        if key in document:
            page.tables += _beside(study, document[key], name, view)
    prices = [price["in_words"] for price in (document.get("prices") or {}).values()]
    if prices:
        page.tables.append(d.Block("What the constraints cost", items=prices))
    if "solvers" in document:
        page.tables.append(d.titled(solvers_table(document["solvers"])))
    charts = list(_search_charts(study, best))
    page.charts = [d.Block("The search", [NOTE], charts=charts, figure="search")]
    beside = (document.get("start_and_recommended") or {}).get("responses", {})
    page.blocks = glossary([study.response(name) for name in beside if name != "objective"])
    return page


def _finding(study: _Study, best: VerdictPoint) -> str:
    """Say what was found, and how sure that is."""
    objective, limits = best.objective, best.limits.values()
    of = "replication" if objective.ci_low is None else "fresh replication"
    how = f"{_level(objective)}, n = {d.counted(objective.n, of)}"
    worth = f"objective {d.value_in_words(objective)}{d.after(study.unit)}"
    if limits:
        bounds = (
            f"{x.response} {d.value_in_words(x.mean)}{study.after(x.response)} ({x.in_words})"
            for x in limits
        )
        worth += f" with {', '.join(bounds)}"
    if best.feasible is False:
        return f"No feasible point was found; that of least violation has {worth}; {how}."
    if best.feasible is None:
        return f"Too close to call: the best point found has {worth}, not certified; {how}."
    named = f", {best.name}," if best.name else ""
    sure = "certified as feasible" if objective.n > 1 else "feasible in its one replication"
    return f"The recommended point{named} is {sure}: {worth}; {how}{_change(study, best)}."


def _change(study: _Study, best: VerdictPoint) -> str:
    """Say how the objective changes against today's rule, or against the start."""
    for key, role, name in (
        ("today_and_recommended", "today", TODAY),
        ("start_and_recommended", START, "the start"),
    ):
        facts = (study.document.get(key) or {}).get("responses", {})
        if "objective" not in facts:
            continue
        means = [(limit, facts.get(limit.response, {}).get(role)) for limit in best.limits.values()]
        broken = [
            f"{limit.response} {limit.in_words} ({float(mean):.4g})"
            for limit, mean in means
            if mean is not None and limit.excess(float(mean)) > 0.0
        ]
        name += f", which breaks {d.joined(broken)}," if broken else ""
        difference = _estimate(facts["objective"]["difference"])
        if difference.mean is None:
            return f"; against {name} its change is undefined"
        spread = mean_and_half(difference)[1]
        half = f" ± {spread}" if spread and not difference.asymmetric else ""
        mean = rounded(difference.mean, difference.half_width)[0]
        sign = "+" if difference.mean > 0.0 else ""
        unit = d.after(study.unit)
        return f"; against {name} the objective changes by {sign}{mean}{half}{unit}"
    return ""


def _point_table(role: str, study: _Study, best: VerdictPoint) -> d.TextTable:
    """Return a table of a point beside those that the config gives.

    Where no start is given, it is the value of the factor.
    """
    beside = {key: study.document.get(key) or {} for key in BESIDE}
    factors = flat(study.config.factors.model_dump(mode="json"))
    starts = {
        name: variable.get("start", factors.get(name)) for name, variable in study.variables.items()
    }
    points: dict[str, Document] = {
        role: best.point,
        START: beside["start_and_recommended"].get(START) or starts,
    }
    if today := beside["today_and_recommended"].get("today"):
        points[TODAY] = today
    columns: list[d.Column] = [("variable", list(best.point))]
    for name, point in points.items():
        values = [point.get(x) for x in best.point]
        columns.append((name, ["" if x is None else f"{float(x):.4g}" for x in values]))
    return d.TextTable.of_columns(columns)


def _means_table(best: VerdictPoint) -> d.TextTable:
    """Return a table of the means of a point."""
    limits = best.limits.values()
    means = [best.objective, *(limit.mean for limit in limits)]
    return d.TextTable.of_columns(
        [
            ("mean of", ["objective", *(limit.response for limit in limits)]),
            *d.mean_columns("value", f"± {best.objective.confidence:.0%}", means),
            (d.COUNT, [str(mean.n) for mean in means]),
            ("bound", ["", *(limit.in_words for limit in limits)]),
        ]
    )


def _beside(study: _Study, comparison: Document, name: str, view: d.View) -> Iterator[d.Block]:
    """Yield tables of the recommended point beside another one."""
    facts: Mapping[str, Document] = comparison["responses"]
    responses = [study.response(name) for name in facts]
    differences = [_estimate(fact["difference"]) for fact in facts.values()]

    def means(role: str) -> list[str]:
        pairs = zip((fact[role] for fact in facts.values()), differences, strict=True)
        return [
            "undefined" if mean is None else rounded(float(mean), change.half_width)[0]
            for mean, change in pairs
        ]

    columns: list[d.Column] = [
        (name, means("today" if name == TODAY else name)),
        ("recommended", means("recommended")),
        *d.mean_columns("change", f"± {differences[0].confidence:.0%}", differences),
    ]
    counts = [str(difference.n) for difference in differences]
    n, spent = int(comparison["replications"]), int(study.document.get("spent_beyond_budget", 0))
    places = [k for k, response in enumerate(responses) if d.listed(response, view.responses)]
    table = responses_table(responses, [*columns, (d.COUNT, counts)], places)
    table.spare = d.COUNT if set(counts) == {str(n)} else ""
    table.title = f"{name} and recommended point on the same {d.counted(n, 'fresh replication')}"
    if spent and name == START:
        table.title += f" ({spent:,} made beyond the budget, with those for costs)"
    table.notes = _no_interval(comparison)
    yield d.Block(f"Beside {name if name == TODAY else 'the start'}", table=table)
    if not view.responses:
        for part in compared_parts_tables(responses, columns):
            yield d.titled(part, folded=True)


WORDS_OF_SOLVERS = (
    "gap: distance from the {}, as a share of it; 100 % where the point that a run would recommend"
    " is truly infeasible. area: mean gap over the budget. <= 5 %, <= 10 %: share of the runs whose"
    " certified point has no larger gap. wrong: share of the runs that certified a point which is"
    " truly infeasible."
)

SHARES = ("within_5_percent", "within_10_percent", "wrongly_called_feasible")
"""What is labels of each solver besides its median objective and the area."""


def solvers_table(solvers: Document) -> d.TextTable:
    """Return a table of a line for each solver."""
    reference, best = solvers.get("gap_to", "best known objective"), solvers.get("best_known")
    heads = ("solver", "runs", "median objective", "area", "<= 5 %", "<= 10 %", "wrong")
    title = f"Solvers, judged by fresh replications; {reference}"
    table = d.TextTable.of(*heads, title=f"{title} {'none' if best is None else f'{best:g}'}")
    for name, line in solvers.items():
        if isinstance(line, dict):
            median, area = line["median_objective"]["value"], line["area_under_curve"]["value"]
            shown = "none" if median is None else f"{median:.{max(1, decimals(median, 3))}f}"
            shares = [f"{line[key]['value']:.0%}" for key in SHARES]
            table.add(label_of_solver(name), str(line["runs"]), shown, f"{area:.3f}", *shares)
    table.notes.append(WORDS_OF_SOLVERS.format(reference))
    return table


def _search_charts(study: _Study, best: VerdictPoint) -> Iterator[d.Chart]:
    """Yield charts of how the searches went."""
    label, tables = labelled("objective", study.unit), study.record.tables
    if "progress" in tables:
        yield _progress(tables["progress"], label)
    if "candidates" in tables:
        yield from _candidates(study.record, best, label)


def _progress(columns: Mapping[str, Sequence[Any]], label: str) -> d.Graph:
    """Return the median objective of the runs of each solver over the replications spent."""
    solvers = np.array(columns["solver"])
    spent, values, violation = (
        d.floats(columns[name]) for name in ("replications", "objective", "violation")
    )
    objective = np.where(violation > 0.0, np.nan, values)
    lines = []
    for k, solver in enumerate(dict.fromkeys(columns["solver"])):
        mask = solvers == solver
        xs = np.unique(spent[mask])
        ys = np.array([_median(objective[mask & (spent == x)]) for x in xs.tolist()])
        lines.append(d.Line(solver, xs, ys, colour=k))
    title = f"{label}: median of the runs, judged afresh"
    return d.Graph(title, "replications spent", "", lines)


def _median(values: Floats) -> float:
    """Return the median of objectives; NaN where half of the runs have no feasible point yet."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if 2 * known.size > values.size else math.nan


def _candidates(record: StudyRecord, best: VerdictPoint, label: str) -> Iterator[d.Chart]:
    """Yield the points of the searches: each variable against the objective."""
    columns = record.tables["candidates"]
    searched = np.array([stage == "search" for stage in columns["stage"]], dtype=bool)
    objective = d.floats(columns["objective"])[searched]
    keeps = np.isfinite(objective)
    for name, limit in best.limits.items():
        keeps &= limit.excess(d.floats(columns[name])[searched]) <= 0.0
    value = d.floats([best.objective.mean])
    for name, point in list(best.point.items())[:VARIABLES]:
        xs = d.floats(columns[name])[searched]
        labels = [f"the point found: {point:.4g}: {d.value_in_words(best.objective)}"]
        lines = [
            d.Line("keeps to bounds", xs[keeps], objective[keeps], colour=0),
            d.Line("breaks a bound", xs[~keeps], objective[~keeps], colour=1),
            d.Line("the point found", np.array([point]), value, colour=2, labels=labels),
        ]
        marked = [replace(line, marks=True, joined=False) for line in lines]
        axis = labelled(name, unit_of_factor(record.config.model, name))
        yield d.Graph(f"{label} by {name}", axis, "", marked)


# Sweeps and Pareto fronts: several points instead of one.


def _sweep(study: _Study, view: d.View) -> d.Presentation:
    """Return what a sweep of a bound or a weight shows."""
    document = study.document
    name, frontier = document["sweep"], document["frontier"]
    values = [float(solution[name]) for solution in frontier]
    span = f"{min(values):g} to {max(values):g}" if values else "several bounds"
    question = f"What does {name} cost? {_question(study, name, span)}"
    title = f"Sweep of {name} in {study.name}"
    page = d.Presentation(title, question, glossary=_glossary(study))
    points, remarks = [], []
    for solution in frontier:
        if best := _verdict(solution, name):
            points.append(best)
            why = [] if best.feasible is True else [solution["why"]]
            remarks += [
                f"{name} {best.value:g}: {text}" for text in (*solution.get("remarks", ()), *why)
            ]
    if not points:
        return page
    sure = _sure([point.objective for point in points])
    page.finding = _sweep_finding(name, points, sure, study.unit)
    table = d.TextTable.of_columns(
        [
            (name, [f"{point.value:g}" for point in points]),
            *d.mean_columns("objective", "± 95%", [point.objective for point in points]),
            (sure, [ANSWERS[point.feasible] for point in points]),
            *((x, [f"{point.point[x]:.4g}" for point in points]) for x in points[0].point),
        ]
    )
    table.notes = study.notes
    page.tables = [d.Block("The best point of each", table=table, items=remarks)]
    if prices := list(document.get("prices", ())):
        means = [_estimate(price["objective_per_unit_of_bound"]) for price in prices]
        slopes = d.TextTable.of_columns(
            [
                *((key, [f"{float(price[key]):g}" for price in prices]) for key in ("from", "to")),
                *d.mean_columns("objective per unit", f"± {means[0].confidence:.0%}", means),
                (d.COUNT, [str(mean.n) for mean in means]),
            ],
            title=f"what {name} costs between two certified bounds",
        )
        page.tables.append(d.titled(slopes))
    lines = []
    for certified, label, colour in ((True, sure, 0), (False, f"not {sure}", 1)):
        if some := [point for point in points if (point.feasible is True) == certified]:
            labels = [f"{point.value:g}: {d.value_in_words(point.objective)}" for point in some]
            xs, ys = d.floats(point.value for point in some), [point.objective for point in some]
            lines.append(d.line_of_means(label, xs, ys, labels, joined=certified, colour=colour))
    chart = d.Graph(f"Best {labelled('objective', study.unit)} by {name}", name, "", lines)
    page.charts = [d.Block("What each value is worth", charts=[chart], figure="frontier")]
    return page


def _sweep_finding(name: str, points: Sequence[VerdictPoint], sure: str, unit: str) -> str:
    """Say what the objective is at the ends of a sweep."""
    certified, tried = [point for point in points if point.feasible is True], len(points)
    if not certified:
        return f"No value of {name} has a {sure} point ({d.counted(tried, 'value')} tried)."
    ends = [certified[0], certified[-1]] if len(certified) > 1 else certified
    worth = [f"{d.value_in_words(end.objective)}{d.after(unit)} at {end.value:g}" for end in ends]
    counts = sorted({end.objective.n for end in ends})
    many = f"{counts[0]:,}" + (f" to {counts[-1]:,}" if len(counts) > 1 else "")
    of = f"{len(certified)} of {d.counted(tried, 'value')} of {name}"
    return (
        f"{of} have a {sure} point; the best objective is"
        f" {d.joined(worth)}; {_level(ends[0].objective)}, n = {many} fresh replications each."
    )


def _front(study: _Study, view: d.View) -> d.Presentation:
    """Return what a Pareto front shows."""
    document = study.document
    objectives: Mapping[str, Document] = document["objectives"]
    names, tested = list(objectives), int(document["tested"])
    remarks = list(document.get("remarks", ()))
    question = _question(study).partition("? ")[2]
    page = d.Presentation(
        f"Pareto front of {study.name}",
        f"How do {d.joined(names)} trade off in {study.name}? {question}",
    )
    points = [
        (
            {name: _estimate(mean) for name, mean in one["objectives"].items()},
            {name: float(value) for name, value in one["point"].items()},
        )
        for one in document["front"]
    ]
    if not points:
        page.finding = f"None of {d.counted(tested, 'tested point')} is certified as feasible."
        page.header = f"\nnone of {tested} tested points is certified as feasible"
        page.tables = [d.Block("Remarks", items=remarks)]
        return page
    page.header = f"\nfront of {', '.join(names)}: {len(points)} of {tested} tested points"
    means = sorted((means for means, _ in points), key=lambda pair: pair[names[0]].mean or 0.0)
    first, *_, last = [*means, means[-1]]
    units = {name: study.after(objective["response"]) for name, objective in objectives.items()}
    worth = [
        d.joined([f"{name} {d.value_in_words(end[name])}{units[name]}" for name in names])
        for end in ([first, last] if len(points) > 1 else [first])
    ]
    mean = first[names[0]]
    page.finding = (
        f"{d.counted(len(points), f'{_sure([mean])} point')} of {tested} tested"
        f" {'are' if len(points) != 1 else 'is'} on the front, from {' to '.join(worth)};"
        f" {_level(mean)}, n = {mean.n:,} fresh replications each."
    )
    columns: list[d.Column] = []
    for name in names:
        columns += d.mean_columns(name, "±", [of_point[name] for of_point, _ in points])
    columns += [(x, [f"{point[x]:.4g}" for _, point in points]) for x in points[0][1]]
    table = d.TextTable.of_columns(columns)
    table.repeated, table.notes = 2 * len(names), study.notes
    page.tables = [d.Block("The front", table=table, items=remarks)]
    axes = {
        name: labelled(objective["response"], study.response(objective["response"]).unit)
        for name, objective in objectives.items()
    }
    charts = [
        _trade_off(combination, other, axes, means) for combination, other in combinations(names, 2)
    ]
    page.charts = [d.Block("The objectives against each other", charts=charts, figure="front")]
    return page


def _trade_off(
    first: str, other: str, axes: Mapping[str, str], points: Sequence[Mapping[str, Estimate]]
) -> d.Chart:
    """Return a chart of two objectives."""
    order = sorted(points, key=lambda means: means[first].mean or 0.0)
    labels = [
        f"{first} {d.value_in_words(means[first])}, {other} {d.value_in_words(means[other])}"
        for means in order
    ]
    xs, ys = d.floats(means[first].mean for means in order), [means[other] for means in order]
    line = d.line_of_means("", xs, ys, labels, joined=len(axes) == 2)
    return d.Graph(f"{axes[other]} against {first}", axes[first], "", [line])
