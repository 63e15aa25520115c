"""Tables of `simulate`, `replicate`, `combine`: responses, means, points of a design."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from valmatch.cli.tables.layout import print_table, show_no_interval
from valmatch.models.model import Response
from valmatch.plots.sheets.replications import (
    Means,
    at_every_point,
    differences_sheets,
    means_of_parts_sheets,
    means_sheets,
    points_sheet,
    responses_sheets,
)
from valmatch.statistics.no_interval import TOO_SHORT
from valmatch.text.sheet import COUNT

if TYPE_CHECKING:
    from valmatch.experiments.replications import Replications
    from valmatch.experiments.sweep import DesignReplications

MEANS = 3  # responses of which the points of a design are printed


def show_responses(
    header: str,
    responses: Sequence[Response],
    values: Sequence[float],
    chosen: Collection[str] = (),
) -> None:
    """Print the responses of one replication; those that are `chosen`, if any are."""
    first, *parts = responses_sheets(responses, values, chosen)
    print_table(header, first)
    for sheet in parts:
        print()
        print_table("", sheet)


def show_replications(header: str, result: Replications, chosen: Collection[str] = ()) -> None:
    """Print mean, half-width and count of each response; of those that are `chosen`, if any are.

    The differences between two policies are those of the responses that are printed.
    """
    estimates = list(result.estimates.values())
    adjusted = list(result.adjusted.values())
    found = Means(result.responses, estimates, adjusted, result.confidence)
    same = {estimate.n for estimate in estimates} == {result.count}
    header += "\n" * any(response.window for response in result.responses)
    for sheet in means_sheets(found, chosen):
        above = f"{header}\n{sheet.title}" if sheet.title else header
        print_table(above, sheet, spare=COUNT if same else "")
        header = ""
    show_no_interval(result.no_interval_of(chosen))
    show_no_interval(result.not_adjusted_of(chosen), "not adjusted")
    if not chosen:
        for sheet in means_of_parts_sheets(found):
            print()
            print_table("", sheet)
    windows = {r.window for r in result.responses if not chosen or r.name in chosen}
    rows = [
        (row, unit)
        for row, unit in zip(result.differences, result.paired_columns()["unit"], strict=True)
        if {(policy, row.measure, row.games) for policy in (row.policy, row.other)} <= windows
    ]
    for sheet in differences_sheets(rows, result.confidence):
        print_table(f"\n{sheet.title}", sheet)
    show_no_interval(result.short_intervals_of(chosen), TOO_SHORT)


def show_experiment_points(
    header: str, experiment: DesignReplications, chosen: Sequence[str] = ()
) -> None:
    """Print the means of the first responses, or of the chosen ones, at each point of a design.

    Of a model that compares policies these are the first measure's under each of them.
    """
    names = [name.removeprefix("factors.") for name in experiment.design.factors]
    results = experiment.results
    responses = at_every_point([result.responses for result in results]) if results else []
    window = responses[0].window if responses else None
    first = [
        response.name
        for number, response in enumerate(responses)
        if (response.window and response.window[1:] == window[1:] if window else number < MEANS)
    ]
    shown = list(chosen) if results and chosen else first
    estimates = [result.estimates for result in results]
    sheet = points_sheet(experiment.points, estimates, shown, names)
    print_table(header, sheet, repeated=len(names))
    show_no_interval(experiment.no_interval_of(shown))
    show_no_interval(experiment.short_intervals_of(shown), TOO_SHORT)
