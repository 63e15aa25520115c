"""The ladder's factors on the rule of the queue, and on who queues together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from valmatch.inputs.fields import (
    Factors,
    NonNegative,
    Real,
    Whole,
    factor,
    refuse,
)
from valmatch.matching.living.registry import PRESETS, numbers_of
from valmatch.matching.registry import PRESET, QUEUES, meanings, readers
from valmatch.models.ladder.factor_types import Share, Weight
from valmatch.models.ladder.rule_sets import SIDES
from valmatch.models.team_rules import check_teams
from valmatch.models.tickets.factors import (
    MOST_PLAYERS,
    Preset,
    RuleFactors,
    check_sum,
    missing_preset,
)
from valmatch.policies import registry as policies

if TYPE_CHECKING:
    PairPolicy = str
else:
    PairPolicy = Literal[tuple(policies.PAIR)]

if TYPE_CHECKING:
    Matching = str
else:
    Matching = Literal[tuple(QUEUES)]


class Parties(Factors):
    """With whom they play: groups of friends, drawn by the numbers of players."""

    model_config = ConfigDict(json_schema_extra={"example": "{shares: [0.6, 0.4]}"})

    shares: Annotated[tuple[Share, ...], Field(min_length=1, max_length=MOST_PLAYERS)] = factor(
        (1.0,),
        "",
        "Shares of groups of friends by the number of their players, from 1 on; they sum to 1. When"
        " the first of a group starts a session and the others are free, they queue together.",
    )
    skill_correlation: Share = factor(0.0, "", "Correlation of the true skills of two friends.")

    @field_validator("shares")
    @classmethod
    def _whole(cls, shares: tuple[float, ...]) -> tuple[float, ...]:
        check_sum(shares)
        return shares

    @property
    def largest(self) -> int:
        """Players of the largest group that there is."""
        return max(size for size, share in enumerate(self.shares, 1) if share > 0.0)


class QueueFactors(Factors):
    """Which rule of the queue there is, and the factors of those that are no preset."""

    matching: Matching = factor("team_first", "", meanings(tuple(QUEUES)))
    team_num: Annotated[int, Field(ge=1, le=1000), *Whole] = factor(
        5,
        "players",
        "Number of players on a team; with pairs 1, which is then the default, and with a preset"
        " what its teams say.",
    )
    player_diff: NonNegative = factor(
        400.0,
        "points",
        "Largest difference between two ratings within a team.",
        {"matching": readers("player_diff")},
    )
    team_diff: NonNegative = factor(
        100.0,
        "points",
        "Largest difference between the mean ratings of the two teams of a match.",
        {"matching": readers("team_diff")},
    )
    wait_thresh: NonNegative = factor(
        0.1,
        "hours",
        "A player who has waited longer than this is prioritized.",
        {"matching": readers("wait_thresh")},
    )
    player_slack: NonNegative = factor(
        400.0,
        "points",
        "Added to player_diff for a team with a prioritized player.",
        {"matching": readers("player_slack")},
    )
    team_slack: NonNegative = factor(
        100.0,
        "points",
        "Added to team_diff if either team has a prioritized player.",
        {"matching": readers("team_slack")},
    )
    review: Literal["arrivals", "continuous"] = factor(
        "arrivals",
        "",
        "When matches are looked for. arrivals: when a player queues, or a formed team dissolves."
        " continuous: also when a waiting player becomes prioritized.",
        {"matching": readers("review")},
    )
    slack_scope: Literal["team", "pool"] = factor(
        "team",
        "",
        "Whom slack helps. team: teams with a prioritized player. pool: every team while anyone"
        " who waits is prioritized.",
        {"matching": readers("slack_scope")},
    )
    tie_break: Literal["balanced", "enumeration"] = factor(
        "balanced",
        "",
        "Which split of the same players into two teams wins. balanced: the smallest difference of"
        " means. enumeration: the order of the published implementation.",
        {"matching": readers("tie_break")},
    )
    tick_seconds: Annotated[float, Field(ge=1e-3, le=1e6, allow_inf_nan=False), *Real] = factor(
        60.0, "seconds", "Time from one tick to the next.", {"matching": readers("tick_seconds")}
    )
    tolerance: NonNegative = factor(
        400.0,
        "points",
        "Largest difference of the ratings of two players who have just queued.",
        {"matching": readers("tolerance")},
    )
    widening: NonNegative = factor(
        6000.0,
        "points per hour",
        "Added to tolerance for each hour of widening_age.",
        {"matching": readers("widening")},
    )
    widening_age: Literal["newest", "oldest"] = factor(
        "newest",
        "",
        "Whose wait widens the tolerance of a pair: that of its newest or of its oldest ticket.",
        {"matching": readers("widening_age")},
    )
    band: Annotated[int, Field(ge=1, le=16), *Whole] = factor(
        8,
        "places",
        "How far apart two players may be among the waiting in the order of their ratings; the time"
        " that a tick takes is exponential in it.",
        {"matching": readers("band")},
    )
    policy: PairPolicy = factor(
        "nearest",
        "",
        "What a pair is worth. " + policies.meanings(policies.PAIR),
        {"matching": readers("policy")},
    )
    gamma: Annotated[float, Field(ge=0, le=0.9999, allow_inf_nan=False), *Real] = factor(
        0.95,
        "",
        "Discount factor: what a game teaches is weighted by gamma / (1 - gamma).",
        {
            "matching": readers("gamma"),
            "policy": policies.readers("gamma", policies.PAIR),
        },
    )
    kappa: Weight = factor(
        1.0,
        "",
        "Weight of the standard deviation in the upper bound.",
        {"matching": readers("kappa"), "policy": policies.readers("kappa", policies.PAIR)},
    )
    urgency: Weight = factor(
        6.0,
        "weight per hour",
        "Added to the worth of a pair for each hour that either player has waited.",
        {"matching": readers("urgency")},
    )
    reserve: Annotated[float, Field(ge=-1e3, le=1e3, allow_inf_nan=False), *Real] = factor(
        0.7,
        "weight",
        "Taken from the worth of every pair; a pair of negative worth does not play.",
        {"matching": readers("reserve")},
    )
    skill_attribute: Annotated[str, Field(min_length=1, max_length=100)] = factor(
        "skill",
        "",
        "Attribute of the rule set that the rating is; all others have their defaults.",
        {"matching": readers("skill_attribute")},
    )
    review_seconds: Annotated[float, Field(ge=0.01, le=3600, allow_inf_nan=False), *Real] | None = (
        factor(
            None,
            "seconds",
            "Time between two reviews of a rule set. null: at every joining, and whenever a ticket"
            " passes a wait of an expansion.",
            {"matching": readers("review_seconds")},
        )
    )

    @model_validator(mode="before")
    @classmethod
    def _one_against_one(cls, data: object) -> object:
        """Let a rule of one against one be of one player a side unless a number is given."""
        if isinstance(data, dict):
            entry = QUEUES.get(str(data.get("matching")))
            if entry is not None and entry.largest_team == 1:
                return {"team_num": 1, **data}
        return data

    @model_validator(mode="after")
    def _teams_can_be_matched(self) -> Self:
        check_teams(self.matching, self.team_num, "range")
        return self

    def reads(self, option: str) -> bool:
        """Return whether an option has an effect on the rule that is chosen."""
        return self.matching in readers(option)


class Rule(RuleFactors, QueueFactors):
    """Who plays whom: by a rule of the queue, or as a living matchmaker does."""

    model_config = ConfigDict(json_schema_extra={"example": "{player_diff: 400}"})

    preset: Preset | None = factor(
        None,
        "",
        "Whose rule it is: a living matchmaker's; matching is then preset. null: that of matching.",
    )

    @model_validator(mode="before")
    @classmethod
    def _as_the_preset_says(cls, data: object) -> object:
        """Let matching, and the players of a team, be those of a preset unless they are given."""
        if not isinstance(data, dict) or data.get("preset") is None:
            return data
        size = _size_of_teams(data)
        teams = {} if size is None else {"team_num": size}
        return {"matching": PRESET, **teams, **data}

    @model_validator(mode="after")
    def _goes_by_one_rule(self) -> Self:
        """Refuse a preset beside another rule, and teams that a ladder does not play."""
        numbers = self.numbers()
        if numbers is None:
            if self.matching == PRESET:
                raise missing_preset()
            return self
        if self.matching != PRESET:
            raise refuse(
                f"{self.matching} does not go with rule.preset: {self.preset} (allowed with a"
                f" preset: {PRESET}, which is then the default)",
                "matching",
                "preset",
            )
        sides, size = numbers.teams
        if sides != SIDES:
            text = f"{sides} teams, but a ladder plays one side against another"
            raise refuse(text, "team_count", "lobby_size", "preset")
        if self.team_num != size:
            raise refuse(
                f"{self.team_num} players on a team, but rule.preset {self.preset} has teams of"
                f" {size} (allowed: {size}, which is then the default)",
                "team_num",
                "team_size",
            )
        return self


def _size_of_teams(rule: Mapping[str, Any]) -> int | None:
    """Return the players of a team of a preset; None where something is wrong."""
    if rule["preset"] not in PRESETS:
        return None
    given = {"team_size": rule["team_size"]} if rule.get("team_size") is not None else {}
    try:
        return numbers_of(rule["preset"]).model_validate(given).teams[1]
    except ValidationError:
        return None
