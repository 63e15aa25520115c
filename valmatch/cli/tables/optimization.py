"""Tables of `optimize`: studies, comparisons of solvers, Pareto fronts, sweeps."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from valmatch.cli.console import title_of
from valmatch.cli.tables.layout import WIDTH, print_table, show_no_interval
from valmatch.optimization.problem_of_config import found_scales
from valmatch.optimization.solvers.registry import labelled
from valmatch.optimization.studies.pareto import Front
from valmatch.optimization.studies.solver_study import Study
from valmatch.optimization.studies.sweep import Frontier
from valmatch.plots.sheets.comparison import compared_sheet
from valmatch.plots.sheets.optimization import (
    ANSWERS,
    Limit,
    SweptPoint,
    front_sheet,
    limits_sheet,
    point_sheet,
    slopes_sheet,
    solvers_sheet,
    sweep_sheet,
)
from valmatch.plots.sheets.parts import compared_parts_sheets, listed
from valmatch.statistics.rounding import mean_and_half
from valmatch.text.sheet import COUNT, Sheet
from valmatch.text.terminal import escaped

if TYPE_CHECKING:
    from valmatch.config.config import Config
    from valmatch.optimization.post_analysis.post_analysis import BaselineComparison, PostAnalysis
    from valmatch.optimization.studies.solver_comparison import SolverComparison
    from valmatch.optimization.studies.study import StudyResult, StudySpec


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
    starts = {variable.name: variable.start for variable in study.problem.variables}
    print_table(header, point_sheet(role, found.point, starts, study.problem.today))
    limits = [
        Limit(bound.response, "<=" if bound.sign > 0 else ">=", bound.bound, mean)
        for bound, mean in found.constraints
    ]
    print_table("", limits_sheet(found.objective, limits))
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
    table = compared_sheet(responses, [*columns, (COUNT, counts)], places)
    s = "s" * (beside.n != 1)
    header = f"{beside.name} and recommended point on the same {beside.n:,} fresh replication{s}"
    if spent:
        header += f" ({spent:,} made beyond the budget, with those for costs)"
    spare = COUNT if set(counts) == {str(beside.n)} else ""
    print_table(textwrap.fill(header, WIDTH), table, spare=spare)
    if not chosen:
        for part in compared_parts_sheets(responses, columns):
            print_table(f"\n{part.title}", part)
    show_no_interval(beside.no_interval)


def show_solvers(comparison: SolverComparison) -> None:
    """Print one line for each solver."""
    best, reference = comparison.best_known, comparison.reference
    sheet = solvers_sheet(comparison.solvers, reference, best)
    print_table(sheet.title, sheet)
    for note in sheet.notes:
        print(textwrap.fill(note, WIDTH))


def show_front(header: str, front: Front) -> None:
    """Print the points of a Pareto front, objectives first."""
    if not front.points:
        print_table(
            f"{header}\nnone of {front.tested} tested points is certified as feasible", Sheet.of()
        )
        return
    sheet = front_sheet([(point.objectives, point.point) for point in front.points])
    repeated = 2 * len(front.points[0].objectives)
    print_table(f"{header}\n{front.found}", sheet, repeated=repeated)
    show_no_interval(front.no_interval)
    for remark in front.remarks():
        print(textwrap.fill(escaped(remark), WIDTH))


def show_frontier(header: str, frontier: Frontier) -> None:
    """Print the certified point of each value of a sweep."""
    swept = [
        SweptPoint(value, found.objective, found.feasible, found.point)
        for value, found in frontier.verdicts
    ]
    print_table(header, sweep_sheet(frontier.sweep.name, swept))
    for value, found in frontier.verdicts:
        for remark in found.remarks():
            text = f"{frontier.sweep.name} {value:g}: {remark}"
            print(textwrap.fill(escaped(text), WIDTH))
    if frontier.prices:
        sheet = slopes_sheet(frontier.sweep.name, frontier.prices)
        print_table(f"\n{sheet.title}", sheet)
    if frontier.no_interval:
        print()
        show_no_interval(frontier.no_interval)
