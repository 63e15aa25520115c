"""Factors that do not go with the rule of a living matchmaker, refused by the names of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from valmatch.inputs.fields import refuse
from valmatch.matching.living.registry import Numbers
from valmatch.models.tickets.factor_sections import Match, Parties, Service
from valmatch.models.tickets.preset_factors import RatingsFactors, RuleFactors

OF_RULE_SETS = (
    ("service", "review_seconds", "the rule says when it looks"),
    ("service", "search", "the rule says how it looks"),
    ("service", "passes", "it has none"),
    ("service", "batch_size", "it looks at all at once"),
    ("service", "acceptance_seconds", "all accept at once"),
    ("match", "leave_prob", "nobody leaves its matches"),
    ("match", "backfill", "it fills no places"),
)
"""Factors that a rule set alone reads, and why."""

MEASURES = ("steps", "rules", "pools", "backfill")  # what can be measured of rule sets alone


class Combined(Protocol):
    """Factors that are looked at together."""

    @property
    def rule(self) -> RuleFactors:
        """Return the rule of a living matchmaker, if any."""

    @property
    def ratings(self) -> RatingsFactors:
        """Return what is believed of players."""

    @property
    def service(self) -> Service:
        """Return how the service ticks."""

    @property
    def match(self) -> Match:
        """Return what happens in a match."""

    @property
    def parties(self) -> Parties:
        """Return with whom players come."""

    @property
    def rule_set(self) -> Mapping[str, Any] | None:
        """Return a rule set that is a mapping, if any."""

    @property
    def rules(self) -> Mapping[str, Any]:
        """Return values of the rule set."""

    @property
    def expansions(self) -> Mapping[str, Any]:
        """Return values of its expansions."""

    @property
    def measure(self) -> Sequence[str]:
        """Return what else is measured."""


def check_rule(factors: Combined) -> None:
    """Refuse factors that do not go with each other."""
    numbers = factors.rule.numbers()
    if numbers is None:
        if factors.ratings.any_given():
            raise refuse("ratings go with rule.preset alone (there is none)", "ratings")
        return
    name = f"rule.preset: {factors.rule.preset}"
    if factors.rule_set is not None or factors.rules or factors.expansions:
        raise refuse(f"{name} does not go with rules (allowed: one of both)", "rule")
    for section, key, why in OF_RULE_SETS:
        own = getattr(factors, section)
        if getattr(own, key) != type(own).model_fields[key].default:
            raise refuse(f"{section}.{key} does not go with {name}: {why}", f"{section}.{key}")
    for measure in MEASURES:
        if measure in factors.measure:
            raise refuse(f"measure: {measure} does not go with {name}", "measure")
    _check_parties(factors, numbers, name)


def _check_parties(factors: Combined, numbers: Numbers, name: str) -> None:
    """Refuse parties that a rule has no place for."""
    if any(share > 0.0 for share in factors.parties.shares[1:]):
        if not numbers.takes_parties:
            raise refuse(
                f"parties.shares: {name} takes single players alone (allowed: [1])",
                "parties.shares",
            )
        if factors.ratings.users is not None:
            raise refuse("ratings.users goes with single players alone (parties.shares: [1])")
