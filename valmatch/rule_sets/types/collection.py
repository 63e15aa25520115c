"""Collection: how many strings lists have in common, or how many lists have a string.

Source: "FlexMatch rule types", collection rule; the published examples 3 (contains), 4
(intersection), 5 and 11 (reference_intersection_count, of each player's list). Measurements are
lists of string lists: the service refuses others (thread QUZBUgKUotT5qMohOO4XXI5A of re:Post).
Lists over teams that are not flattened count team by team. partyAggregation has no effect on what
is compared (by analogy).
"""

from __future__ import annotations

from typing import Literal

from valmatch.rule_sets.expressions import described
from valmatch.rule_sets.items import Item
from valmatch.rule_sets.rule_type import (
    Context,
    Names,
    RuleType,
    amount,
    bounds,
    check_reference,
    listed,
    read_measures,
    reference_reader,
)
from valmatch.rule_sets.table import Counted, Steps

OPERATIONS: dict[str, Literal["common", "holders", "overlap"]] = {
    "intersection": "common",
    "contains": "holders",
    "reference_intersection_count": "overlap",
}


def _count(item: Item, key: str) -> float | None:
    return item.number(key, whole=True, least=0)


def _read(item: Item, target: str, context: Context) -> Counted | None:
    item.choice("partyAggregation", ("union", "intersection"))
    measures = read_measures(item, context)
    for measure in measures:
        if measure.kind != "text" or measure.depth < 2:
            item.error(
                "measurements", f"a list of string lists is needed, not {described(measure)}"
            )
    operation = item.choice("operation", list(OPERATIONS), required=True)
    reference = context.stepped(item, target, "referenceValue", reference_reader(context))
    if not {"minCount", "maxCount"} & set(item.members):
        item.error("", "neither minCount nor maxCount")
    least = context.stepped(item, target, "minCount", _count)
    most = context.stepped(item, target, "maxCount", _count)
    if operation is None or not _check_reference(item, OPERATIONS[operation], reference):
        return None
    return Counted(measures, OPERATIONS[operation], reference, least, most)


def _check_reference(item: Item, counts: str, reference: Steps | None) -> bool:
    """Report a reference that an operation does not take; return whether it takes it."""
    given = "referenceValue" in item.members
    if counts == "common":
        if given:
            item.error("referenceValue", "intersection takes no reference")
        return not given
    if not given:
        item.error("", f"no referenceValue ({item.text('operation')} needs one)")
    if reference is None:
        return False
    return check_reference(
        item, "referenceValue", reference, "text", 0 if counts == "holders" else 1
    )


def _sentence(rule: Counted, names: Names) -> str:
    many = bounds(rule.least, rule.most)
    lists = listed(rule.measures)
    if rule.counts == "common":
        return f"{lists}: {many} strings common to all players"
    if rule.counts == "holders":
        return f"{lists}: {many} players have {amount(rule.reference)}"
    return f"{lists}: of each player {many} strings among {amount(rule.reference)}"


COLLECTION = RuleType(
    ("measurements", "referenceValue", "operation", "minCount", "maxCount", "partyAggregation"),
    _read,
    _sentence,
    {"referenceValue": "reference", "minCount": "least", "maxCount": "most"},
)
