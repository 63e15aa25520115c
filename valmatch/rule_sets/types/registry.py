"""The types of rules by name."""

from __future__ import annotations

from valmatch.rule_sets.rule_type import RuleType
from valmatch.rule_sets.table import (
    Combined,
    Compared,
    Counted,
    Ordered,
    Predicate,
    Reached,
    Spread,
    Within,
)
from valmatch.rule_sets.types.batch_distance import BATCH_DISTANCE
from valmatch.rule_sets.types.collection import COLLECTION
from valmatch.rule_sets.types.comparison import COMPARISON
from valmatch.rule_sets.types.compound import COMPOUND
from valmatch.rule_sets.types.distance import DISTANCE
from valmatch.rule_sets.types.latency import LATENCY
from valmatch.rule_sets.types.sorts import ABSOLUTE_SORT, DISTANCE_SORT

TYPES: dict[str, RuleType] = {
    "distance": DISTANCE,
    "comparison": COMPARISON,
    "collection": COLLECTION,
    "latency": LATENCY,
    "batchDistance": BATCH_DISTANCE,
    "distanceSort": DISTANCE_SORT,
    "absoluteSort": ABSOLUTE_SORT,
    "compound": COMPOUND,
}
"""What a rule set may call its rules."""

OF_PREDICATE: dict[type[Predicate], RuleType] = {
    Within: DISTANCE,
    Compared: COMPARISON,
    Counted: COLLECTION,
    Reached: LATENCY,
    Spread: BATCH_DISTANCE,
    Ordered: DISTANCE_SORT,
    Combined: COMPOUND,
}
"""The type that says in words what a predicate is."""
