"""Tables of `simulate`, `replicate`, `combine`: responses, means, points of a design."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from valmatch.cli.tables.layout import print_table, show_no_interval
from valmatch.cli.tables.parts import listed, show_parts
from valmatch.models.model import Response
from valmatch.statistics.rounding import arms_of, formatted, mean_and_half, rounded
from valmatch.text.sheet import COUNT, UNIT, Sheet, aligned

if TYPE_CHECKING:
    from valmatch.experiments.replications import Replications
    from valmatch.experiments.sweep import DesignReplications
    from valmatch.statistics.control_variates import Adjusted

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
    table = Sheet.of("response", "value", UNIT)
    for response, number in zip(responses, aligned(numbers), strict=True):
        if listed(response, chosen):
            table.add(response.name, number, response.unit)
    print_table(header, table)
    if not chosen:
        show_parts(responses, [("", numbers)])


def show_replications(header: str, result: Replications, chosen: Collection[str] = ()) -> None:
    """Print mean, half-width and count of each response; of those that are `chosen`, if any are."""
    estimates = list(result.estimates.values())
    means, halves = zip(*map(mean_and_half, estimates), strict=True)
    columns = [aligned(means), aligned(halves), [f"{estimate.n}" for estimate in estimates]]
    names = ["response", "mean", f"± {result.confidence:.0%}", COUNT]
    if result.adjusted:
        found = list(result.adjusted.values())
        pairs = [_adjusted_and_half(adjusted) for adjusted in found]
        columns += [aligned(side) for side in zip(*pairs, strict=True)]
        columns.append(
            aligned([formatted(adjusted.variance_reduction, ".1f") for adjusted in found])
        )
        names += ["adjusted", "±", "gain"]
    same = {estimate.n for estimate in estimates} == {len(result.values)}
    header += "\n" * any(response.window for response in result.responses)
    for policy, places in _by_policy(result.responses, chosen).items():
        table = Sheet.of(*names, UNIT)
        for place in places:
            response = result.responses[place]
            cells = [column[place] for column in columns]
            table.add(_name_under(policy, response), *cells, response.unit)
        above = f"{header}\n{policy}" if policy else header
        print_table(above, table, spare=COUNT if same else "")
        header = ""
    show_no_interval(result.no_interval_of(chosen))
    show_no_interval(result.not_adjusted_of(chosen), "not adjusted")
    if not chosen:
        show_parts(result.responses, [("", means), ("±", halves)])
    _show_differences(result)


def _by_policy(responses: Sequence[Response], chosen: Collection[str]) -> dict[str, list[int]]:
    """Return the places of responses that have rows of their own, by policy, "" for none."""
    found: dict[str, list[int]] = {}
    for place, response in enumerate(responses):
        if listed(response, chosen):
            policy = response.window.policy if response.window else ""
            found.setdefault(policy, []).append(place)
    return found


def _name_under(policy: str, response: Response) -> str:
    """Return what a response is called in the table of a policy."""
    window = response.window
    return f"{window.measure}.{window.games}" if policy and window else response.name


def _adjusted_and_half(adjusted: Adjusted) -> tuple[str, str]:
    if adjusted.mean_cv is None or adjusted.ci_high_cv is None:
        return "", ""
    assert adjusted.ci_low_cv is not None
    arms = adjusted.mean_cv - adjusted.ci_low_cv, adjusted.ci_high_cv - adjusted.mean_cv
    mean, half = rounded(adjusted.mean_cv, max(arms))
    even = math.isclose(*arms, rel_tol=1e-6, abs_tol=1e-9 * abs(adjusted.mean_cv))
    return mean, half if even else arms_of(arms, half)


def _show_differences(result: Replications) -> None:
    """Print the paired differences between each two policies."""
    found = result.paired_columns()
    cells = [mean_and_half(difference.estimate) for difference in result.differences]
    pairs = zip(found["policy"], found["other"], strict=True)
    for pair, rows in groupby(enumerate(pairs), key=itemgetter(1)):
        places = [place for place, _ in rows]
        columns = [aligned([cells[place][side] for place in places]) for side in (0, 1)]
        table = Sheet.of("response", "difference", f"± {result.confidence:.0%}", COUNT, UNIT)
        for place, *numbers in zip(places, *columns, strict=True):
            name = f"{found['measure'][place]}.{found['games'][place]}"
            table.add(name, *numbers, str(found["n"][place]), found["unit"][place])
        print_table(f"\n{' - '.join(pair)}, paired", table)


def show_experiment_points(
    header: str, experiment: DesignReplications, chosen: Sequence[str] = ()
) -> None:
    """Print the means of the first responses, or of the chosen ones, at each point of a design."""
    names = [name.removeprefix("factors.") for name in experiment.design.factors]
    results = experiment.results
    shown = [response.name for response in results[0].responses[:MEANS]] if results else []
    shown = list(chosen) if results and chosen else shown
    table = Sheet.of(*names, *(part for name in shown for part in (name, "±")))
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
        table.add(*levels, *(side[number] for pair in numbers for side in pair))
    print_table(header, table, repeated=len(names))
    show_no_interval(experiment.no_interval_of(shown))
