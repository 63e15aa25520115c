"""Tables of responses: of one replication, of means, of systems, of bands, hours and weekdays."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

from valmatch.models.model import Response
from valmatch.present import document as d
from valmatch.text.terminal import labelled

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
"""What the rows of tables of parts are called: of bands of players, hours of the day and so on."""


def parts_tables(responses: Sequence[Response], sides: Sequence[d.Column]) -> Iterator[d.TextTable]:
    """Yield tables of parts, a row for units and each part, and a column for each measure."""
    for title, names, measures in _divisions(responses):
        units = any(unit for _, unit, _ in measures)
        columns: list[d.Column] = [(title, [*([""] if units else []), *names])]
        for measure, unit, places in measures:
            for side, texts in (side for side in sides if any(side[1])):
                above = [f"[{unit}]" if unit and not side else ""] if units else []
                columns.append((side or measure, [*above, *(texts[k] for k in places)]))
        yield d.TextTable.of_columns(columns)


def compared_parts_tables(
    responses: Sequence[Response], sides: Sequence[d.Column]
) -> Iterator[d.TextTable]:
    """Yield tables of the responses of parts under several systems, one for each measure."""
    for title, names, measures in _divisions(responses):
        for measure, unit, places in measures:
            columns = [(side, [texts[k] for k in places]) for side, texts in sides]
            yield d.TextTable.of_columns([(title, names), *columns], title=labelled(measure, unit))


def _divisions(
    responses: Sequence[Response],
) -> Iterator[tuple[str, list[str], list[tuple[str, str, list[int]]]]]:
    """Yield what is divided, the names of its parts, and each measure: name, unit, places."""
    parts = [(response.part, k) for k, response in enumerate(responses) if response.part]
    for of, title in PARTS.items():
        names, measures = dict[str, None](), dict[str, list[int]]()
        for part, k in parts:
            if part.of == of:
                names[part.name] = None
                measures.setdefault(part.measure, []).append(k)
        if measures:
            rows = [
                (name, responses[indices[0]].unit, indices) for name, indices in measures.items()
            ]
            yield title, list(names), rows


def responses_tables(
    responses: Sequence[Response], values: Sequence[float], chosen: Collection[str] = ()
) -> list[d.Block]:
    """Return the tables of one replication; of the responses that are `chosen`, if any are."""
    numbers = [
        "undefined" if math.isnan(v) else f"{v:.0f}" if r.whole else f"{v:.4f}"
        for r, v in zip(responses, values, strict=True)
    ]
    places = [k for k, response in enumerate(responses) if d.listed(response, chosen)]
    table = responses_table(responses, [("value", numbers)], places)
    parts = [] if chosen else parts_tables(responses, [("", numbers)])
    return [
        d.titled(table, "Responses"),
        *(d.titled(part, f"By {part.heads[0]}", folded=True) for part in parts),
    ]


def responses_table(
    responses: Sequence[Response],
    columns: Sequence[d.Column],
    places: Sequence[int],
    policy: str = "",
) -> d.TextTable:
    """Return a table of some responses, by their places, with their units; or those of a policy."""
    shown = [responses[k] for k in places]
    names = [
        f"{response.window.measure}.{response.window.games}"
        if policy and response.window
        else response.name
        for response in shown
    ]
    cells = [(head, [texts[k] for k in places]) for head, texts in columns]
    units = (d.UNIT, [response.unit for response in shown])
    return d.TextTable.of_columns([("response", names), *cells, units], title=policy)


def glossary(responses: Sequence[Response]) -> list[d.Block]:
    """Return what responses mean; bands, hours and policies are not repeated."""
    meanings: dict[str, str] = {}
    for response in responses:
        of = response.part or response.window
        if response.meaning:
            meanings.setdefault(of.measure if of else response.name, response.meaning)
    items = [f"{name}: {meaning}" for name, meaning in meanings.items()]
    return [d.Block("What the responses mean", items=items, folded=True)] if items else []
