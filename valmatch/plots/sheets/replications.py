"""Tables of `simulate` and `replicate`: responses, means, differences, points of a design."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from valmatch.models.model import Response
from valmatch.plots.sheets.parts import listed, parts_sheets
from valmatch.statistics.control_variates import Adjusted
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.rounding import arms_of, formatted, mean_and_half, rounded
from valmatch.statistics.windows import PolicyDifference
from valmatch.text.sheet import COUNT, UNIT, Sheet, aligned


class Means(NamedTuple):
    """What replications say of the mean of each response."""

    responses: Sequence[Response]  # the responses
    estimates: Sequence[Estimate]  # one for each
    adjusted: Sequence[Adjusted]  # one for each; none without control variates
    confidence: float  # level of the intervals


def responses_sheets(
    responses: Sequence[Response], values: Sequence[float], chosen: Collection[str] = ()
) -> Iterator[Sheet]:
    """Yield the tables of one replication; of the responses that are `chosen`, if any are."""
    numbers = [
        "undefined" if math.isnan(v) else f"{v:.0f}" if r.whole else f"{v:.4f}"
        for r, v in zip(responses, values, strict=True)
    ]
    sheet = Sheet.of("response", "value", UNIT)
    for response, number in zip(responses, aligned(numbers), strict=True):
        if listed(response, chosen):
            sheet.add(response.name, number, response.unit)
    yield sheet
    if not chosen:
        yield from parts_sheets(responses, [("", numbers)])


def means_sheets(found: Means, chosen: Collection[str] = ()) -> Iterator[Sheet]:
    """Yield tables of mean, half-width and count of each response: one, or one for each policy.

    Only of the responses that are `chosen`, if any are. Titles are the policies, "" for none.
    """
    means, halves = zip(*map(mean_and_half, found.estimates), strict=True)
    counts = [f"{estimate.n}" for estimate in found.estimates]
    columns = [aligned(means), aligned(halves), counts]
    names = ["response", "mean", f"± {found.confidence:.0%}", COUNT]
    if found.adjusted:
        pairs = [_adjusted_and_half(adjusted) for adjusted in found.adjusted]
        columns += [aligned(side) for side in zip(*pairs, strict=True)]
        gains = [formatted(adjusted.variance_reduction, ".1f") for adjusted in found.adjusted]
        columns.append(aligned(gains))
        names += ["adjusted", "±", "gain"]
    for policy, places in _by_policy(found.responses, chosen).items():
        sheet = Sheet.of(*names, UNIT, title=policy)
        for place in places:
            response = found.responses[place]
            cells = [column[place] for column in columns]
            sheet.add(_name_under(policy, response), *cells, response.unit)
        yield sheet


def means_of_parts_sheets(found: Means) -> Iterator[Sheet]:
    """Yield tables of the means of bands, hours and weekdays."""
    means, halves = zip(*map(mean_and_half, found.estimates), strict=True)
    yield from parts_sheets(found.responses, [("", means), ("±", halves)])


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


def differences_sheets(
    rows: Sequence[tuple[PolicyDifference, str]], confidence: float
) -> Iterator[Sheet]:
    """Yield a table of the paired differences between each two policies."""
    for pair, own in groupby(rows, key=lambda row: (row[0].policy, row[0].other)):
        found = list(own)
        cells = [mean_and_half(row.estimate) for row, _ in found]
        columns = [aligned([cell[side] for cell in cells]) for side in (0, 1)]
        heads = ("response", "difference", f"± {confidence:.0%}", COUNT, UNIT)
        sheet = Sheet.of(*heads, title=f"{' - '.join(pair)}, paired")
        for (row, unit), *numbers in zip(found, *columns, strict=True):
            sheet.add(f"{row.measure}.{row.games}", *numbers, str(row.estimate.n), unit)
        yield sheet


def at_every_point(points: Sequence[Sequence[Response]]) -> list[Response]:
    """Return the responses that every point of a design has, a measure's policies side by side.

    Factors may decide of which stretches of a history there are responses.
    """
    common = set.intersection(*({response.name for response in point} for point in points))
    found: dict[object, list[Response]] = {}
    for response in points[0]:
        if response.name in common:
            window = response.window
            measure = (window.measure, window.games) if window else response.name
            found.setdefault(measure, []).append(response)
    return [response for measure in found.values() for response in measure]


def points_sheet(
    points: Sequence[Mapping[str, object]],
    estimates: Sequence[Mapping[str, Estimate]],
    shown: Sequence[str],
    names: Sequence[str],
) -> Sheet:
    """Return a table of the means of some responses at each point of a design."""
    sheet = Sheet.of(*names, *(part for name in shown for part in (name, "±")))
    levels = [
        [f"{value:.6g}" if isinstance(value, float) else str(value) for value in point.values()]
        for point in points
    ]
    columns = []
    for name in shown:
        cells = [mean_and_half(found[name]) if name in found else ("", "") for found in estimates]
        columns += [aligned([cell[side] for cell in cells]) for side in (0, 1)]
    for number, own in enumerate(levels):
        sheet.add(*own, *(column[number] for column in columns))
    return sheet
