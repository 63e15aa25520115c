"""Factors of the ladder model, in sections."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from valmatch.inputs.fields import (
    Factors,
    Misplaced,
    NonNegative,
    Real,
    Whole,
    factor,
    plain_number,
    refuse,
)
from valmatch.matching.living.ladder_adapter import LACKS
from valmatch.matching.registry import QUEUES
from valmatch.models.ladder.factor_types import (
    Effect,
    Level,
    Minutes,
    Pause,
    Points,
    Rate,
    Share,
    Spread,
)
from valmatch.models.ladder.rating_factors import KNOWN, WITH_DEVIATION, Rating
from valmatch.models.ladder.rule_factors import Parties, Rule
from valmatch.models.ladder.rule_sets import size_of_teams
from valmatch.models.team_rules import LONG_WAIT, long_wait, slow_search
from valmatch.models.tickets.factors import check_some
from valmatch.models.tickets.rule_file import (
    EXPANSIONS,
    RULES,
    check_steps,
    filled_values,
    read_rules,
    rewritten_rules,
)
from valmatch.policies import registry as policies

HOURS = 24

LOGISTIC = 400.0 / math.log(10.0)  # the spread at which ten to one are 400 points

MAX_PLAYERS = 10_000_000
"""Most players at the start, and most expected newcomers: all of them are in memory."""

MAX_STARTS = 1e9
"""Most expected sessions, and most ticks, in one replication; more is a slip of the pen."""


OF_PLAYERS = frozenset(("arrivals", "skills"))  # keys of the files that say who plays


class Population(Factors):
    """Who plays."""

    model_config = ConfigDict(json_schema_extra={"example": "{players: 1000}"})

    players: Annotated[int, Field(ge=0, le=MAX_PLAYERS), *Whole] | None = factor(
        1000,
        "players",
        "Number of players at the start. With a file of skills or arrivals: null or the default,"
        " for the players of the file.",
    )
    skill_mean: Level = factor(
        1500.0,
        "points",
        "Mean of their true skills, which are normal. A file of skills has its own.",
    )
    skill_std: Spread = factor(
        300.0, "points", "Standard deviation of the true skills, also of those of newcomers."
    )
    start: Literal["prior", "skill"] = factor(
        "prior",
        "",
        "What the players of the start are rated at. prior: as newcomers. skill: the mean of the"
        " belief is their true skill; its deviation is that of newcomers.",
    )
    newcomers_per_day: Rate = factor(
        10.0,
        "players per day",
        "Rate at which players join: a homogeneous Poisson process. With a file of arrivals: 0 or"
        " the default, for nobody; its players are there from the start.",
    )
    newcomer_skill_mean: Level = factor(
        1500.0, "points", "Mean of the true skills of newcomers, which are normal."
    )
    smurf_share: Share = factor(
        0.0, "", "Probability that a newcomer has the skill smurf_skill instead."
    )
    smurf_skill: Level = factor(2100.0, "points", "The true skill of every such newcomer.")


class Sessions(Factors):
    """When they play, and for how long."""

    model_config = ConfigDict(json_schema_extra={"example": "{per_day: 1}"})

    per_day: Annotated[float, Field(ge=0, le=1e3, allow_inf_nan=False), *Real] = factor(
        1.0, "sessions per day", "Sessions that the average player starts; one more when joining."
    )
    activity_cv: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False), *Real] = factor(
        1.0,
        "",
        "Coefficient of variation of the players' activity, which is gamma distributed with mean"
        " 1. 0: all players are alike.",
    )
    hourly_profile: Annotated[
        tuple[Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False), *Real], ...],
        Field(min_length=HOURS, max_length=HOURS),
    ] = factor(
        ((20.0, 15.0, 18.0, 20.0, 20.0, 23.0, 30.0, 25.0, 30.0) * 3)[:HOURS],
        "",
        "How the starts of sessions are spread over the hours of a day: weights, of which only the"
        " ratios matter.",
    )
    continue_prob: Share = factor(
        0.70, "", "Probability to queue again after a game, before win_effect and loss_effect."
    )
    win_effect: Effect = factor(
        0.03, "", "Added to continue_prob after a win; the sum is clipped to [0, 1]."
    )
    loss_effect: Effect = factor(
        -0.03, "", "Added to continue_prob after a loss; the sum is clipped to [0, 1]."
    )
    break_minutes: Pause = factor(
        2.0, "minutes", "Mean of the exponential break between two games of a session."
    )
    patience_minutes: Minutes | None = factor(
        None,
        "minutes",
        "Mean of the exponential time after which a waiting player gives up, which ends the"
        " session. null: never.",
    )
    churn: Share = factor(
        0.0, "", "Probability to leave for good, whenever a session of the player ends."
    )

    @field_validator("hourly_profile")
    @classmethod
    def _some_hour(cls, weights: tuple[float, ...]) -> tuple[float, ...]:
        check_some(weights)
        return weights


class Match(Factors):
    """What happens in a match."""

    model_config = ConfigDict(json_schema_extra={"example": "{minutes: 20}"})

    minutes: Minutes = factor(20.0, "minutes", "Length of a match.")
    outcome: Literal["logistic", "normal"] = factor(
        "logistic",
        "",
        "The probability to win. logistic: in the difference of the teams' mean skills over spread."
        " normal: every player performs normally around the skill, with the deviation beta; the"
        " greater sum of a team wins.",
    )
    spread: Points = factor(
        LOGISTIC,
        "points",
        "Difference of mean skills at which e to 1 is bet on the better team; the default is 400 /"
        " ln 10.",
        {"outcome": ("logistic",)},
    )
    beta: Points = factor(
        150.0,
        "points",
        "Standard deviation of one player's performance, of the outcome normal and for the policy"
        " oracle.",
    )


class LadderFactors(Factors):
    """Players of unknown skill who come in sessions, are matched by their ratings, and rated.

    A factor that is not used with the chosen rule, policy or rating system is accepted, so that
    systems can be compared by that choice alone; if it is changed, a remark says so.
    """

    days: Annotated[float, Field(gt=0, le=1e5, allow_inf_nan=False), *Real] = factor(
        28.0, "days", "Length of the run."
    )
    warmup_days: NonNegative = factor(
        14.0, "days", "Time before which nothing is measured; less than days."
    )
    population: Population = Field(default_factory=Population, description="Who plays.")
    sessions: Sessions = Field(
        default_factory=Sessions, description="When they play, and for how long."
    )
    match: Match = Field(default_factory=Match, description="What happens in a match.")
    rule: Rule = Field(
        default_factory=Rule, description="Who plays whom; the rule sees ratings, not skills."
    )
    rating: Rating = Field(
        default_factory=Rating, description="What is believed of skills, and learned from games."
    )
    parties: Parties = Field(default_factory=Parties, description="With whom they play.")
    rule_set: dict[str, Any] | None = factor(
        None,
        "",
        "The rule set of flexmatch as a mapping, a short form or FlexMatch's own; rules at the top"
        " of the config is the same where it is a mapping. null: that of the file.",
    )
    rules: dict[str, Any] = RULES
    expansions: dict[str, Any] = EXPANSIONS

    @field_validator("expansions")
    @classmethod
    def _increasing(cls, expansions: dict[str, Any]) -> dict[str, Any]:
        check_steps(expansions)
        return expansions

    @model_validator(mode="before")
    @classmethod
    def _players_of_files(cls, data: Any, info: ValidationInfo) -> Any:  # noqa: ANN401
        """Leave it to the files who plays where the config has no more than the defaults."""
        files, given = _files(info), {} if data is None else data
        population = (given.get("population") or {}) if isinstance(given, dict) else None
        if not files or not isinstance(population, dict):
            return data
        instead: dict[str, Any] = {"players": None}
        if "arrivals" in files:
            instead["newcomers_per_day"] = 0.0
        for name, value in instead.items():
            default = Population.model_fields[name].default
            if population.get(name, default) == default:
                population = {**population, name: value}
        return {**given, "population": population}

    @property
    def rating_beta(self) -> float:
        """The deviation of a performance for the rating system: as given, or what fits."""
        if self.rating.beta is not None:
            return self.rating.beta
        if self.match.outcome == "normal":
            return self.match.beta
        return 1.7 * self.match.spread * math.sqrt(self.rule.team_num / 2.0)

    @model_validator(mode="after")
    def _something_is_measured(self) -> Self:
        if self.warmup_days >= self.days:
            raise refuse(
                f"{plain_number(self.warmup_days)} days of warm-up are not below the"
                f" {plain_number(self.days)} days of the run, nothing would be measured (allowed:"
                f" a number >= 0 and < {plain_number(self.days)})",
                "warmup_days",
                "days",
            )
        return self

    @model_validator(mode="after")
    def _ratings_can_start(self) -> Self:
        if self.population.start == "skill" and self.rating.system == KNOWN:
            raise refuse(
                "skill has no meaning with the rating system known, whose ratings are always the"
                " skills (allowed with known: prior)",
                "population.start",
                "rating.system",
            )
        return self

    @model_validator(mode="after")
    def _players_are_known(self, info: ValidationInfo) -> Self:
        population, files = self.population, _files(info)
        if population.players is None and not files:
            raise refuse(
                "null needs a file of skills or arrivals (allowed: a number >= 0)",
                "population.players",
            )
        if population.newcomers_per_day > 0 and "arrivals" in files:
            raise refuse(
                "nobody joins with a file of arrivals, whose players are there from the start"
                " (allowed: 0)",
                "population.newcomers_per_day",
            )
        return self

    @model_validator(mode="after")
    def _parties_can_play(self) -> Self:
        largest, rule = self.parties.largest, self.rule
        if largest > 1 and not QUEUES[rule.matching].parties:
            names = " or ".join(name for name, entry in QUEUES.items() if entry.parties)
            raise refuse(
                f"groups of {largest} players, but with {rule.matching} matching everybody waits"
                f" alone (allowed: [1]; rule.matching {names} takes parties)",
                "parties.shares",
                "rule.matching",
            )
        numbers = rule.numbers()
        if largest > 1 and numbers is not None and not numbers.takes_parties:
            raise refuse(
                f"groups of {largest} players, but rule.preset {rule.preset} takes single players"
                " alone (allowed: [1])",
                "parties.shares",
                "rule.preset",
            )
        if largest > rule.team_num:
            text = _too_large(largest, rule.team_num)
            raise refuse(text, "parties.shares", "rule.team_num")
        return self

    def with_files(self, files: Mapping[str, Path], given: Collection[str]) -> Self:
        """Return the factors with all values of the rule filled in, and its size of teams."""
        if self.rule.preset is not None:
            return self.model_copy(update={"rule": self.rule.spelt_out()})
        values = filled_values(self, files, given)
        if not values:
            return self
        found = self.model_copy(update=values)
        if self.rule.matching != "flexmatch":
            return found
        source = files.get("rules", self.rule_set)
        table = read_rules(source, {name: values[name] for name in values}, None).table
        size = size_of_teams(table)
        if size is None or size == self.rule.team_num:
            return found
        if "rule.team_num" in given and "team_num" in self.rule.model_fields_set:
            raise Misplaced(
                ("rule", "team_num"), f"{self.rule.team_num}, but the rule set has teams of {size}"
            )
        if self.parties.largest > size:
            raise Misplaced(("parties", "shares"), _too_large(self.parties.largest, size))
        rule = self.rule.model_copy(update={"team_num": size})
        return found.model_copy(update={"rule": rule})

    def rewritten(self, files: Mapping[str, Path]) -> Mapping[str, str]:
        """Return the text of the rule set with the values of these factors, if any differs."""
        return rewritten_rules(self, files)

    @model_validator(mode="after")
    def _somebody_queues(self, info: ValidationInfo) -> Self:
        population, per_day = self.population, self.sessions.per_day
        comes = population.players != 0 and per_day > 0
        if population.newcomers_per_day == 0 and not comes and "arrivals" not in _files(info):
            players = "the" if population.players is None else population.players
            raise refuse(
                "nobody would ever queue: there are no newcomers, and"
                f" {players} players with {plain_number(per_day)} sessions a day"
                " (allowed: newcomers_per_day > 0, or players and per_day > 0)",
                "population.newcomers_per_day",
                "population.players",
                "sessions.per_day",
            )
        return self

    def session_starts(self, players: int) -> float:
        """Return how many sessions are expected to start with so many players at the start."""
        newcomers = self.population.newcomers_per_day * self.days
        return (players + newcomers / 2.0) * self.sessions.per_day * self.days

    @model_validator(mode="after")
    def _within_reason(self) -> Self:
        newcomers = self.population.newcomers_per_day * self.days
        starts = self.session_starts(self.population.players or 0)
        if newcomers > MAX_PLAYERS:
            raise refuse(
                f"about {newcomers:.1e} players would join (at most {MAX_PLAYERS:.0e})",
                "population.newcomers_per_day",
                "days",
            )
        if starts > MAX_STARTS:
            raise refuse(
                f"about {starts:.1e} sessions would start (at most {MAX_STARTS:.0e})",
                "sessions.per_day",
                "population.players",
                "days",
            )
        for name in ("tick_seconds", "review_seconds"):
            if self.rule.reads(name):
                self._check_ticks(name, getattr(self.rule, name))
        numbers = self.rule.numbers()
        if numbers is not None and numbers.clock:
            self._check_ticks(numbers.clock, getattr(numbers, numbers.clock))
        return self

    def _check_ticks(self, name: str, seconds: float | None) -> None:
        """Refuse ticks so close to each other that nobody would wait for the end."""
        ticks = self.days * 86400.0 / seconds if seconds else 0.0
        if ticks > MAX_STARTS:
            raise refuse(
                f"about {ticks:.1e} ticks in {plain_number(self.days)} days (at most"
                f" {MAX_STARTS:.0e})",
                f"rule.{name}",
                "days",
            )

    def remarks(self) -> Iterator[tuple[str, str]]:
        """Yield (factor, warning) for settings that are valid but probably not meant."""
        for name in ("match", "rule", "rating"):
            for changed, text in _without_effect(getattr(self, name)):
                yield f"{name}.{changed}", text
        rule, system = self.rule, self.rating.system
        lacks = (*LACKS, "parties") if self.parties.largest == 1 else LACKS
        for name, text in rule.without_effect(lacks):
            yield f"rule.{name}", text
        if rule.reads("wait_thresh") and rule.wait_thresh >= self.days * HOURS:
            yield (
                "rule.wait_thresh",
                f"{plain_number(rule.wait_thresh)} hours are not below the"
                f" {plain_number(self.days)} days of the run, so nobody is ever prioritized"
                " (wait_thresh is in hours; is this in minutes?)",
            )
        elif rule.reads("wait_thresh") and rule.wait_thresh > LONG_WAIT:
            yield "rule.wait_thresh", long_wait(rule.wait_thresh)
        yield from _other_newcomers(self.population)
        yield from _other_scale(self)
        for text in slow_search(rule.matching, rule.team_diff, rule.team_slack):
            yield "rule.team_diff", text
        learns = policies.PAIR[rule.policy].learns
        if rule.reads("policy") and learns and system not in WITH_DEVIATION:
            yield (
                "rule.policy",
                f"{rule.policy} is the same as draw_chance with the rating system {system}, whose"
                " ratings have no variance",
            )


def _other_newcomers(people: Population) -> Iterator[tuple[str, str]]:
    """Yield a remark if the skills of others were moved, and those of newcomers were not."""
    moved = abs(people.newcomer_skill_mean - people.skill_mean) > 3.0 * people.skill_std
    if moved and people.newcomers_per_day and "newcomer_skill_mean" not in people.model_fields_set:
        yield (
            "population.skill_mean",
            f"{plain_number(people.skill_mean)}, but newcomers have skills about"
            f" {plain_number(people.newcomer_skill_mean)} (population.newcomer_skill_mean)",
        )


def _other_scale(factors: LadderFactors) -> Iterator[tuple[str, str]]:
    """Yield a remark if players are not rated as the rule takes newcomers to be."""
    numbers = factors.rule.numbers()
    if numbers is None or numbers.newcomers is None:
        return
    mean, deviation = numbers.newcomers
    if abs(factors.rating.mu - mean) > 3.0 * deviation:
        yield (
            "rating.mu",
            f"{plain_number(factors.rating.mu)}, but the rule takes newcomers to be at {mean:.4g}"
            f" +- {deviation:.4g} (rule.newcomer_mean): its points are others than those of the"
            " players",
        )


def _too_large(largest: int, team_num: int) -> str:
    """Say that a group of friends is larger than a team."""
    return (
        f"groups of {largest} players do not fit into teams of {team_num} (allowed: shares of up to"
        f" {team_num} players)"
    )


def _files(info: ValidationInfo) -> frozenset[str]:
    """Return the keys of the files of players that the config names."""
    return info.context["files"] & OF_PLAYERS if info.context else frozenset()


def _without_effect(section: Factors) -> Iterator[tuple[str, str]]:
    """Yield the changed factors that are not used with what is chosen in their section."""
    for name, field in type(section).model_fields.items():
        extra: Any = field.json_schema_extra or {}
        for choice, values in extra.get("of", {}).items():
            chosen = getattr(section, choice)
            if chosen not in values and getattr(section, name) != field.default:
                yield (
                    name,
                    f"has no effect with {choice} {chosen} (used with {' or '.join(values)})",
                )
                break
