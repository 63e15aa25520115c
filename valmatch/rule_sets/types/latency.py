"""Latency: a region in which all can play.

Source: "FlexMatch rule types", latency rule; "50 ms or less" of the published example 3. One region
for all (thread 6317 of the former forums), where each ticket is one number by partyAggregation
("the latency of each ticket"); whoever reads it otherwise lets each player count (`latencyOf`).
"""

from __future__ import annotations

from typing import Literal

from valmatch.rule_sets.items import Item
from valmatch.rule_sets.rule_type import Context, Names, RuleType, amount, read_party
from valmatch.rule_sets.table import Reached

REFERENCES: tuple[Literal["min", "avg"], ...] = ("min", "avg")


def _milliseconds(item: Item, key: str) -> float | None:
    return item.number(key, least=0)


def _read(item: Item, target: str, context: Context) -> Reached | None:
    given = set(item.members)
    named = item.choice("distanceReference", REFERENCES)
    if not {"maxLatency", "maxDistance"} & given:
        item.error("", "neither maxLatency nor maxDistance")
    if "maxDistance" in given and "distanceReference" not in given:
        item.error("maxDistance", "no distanceReference (min or avg) that it is the distance to")
    if "distanceReference" in given and "maxDistance" not in given:
        item.error("distanceReference", "no maxDistance from it")
    most = context.stepped(item, target, "maxLatency", _milliseconds)
    spread = context.stepped(item, target, "maxDistance", _milliseconds)
    reference = next((one for one in REFERENCES if one == named), None)
    return Reached(most, spread, reference or "", read_party(item))


def _sentence(rule: Reached, names: Names) -> str:
    parts = []
    if rule.most:
        parts.append(f"at most {amount(rule.most)} ms")
    if rule.spread:
        what = {"min": "the least", "avg": "the mean"}.get(rule.reference, "")
        parts.append(f"at most {amount(rule.spread)} ms from {what} of the players")
    whose = "player" if rule.each else "ticket"
    return f"some region that all report, with {' and '.join(parts)} for every {whose}"


LATENCY = RuleType(
    ("maxLatency", "maxDistance", "distanceReference", "partyAggregation"),
    _read,
    _sentence,
    {"maxLatency": "most", "maxDistance": "spread"},
    large=True,
)
