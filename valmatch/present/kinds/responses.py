"""Tables of responses: of one replication, of means, of systems, of bands, hours and weekdays."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

from valmatch.models.model import Response
from valmatch.present.document import Block, listed, titled
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.rounding import mean_and_half
from valmatch.text.terminal import COUNT, UNIT, Sheet, aligned, labelled

# Tables of responses of parts: of bands of players, of hours of the day, of days of the week.

PARTS = {
    "rating": "band",
    "hour": "hour",
    "weekday": "weekday",
    "size": "size",
    "region": "home",
    "skill": "skill",
    "attribute": "attribute",
    "step": "step",
    "rule": "rule",
    "reason": "reason",
}
"""What the rows of tables of parts are called."""

Side = tuple[str, Sequence[str]]  # a column: its name, and a cell for each response


def parts_sheets(responses: Sequence[Response], sides: Sequence[Side]) -> Iterator[Sheet]:
    """Yield tables of the responses of parts, a row for each part and a column for each measure.

    The first row has their units.
    """
    for title, names, measures in _divisions(responses):
        heads, columns = [title], [["", *names]]
        for measure, unit, own in measures:
            for side, texts in (side for side in sides if any(side[1])):
                heads.append(side or measure)
                above = f"[{unit}]" if unit and not side else ""
                columns.append([above, *aligned([texts[k] for k in own])])
        if not any(unit for _, unit, _ in measures):
            columns = [column[1:] for column in columns]
        yield _sheet("", heads, columns)


def compared_parts_sheets(responses: Sequence[Response], sides: Sequence[Side]) -> Iterator[Sheet]:
    """Yield tables of the responses of parts under several systems, one for each measure."""
    for title, names, measures in _divisions(responses):
        for measure, unit, own in measures:
            columns = [aligned([texts[k] for k in own]) for _, texts in sides]
            heads = [title, *(side for side, _ in sides)]
            yield _sheet(labelled(measure, unit), heads, [names, *columns])


def _divisions(
    responses: Sequence[Response],
) -> Iterator[tuple[str, list[str], list[tuple[str, str, list[int]]]]]:
    """Yield what is divided, the names of its parts, and each measure: name, unit, places."""
    for of, title in PARTS.items():
        parts = [(response.part, k) for k, response in enumerate(responses) if response.part]
        parts = [(part, k) for part, k in parts if part.of == of]
        measures = []
        for measure in dict.fromkeys(part.measure for part, _ in parts):
            own = [k for part, k in parts if part.measure == measure]
            measures.append((measure, responses[own[0]].unit, own))
        if measures:
            yield title, list(dict.fromkeys(part.name for part, _ in parts)), measures


def _sheet(title: str, heads: Sequence[str], columns: Sequence[Sequence[str]]) -> Sheet:
    sheet = Sheet.of(*heads, title=title)
    for row in zip(*columns, strict=True):
        sheet.add(*row)
    return sheet


def responses_tables(
    responses: Sequence[Response], values: Sequence[float], chosen: Collection[str] = ()
) -> list[Block]:
    """Return the tables of one replication; of the responses that are `chosen`, if any are."""
    numbers = [
        "undefined" if math.isnan(v) else f"{v:.0f}" if r.whole else f"{v:.4f}"
        for r, v in zip(responses, values, strict=True)
    ]
    sheet = Sheet.of("response", "value", UNIT)
    for response, number in zip(responses, aligned(numbers), strict=True):
        if listed(response, chosen):
            sheet.add(response.name, number, response.unit)
    parts = [] if chosen else parts_sheets(responses, [("", numbers)])
    return [
        titled(sheet, "Responses"),
        *(titled(part, f"By {part.heads[0]}", folded=True) for part in parts),
    ]


def glossary(responses: Sequence[Response]) -> list[Block]:
    """Return what responses mean; bands, hours and policies are not repeated."""
    meanings: dict[str, str] = {}
    for response in responses:
        name = response.name
        if response.part:
            name = response.part.measure
        elif response.window:
            name = response.window.measure
        if response.meaning:
            meanings.setdefault(name, response.meaning)
    items = [f"{name}: {meaning}" for name, meaning in meanings.items()]
    return [Block("What the responses mean", items=items, folded=True)] if items else []


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


def compared_table(
    responses: Sequence[Response], columns: Sequence[Side], places: Sequence[int]
) -> Sheet:
    """Return a table of some responses, by their places, with their units."""
    sheet = Sheet.of("response", *(name for name, _ in columns), UNIT)
    shown = [aligned([cells[k] for k in places]) for _, cells in columns]
    for k, *cells in zip(places, *shown, strict=True):
        sheet.add(responses[k].name, *cells, responses[k].unit)
    return sheet
