"""Tables of responses of parts: of bands of players, of hours of the day, of days of the week."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from valmatch.models.model import Response
from valmatch.text.labels import labelled
from valmatch.text.sheet import Sheet, aligned

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


def listed(response: Response, chosen: Collection[str]) -> bool:
    """Return whether a response has a row of its own: if it is chosen, else if of no part."""
    return response.name in chosen if chosen else response.part is None


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
