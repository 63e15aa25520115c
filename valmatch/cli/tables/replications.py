"""Tables of `simulate`, `replicate`, `combine`: responses, means, points of a design."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from valmatch.cli.tables.layout import (
    add_row,
    aligned,
    arms_of,
    formatted,
    mean_and_half,
    new_table,
    print_table,
    rounded,
    show_no_interval,
)
from valmatch.models.model import Response

if TYPE_CHECKING:
    from valmatch.experiments.replications import Replications
    from valmatch.experiments.sweep import DesignReplications
    from valmatch.statistics.control_variates import Adjusted

PARTS = {"rating": "band", "hour": "hour"}
"""What the rows of tables of parts are called."""

MEANS = 3
"""Responses of which the points of a design are printed."""


def show_responses(
    header: str,
    responses: Sequence[Response],
    values: Sequence[float],
    chosen: Collection[str] = (),
) -> None:
    """Print the responses of one replication; those that are `chosen`, if any are."""
    numbers = [
        "undefined" if math.isnan(v) else f"{v:.0f}" if r.whole else f"{v:.4f}"
        for r, v in zip(responses, values, strict=True)
    ]
    table = new_table("response", "value", "unit")
    for response, number in zip(responses, aligned(numbers), strict=True):
        if _listed(response, chosen):
            add_row(table, response.name, number, response.unit)
    print_table(header, table)
    if not chosen:
        _show_parts(responses, [("", numbers)])


def show_replications(header: str, result: Replications, chosen: Collection[str] = ()) -> None:
    """Print mean, half-width and count of each response; of those that are `chosen`, if any are."""
    estimates = list(result.estimates.values())
    means, halves = zip(*map(mean_and_half, estimates), strict=True)
    columns = [aligned(means), aligned(halves), [f"{estimate.n}" for estimate in estimates]]
    names = ["response", "mean", f"± {result.confidence:.0%}", "n"]
    if result.adjusted:
        found = list(result.adjusted.values())
        pairs = [_adjusted_and_half(adjusted) for adjusted in found]
        columns += [aligned(side) for side in zip(*pairs, strict=True)]
        columns.append(
            aligned([formatted(adjusted.variance_reduction, ".1f") for adjusted in found])
        )
        names += ["adjusted", "±", "gain"]
    table = new_table(*names, "unit")
    for response, *cells in zip(result.responses, *columns, strict=True):
        if _listed(response, chosen):
            add_row(table, response.name, *cells, response.unit)
    print_table(header, table)
    show_no_interval(result.no_interval_of(chosen))
    show_no_interval(result.not_adjusted_of(chosen), "not adjusted")
    if not chosen:
        _show_parts(result.responses, [("", means), ("±", halves)])
    _show_differences(result)


def _adjusted_and_half(adjusted: Adjusted) -> tuple[str, str]:
    if adjusted.mean_cv is None or adjusted.ci_high_cv is None:
        return "", ""
    assert adjusted.ci_low_cv is not None
    arms = adjusted.mean_cv - adjusted.ci_low_cv, adjusted.ci_high_cv - adjusted.mean_cv
    mean, half = rounded(adjusted.mean_cv, max(arms))
    even = math.isclose(*arms, rel_tol=1e-6, abs_tol=1e-9 * abs(adjusted.mean_cv))
    return mean, half if even else arms_of(arms, half)


def _listed(response: Response, chosen: Collection[str]) -> bool:
    """Return whether a response has a row of its own: if it is chosen, else if of no part."""
    return response.name in chosen if chosen else response.part is None


def _show_parts(responses: Sequence[Response], sides: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Print the responses of parts, a row for each part and a column for each measure.

    Parameters
    ----------
    responses : sequence of Response
        All responses.
    sides : sequence of tuple of str and sequence of str
        What is printed of each: the name of the column, "" for that of the measure, and the cells.
    """
    for of, title in PARTS.items():
        parts = [(response.part, k) for k, response in enumerate(responses) if response.part]
        parts = [(part, k) for part, k in parts if part.of == of]
        if not parts:
            continue
        names, columns = [title], [list(dict.fromkeys(part.name for part, _ in parts))]
        for measure in dict.fromkeys(part.measure for part, _ in parts):
            own = [k for part, k in parts if part.measure == measure]
            for side, texts in (side for side in sides if any(side[1])):
                names.append(side or measure)
                columns.append(aligned([texts[k] for k in own]))
        made = new_table(*names)
        for row in zip(*columns, strict=True):
            add_row(made, *row)
        print()
        print_table("", made, repeated=1)


def _show_differences(result: Replications) -> None:
    """Print the paired differences between each two policies."""
    found = result.paired_columns()
    cells = [mean_and_half(difference.estimate) for difference in result.differences]
    pairs = zip(found["policy"], found["other"], strict=True)
    for pair, rows in groupby(enumerate(pairs), key=itemgetter(1)):
        places = [place for place, _ in rows]
        columns = [aligned([cells[place][side] for place in places]) for side in (0, 1)]
        table = new_table("response", "difference", f"± {result.confidence:.0%}", "n", "unit")
        for place, *numbers in zip(places, *columns, strict=True):
            name = f"{found['measure'][place]}.{found['games'][place]}"
            add_row(table, name, *numbers, str(found["n"][place]), found["unit"][place])
        print_table(f"\n{' - '.join(pair)}, paired", table)


def show_experiment_points(
    header: str, experiment: DesignReplications, chosen: Sequence[str] = ()
) -> None:
    """Print the means of the first responses, or of the chosen ones, at each point of a design."""
    names = [name.removeprefix("factors.") for name in experiment.design.factors]
    results = experiment.results
    shown = [response.name for response in results[0].responses[:MEANS]] if results else []
    shown = list(chosen) if results and chosen else shown
    table = new_table(*names, *(part for name in shown for part in (name, "±")))
    columns = [
        [f"{value:.6g}" if isinstance(value, float) else str(value) for value in point.values()]
        for point in experiment.points
    ]
    means = [[mean_and_half(result.estimates[name]) for result in results] for name in shown]
    numbers = [
        (aligned([mean for mean, _ in column]), aligned([half for _, half in column]))
        for column in means
    ]
    for number, levels in enumerate(columns):
        add_row(table, *levels, *(side[number] for pair in numbers for side in pair))
    print_table(header, table, repeated=len(names))
    show_no_interval(experiment.no_interval_of(shown))
