"""Sorts: in what order an anchor tries the other tickets.

Source: "FlexMatch rule types", absolute sort and distance sort; several in the order of the rule
set (published example 4). Of a map the value at the anchor's lowest or highest key counts; who does
not have it comes last.
"""

from __future__ import annotations

from functools import partial

from valmatch.rule_sets.items import Item
from valmatch.rule_sets.rule_type import Context, Names, RuleType, read_party
from valmatch.rule_sets.table import Ordered

KEYS = ("minValue", "maxValue")


def _read(from_anchor: bool, item: Item, target: str, context: Context) -> Ordered | None:
    direction = item.choice("sortDirection", ("ascending", "descending"), required=True)
    attribute = context.attribute(item, "sortAttribute")
    key = item.choice("mapKey", KEYS)
    party = read_party(item)
    if attribute is None or direction is None:
        return None
    kind = context.known.attributes[attribute].kind
    if kind not in ("number", "map"):
        item.error("sortAttribute", "a number or a map is needed, no string and no list")
        return None
    if kind == "map" and "mapKey" not in item.members:
        item.error("", "no mapKey (minValue or maxValue: maps need one)")
        return None
    if kind == "number" and key:
        place = item.at("mapKey")
        item.problems.warn(place, item.inner("mapKey"), "has no effect: the attribute is no map")
        key = None
    which = "" if key is None else ("lowest" if key == KEYS[0] else "highest")
    return Ordered(attribute, from_anchor, direction == "descending", which, party)  # type: ignore[arg-type]


def _sentence(rule: Ordered, names: Names) -> str:
    what = f"the value of {names.attributes[rule.attribute]}"
    if rule.key:
        what += f" at the {rule.key} key of the ticket that a match is built around"
    if rule.from_anchor:
        return f"tickets {'farthest from' if rule.descending else 'nearest to'} {what} come first"
    return f"tickets with the {'highest' if rule.descending else 'lowest'} {what[4:]} come first"


_KEYS = ("sortDirection", "sortAttribute", "mapKey", "partyAggregation")

DISTANCE_SORT = RuleType(_KEYS, partial(_read, True), _sentence)
ABSOLUTE_SORT = RuleType(_KEYS, partial(_read, False), _sentence)
