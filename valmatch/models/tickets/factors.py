"""The factors of the model `tickets`: who comes, from where, and how the service ticks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from valmatch.inputs.fields import Factors, Misplaced, Real, factor, refuse
from valmatch.models.tickets.combining import check_rule
from valmatch.models.tickets.factor_sections import (
    Arrivals,
    Match,
    Parties,
    Patience,
    Regions,
    Service,
    Skill,
)
from valmatch.models.tickets.latencies import BUILTIN, lacking_home, read_round_trips
from valmatch.models.tickets.laws import check_law
from valmatch.models.tickets.preset_factors import RatingsFactors, RuleFactors
from valmatch.models.tickets.rule_file import (
    EXPANSIONS,
    RULES,
    check_steps,
    filled_values,
    rewritten_rules,
)

Group = Literal[
    "sizes",
    "regions",
    "hours",
    "deciles",
    "attributes",
    "steps",
    "rules",
    "reasons",
    "pools",
    "backfill",
]


class TicketsFactors(Factors):
    """Factors of the model `tickets`."""

    hours: Annotated[float, Field(gt=0, le=24 * 366, allow_inf_nan=False), *Real] = factor(
        24.0, "hours", "Length of the run."
    )
    warmup_minutes: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False), *Real] = factor(
        60.0, "minutes", "Time at the start of which nothing is measured."
    )
    service: Service = Field(Service(), description="How the service ticks.")
    arrivals: Arrivals = Field(Arrivals(), description="When tickets come.")
    parties: Parties = Field(Parties(), description="With whom they come.")
    skill: Skill = Field(Skill(), description="How good they are.")
    regions: Regions = Field(Regions(), description="Where they come from.")
    attributes: dict[str, dict[str, Any]] = factor(
        {},
        "",
        "Further attributes of the rule set, by name. {ranked: 0.7, casual: 0.3}: texts with their"
        " shares, the same for a whole party. {lists: {tank: 0.2, medic: 0.1}}: of each player's"
        " list, what is in it with which probability. {mean: 10, std: 2}: normal numbers.",
    )
    patience: Patience = Field(Patience(), description="How long they wait.")
    match: Match = Field(Match(), description="What happens in a match.")
    ratings: RatingsFactors = Field(
        RatingsFactors(), description="What is believed of players who are rated."
    )
    rule: RuleFactors = Field(
        RuleFactors(), description="The rule of a living matchmaker in place of a rule set."
    )
    rule_set: dict[str, Any] | None = factor(
        None,
        "",
        "The rule set as a mapping, a short form or FlexMatch's own; rules at the top of the config"
        " is the same where it is a mapping. null: that of the file.",
    )
    rules: dict[str, Any] = RULES
    expansions: dict[str, Any] = EXPANSIONS
    measure: tuple[Group, ...] = factor(
        (),
        "",
        "Further responses: by size of the party, home region, hour of the day, decile of the skill"
        " or value of an attribute; shares of matches by expansion step; how often each rule passed"
        " and failed; why tickets are never matchable; of pools that are looked at again; and of"
        " leavers and backfill.",
    )

    @field_validator("attributes")
    @classmethod
    def _laws(cls, attributes: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        for name, law in attributes.items():
            check_law(name, law)
        return attributes

    @field_validator("expansions")
    @classmethod
    def _increasing(cls, expansions: dict[str, Any]) -> dict[str, Any]:
        check_steps(expansions)
        return expansions

    @model_validator(mode="after")
    def _something_is_measured(self) -> TicketsFactors:
        if self.warmup_minutes >= 60.0 * self.hours:
            raise refuse(
                f"leaves nothing of {self.hours:g} hours (allowed: less than"
                f" {60.0 * self.hours:g})",
                "warmup_minutes",
            )
        if self.skill.attribute in self.attributes:
            raise refuse(f"{self.skill.attribute} is the skill", "attributes")
        check_rule(self)
        return self

    def with_files(self, files: Mapping[str, Path], given: Collection[str]) -> TicketsFactors:
        """Return the factors with all values of the rule set filled in.

        So each has a value of its own that can be varied and optimised.
        """
        if "latency" not in files:
            wrong = lacking_home(tuple(self.regions.shares), read_round_trips(BUILTIN))
            if wrong:
                raise Misplaced(("regions", "shares"), f"{wrong}; or latency: FILE.csv")
        if self.rule.preset is not None:
            if "rules" in files or self.rule_set is not None:
                raise Misplaced(("rule",), "there is a rule set, too: rules (allowed: one of both)")
            return self.model_copy(update={"rule": self.rule.spelt_out()})
        values = filled_values(self, files, given)
        return self.model_copy(update=values) if values else self

    def remarks(self) -> Iterator[tuple[str, str]]:
        """Yield (factor, warning) for numbers of a rule that have no effect on who comes."""
        there = {
            "users": self.ratings.users is not None,
            "requeuing": self.ratings.users is not None,
            "ranges": self.ratings.ranges > 0.0,
            "maps": "maps" in self.attributes,
            "parties": any(share > 0.0 for share in self.parties.shares[1:]),
        }
        lacks = [need for need, is_there in there.items() if not is_there]
        for name, text in self.rule.without_effect(lacks):
            yield f"rule.{name}", text

    def rewritten(self, files: Mapping[str, Path]) -> Mapping[str, str]:
        """Return the text of the rule set with the values of these factors, if any differs."""
        return rewritten_rules(self, files)
