"""Distance: numbers near a reference, or far from it.

Source: "FlexMatch rule types", distance rule: measurements, referenceValue, minDistance and/or
maxDistance, bounds included. Numbers may be strings there (maxDistance "500"). partyAggregation has
no effect on what is compared: each player's own value is (the service's staff, thread
QUxOsRFXlpT1e85gJvlX-YoA of re:Post).
"""

from __future__ import annotations

from valmatch.rule_sets.expressions import described
from valmatch.rule_sets.items import Item
from valmatch.rule_sets.rule_type import (
    Context,
    Names,
    RuleType,
    bounds,
    check_reference,
    listed,
    read_measures,
    read_party,
    reference_reader,
    spelled,
)
from valmatch.rule_sets.table import Within


def _distance(item: Item, key: str) -> float | None:
    return item.number(key, quoted=True, least=0)


def _read(item: Item, target: str, context: Context) -> Within | None:
    read_party(item)
    measures = read_measures(item, context)
    for measure in measures:
        if measure.kind != "number":
            item.error("measurements", f"numbers are needed, not {described(measure)}")
    if "referenceValue" not in item.members:
        item.error("", "no referenceValue (a number or an expression is needed)")
    if not {"minDistance", "maxDistance"} & set(item.members):
        item.error("", "neither minDistance nor maxDistance")
    reference = context.stepped(item, target, "referenceValue", reference_reader(context))
    least = context.stepped(item, target, "minDistance", _distance)
    most = context.stepped(item, target, "maxDistance", _distance)
    if reference is None or not check_reference(item, "referenceValue", reference, "number", 0):
        return None
    return Within(measures, reference, least, most)


def _sentence(rule: Within, names: Names) -> str:
    reference = " or ".join(spelled(value) for value in rule.reference.values)
    return f"{listed(rule.measures)}: {bounds(rule.least, rule.most)} away from {reference}"


DISTANCE = RuleType(
    ("measurements", "referenceValue", "minDistance", "maxDistance", "partyAggregation"),
    _read,
    _sentence,
    {"referenceValue": "reference", "minDistance": "least", "maxDistance": "most"},
)
