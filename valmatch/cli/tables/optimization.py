"""Tables of `optimize`: studies, comparisons of solvers, Pareto fronts, sweeps."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from valmatch.cli.console import title_of
from valmatch.cli.tables.layout import WIDTH, print_table, show_no_interval
from valmatch.cli.tables.parts import listed, show_parts_compared
from valmatch.optimization.problem import START, TODAY
from valmatch.optimization.problem_of_config import found_scales
from valmatch.optimization.solvers.registry import labelled
from valmatch.optimization.studies.pareto import Front
from valmatch.optimization.studies.solver_study import Study
from valmatch.optimization.studies.sweep import Frontier
from valmatch.statistics.rounding import decimals, mean_and_half
from valmatch.text.sheet import COUNT, UNIT, Sheet, aligned
from valmatch.text.terminal import escaped

if TYPE_CHECKING:
    from valmatch.config.config import Config
    from valmatch.optimization.post_analysis.post_analysis import BaselineComparison, PostAnalysis
    from valmatch.optimization.studies.solver_comparison import SolverComparison
    from valmatch.optimization.studies.study import StudyResult, StudySpec

ANSWERS = {True: "yes", False: "no", None: "undecided"}

WORDS_OF_SOLVERS = (
    "gap: distance from the {}, as a share of it; 100 % where the point that a run would recommend"
    " is truly infeasible. area: mean gap over the budget. <= 5 %, <= 10 %: share of the runs whose"
    " certified point has no larger gap. wrong: share of the runs that certified a point which is"
    " truly infeasible."
)


def header_of(spec: StudySpec[Any, Any]) -> str:
    """Return what stands above the tables of a study: what is optimised, how, on which scales."""
    header = f"{title_of(spec.config)}, seed {spec.settings.seed}, budget {spec.settings.budget:,}"
    if spec.solver_names:
        header += f"\nsolver: {', '.join(map(labelled, spec.solver_names))}"
    return header + _search_scales(spec.config)


def show_result(header: str, result: StudyResult, chosen: Collection[str] = ()) -> None:
    """Print what came of a study, with the chosen responses if any are."""
    match result:
        case Study():
            show_study(header, result, chosen)
        case Frontier():
            show_frontier(header, result)
        case Front():
            show_front(header, result)


def _search_scales(config: Config) -> str:
    """Return a paragraph on the search scales that were found, "" where all were given."""
    scales: Mapping[str, str] = found_scales(config).get("search_scale", {})
    lines = ""
    for scale in dict.fromkeys(scales.values()):
        names = ", ".join(name for name, found in scales.items() if found == scale)
        why = "no scale is given, and the range spans over two orders of magnitude"
        said = f"search scale: {scale} for {escaped(names)} ({why})"
        lines += "\n" + textwrap.fill(said, WIDTH, subsequent_indent="  ")
    return lines


def show_study(header: str, study: Study, chosen: Collection[str] = ()) -> None:
    """Print the point that was found, what it is worth, and whether it is feasible.

    It is shown beside the start in the chosen responses, in all if none are.
    """
    found = study.verdict
    if found is None:
        print_table(header, Sheet.of())
        return
    role = "least violation" if found.feasible is False else "recommended"
    today = study.problem.today
    table = Sheet.of("variable", role, START, *([TODAY] if today else []))
    starts = {variable.name: variable.start for variable in study.problem.variables}
    values = aligned([f"{value:.4g}" for value in found.point.values()])
    for name, shown in zip(found.point, values, strict=True):
        own = [f"{today[name]:.4g}"] if today else []
        table.add(name, shown, f"{starts[name]:.4g}", *own)
    print_table(header, table)
    confidence = found.objective.confidence
    table = Sheet.of("mean of", "value", f"± {confidence:.0%}", "n", "bound")
    rows = [("objective", found.objective, "")]
    for bound, mean in found.constraints:
        rows.append((bound.response, mean, f"{'<=' if bound.sign > 0 else '>='} {bound.bound:g}"))
    for name, mean, limit in rows:
        mean_text, half = mean_and_half(mean)
        table.add(name, mean_text, half, str(mean.n), limit)
    print_table("", table)
    show_no_interval(found.no_interval)
    print()
    print(textwrap.fill(f"feasible: {ANSWERS[found.feasible]}; {escaped(found.why)}", WIDTH))
    for remark in found.remarks():
        print(textwrap.fill(escaped(remark), WIDTH))
    if study.post_analysis:
        print()
        _show_post_analysis(study.post_analysis, chosen)
    if study.comparison:
        print()
        show_solvers(study.comparison)


def _show_post_analysis(found: PostAnalysis, chosen: Collection[str]) -> None:
    """Print the recommended point beside what the config gives, and what the constraints cost."""
    _show_beside(found.against_start, chosen, found.spent)
    if found.against_today:
        print()
        _show_beside(found.against_today, chosen)
    units = {response.name: response.unit for response in found.against_start.responses}
    if found.prices:
        print()
    for price in found.prices:
        said = price.in_words(units.get(price.constraint.response, ""), units["objective"])
        print(textwrap.fill(escaped(said), WIDTH, subsequent_indent="  "))


def _show_beside(beside: BaselineComparison, chosen: Collection[str], spent: int = 0) -> None:
    """Print the recommended point beside another one, in the chosen responses if any are."""
    responses, rows = beside.responses, list(beside.compared)
    differences = [mean_and_half(pair.difference) for pair in rows]
    columns = [
        (beside.name, [mean_and_half(pair.a)[0] for pair in rows]),
        ("recommended", [mean_and_half(pair.b)[0] for pair in rows]),
        ("change", [mean for mean, _ in differences]),
        (f"± {rows[0].difference.confidence:.0%}", [width for _, width in differences]),
    ]
    places = [k for k, response in enumerate(responses) if listed(response, chosen)]
    counts = [str(pair.difference.n) for pair in rows]
    table = Sheet.of("response", *(name for name, _ in columns), COUNT, UNIT)
    shown = [aligned([cells[k] for k in places]) for _, cells in columns]
    for k, *cells in zip(places, *shown, strict=True):
        table.add(responses[k].name, *cells, counts[k], responses[k].unit)
    s = "s" * (beside.n != 1)
    header = f"{beside.name} and recommended point on the same {beside.n:,} fresh replication{s}"
    if spent:
        header += f" ({spent:,} made beyond the budget, with those for costs)"
    spare = COUNT if set(counts) == {str(beside.n)} else ""
    print_table(textwrap.fill(header, WIDTH), table, spare=spare)
    if not chosen:
        show_parts_compared(responses, columns)
    show_no_interval(beside.no_interval)


def show_solvers(comparison: SolverComparison) -> None:
    """Print one line for each solver."""
    table = Sheet.of("solver", "runs", "median objective", "area", "<= 5 %", "<= 10 %", "wrong")
    for name, line in comparison.solvers.items():
        median = line["median_objective"]["value"]
        cells = [
            f"{line[key]['value']:.3f}"
            if key == "area_under_curve"
            else f"{line[key]['value']:.0%}"
            for key in (
                "area_under_curve",
                "within_5_percent",
                "within_10_percent",
                "wrongly_called_feasible",
            )
        ]
        shown = "none" if median is None else f"{median:.{max(1, decimals(median, 3))}f}"
        table.add(labelled(name), str(line["runs"]), shown, *cells)
    best = "none" if comparison.best_known is None else f"{comparison.best_known:g}"
    print_table(f"Solvers, judged by fresh replications; {comparison.reference} {best}", table)
    print(textwrap.fill(WORDS_OF_SOLVERS.format(comparison.reference), WIDTH))


def show_front(header: str, front: Front) -> None:
    """Print the points of a Pareto front, objectives first."""
    if not front.points:
        print_table(
            f"{header}\nnone of {front.tested} tested points is certified as feasible", Sheet.of()
        )
        return
    names = list(front.points[0].objectives)
    table = Sheet.of(*(part for name in names for part in (name, "±")), *front.points[0].point)
    means = [[mean_and_half(point.objectives[name]) for point in front.points] for name in names]
    columns = [
        (aligned([mean for mean, _ in column]), aligned([half for _, half in column]))
        for column in means
    ]
    for number, point in enumerate(front.points):
        cells = [side[number] for pair in columns for side in pair]
        table.add(*cells, *(f"{x:.4g}" for x in point.point.values()))
    print_table(f"{header}\n{front.found}", table, repeated=2 * len(names))
    show_no_interval(front.no_interval)
    for remark in front.remarks():
        print(textwrap.fill(escaped(remark), WIDTH))


def show_frontier(header: str, frontier: Frontier) -> None:
    """Print the certified point of each value of a sweep."""
    names = list(frontier.verdicts[0][1].point) if frontier.verdicts else []
    table = Sheet.of(frontier.sweep.name, "objective", "± 95%", "certified", *names)
    for value, found in frontier.verdicts:
        mean, half = mean_and_half(found.objective)
        point = [f"{x:.4g}" for x in found.point.values()]
        table.add(f"{value:g}", mean, half, ANSWERS[found.feasible], *point)
    print_table(header, table)
    for value, found in frontier.verdicts:
        for remark in found.remarks():
            text = f"{frontier.sweep.name} {value:g}: {remark}"
            print(textwrap.fill(escaped(text), WIDTH))
    if frontier.prices:
        level = frontier.prices[0][2].confidence
        table = Sheet.of("from", "to", "objective per unit", f"± {level:.0%}", "n")
        for low, high, slope in frontier.prices:
            mean, half = mean_and_half(slope)
            table.add(f"{low:g}", f"{high:g}", mean, half, str(slope.n))
        print_table(f"\nwhat {frontier.sweep.name} costs between two certified bounds", table)
    if frontier.no_interval:
        print()
        show_no_interval(frontier.no_interval)
