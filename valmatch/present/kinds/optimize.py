"""Presentation of a study of `optimize`: what is recommended, its worth, how sure that is."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
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
from valmatch.present.document import (
    Block,
    Chart,
    Graph,
    Line,
    Presentation,
    View,
    after,
    confidence_in_words,
    config_name,
    config_title,
    counted,
    estimate_of,
    joined,
    listed,
    titled,
    value_in_words,
)
from valmatch.present.kinds.responses import compared_parts_sheets, compared_table, glossary
from valmatch.present.provenance import unit_of_factor
from valmatch.present.terminal import WIDTH
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.rounding import decimals, mean_and_half, rounded
from valmatch.storage.result_files import damaged
from valmatch.text.terminal import COUNT, Sheet, aligned, escaped, labelled

SENSES = {"at_most": "<=", "at_least": ">="}

BESIDE = {"start_and_recommended": START, "today_and_recommended": TODAY}
"""Comparisons of a summary with what is beside the recommended point in them."""

NOTE = (
    "Objectives while the search went on are of few replications each; the final test is of"
    " fresh ones."
)

Columns = Mapping[str, Sequence[Any]]


def present(result: StudyResult | StudyRecord, view: View) -> Presentation:
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
    header = f"{config_title(shown.config)}, seed {given['seed']}, budget {given['budget']:,}"
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
    variables = joined(list(section.get("variables", ())))
    aim = _terms(section.get("objective") or {})
    if "objectives" in given:
        aim = f"trade off {joined(list(given['objectives']))}"
    else:
        verb = "minimise" if " and " in variables else "minimises"
        aim = f"{verb} {aim}" if aim else "is best"
    bounds = [
        f"{one['response']} {sense} {values if name == swept else plain_number(one[key])}"
        f"{after(shown.response(one['response']).unit)}"
        for name, one in (section.get("constraints") or {}).items()
        for key, sense in SENSES.items()
        if one.get(key) is not None
    ]
    within = f" with {joined(bounds)}" if bounds else ""
    which = f"Which {variables}" if variables else "Which rule"
    solver = f", solver {','.join(shown.solvers)}" if shown.solvers else ""
    spent = f", budget {counted(given['budget'], 'replication')} a run"
    of = config_name(shown.config)
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


def _best_of(found: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the point of a verdict: the recommended one, or that of least violation."""
    return found.get("recommended") or found.get("least_violation")


def _feasible(found: Mapping[str, Any]) -> bool | None:
    """Return the answer of a verdict, None for undecided."""
    answer = found["feasible"]
    return answer if isinstance(answer, bool) else None


def _level(found: Estimate) -> str:
    """Say with what confidence means are known; an interval may well begin at 0."""
    known = found.ci_low is not None
    return f"{confidence_in_words(found.confidence)} intervals" if known else "no intervals"


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

Point = Mapping[str, float]


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


class SweptPoint(NamedTuple):
    """What was found for one value of a sweep."""

    value: float  # the value
    objective: Estimate  # the mean objective of the point
    feasible: bool | None  # whether the point is certified, None for undecided
    point: Point  # the point


def point_sheet(role: str, point: Point, start: Point, today: Point | None) -> Sheet:
    """Return a table of a point beside those that the config gives."""
    sheet = Sheet.of("variable", role, START, *([TODAY] if today else []))
    values = aligned([f"{value:.4g}" for value in point.values()])
    for name, shown in zip(point, values, strict=True):
        own = [f"{today[name]:.4g}"] if today else []
        sheet.add(name, shown, f"{start[name]:.4g}" if name in start else "", *own)
    return sheet


def limits_sheet(objective: Estimate, limits: Sequence[Limit]) -> Sheet:
    """Return a table of the means of a point."""
    sheet = Sheet.of("mean of", "value", f"± {objective.confidence:.0%}", COUNT, "bound")
    rows = [("objective", objective, "")]
    rows += [(limit.response, limit.mean, limit.in_words) for limit in limits]
    for name, mean, bound in rows:
        value, half = mean_and_half(mean)
        sheet.add(name, value, half, str(mean.n), bound)
    return sheet


def solvers_sheet(solvers: Mapping[str, Mapping[str, Any]], reference: str, best: Any) -> Sheet:  # noqa: ANN401
    """Return a table of a line for each solver."""
    heads = ("solver", "runs", "median objective", "area", "<= 5 %", "<= 10 %", "wrong")
    known = "none" if best is None else f"{best:g}"
    sheet = Sheet.of(*heads, title=f"Solvers, judged by fresh replications; {reference} {known}")
    for name, line in solvers.items():
        median = line["median_objective"]["value"]
        area, *shares = (line[key]["value"] for key in SHARES)
        shown = "none" if median is None else f"{median:.{max(1, decimals(median, 3))}f}"
        cells = [f"{area:.3f}", *(f"{share:.0%}" for share in shares)]
        sheet.add(label_of_solver(name), str(line["runs"]), shown, *cells)
    sheet.notes.append(WORDS_OF_SOLVERS.format(reference))
    return sheet


def front_sheet(points: Sequence[tuple[Mapping[str, Estimate], Point]]) -> Sheet:
    """Return a table of the points of a Pareto front, objectives first."""
    first, point = points[0]
    sheet = Sheet.of(*(part for name in first for part in (name, "±")), *point)
    columns = []
    for name in first:
        cells = [mean_and_half(objectives[name]) for objectives, _ in points]
        columns += [aligned([cell[side] for cell in cells]) for side in (0, 1)]
    for number, (_, values) in enumerate(points):
        own = [f"{x:.4g}" for x in values.values()]
        sheet.add(*(column[number] for column in columns), *own)
    return sheet


def sure_of(objectives: Iterable[Estimate]) -> str:
    """Return what to call points that keep their bounds: of one replication none is certified."""
    return "certified" if any(found.n > 1 for found in objectives) else "feasible"


def sweep_sheet(name: str, found: Sequence[SweptPoint]) -> Sheet:
    """Return a table of the certified point of each value of a sweep."""
    variables = list(found[0].point) if found else []
    sure = sure_of(one.objective for one in found)
    sheet = Sheet.of(name, "objective", "± 95%", sure, *variables)
    for value, objective, feasible, point in found:
        mean, half = mean_and_half(objective)
        own = [f"{x:.4g}" for x in point.values()]
        sheet.add(f"{value:g}", mean, half, ANSWERS[feasible], *own)
    return sheet


def slopes_sheet(name: str, slopes: Sequence[tuple[float, float, Estimate]]) -> Sheet:
    """Return a table of what a bound costs between each two certified values of a sweep."""
    level = slopes[0][2].confidence
    title = f"what {name} costs between two certified bounds"
    sheet = Sheet.of("from", "to", "objective per unit", f"± {level:.0%}", COUNT, title=title)
    for low, high, slope in slopes:
        mean, half = mean_and_half(slope)
        sheet.add(f"{low:g}", f"{high:g}", mean, half, str(slope.n))
    return sheet


def _limits(best: Mapping[str, Any]) -> list[Limit]:
    """Return the bounds of a verdict with the means of their responses."""
    return [
        Limit(one["response"], one["sense"], float(one["bound"]), estimate_of(one))
        for one in best["constraints"].values()
    ]


# Runs of solvers: one recommended point.


def _study(shown: _Shown, view: View) -> Presentation:
    """Return what runs of solvers show."""
    given = shown.given
    found = Presentation(f"Optimisation of {config_name(shown.config)}", _question(shown))
    best = _best_of(given)
    if best is None:
        ended = shown.record.status == "complete"
        found.finding = "No run of a solver has come to an end." if ended else ""
        return found
    objective = estimate_of(best["objective"])
    found.finding = _finding(given, best, objective, shown.unit)
    found.glossary = _glossary(shown)
    infeasible = given["feasible"] is False
    role = "least violation" if infeasible else "recommended"
    beside = given.get("start_and_recommended") or {}
    today = (given.get("today_and_recommended") or {}).get("today")
    start = beside.get(START) or _starts(shown)
    point = {name: float(value) for name, value in best["point"].items()}
    title = "The point of least violation" if infeasible else "The recommended point"
    means = limits_sheet(objective, _limits(best))
    means.notes += [f"no interval: {given['no_interval']}"] if given.get("no_interval") else []
    remarks = [f"feasible: {ANSWERS[_feasible(given)]}; {given['why']}", *given.get("remarks", ())]
    found.tables = [
        Block(title, sheet=point_sheet(role, point, start, today)),
        Block("What it is worth", sheet=means, items=remarks),
    ]
    for key, name in BESIDE.items():
        if key in given:
            found.tables += _beside(shown, key, name, view)
    prices = [price["in_words"] for price in (given.get("prices") or {}).values()]
    if prices:
        found.tables.append(Block("What the constraints cost", items=prices))
    if "solvers" in given:
        lines = {name: one for name, one in given["solvers"].items() if isinstance(one, dict)}
        reference = str(given["solvers"].get("gap_to", "best known objective"))
        best_known = given["solvers"].get("best_known")
        found.tables.append(titled(solvers_sheet(lines, reference, best_known)))
    charts = list(_search_charts(shown, best))
    if charts:
        found.charts = [Block("The search", [NOTE], charts=charts, figure="search")]
    named = [shown.response(one) for one in beside.get("responses", {}) if one != "objective"]
    found.blocks = glossary(named)
    return found


def _starts(shown: _Shown) -> dict[str, float]:
    """Return the start of each variable: where none is given, the value of the factor."""
    values = flat(shown.config.factors.model_dump(mode="json"))
    variables = shown.section.get("variables", {})
    starts = {name: one.get("start", values.get(name)) for name, one in variables.items()}
    return {name: float(start) for name, start in starts.items() if start is not None}


def _finding(
    given: Mapping[str, Any], best: Mapping[str, Any], objective: Estimate, unit: str
) -> str:
    """Say what was found, and how sure that is."""
    bounds = [
        f"{limit.response} {value_in_words(limit.mean)} ({limit.in_words})"
        for limit in _limits(best)
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
    facts, best = given[key]["responses"], _best_of(given)
    broken = []
    for limit in _limits(best) if best else ():
        mean = facts.get(limit.response, {}).get(base)
        if mean is not None:
            excess = float(mean) - limit.bound
            if (excess if limit.sense == "<=" else -excess) > 0.0:
                broken.append(f"{limit.response} {limit.in_words} ({float(mean):.4g})")
    return joined(broken)


def _beside(shown: _Shown, key: str, name: str, view: View) -> Iterator[Block]:
    """Yield tables of the recommended point beside another one."""
    found: dict[str, Any] = shown.given[key]
    facts: dict[str, Any] = found["responses"]
    base = "today" if name == TODAY else name
    responses = [shown.response(one) for one in facts]
    differences = [estimate_of(fact["difference"]) for fact in facts.values()]
    pairs = list(zip(facts.values(), differences, strict=True))
    cells = [mean_and_half(difference) for difference in differences]
    columns: list[tuple[str, Sequence[str]]] = [
        (name, [_mean(fact[base], change) for fact, change in pairs]),
        ("recommended", [_mean(fact["recommended"], change) for fact, change in pairs]),
        ("change", [mean for mean, _ in cells]),
        (f"± {differences[0].confidence:.0%}", [half for _, half in cells]),
    ]
    counts = [str(difference.n) for difference in differences]
    n, spent = int(found["replications"]), int(shown.given.get("spent_beyond_budget", 0))
    places = [k for k, one in enumerate(responses) if listed(one, view.responses)]
    sheet = compared_table(responses, [*columns, (COUNT, counts)], places)
    sheet.spare = COUNT if set(counts) == {str(n)} else ""
    sheet.title = f"{name} and recommended point on the same {counted(n, 'fresh replication')}"
    if spent and name == START:
        sheet.title += f" ({spent:,} made beyond the budget, with those for costs)"
    if found.get("no_interval"):
        sheet.notes.append(f"no interval: {found['no_interval']}")
    yield Block(f"Beside {name if name == TODAY else 'the start'}", sheet=sheet)
    if not view.responses:
        for part in compared_parts_sheets(responses, columns):
            yield titled(part, folded=True)


def _mean(value: float | None, difference: Estimate) -> str:
    return "undefined" if value is None else rounded(float(value), difference.half_width)[0]


# Sweeps and Pareto fronts: several points instead of one.


def _sweep(shown: _Shown, view: View) -> Presentation:
    """Return what a sweep of a bound or a weight shows."""
    given = shown.given
    name, of = given["sweep"], config_name(shown.config)
    values = [float(one[name]) for one in given["frontier"]]
    span = f"{min(values):g} to {max(values):g}" if values else "several bounds"
    question = f"What does {name} cost? {_question(shown, name, span)}"
    shows = Presentation(f"Sweep of {name} in {of}", question, glossary=_glossary(shown))
    found, remarks = [], []
    for one in given["frontier"]:
        best = _best_of(one)
        if best is None:
            continue
        value, point = float(one[name]), {key: float(x) for key, x in best["point"].items()}
        found.append(SweptPoint(value, estimate_of(best["objective"]), _feasible(one), point))
        remarks += [f"{name} {value:g}: {text}" for text in one.get("remarks", ())]
        if _feasible(one) is not True:
            remarks.append(f"{name} {value:g}: {one['why']}")
    if not found:
        return shows
    shows.finding = _sweep_finding(name, found, shown.unit)
    sheet = sweep_sheet(name, found)
    if given.get("no_interval"):
        sheet.notes.append(f"no interval: {given['no_interval']}")
    shows.tables = [Block("The best point of each", sheet=sheet, items=remarks)]
    slopes = [
        (float(one["from"]), float(one["to"]), estimate_of(one["objective_per_unit_of_bound"]))
        for one in given.get("prices", ())
    ]
    if slopes:
        shows.tables.append(titled(slopes_sheet(name, slopes)))
    chart = sweep_chart(name, found, shown.unit)
    shows.charts = [Block("What each value is worth", charts=[chart], figure="frontier")]
    return shows


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


def _front(shown: _Shown, view: View) -> Presentation:
    """Return what a Pareto front shows."""
    given, of = shown.given, config_name(shown.config)
    objectives: dict[str, Any] = given["objectives"]
    names, tested = list(objectives), int(given["tested"])
    asked = _question(shown).partition("? ")[2]
    found = Presentation(
        f"Pareto front of {of}", f"How do {joined(names)} trade off in {of}? {asked}"
    )
    points = [
        (
            {name: estimate_of(mean) for name, mean in one["objectives"].items()},
            {name: float(value) for name, value in one["point"].items()},
        )
        for one in given["front"]
    ]
    if not points:
        found.finding = f"None of {counted(tested, 'tested point')} is certified as feasible."
        found.header = f"\nnone of {tested} tested points is certified as feasible"
        found.tables = [Block("Remarks", items=list(given.get("remarks", ())))]
        return found
    found.header = f"\nfront of {', '.join(names)}: {len(points)} of {tested} tested points"
    first = names[0]
    order = sorted(points, key=lambda one: one[0][first].mean or 0.0)
    ends = [order[0], order[-1]] if len(order) > 1 else order
    said = [
        joined([f"{name} {value_in_words(means[name])}" for name in means]) for means, _ in ends
    ]
    mean = ends[0][0][first]
    found.finding = (
        f"{counted(len(points), f'{sure_of([mean])} point')} of {tested} tested"
        f" {'are' if len(points) != 1 else 'is'} on the front, from {' to '.join(said)};"
        f" {_level(mean)}, n = {mean.n:,} fresh replications each."
    )
    sheet = front_sheet(points)
    sheet.repeated = 2 * len(names)
    if given.get("no_interval"):
        sheet.notes.append(f"no interval: {given['no_interval']}")
    found.tables = [Block("The front", sheet=sheet, items=list(given.get("remarks", ())))]
    labels = {
        name: labelled(objectives[name]["response"], shown.response(one["response"]).unit)
        for name, one in objectives.items()
    }
    charts = front_charts(labels, [means for means, _ in points])
    found.charts = [Block("The objectives against each other", charts=charts, figure="front")]
    return found


# ---- charts ----


def _search_charts(shown: _Shown, best: Mapping[str, Any]) -> Iterator[Chart]:
    """Yield charts of how the searches went."""
    label, tables = labelled("objective", shown.unit), shown.record.tables
    if "progress" in tables:
        yield _progress(tables["progress"], label)
    if "candidates" in tables:
        yield from _candidates(shown.record, best, label)


def _numbers(values: Sequence[Any]) -> Floats:
    return np.array([math.nan if value is None else value for value in values], np.float64)


def _progress(columns: Columns, label: str) -> Graph:
    """Return the median objective of the runs of each solver over the replications spent."""
    solvers = np.array(columns["solver"])
    spent, values, violation = (
        _numbers(columns[name]) for name in ("replications", "objective", "violation")
    )
    objective = np.where(violation > 0.0, np.nan, values)
    lines = []
    for k, solver in enumerate(dict.fromkeys(columns["solver"])):
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


def _candidates(record: StudyRecord, best: Mapping[str, Any], label: str) -> list[Chart]:
    """Return the points of the searches: each variable against the objective."""
    variables = list(best["point"])
    columns = record.tables["candidates"]
    searched = np.array([stage == "search" for stage in columns["stage"]], dtype=bool)
    names = (*variables, "objective", *best["constraints"])
    numbers = {name: _numbers(columns[name])[searched] for name in names}
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
        charts.append(
            Graph(
                f"{label} by {name}",
                labelled(name, unit_of_factor(record.config.model, name)),
                "",
                lines,
            )
        )
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
    labels: Mapping[str, str], points: Sequence[Mapping[str, Estimate]]
) -> list[Chart]:
    """Return a chart of each two objectives."""
    names = list(labels)
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
        title = f"{labels[other]} against {one}"
        charts.append(Graph(title, labels[one], "", [line]))
    return charts
