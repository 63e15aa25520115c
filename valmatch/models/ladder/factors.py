"""Factors of the ladder model, in sections."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, ValidationInfo, create_model, model_validator

from valmatch.inputs.fields import (
    Factors,
    Level,
    Minutes,
    Misplaced,
    NonNegative,
    Share,
    factor,
    plain_number,
    real,
    refuse,
    up_to,
    whole,
)
from valmatch.matching.living.registry import NOT_IN_LADDERS, PRESETS, Tick, numbers_of
from valmatch.matching.registry import PRESET, QUEUES, meanings, readers
from valmatch.models.tickets import factors as tickets
from valmatch.models.tickets.rule_file import EXPANSIONS, RULES, Expansions, OfRules
from valmatch.models.valorant.factors import check_teams, rule_remarks
from valmatch.policies import registry as policies
from valmatch.ratings.parameters import Parameter
from valmatch.ratings.registry import systems_of_results
from valmatch.ratings.system import System
from valmatch.rule_sets.table import Table

# The bounds lie far outside any use; within them no kernel overflows.
Points = Annotated[float, *real(1e-6, 1e6)]
Amount = Annotated[float, *real(0, 1e6)]
Weight = Annotated[float, *real(0, 1e3)]
Effect = Annotated[float, *real(-1, 1)]


DEFAULT, KNOWN = "trueskill", "known"
"""The default system, and that which knows the skills and is none."""

SYSTEMS: Mapping[str, System] = {
    system.name: system
    for system in sorted(systems_of_results(), key=lambda system: system.name != DEFAULT)
}
"""The rating systems, the default first."""

WITH_DEVIATION = tuple(name for name, system in SYSTEMS.items() if system.deviation >= 0)
"""Those that know how sure a rating is."""


class RatingOfAll(Factors, json_schema_extra={"example": f"{{system: {DEFAULT}}}"}):
    """The factors that mean the same with every rating system."""

    system: Literal[(*SYSTEMS, KNOWN)] = factor(  # type: ignore[valid-type]
        DEFAULT,
        "",
        f"How players are rated. {KNOWN}: everybody's rating is the true skill. A factor of another"
        " system than this one has no effect.",
    )
    mu: Level = factor(1500.0, "points")
    """Rating of a newcomer, whatever the system."""
    beta: Points | None = factor(None, "points")
    """Standard deviation of one player's performance, as trueskill, openskill and the policies of
    pairs take it. null: what fits the outcome, match.beta for normal, 1.7 match.spread
    sqrt(rule.team_num / 2) for logistic."""
    match_by: Literal["mean", "conservative"] = factor("mean", of={"system": WITH_DEVIATION})
    """What the rule sees. mean: the rating. conservative: the rating less 3 of its standard
    deviations."""


def _rating_fields() -> dict[str, tuple[Any, Any]]:
    """Return types and fields of the factors that the rating systems declare, by name."""
    declared: dict[str, tuple[Parameter, list[str]]] = {}
    for system in SYSTEMS.values():
        for parameter in (parameter for parameter in system.parameters if parameter.meaning):
            name = parameter.factor or parameter.name
            meant, users = declared.setdefault(name, (parameter, []))
            assert meant.meaning == parameter.meaning, f"{system.name}: {name} is another's too"
            users.append(system.name)
    fields = {}
    for name, (parameter, users) in declared.items():
        # Points may be as few as for all factors in points.
        low = min(parameter.low, 1e-6) if parameter.unit == "points" else parameter.low
        default = parameter.published if parameter.default is None else parameter.default
        of = {"system": tuple(users)}
        made = factor(default, parameter.unit, parameter.meaning, of)
        fields[name] = Annotated[float, *real(low, parameter.high)], made
    return fields


if TYPE_CHECKING:

    class Rating(RatingOfAll):
        """What is believed of the players' skills, and learned from games."""

else:
    Rating = create_model(
        "Rating",
        __base__=RatingOfAll,
        __module__=__name__,
        __doc__="What is believed of the players' skills, and learned from games.",
        **_rating_fields(),
    )


def values_of(rating: Rating, beta: float) -> dict[str, float]:
    """Return the values of all parameters of the chosen system."""
    # Nobody is at home and none is drawn: a parameter without a factor is 0.
    common = {"mu": rating.mu, "beta": beta}
    return {
        parameter.name: getattr(rating, parameter.factor or parameter.name)
        if parameter.meaning
        else common.get(parameter.name, 0.0)
        for parameter in SYSTEMS[rating.system].parameters
    }


def option(name: str, default: object, unit: str = "", meaning: str | None = None) -> Any:  # noqa: ANN401
    """Return a factor that some rules of the queue read, and of these maybe some policies."""
    of = {"matching": readers(name)}
    if learners := policies.readers(name, policies.PAIR):
        of["policy"] = learners
    return factor(default, unit, meaning, of)


class Parties(tickets.Parties, json_schema_extra={"example": "{shares: [0.6, 0.4]}"}):
    """With whom they play: groups of friends, drawn by the numbers of players."""

    shares: tickets.PartyShares = factor((1.0,))
    """Shares of groups of friends by the number of their players, from 1 on; they sum to 1. When
    the first of a group starts a session and the others are free, they queue together."""
    skill_correlation: Share = factor(0.0)
    """Correlation of the true skills of two friends."""


class QueueFactors(Factors, json_schema_extra={"example": "{player_diff: 400}"}):
    """Which rule of the queue there is, and the factors of those that are no preset."""

    matching: Literal[tuple(QUEUES)] = factor(  # type: ignore[valid-type]
        "team_first", "", meanings(tuple(QUEUES))
    )
    team_num: Annotated[int, *whole(1, 1000)] = factor(5, "players")
    """Number of players on a team; with pairs 1, which is then the default, and with a preset what
    its teams say."""
    player_diff: NonNegative = option("player_diff", 400.0, "points")
    """Largest difference between two ratings within a team."""
    team_diff: NonNegative = option("team_diff", 100.0, "points")
    """Largest difference between the mean ratings of the two teams of a match."""
    wait_thresh: NonNegative = option("wait_thresh", 0.1, "hours")
    """A player who has waited longer than this is prioritized."""
    player_slack: NonNegative = option("player_slack", 400.0, "points")
    """Added to player_diff for a team with a prioritized player."""
    team_slack: NonNegative = option("team_slack", 100.0, "points")
    """Added to team_diff if either team has a prioritized player."""
    review: Literal["arrivals", "continuous"] = option("review", "arrivals")
    """When matches are looked for. arrivals: when a player queues, or a formed team dissolves.
    continuous: also when a waiting player becomes prioritized."""
    slack_scope: Literal["team", "pool"] = option("slack_scope", "team")
    """Whom slack helps. team: teams with a prioritized player. pool: every team while anyone who
    waits is prioritized."""
    tie_break: Literal["balanced", "enumeration"] = option("tie_break", "balanced")
    """Which split of the same players into two teams wins. balanced: the smallest difference of
    means. enumeration: the order of the published implementation."""
    tick_seconds: Annotated[float, *real(1e-3, 1e6)] = option("tick_seconds", 60.0, "seconds")
    """Time from one tick to the next."""
    tolerance: NonNegative = option("tolerance", 400.0, "points")
    """Largest difference of the ratings of two players who have just queued."""
    widening: NonNegative = option("widening", 6000.0, "points per hour")
    """Added to tolerance for each hour of widening_age."""
    widening_age: Literal["newest", "oldest"] = option("widening_age", "newest")
    """Whose wait widens the tolerance of a pair: that of its newest or of its oldest ticket."""
    band: Annotated[int, *whole(1, 16)] = option("band", 8, "places")
    """How far apart two players may be among the waiting in the order of their ratings; the time
    that a tick takes is exponential in it."""
    policy: Literal[tuple(policies.PAIR)] = option(  # type: ignore[valid-type]
        "policy", "nearest", "", "What a pair is worth. " + policies.meanings(policies.PAIR)
    )
    gamma: Annotated[float, *real(0, 0.9999)] = option("gamma", 0.95)
    """Discount factor: what a game teaches is weighted by gamma / (1 - gamma)."""
    kappa: Weight = option("kappa", 1.0)
    """Weight of the standard deviation in the upper bound."""
    urgency: Weight = option("urgency", 6.0, "weight per hour")
    """Added to the worth of a pair for each hour that either player has waited."""
    reserve: Annotated[float, *real(-1e3, 1e3)] = option("reserve", 0.7, "weight")
    """Taken from the worth of every pair; a pair of negative worth does not play."""
    skill_attribute: Annotated[str, Field(min_length=1, max_length=100)] = option(
        "skill_attribute", "skill"
    )
    """Attribute of the rule set that the rating is; all others have their defaults."""
    review_seconds: Tick | None = option("review_seconds", None, "seconds")
    """Time between two reviews of a rule set. null: at every joining, and whenever a ticket passes
    a wait of an expansion."""

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


SIDES = 2  # teams of a match


def size_of_teams(table: Table) -> int | None:
    """Return the players of a team, None where there are not two teams of one size at all ages."""
    sizes = {n for team in table.teams for n in (*team.least.numbers, *team.most.numbers)}
    return int(*sizes) if len(table.teams) == SIDES and len(sizes) == 1 else None


class Rule(tickets.RuleFactors, QueueFactors):
    """Who plays whom: by a rule of the queue, or as a living matchmaker does."""

    preset: tickets.Preset | None = factor(None)
    """Whose rule it is: a living matchmaker's; matching is then preset. null: that of matching."""

    @model_validator(mode="before")
    @classmethod
    def _as_the_preset_says(cls, data: object) -> object:
        """Let matching, and the players of a team, be those of a preset unless they are given."""
        if not isinstance(data, dict) or data.get("preset") is None:
            return data
        filled, size = {"matching": PRESET, **data}, data.get("team_size")
        if data["preset"] in PRESETS:
            numbers = numbers_of(data["preset"])
            with suppress(ValidationError):  # which is refused where the numbers are checked
                checked = numbers.model_validate({} if size is None else {"team_size": size})
                filled = {"team_num": checked.teams[1], **filled}
        return filled

    @model_validator(mode="after")
    def _goes_by_one_rule(self) -> Self:
        """Refuse a preset beside another rule, and teams that a ladder does not play."""
        numbers = self.numbers()
        if numbers is None:
            if self.matching == PRESET:
                raise refuse(tickets.MISSING_PRESET)
            return self
        if self.matching != PRESET:
            text = f"{self.matching} does not go with rule.preset: {self.preset} (allowed with a"
            text += f" preset: {PRESET}, which is then the default)"
            raise refuse(text, "matching", "preset")
        sides, size = numbers.teams
        if sides != SIDES:
            text = f"{sides} teams, but a ladder plays one side against another"
            raise refuse(text, "team_count", "lobby_size", "preset")
        if self.team_num != size:
            text = f"{self.team_num} players on a team, but rule.preset {self.preset} has teams of"
            text += f" {size} (allowed: {size}, which is then the default)"
            raise refuse(text, "team_num", "team_size")
        return self


MAX_PLAYERS = 10_000_000
"""Most players at the start, and most expected newcomers: all of them are in memory."""

MAX_STARTS = 1e9
"""Most expected sessions, and most ticks, in one replication; more is a slip of the pen."""


OF_PLAYERS = frozenset(("arrivals", "skills"))  # keys of the files that say who plays


class Population(Factors, json_schema_extra={"example": "{players: 1000}"}):
    """Who plays."""

    players: Annotated[int, *whole(0, MAX_PLAYERS)] | None = factor(1000, "players")
    """Number of players at the start. With a file of skills or arrivals: null or the default, for
    the players of the file."""
    skill_mean: Level = factor(1500.0, "points")
    """Mean of their true skills, which are normal. A file of skills has its own."""
    skill_std: Amount = factor(300.0, "points")
    """Standard deviation of the true skills, also of those of newcomers."""
    start: Literal["prior", "skill"] = factor("prior")
    """What the players of the start are rated at. prior: as newcomers. skill: the mean of the
    belief is their true skill; its deviation is that of newcomers."""
    newcomers_per_day: Amount = factor(10.0, "players per day")
    """Rate at which players join: a homogeneous Poisson process. With a file of arrivals: 0 or the
    default, for nobody; its players are there from the start."""
    newcomer_skill_mean: Level = factor(1500.0, "points")
    """Mean of the true skills of newcomers, which are normal."""
    smurf_share: Share = factor(0.0)
    """Probability that a newcomer has the skill smurf_skill instead."""
    smurf_skill: Level = factor(2100.0, "points")
    """The true skill of every such newcomer."""


class Sessions(Factors, json_schema_extra={"example": "{per_day: 1}"}):
    """When they play, and for how long."""

    per_day: Annotated[float, *real(0, 1e3)] = factor(1.0, "sessions per day")
    """Sessions that the average player starts; one more when joining."""
    activity_cv: Annotated[float, *real(0, 100)] = factor(1.0)
    """Coefficient of variation of the players' activity, which is gamma distributed with mean 1. 0:
    all players are alike."""
    hourly_profile: tickets.HourlyProfile = factor(
        ((20.0, 15.0, 18.0, 20.0, 20.0, 23.0, 30.0, 25.0, 30.0) * 3)[: tickets.HOURS]
    )
    """How the starts of sessions are spread over the hours of a day: weights, of which only the
    ratios matter."""
    continue_prob: Share = factor(0.70)
    """Probability to queue again after a game, before win_effect and loss_effect."""
    win_effect: Effect = factor(0.03)
    """Added to continue_prob after a win; the sum is clipped to [0, 1]."""
    loss_effect: Effect = factor(-0.03)
    """Added to continue_prob after a loss; the sum is clipped to [0, 1]."""
    break_minutes: Amount = factor(2.0, "minutes")
    """Mean of the exponential break between two games of a session."""
    patience_minutes: Minutes | None = factor(None, "minutes")
    """Mean of the exponential time after which a waiting player gives up, which ends the session.
    null: never."""
    churn: Share = factor(0.0)
    """Probability to leave for good, whenever a session of the player ends."""


class Match(Factors, json_schema_extra={"example": "{minutes: 20}"}):
    """What happens in a match."""

    minutes: Minutes = factor(20.0, "minutes")
    """Length of a match."""
    outcome: Literal["logistic", "normal"] = factor("logistic")
    """The probability to win. logistic: in the difference of the teams' mean skills over spread.
    normal: every player performs normally around the skill, with the deviation beta; the greater
    sum of a team wins."""
    spread: Points = factor(tickets.LOGISTIC, "points", of={"outcome": ("logistic",)})
    """Difference of mean skills at which e to 1 is bet on the better team; the default is 400 / ln
    10."""
    beta: Points = factor(150.0, "points")
    """Standard deviation of one player's performance, of the outcome normal and for the policy
    oracle."""


class LadderFactors(OfRules):
    """Players of unknown skill who come in sessions, are matched by their ratings, and rated.

    A factor that is not used with the chosen rule, policy or rating system is accepted, so that
    systems can be compared by that choice alone; if it is changed, a remark says so.
    """

    days: Annotated[float, *up_to(1e5)] = factor(28.0, "days")
    """Length of the run."""
    warmup_days: NonNegative = factor(14.0, "days")
    """Time before which nothing is measured; less than days."""
    population: Population = Field(default_factory=Population, description="Who plays.")
    sessions: Sessions = Field(default_factory=Sessions)
    """When they play, and for how long."""
    match: Match = Field(default_factory=Match, description="What happens in a match.")
    rule: Rule = Field(default_factory=Rule)
    """Who plays whom; the rule sees ratings, not skills."""
    rating: Rating = Field(default_factory=Rating)
    """What is believed of skills, and learned from games."""
    parties: Parties = Field(default_factory=Parties, description="With whom they play.")
    rule_set: dict[str, Any] | None = factor(None)
    """The rule set of flexmatch as a mapping, a short form or FlexMatch's own; rules at the top of
    the config is the same where it is a mapping. null: that of the file."""
    rules: dict[str, Any] = RULES
    expansions: Expansions = EXPANSIONS

    @model_validator(mode="before")
    @classmethod
    def _players_of_files(cls, data: Any, info: ValidationInfo) -> Any:  # noqa: ANN401
        """Leave it to the files who plays where the config has no more than the defaults."""
        files, sections = _files(info), {} if data is None else data
        population = (sections.get("population") or {}) if isinstance(sections, dict) else None
        if not files or not isinstance(population, dict):
            return data
        instead: dict[str, Any] = {"players": None}
        if "arrivals" in files:
            instead["newcomers_per_day"] = 0.0
        for name, value in instead.items():
            default = Population.model_fields[name].default
            if population.get(name, default) == default:
                population = {**population, name: value}
        return {**sections, "population": population}

    @property
    def rating_beta(self) -> float:
        """The deviation of a performance for the rating system: as given, or what fits."""
        if self.rating.beta is not None:
            return self.rating.beta
        if self.match.outcome == "normal":
            return self.match.beta
        return 1.7 * self.match.spread * math.sqrt(self.rule.team_num / 2.0)

    def with_files(self, files: Mapping[str, Path], given: Collection[str]) -> Self:
        """Return the factors with all values of the rule filled in, and its size of teams."""
        if self.rule.preset is not None:
            return self.model_copy(update={"rule": self.rule.spelt_out()})
        filled = self.model_copy(update=self.filled_values(files, given))
        if self.rule.matching != "flexmatch" or self.source(files) is None:
            return filled
        size = size_of_teams(filled.read_rules(files, None)[0])
        if size is None or size == self.rule.team_num:
            return filled
        if "rule.team_num" in given and "team_num" in self.rule.model_fields_set:
            text = f"{self.rule.team_num}, but the rule set has teams of {size}"
            raise Misplaced(("rule", "team_num"), text)
        if self.parties.largest > size:
            raise Misplaced(("parties", "shares"), _too_large(self.parties.largest, size))
        rule = self.rule.model_copy(update={"team_num": size})
        return filled.model_copy(update={"rule": rule})

    def session_starts(self, players: int) -> float:
        """Return how many sessions are expected to start with so many players at the start."""
        newcomers = self.population.newcomers_per_day * self.days
        return (players + newcomers / 2.0) * self.sessions.per_day * self.days

    @model_validator(mode="after")
    def _goes_together(self, info: ValidationInfo) -> Self:
        files = _files(info)
        for text, *keys in chain(_of_players(self, files), _of_size(self, files)):
            raise refuse(text, *keys)
        return self

    def remarks(self) -> Iterator[tuple[str, str]]:
        """Yield (factor, warning) for settings that are valid but probably not meant."""
        rule, system, people, mu = self.rule, self.rating.system, self.population, self.rating.mu
        for name in ("match", "rule", "rating"):  # what is not used with what is chosen there
            section: Factors = getattr(self, name)
            for changed, field in type(section).model_fields.items():
                extra: Any = field.json_schema_extra or {}
                for choice, values in extra.get("of", {}).items():
                    chosen, used = getattr(section, choice), " or ".join(values)
                    if chosen not in values and getattr(section, changed) != field.default:
                        text = f"has no effect with {choice} {chosen} (used with {used})"
                        yield f"{name}.{changed}", text
                        break
        lacks = [*NOT_IN_LADDERS, *["parties"] * (self.parties.largest == 1)]
        lacks += ["deviations"] * (system not in WITH_DEVIATION)
        for name, text in rule.without_effect(lacks):
            yield f"rule.{name}", text
        hours, run = 24.0 * self.days, f"{plain_number(self.days)} days of the run"
        for name, text in rule_remarks(rule, hours, run):
            if rule.reads(name):
                yield f"rule.{name}", text
        newcomers = people.newcomer_skill_mean
        moved = abs(newcomers - people.skill_mean) > 3.0 * people.skill_std
        left = "newcomer_skill_mean" not in people.model_fields_set
        if moved and left and people.newcomers_per_day:
            text = f"{plain_number(people.skill_mean)}, but newcomers have skills about"
            others = f"{plain_number(newcomers)} (population.newcomer_skill_mean)"
            yield "population.skill_mean", f"{text} {others}"
        numbers = rule.numbers()
        mean, deviation = numbers.newcomers or (mu, 0.0) if numbers else (mu, 0.0)
        if abs(mu - mean) > 3.0 * deviation:
            text = f"the rule takes newcomers to be at {mean:.4g} +- {deviation:.4g}"
            why = "(rule.newcomer_mean): its points are others than those of the players"
            yield "rating.mu", f"{plain_number(mu)}, but {text} {why}"

        learns = rule.reads("policy") and policies.PAIR[rule.policy].learns
        if learns and system not in WITH_DEVIATION:
            same = (
                f"{rule.policy} is the same as draw_chance with the rating system {system}, whose"
            )
            yield "rule.policy", f"{same} ratings have no variance"


def _of_players(factors: LadderFactors, files: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Yield what is wrong with the time, the players, and groups of friends, and with which."""
    population, days = factors.population, plain_number(factors.days)
    if factors.warmup_days >= factors.days:
        text = f"{plain_number(factors.warmup_days)} days of warm-up are not below the {days} days"
        allowed = f"allowed: a number >= 0 and < {days}"
        nothing = f"{text} of the run, nothing would be measured ({allowed})"
        yield nothing, "warmup_days", "days"
    if population.start == "skill" and factors.rating.system == KNOWN:
        text = "skill has no meaning with the rating system known, whose ratings are always the"
        allowed = "allowed with known: prior"
        yield f"{text} skills ({allowed})", "population.start", "rating.system"
    if population.players is None and not files:
        text = "null needs a file of skills or arrivals (allowed: a number >= 0)"
        yield text, "population.players"
    if population.newcomers_per_day > 0 and "arrivals" in files:
        text = "nobody joins with a file of arrivals, whose players are there from the start"
        yield f"{text} (allowed: 0)", "population.newcomers_per_day"
    largest, rule = factors.parties.largest, factors.rule
    numbers, groups = rule.numbers(), f"groups of {largest} players"
    if largest > 1 and not QUEUES[rule.matching].parties:
        names = " or ".join(name for name, entry in QUEUES.items() if entry.parties)
        text = f"{groups}, but with {rule.matching} matching everybody waits alone (allowed: [1];"
        yield f"{text} rule.matching {names} takes parties)", "parties.shares", "rule.matching"
    if largest > 1 and numbers is not None and not numbers.takes_parties:
        text = f"rule.preset {rule.preset} takes single players alone (allowed: [1])"
        yield f"{groups}, but {text}", "parties.shares", "rule.preset"
    if largest > rule.team_num:
        yield _too_large(largest, rule.team_num), "parties.shares", "rule.team_num"


def _of_size(factors: LadderFactors, files: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Yield why nobody would queue, or too many."""
    population, per_day, rule = factors.population, factors.sessions.per_day, factors.rule
    comes = population.players != 0 and per_day > 0
    if population.newcomers_per_day == 0 and not comes and "arrivals" not in files:
        players = "the" if population.players is None else population.players
        text = f"nobody would ever queue: there are no newcomers, and {players} players with"
        allowed = "allowed: newcomers_per_day > 0, or players and per_day > 0"
        factors_of_it = "population.newcomers_per_day", "population.players", "sessions.per_day"
        yield f"{text} {plain_number(per_day)} sessions a day ({allowed})", *factors_of_it
    newcomers = population.newcomers_per_day * factors.days
    if newcomers > MAX_PLAYERS:
        text = f"about {newcomers:.1e} players would join (at most {MAX_PLAYERS:.0e})"
        yield text, "population.newcomers_per_day", "days"
    starts = factors.session_starts(population.players or 0)
    if starts > MAX_STARTS:
        text = f"about {starts:.1e} sessions would start (at most {MAX_STARTS:.0e})"
        yield text, "sessions.per_day", "population.players", "days"
    clocks = {n: getattr(rule, n) for n in ("tick_seconds", "review_seconds") if rule.reads(n)}
    numbers = rule.numbers()
    if numbers is not None and numbers.clock:
        clocks[numbers.clock] = getattr(numbers, numbers.clock)
    for name, seconds in clocks.items():
        # So close to each other that nobody would wait for the end.
        ticks = factors.days * 86400.0 / seconds if seconds else 0.0
        if ticks > MAX_STARTS:
            days = f"{plain_number(factors.days)} days"
            text = f"about {ticks:.1e} ticks in {days} (at most {MAX_STARTS:.0e})"
            yield text, f"rule.{name}", "days"


def _too_large(largest: int, team_num: int) -> str:
    allowed = f"allowed: shares of up to {team_num} players"
    return f"groups of {largest} players do not fit into teams of {team_num} ({allowed})"


def _files(info: ValidationInfo) -> frozenset[str]:
    return info.context["files"] & OF_PLAYERS if info.context else frozenset()
