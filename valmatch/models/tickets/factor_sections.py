"""The sections of the factors of the model `tickets`: who comes, and how the service ticks."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, field_validator

from valmatch.inputs.fields import Factors, Number, Real, Whole, factor, refuse
from valmatch.models.tickets.laws import check_some, check_sum
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
        check_some(weights)
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
