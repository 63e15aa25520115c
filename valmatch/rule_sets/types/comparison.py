"""Comparison: values against a reference, or those of a list against each other.

Source: "FlexMatch rule types", comparison rule; without a reference the published example 6: = all
equal, != all different, over each innermost list. Comparisons see the players' own values, whatever
partyAggregation says (the service's staff, thread QUxOsRFXlpT1e85gJvlX-YoA of re:Post).
"""

from __future__ import annotations

from valmatch.rule_sets.expressions import described
from valmatch.rule_sets.items import Item
from valmatch.rule_sets.rule_type import (
    Context,
    Names,
    RuleType,
    amount,
    check_reference,
    listed,
    read_measures,
    read_party,
    reference_reader,
)
from valmatch.rule_sets.table import Aggregate, Compared

OPERATIONS = ("<", "<=", "=", "!=", ">", ">=")
EQUALITIES = ("=", "!=")


def _read(item: Item, target: str, context: Context) -> Compared | None:
    read_party(item)
    measures = read_measures(item, context)
    operation = item.choice("operation", OPERATIONS, required=True)
    reference = context.stepped(item, target, "referenceValue", reference_reader(context))
    if "referenceValue" not in item.members:
        _check_among(item, measures, operation)
        return Compared(measures, operation, None) if operation else None
    if reference is None or not measures or not _fits(item, measures, operation):
        return None
    check_reference(item, "referenceValue", reference, measures[0].kind, 0)
    return Compared(measures, operation, reference) if operation else None


def _check_among(item: Item, measures: tuple[Aggregate, ...], operation: str | None) -> None:
    """Report what cannot be compared among itself."""
    if operation and operation not in EQUALITIES:
        item.error("operation", f"{operation} needs a referenceValue; without one = or != is meant")
    for measure in measures:
        if measure.depth < 1 or measure.kind not in ("number", "text"):
            text = f"a list of numbers or strings is needed, not {described(measure)}"
            item.error("measurements", text)


def _fits(item: Item, measures: tuple[Aggregate, ...], operation: str | None) -> bool:
    """Report measurements that cannot be compared with a reference; return whether all can."""
    for measure in measures:
        if measure.kind not in ("number", "text") or measure.kind != measures[0].kind:
            item.error("measurements", f"numbers or strings are needed, not {described(measure)}")
            return False
        if measure.kind == "text" and operation not in (*EQUALITIES, None):
            item.error("operation", f"{operation} compares numbers, not {described(measure)}")
            return False
    return True


WORDS = {"=": "equal to", "!=": "other than", "<": "below", "<=": "at most", ">": "above"}


def _sentence(rule: Compared, names: Names) -> str:
    if rule.reference is None:
        how = "all the same" if rule.operation == "=" else "all different"
        return f"{listed(rule.measures)}: {how}"
    return (
        f"{listed(rule.measures)}: {WORDS.get(rule.operation, 'at least')} {amount(rule.reference)}"
    )


COMPARISON = RuleType(
    ("measurements", "referenceValue", "operation", "partyAggregation"),
    _read,
    _sentence,
    {"referenceValue": "reference"},
)
