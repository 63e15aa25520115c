"""Batch distance: tickets close to each other in an attribute.

Source: "FlexMatch rule types", batch distance rule: of numbers the largest difference "of all
tickets" is at most maxDistance, of strings there is one value for all. Small and large matches; not
in compounds.
"""

from __future__ import annotations

from valmatch.rule_sets.items import Item
from valmatch.rule_sets.rule_type import Context, Names, RuleType, amount, read_party
from valmatch.rule_sets.table import Spread


def _distance(item: Item, key: str) -> float | None:
    return item.number(key, quoted=True, least=0)


def _read(item: Item, target: str, context: Context) -> Spread | None:
    attribute = context.attribute(item, "batchAttribute")
    most = context.stepped(item, target, "maxDistance", _distance)
    party = read_party(item)
    if attribute is None:
        return None
    kind = context.known.attributes[attribute].kind
    if kind not in ("number", "text"):
        item.error("batchAttribute", "a number or a string is needed, no list and no map")
        return None
    if kind == "number" and "maxDistance" not in item.members:
        item.error("", "no maxDistance (numbers need one)")
        return None
    if kind == "text" and "maxDistance" in item.members:
        place = item.at("maxDistance")
        text = "has no effect: strings have to be the same"
        item.problems.warn(place, item.inner("maxDistance"), text)
    return Spread(attribute, most if kind == "number" else None, party)


def _sentence(rule: Spread, names: Names) -> str:
    name = names.attributes[rule.attribute]
    if rule.most is None:
        return f"{name}: the same for all"
    how = {"avg": "mean", "min": "lowest", "max": "highest"}[rule.party]
    return f"{name}: all tickets within {amount(rule.most)} of each other (of a party the {how})"


BATCH_DISTANCE = RuleType(
    ("batchAttribute", "maxDistance", "partyAggregation"),
    _read,
    _sentence,
    {"maxDistance": "most"},
    large=True,
)
