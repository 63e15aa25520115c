"""Tables of systems under common random numbers."""

from __future__ import annotations

from collections.abc import Sequence

from valmatch.models.model import Response
from valmatch.plots.sheets.parts import Side
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.rounding import mean_and_half
from valmatch.text.sheet import COUNT, UNIT, Sheet, aligned


def differences_columns(
    means: Sequence[Side], variants: Sequence[tuple[str, Sequence[Estimate]]], confidence: float
) -> list[Side]:
    """Return the columns of numbers of a comparison: means, differences, counts of a pair."""
    columns = list(means)
    for name, differences in variants:
        cells = [mean_and_half(difference) for difference in differences]
        half = f"± {confidence:.0%}" if len(variants) == 1 else "±"
        columns.append((f"{name.upper()} - A", [mean for mean, _ in cells]))
        columns.append((half, [width for _, width in cells]))
    if len(variants) == 1:
        columns.append((COUNT, [str(difference.n) for difference in variants[0][1]]))
    return columns


def compared_sheet(
    responses: Sequence[Response], columns: Sequence[Side], places: Sequence[int]
) -> Sheet:
    """Return a table of some responses, by their places, with their units."""
    sheet = Sheet.of("response", *(name for name, _ in columns), UNIT)
    shown = [aligned([cells[k] for k in places]) for _, cells in columns]
    for k, *cells in zip(places, *shown, strict=True):
        sheet.add(responses[k].name, *cells, responses[k].unit)
    return sheet
