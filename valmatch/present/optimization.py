"""Presentation of a study of `optimize`: what is recommended, its worth, how sure that is."""

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from valmatch.config.config import Constraint
from valmatch.config.factor_paths import flat
from valmatch.experiments.response_list import shown_by
from valmatch.inputs.fields import plain_number
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Response
from valmatch.optimization.problem import START, TODAY
from valmatch.optimization.solvers.registry import label_of_solver
from valmatch.optimization.studies.study import Study
from valmatch.optimization.verdict import LEAST, OBJECTIVE, RECOMMENDED, SHORT, PointResult, beside
from valmatch.present import document as d
from valmatch.present.experiments import compared_parts_blocks, glossary, responses_table
from valmatch.statistics.estimates import Estimate, decimals, mean_and_half, rounded
from valmatch.text.terminal import WIDTH, counted, escaped, labelled

VARIABLES = 6  # variables against which the points of searches are drawn

NOTE = (
    "Objectives while the search went on are of few replications each; the final test is of"
    " fresh ones."
)

ANSWERS = {True: "yes", False: "no", None: "undecided"}

Document = Mapping[str, Any]


def present_optimize(study: Study, view: d.View) -> d.Presentation:
    """Return what a study shows."""
    document = study.document
    kind = _sweep if "frontier" in document else _front if "front" in document else _point
    page = kind(study, _Names(study), view)
    page.header = _header(study) + page.header
    return page


class _Names:
    """What is known of the responses of a study, and how its config is called."""

    def __init__(self, study: Study) -> None:
        self.config, self.section = d.config_name(study.config), study.config.optimize
        self._responses = {response.name: response for response in shown_by(study.config)[0]}
        self.unit, terms = "", self.section.objective.values()
        units = {self.response(term.response).unit for term in terms}
        self.unit = units.pop() if len(units) == 1 else ""  # of the objective; "" if terms differ
        parts = [
            f"{'' if term.weight == 1.0 else f'{plain_number(term.weight)} '}{term.response}"
            for term in terms
            if term.weight
        ]
        self.aim = " + ".join(parts).replace("+ -", "- ")  # the objective

    def response(self, name: str) -> Response:
        """Return what is known of a response."""
        if name == OBJECTIVE:
            return Response(name, self.unit, "what is minimised")
        return self._responses.get(name) or Response(name, "", "")

    @property
    def glossary(self) -> str:
        """What the objective and the responses with bounds are."""
        names = [term.response for term in self.section.objective.values()]
        names += [bound.response for bound in self.section.constraints.values()]
        meanings = d.meanings_in_words(list(map(self.response, dict.fromkeys(names))))
        aim = f"objective: {self.aim}, less is better" if self.section.objective else ""
        return "; ".join(filter(None, (aim, meanings)))


def _no_interval(document: Document) -> list[str]:
    why = document.get("no_interval")
    return [f"no interval: {why}"] if why else []


def _solvers(study: Study) -> list[str]:
    return [name for name in str(study.document.get("solver", "")).split(",") if name]


def _header(study: Study) -> str:
    document, solvers = study.document, _solvers(study)
    seed, budget = document["seed"], document["budget"]
    header = f"{d.config_title(study.config)}, seed {seed}, budget {budget:,}"
    if solvers:
        header += f"\nsolver: {', '.join(map(label_of_solver, solvers))}"
    scales: Mapping[str, str] = document.get("search_scale", {})
    for scale in dict.fromkeys(scales.values()):
        names = ", ".join(name for name, of_name in scales.items() if of_name == scale)
        why = "no scale is given, and the range spans over two orders of magnitude"
        line = f"search scale: {scale} for {escaped(names)} ({why})"
        header += "\n" + textwrap.fill(line, WIDTH, subsequent_indent="  ")
    return header


def _question(study: Study, names: _Names, swept: str = "", values: str = "") -> str:
    document, variables = study.document, d.joined(list(names.section.variables))
    aim = f"minimise{'' if len(names.section.variables) > 1 else 's'} {names.aim}"
    if "objectives" in document:
        aim = f"trade off {d.joined(list(document['objectives']))}"
    elif not names.aim:
        aim = "is best"
    bounds = [
        f"{c.response} {c.sense} {values if name == swept else plain_number(c.bound)}"
        f"{d.after(names.response(c.response).unit)}"
        for name, c in names.section.constraints.items()
    ]
    within = f" with {d.joined(bounds)}" if bounds else ""
    which, solvers = f"Which {variables or 'rule'}", _solvers(study)
    solver = f", solver {','.join(solvers)}" if solvers else ""
    spent = f", budget {counted(document['budget'], 'replication')} a run"
    return f"{which} of {names.config} {aim}{within}? Seed {document['seed']}{spent}{solver}."


def _in_words(bound: Constraint) -> str:
    return f"{bound.sense} {bound.bound:g}"


def _sure(objectives: Sequence[Estimate]) -> str:
    """Return what to call points of such objectives: of one replication none is certified."""
    return "certified" if any(mean.n > 1 for mean in objectives) else "feasible"


# Runs of solvers: one recommended point.


def _point(study: Study, names: _Names, view: d.View) -> d.Presentation:
    document, best = study.document, study.verdict
    page = d.Presentation(f"Optimisation of {names.config}", _question(study, names))
    if best is None:
        page.finding = "No run of a solver has come to an end." * (study.status == "complete")
        return page
    page.finding, page.glossary = _finding(study, names, best), names.glossary
    role = "recommended" if best.feasible is not False else "least violation"
    title = "The recommended point" if best.feasible is not False else f"The point of {role}"
    bounds = [bound for bound, _ in best.constraints.values()]
    means = [best.objective, *(mean for _, mean in best.constraints.values())]
    columns: list[d.Column] = [
        ("mean of", [OBJECTIVE, *(bound.response for bound in bounds)]),
        *d.mean_columns("value", f"± {best.objective.confidence:.0%}", means),
        (d.COUNT, [str(mean.n) for mean in means]),
        ("bound", ["", *map(_in_words, bounds)]),
    ]
    worth = d.TextTable.of_columns(columns, notes=_no_interval(document))
    remarks = [f"feasible: {ANSWERS[best.feasible]}; {best.why}", *best.remarks]
    if best.feasible is False and (relaxed := _relaxed(best)):
        remarks.append(f"to relax the limits so far that this point meets them: {relaxed}")
        remarks.append("a first look at other limits or variables: --budget 100")
    page.tables = [
        d.Block(title, table=_point_table(role, study, best)),
        d.Block("What it is worth", table=worth, items=remarks),
    ]
    for name in SHORT:
        if facts := _compared(study, name):
            page.tables += _beside(document, facts, name, names, view)
    prices = [price["in_words"] for price in (document.get("prices") or {}).values()]
    if prices:
        page.tables.append(d.Block("What the constraints cost", items=prices))
    if "solvers" in document:
        page.tables.append(d.titled(_solvers_table(document["solvers"])))
    label, charts = labelled(OBJECTIVE, names.unit), list[d.Chart]()
    if "progress" in study.tables:
        charts.append(_progress(study.tables["progress"], label))
    if "candidates" in study.tables:
        charts += _candidates(study, best, label)
    page.charts = [d.Block("The search", [NOTE], charts=charts, figure="search")]
    compared = _compared(study, START).get("responses", {})
    page.blocks = glossary([names.response(name) for name in compared if name != OBJECTIVE])
    return page


def _compared(study: Study, baseline: str) -> Document:
    """Return the comparison of the point with a baseline; {} if there is none."""
    role = RECOMMENDED if study.document.get(RECOMMENDED) else LEAST
    return study.document.get(beside(baseline, role)) or {}


def _finding(study: Study, names: _Names, best: PointResult) -> str:
    """Say what was found, and how sure that is."""
    objective = best.objective
    of = "replication" if objective.ci_low is None else "fresh replication"
    how = d.in_interval_words([objective], counted(objective.n, of))
    worth = f"objective {d.value_in_words(objective)}{d.after(names.unit)}"
    if best.constraints:
        bounds = (
            f"{c.response} {d.value_in_words(mean)}{d.after(names.response(c.response).unit)}"
            f" ({_in_words(c)})"
            for c, mean in best.constraints.values()
        )
        worth += f" with {', '.join(bounds)}"
    if best.feasible is False:
        return f"No feasible point was found; that of least violation has {worth}; {how}."
    if best.feasible is None:
        return f"Too close to call: the best point found has {worth}, not certified; {how}."
    named = f", {best.name}," if best.name else ""
    if source := study.document.get("from"):
        named += f" (of {label_of_solver(source['solver'])}, run {source['run']})"
    sure = "certified as feasible" if objective.n > 1 else "feasible in its one replication"
    change = _change(study, names, best)
    return f"The recommended point{named} is {sure}: {worth}; {how}{change}."


def _relaxed(best: PointResult) -> str:
    """Return the options by which a point meets the limits that it breaks; "" if none is known."""
    options = []
    for name, (bound, mean) in best.constraints.items():
        end = mean.ci_high if bound.sign > 0 else mean.ci_low
        if end is not None and bound.sign * (end - bound.bound) > 0.0:
            step = 10.0 ** (math.floor(math.log10(abs(end))) - 2) if end else 1.0
            value = bound.sign * math.ceil(bound.sign * end / step) * step
            limit = "at_most" if bound.sign > 0 else "at_least"
            options.append(f"--set optimize.constraints.{name}.{limit}={value:.6g}")
    return " ".join(options)


def _change(study: Study, names: _Names, best: PointResult) -> str:
    """Say how the objective changes against today's rule, or against the start."""
    for role in (TODAY, START):
        facts = _compared(study, role).get("responses", {})
        if OBJECTIVE not in facts:
            continue
        broken = []
        for bound, _ in best.constraints.values():
            mean = facts.get(bound.response, {}).get(SHORT[role])
            if mean is not None and bound.sign * (float(mean) - bound.bound) > 0.0:
                broken.append(f"{bound.response} {_in_words(bound)} ({float(mean):.4g})")
        name = TODAY if role == TODAY else "the start"
        name += f", which breaks {d.joined(broken)}," if broken else ""
        difference = Estimate.read(facts[OBJECTIVE]["difference"])
        if difference.mean is None:
            return f"; against {name} its change is undefined"
        value, spread = mean_and_half(difference)
        half = f" ± {spread}" if spread and not difference.asymmetric else ""
        change = f"{'+' if difference.mean > 0.0 else ''}{value}{half}{d.after(names.unit)}"
        return f"; against {name} the objective changes by {change}"
    return ""


def _point_table(role: str, study: Study, best: PointResult) -> d.TextTable:
    """Return a table of a point beside those that the config gives."""
    # Where no start is given, it is the value of the factor.
    factors = flat(study.config.factors.model_dump(mode="json"))
    starts = {
        name: factors.get(name) if variable.start is None else variable.start
        for name, variable in study.config.optimize.variables.items()
    }
    points: dict[str, Document] = {
        role: best.point,
        START: _compared(study, START).get(START) or starts,
        TODAY: _compared(study, TODAY).get(SHORT[TODAY]) or {},
    }
    columns: list[d.Column] = [("variable", list(best.point))]
    for name, point in points.items():
        values = [point.get(x) for x in best.point]
        if point:
            columns.append((name, ["" if x is None else f"{float(x):.4g}" for x in values]))
    return d.TextTable.of_columns(columns)


def _beside(
    document: Document, comparison: Document, baseline: str, names: _Names, view: d.View
) -> Iterator[d.Block]:
    """Yield tables of the point found beside the start, or beside today's rule."""
    point = RECOMMENDED if RECOMMENDED in comparison else LEAST
    in_words = point.replace("_", " ")
    facts: Mapping[str, Document] = comparison["responses"]
    responses = [names.response(name) for name in facts]
    differences = [Estimate.read(fact["difference"]) for fact in facts.values()]

    def means(role: str) -> list[str]:
        pairs = zip((fact[role] for fact in facts.values()), differences, strict=True)
        return [
            "undefined" if mean is None else rounded(float(mean), change.half_width)[0]
            for mean, change in pairs
        ]

    columns: list[d.Column] = [
        (baseline, means(SHORT[baseline])),
        (in_words, means(point)),
        *d.mean_columns("change", f"± {differences[0].confidence:.0%}", differences),
    ]
    counts = [str(difference.n) for difference in differences]
    n, spent = int(comparison["replications"]), int(document.get("spent_beyond_budget", 0))
    table = responses_table(responses, [*columns, (d.COUNT, counts)], view.responses)
    table.spare = d.COUNT if set(counts) == {str(n)} else ""
    both = f"{baseline} and {in_words}{' point' * (point == RECOMMENDED)}"
    table.title = f"{both} on the same {counted(n, 'fresh replication')}"
    if spent and baseline == START:
        table.title += f" (plus {spent:,} replications outside the budget)"
    table.notes = _no_interval(comparison)
    yield d.Block(f"Beside {TODAY if baseline == TODAY else 'the start'}", table=table)
    if not view.responses:
        yield from compared_parts_blocks(responses, columns)


WORDS_OF_SOLVERS = (
    "gap: distance from the {}, as a share of it; 100 % where the point that a run would recommend"
    " is truly infeasible. area: mean gap over the budget. <= 5 %, <= 10 %: share of the runs whose"
    " certified point has no larger gap. wrong: share of the runs that certified a point which is"
    " truly infeasible."
)

SHARES = ("within_5_percent", "within_10_percent", "wrongly_called_feasible")
"""What is labels of each solver besides its median objective and the area."""


def _solvers_table(solvers: Document) -> d.TextTable:
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


def _progress(columns: Mapping[str, Sequence[Any]], label: str) -> d.Graph:
    """Return the median objective of the runs of each solver over the replications spent."""
    solvers, names = np.array(columns["solver"]), ("replications", "objective", "violation")
    spent, values, violation = (d.floats(columns[name]) for name in names)
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


def _candidates(study: Study, best: PointResult, label: str) -> Iterator[d.Chart]:
    """Yield the points of the searches: each variable against the objective."""
    columns = study.tables["candidates"]
    searched = np.array([stage == "search" for stage in columns["stage"]], dtype=bool)
    objective = d.floats(columns[OBJECTIVE])[searched]
    keeps = np.isfinite(objective)
    for name, (bound, _) in best.constraints.items():
        keeps &= bound.sign * (d.floats(columns[name])[searched] - bound.bound) <= 0.0
    value = d.floats([best.objective.mean])
    for name, point in list(best.point.items())[:VARIABLES]:
        xs = d.floats(columns[name])[searched]
        labels = [f"the point found: {point:.4g}: {d.value_in_words(best.objective)}"]
        lines = [
            d.dots("keeps to bounds", xs[keeps], objective[keeps], 0),
            d.dots("breaks a bound", xs[~keeps], objective[~keeps], 1),
            d.dots("the point found", np.array([point]), value, 2, labels),
        ]
        axis = labelled(name, d.unit_of_factor(study.config.model, name))
        yield d.Graph(f"{label} by {name}", axis, "", lines)


# Sweeps and Pareto fronts: several points instead of one.


def _sweep(study: Study, names: _Names, view: d.View) -> d.Presentation:
    document, points = study.document, study.points
    name = document["sweep"]
    values = [float(solution[name]) for solution in document["frontier"]]
    span = f"{min(values):g} to {max(values):g}" if values else "several bounds"
    question = f"What does {name} cost? {_question(study, names, name, span)}"
    title = f"Sweep of {name} in {names.config}"
    page = d.Presentation(title, question, glossary=names.glossary)
    if not points:
        return page
    remarks = [
        f"{name} {point.value:g}: {text}"
        for point in points
        for text in (*point.remarks, *([] if point.feasible is True else [point.why]))
    ]
    sure = _sure([point.objective for point in points])
    page.finding = _sweep_finding(name, points, sure, names.unit)
    columns: list[d.Column] = [
        (name, [f"{point.value:g}" for point in points]),
        *d.mean_columns("objective", "± 95%", [point.objective for point in points]),
        (sure, [ANSWERS[point.feasible] for point in points]),
        *_coordinates(points),
    ]
    table = d.TextTable.of_columns(columns, notes=_no_interval(document))
    page.tables = [d.Block("The best point of each", table=table, items=remarks)]
    if prices := list(document.get("prices", ())):
        means = [Estimate.read(price["objective_per_unit_of_bound"]) for price in prices]
        columns = [(k, [f"{float(price[k]):g}" for price in prices]) for k in ("from", "to")]
        columns += d.mean_columns("objective per unit", f"± {means[0].confidence:.0%}", means)
        columns.append((d.COUNT, [str(mean.n) for mean in means]))
        title = f"what {name} costs between two certified bounds"
        page.tables.append(d.titled(d.TextTable.of_columns(columns, title=title)))
    lines = []
    for certified, label, colour in ((True, sure, 0), (False, f"not {sure}", 1)):
        if some := [point for point in points if (point.feasible is True) == certified]:
            labels = [f"{point.value:g}: {d.value_in_words(point.objective)}" for point in some]
            xs, ys = d.floats(point.value for point in some), [point.objective for point in some]
            lines.append(d.line_of_means(label, xs, ys, labels, joined=certified, colour=colour))
    chart = d.Graph(f"Best {labelled(OBJECTIVE, names.unit)} by {name}", name, "", lines)
    page.charts = [d.Block("What each value is worth", charts=[chart], figure="frontier")]
    return page


def _coordinates(points: Sequence[PointResult]) -> Iterator[d.Column]:
    for name in points[0].point:
        yield name, [f"{point.point[name]:.4g}" for point in points]


def _sweep_finding(name: str, points: Sequence[PointResult], sure: str, unit: str) -> str:
    """Say what the objective is at the ends of a sweep."""
    certified, tried = [point for point in points if point.feasible is True], len(points)
    if not certified:
        return f"No value of {name} has a {sure} point ({counted(tried, 'value')} tried)."
    ends = [certified[0], certified[-1]] if len(certified) > 1 else certified
    worth = [f"{d.value_in_words(end.objective)}{d.after(unit)} at {end.value:g}" for end in ends]
    many = " to ".join(f"{n:,}" for n in sorted({end.objective.n for end in ends}))
    of = f"{len(certified)} of {counted(tried, 'value')} of {name}"
    return (
        f"{of} have a {sure} point; the best objective is {d.joined(worth)};"
        f" {d.in_interval_words([ends[0].objective], f'{many} fresh replications each')}."
    )


def _front(study: Study, names: _Names, view: d.View) -> d.Presentation:
    document, points = study.document, study.points
    terms: Mapping[str, Document] = document["objectives"]
    objectives, tested = list(terms), int(document["tested"])
    remarks = list(document.get("remarks", ()))
    question = _question(study, names).partition("? ")[2]
    page = d.Presentation(
        f"Pareto front of {names.config}",
        f"How do {d.joined(objectives)} trade off in {names.config}? {question}",
    )
    if not points:
        page.finding = f"None of {counted(tested, 'tested point')} is certified as feasible."
        page.header = f"\nnone of {tested} tested points is certified as feasible"
        page.tables = [d.Block("Remarks", items=remarks)]
        return page
    page.header = f"\nfront of {', '.join(objectives)}: {len(points)} of {tested} tested points"
    means = [point.objectives for point in points]
    means.sort(key=lambda pair: pair[objectives[0]].mean or 0.0)
    responses = {name: names.response(term["response"]) for name, term in terms.items()}
    ends = [means[0], means[-1]] if len(points) > 1 else means
    units = {name: d.after(response.unit) for name, response in responses.items()}
    worth = [
        d.joined([f"{name} {d.value_in_words(end[name])}{unit}" for name, unit in units.items()])
        for end in ends
    ]
    mean = means[0][objectives[0]]
    page.finding = (
        f"{counted(len(points), f'{_sure([mean])} point')} of {tested} tested"
        f" {'are' if len(points) != 1 else 'is'} on the front, from {' to '.join(worth)};"
        f" {d.in_interval_words([mean], f'{mean.n:,} fresh replications each')}."
    )
    columns: list[d.Column] = []
    for name in objectives:
        columns += d.mean_columns(name, "±", [point.objectives[name] for point in points])
    columns += _coordinates(points)
    repeated, notes = 2 * len(objectives), _no_interval(document)
    table = d.TextTable.of_columns(columns, repeated=repeated, notes=notes)
    page.tables = [d.Block("The front", table=table, items=remarks)]
    axes = {name: labelled(of.name, of.unit) for name, of in responses.items()}
    charts = [
        _trade_off(combination, other, axes, means)
        for combination, other in combinations(objectives, 2)
    ]
    page.charts = [d.Block("The objectives against each other", charts=charts, figure="front")]
    return page


def _trade_off(
    first: str, other: str, axes: Mapping[str, str], points: Sequence[Mapping[str, Estimate]]
) -> d.Chart:
    order = sorted(points, key=lambda means: means[first].mean or 0.0)
    labels = [
        f"{first} {d.value_in_words(means[first])}, {other} {d.value_in_words(means[other])}"
        for means in order
    ]
    xs, ys = d.floats(means[first].mean for means in order), [means[other] for means in order]
    line = d.line_of_means("", xs, ys, labels, joined=len(axes) == 2)
    return d.Graph(f"{axes[other]} against {first}", axes[first], "", [line])
