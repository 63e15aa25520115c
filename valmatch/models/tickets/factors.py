"""The factors of the model `tickets`: who comes, from where, and how the service ticks."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from valmatch.inputs.fields import (
    Factors,
    Misplaced,
    Number,
    Real,
    Whole,
    factor,
    refuse,
)
from valmatch.models.tickets.combining import check_rule
from valmatch.models.tickets.laws import check_law, check_sum
from valmatch.models.tickets.preset_factors import RatingsFactors, RuleFactors
from valmatch.models.tickets.rule_file import (
    EXPANSIONS,
    RULES,
    check_steps,
    filled_values,
    rewritten_rules,
)
from valmatch.models.tickets.sources import MOST_PLAYERS, MOST_REGIONS

HOURS = 24

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), *Real]
Seconds = Annotated[float, Field(gt=0, le=43_200, allow_inf_nan=False), *Real]
Minutes = Annotated[float, Field(gt=0, le=1e4, allow_inf_nan=False), *Real]
Points = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False), *Real]
LogSpread = Annotated[float, Field(ge=0, le=5, allow_inf_nan=False), *Real]
Weight = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False), *Real]

LOGISTIC = 400.0 / math.log(10.0)
"""Points at which e to 1 is bet on the better team, in the scale of Elo."""


class Service(Factors):
    """How the service ticks, and how players answer its proposals."""

    model_config = ConfigDict(json_schema_extra={"example": "{review_seconds: 1}"})

    review_seconds: Annotated[float, Field(ge=0.01, le=3600, allow_inf_nan=False), *Real] = factor(
        1.0, "seconds", "Time between two reviews of the pool."
    )
    search: Literal["pass", "exhaustive"] = factor(
        "pass",
        "",
        "How matches are looked for. pass: around each ticket, the others in order, greedily."
        " exhaustive: all sets of tickets, for pools of few.",
    )
    passes: Annotated[int, Field(ge=1, le=10**6), *Whole] | None = factor(
        None, "", "Most passes of a review. null: until one forms no match."
    )
    batch_size: Annotated[int, Field(ge=1, le=10**9), *Whole] | None = factor(
        None, "tickets", "Tickets of a batch of the pool. null: all in one."
    )
    request_timeout_seconds: Seconds = factor(
        120.0, "seconds", "Time after which a ticket leaves without a match."
    )
    acceptance_seconds: Annotated[float, Field(gt=0, le=600, allow_inf_nan=False), *Real] | None = (
        factor(
            None,
            "seconds",
            "Time in which all players have to accept a match. null: it is made at once.",
        )
    )
    accept_prob: Share = factor(
        0.95,
        "",
        "Probability that a player accepts a proposed match; who does not lets the time run out.",
    )
    answer_seconds: Seconds = factor(
        5.0, "seconds", "Mean of the exponential time after which a player accepts."
    )


class Arrivals(Factors):
    """When tickets come."""

    model_config = ConfigDict(json_schema_extra={"example": "{per_hour: 1200}"})

    per_hour: Annotated[float, Field(gt=0, le=1e7, allow_inf_nan=False), *Real] = factor(
        1200.0, "tickets per hour", "Expected tickets an hour, on average over a day."
    )
    hourly_profile: Annotated[tuple[Weight, ...], Field(min_length=HOURS, max_length=HOURS)] = (
        factor(
            (1.0,) * HOURS,
            "",
            "How tickets are spread over the hours of a day: weights, of which only the ratios"
            " matter.",
        )
    )

    @field_validator("hourly_profile")
    @classmethod
    def _some_hour(cls, weights: tuple[float, ...]) -> tuple[float, ...]:
        if not any(weights):
            raise refuse("every weight is 0 (at least one must be > 0)")
        return weights


class Parties(Factors):
    """With whom they come."""

    model_config = ConfigDict(json_schema_extra={"example": "{shares: [0.8, 0.2]}"})

    shares: Annotated[tuple[Share, ...], Field(min_length=1, max_length=MOST_PLAYERS)] = factor(
        (0.72, 0.16, 0.05, 0.03, 0.04),
        "",
        "Shares of tickets by the number of their players, from 1 on; they sum to 1.",
    )

    @field_validator("shares")
    @classmethod
    def _whole(cls, shares: tuple[float, ...]) -> tuple[float, ...]:
        check_sum(shares)
        return shares


class Skill(Factors):
    """How good they are, and what the matchmaker sees of it."""

    model_config = ConfigDict(json_schema_extra={"example": "{std: 300}"})

    attribute: str = factor(
        "skill", "", "Attribute of the rule set that the skill is, as far as it is seen."
    )
    mean: Number = factor(1500.0, "points", "Mean true skill.")
    std: Points = factor(
        300.0, "points", "Standard deviation of the skills of single players, and of parties."
    )
    party_std: Points = factor(
        150.0, "points", "Standard deviation of the players of a party around the party's skill."
    )
    error: Points = factor(
        0.0, "points", "Standard deviation of what is seen around the true skill; 0: it is known."
    )


class Regions(Factors):
    """Where they come from, and how far data centres are from there."""

    model_config = ConfigDict(json_schema_extra={"example": "{shares: {eu: 0.6, us: 0.4}}"})

    shares: dict[str, Share] = factor(
        {"eu": 0.5, "us": 0.35, "ap": 0.15},
        "",
        "Shares of tickets by home region; they sum to 1. The built-in table knows us, central,"
        " eu, uk, ap, oc, sa.",
    )
    latency: Literal["builtin"] = factor(
        "builtin",
        "",
        "Round-trip times between homes and data centres: a table of published measurements."
        " latency: FILE.csv at the top of the config replaces it.",
    )
    spread: LogSpread = factor(
        0.35, "", "Spread of latencies about the table's: standard deviation of their logarithm."
    )

    @field_validator("shares")
    @classmethod
    def _whole(cls, shares: dict[str, float]) -> dict[str, float]:
        if not 1 <= len(shares) <= MOST_REGIONS:
            raise refuse(f"{len(shares)} regions (allowed: 1 to {MOST_REGIONS})")
        check_sum(tuple(shares.values()))
        return shares


class Patience(Factors):
    """How long they wait before they cancel."""

    model_config = ConfigDict(json_schema_extra={"example": "{median_seconds: 60}"})

    median_seconds: Seconds | None = factor(
        None, "seconds", "Median of the lognormal patience. null: until the request times out."
    )
    spread: LogSpread = factor(
        0.8, "", "Standard deviation of the logarithm of the patience; 0: all are alike."
    )


class Match(Factors):
    """What happens in a match."""

    model_config = ConfigDict(json_schema_extra={"example": "{minutes: 20}"})

    minutes: Minutes = factor(20.0, "minutes", "Length of a match.")
    spread: Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False), *Real] = factor(
        LOGISTIC,
        "points",
        "Difference of mean skills at which e to 1 is bet on the better team.",
    )
    leave_prob: Share = factor(
        0.0,
        "",
        "Probability that a player leaves early, at any moment of what is left of the match alike.",
    )
    backfill: Literal["none", "automatic", "manual"] = factor(
        "none",
        "",
        "For which places of running matches backfill tickets are sent. automatic: those that were"
        " free from the beginning. manual: those of leavers, too.",
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
        if self.rule.preset is not None:
            if "rules" in files or self.rule_set is not None:
                raise Misplaced(("rule",), "there is a rule set, too: rules (allowed: one of both)")
            return self.model_copy(update={"rule": self.rule.spelt_out()})
        values = filled_values(self, files, given)
        return self.model_copy(update=values) if values else self

    def rewritten(self, files: Mapping[str, Path]) -> Mapping[str, str]:
        """Return the text of the rule set with the values of these factors, if any differs."""
        return rewritten_rules(self, files)
