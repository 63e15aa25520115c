"""The factors of the model `tickets`: who comes, from where, and how the service ticks."""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self, get_type_hints

import numpy as np
from pydantic import AfterValidator, Field, create_model, field_validator, model_validator

from valmatch.errors import InputError
from valmatch.inputs.fields import (
    Factors,
    Misplaced,
    NonNegative,
    Number,
    Positive,
    Share,
    factor,
    real,
    refuse,
    up_to,
    whole,
)
from valmatch.inputs.files import read_document, readable
from valmatch.kernels.arrays import Floats
from valmatch.matching.living.registry import NEEDS, PRESETS, Numbers, Tick, needs_of, numbers_of
from valmatch.models.tickets.rule_file import EXPANSIONS, RULES, Expansions, OfRules
from valmatch.rule_sets.table import Valued
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

MOST_REGIONS, MOST_ITEMS = 64, 256  # data centres; items of a list
MOST_PLAYERS = 10  # players of a party, as the service has it
EXACT = 1e-9  # how far the sum of shares may be from 1
FORMS = "{TEXT: SHARE, ...}, {lists: {TEXT: PROBABILITY, ...}} or {mean: ..., std: ...}"


def summing_to_one(shares: Any) -> Any:  # noqa: ANN401
    """Refuse shares that do not sum to 1."""
    total = math.fsum(shares.values() if isinstance(shares, Mapping) else shares)
    if abs(total - 1.0) > EXACT:
        raise refuse(f"shares sum to {total:.10g} (allowed: 1)")
    return shares


def not_all_zero(weights: tuple[float, ...]) -> tuple[float, ...]:
    """Refuse weights that are all 0."""
    if not any(weights):
        raise refuse("every weight is 0 (at least one must be > 0)")
    return weights


def kind_of(law: Mapping[str, object]) -> Valued:
    """Return what a law gives."""
    if set(law) == {"mean", "std"}:
        return "number"
    return "texts" if set(law) == {"lists"} and isinstance(law["lists"], dict) else "text"


def _wrong(law: Mapping[str, Any]) -> str:
    """Return why something is no law of an attribute; "" where it is one."""
    kind = kind_of(law)
    inner = law["lists"] if kind == "texts" else law
    if not inner or len(inner) > MOST_ITEMS:
        return f"{len(inner)} entries (allowed: {FORMS}, up to {MOST_ITEMS})"
    for key, value in inner.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(float(value)):
            return f"{shown(key)} is no number (allowed: {FORMS})"
    if kind == "number":
        return "std is below 0 (allowed: 0 or more)" if law["std"] < 0.0 else ""
    if not all(0.0 <= value <= 1.0 for value in inner.values()):
        return f"a share outside of 0 to 1 (allowed: {FORMS})"
    total = math.fsum(inner.values())
    wrong_sum = kind == "text" and abs(total - 1.0) > EXACT
    return f"shares sum to {total:.10g} (allowed: 1)" if wrong_sum else ""


HOURS = 24

Seconds = Annotated[float, *up_to(43_200)]
Points = Annotated[float, *real(0, 1e9)]
LogSpread = Annotated[float, *real(0, 5)]
Rate = Annotated[float, *up_to(1e7)]
HourlyProfile = Annotated[
    tuple[Annotated[float, *real(0, 1e9)], ...],
    Field(min_length=HOURS, max_length=HOURS),
    AfterValidator(not_all_zero),
]
PartyShares = Annotated[
    tuple[Share, ...], Field(min_length=1, max_length=MOST_PLAYERS), AfterValidator(summing_to_one)
]

LOGISTIC = 400.0 / math.log(10.0)
"""Points at which e to 1 is bet on the better team, in the scale of Elo."""


class Service(Factors, json_schema_extra={"example": "{review_seconds: 1}"}):
    """How the service ticks, and how players answer its proposals."""

    unwritten = ("foresight_seconds",)

    review_seconds: Tick = factor(1.0, "seconds")
    """Time between two reviews of the pool."""
    search: Literal["pass", "exhaustive"] = factor("pass")
    """Search method. pass: greedy, one anchor ticket at a time. exhaustive: all sets of tickets,
    for small pools."""
    passes: Annotated[int, *whole(1, 10**6)] | None = factor(None)
    """Most passes of a review. null: until one forms no match."""
    batch_size: Annotated[int, *whole(1, 10**9)] | None = factor(None, "tickets")
    """Tickets of a batch of the pool. null: all in one."""
    request_timeout_seconds: Seconds = factor(120.0, "seconds")
    """Time after which a ticket leaves without a match."""
    acceptance_seconds: Annotated[float, *up_to(600)] | None = factor(None, "seconds")
    """Time in which all players have to accept a match. null: it is made at once."""
    accept_prob: Share = factor(0.95)
    """Probability that a player accepts a proposed match; who does not lets the time run out."""
    answer_seconds: Seconds = factor(5.0, "seconds")
    """Mean of the exponential time after which a player accepts."""
    foresight_seconds: Annotated[float, *real(0.01, 43_200)] | None = factor(None, "seconds")
    """Time before a ticket leaves in which alone a match is built around it: the service knows who
    is about to leave, and lets others wait for more to choose from. null: at every review."""


class Arrivals(Factors, json_schema_extra={"example": "{per_hour: 1200}"}):
    """When tickets come."""

    per_hour: Rate = factor(1200.0, "tickets per hour")
    """Expected tickets an hour, on average over a day."""
    hourly_profile: HourlyProfile = factor((1.0,) * HOURS)
    """How tickets are spread over the hours of a day: weights, of which only the ratios matter."""


class Population(Factors, json_schema_extra={"example": "{players_per_hour: 1800}"}):
    """How many players come, where that is known in place of the tickets."""

    players_per_hour: Rate | None = factor(None, "players per hour")
    """Expected players an hour, on average over a day: as many tickets come as have them in
    parties. null: tickets come as arrivals.per_hour says."""


class Parties(Factors, json_schema_extra={"example": "{shares: [0.8, 0.2]}"}):
    """With whom they come."""

    shares: PartyShares = factor((0.72, 0.16, 0.05, 0.03, 0.04))
    """Shares of tickets by the number of their players, from 1 on; they sum to 1."""

    @property
    def largest(self) -> int:
        """Players of the largest party that there is."""
        return max(size for size, share in enumerate(self.shares, 1) if share > 0.0)


class Skill(Factors, json_schema_extra={"example": "{std: 300}"}):
    """How good they are, and what the matchmaker sees of it."""

    attribute: str = factor("skill")
    """Attribute of the rule set that the skill is, as far as it is seen."""
    mean: Number = factor(1500.0, "points")
    """Mean true skill."""
    std: Points = factor(300.0, "points")
    """Standard deviation of the skills of single players, and of parties."""
    party_std: Points = factor(150.0, "points")
    """Standard deviation of the players of a party around the party's skill."""
    error: Points = factor(0.0, "points")
    """Standard deviation of what is seen around the true skill; 0: it is known."""


class Regions(Factors, json_schema_extra={"example": "{shares: {eu: 0.6, us: 0.4}}"}):
    """Where they come from, and how far data centres are from there."""

    shares: dict[str, Share] = factor({"eu": 0.5, "us": 0.35, "ap": 0.15})
    """Shares of tickets by home region; they sum to 1. The built-in table knows us, central, eu,
    uk, ap, oc, sa."""
    latency: Literal["builtin"] = factor("builtin")
    """Round-trip times between homes and data centres: a table of published measurements. latency:
    FILE.csv at the top of the config replaces it."""
    spread: LogSpread = factor(0.35)
    """Spread of latencies about the table's: standard deviation of their logarithm."""

    @field_validator("shares")
    @classmethod
    def _whole(cls, shares: dict[str, float]) -> dict[str, float]:
        if not 1 <= len(shares) <= MOST_REGIONS:
            raise refuse(f"{len(shares)} regions (allowed: 1 to {MOST_REGIONS})")
        return summing_to_one(shares)


class Patience(Factors, json_schema_extra={"example": "{median_seconds: 60}"}):
    """How long they wait before they cancel."""

    median_seconds: Seconds | None = factor(None, "seconds")
    """Median of the lognormal patience. null: until the request times out."""
    spread: LogSpread = factor(0.8)
    """Standard deviation of the logarithm of the patience; 0: all are alike."""


class Match(Factors, json_schema_extra={"example": "{minutes: 20}"}):
    """What happens in a match."""

    minutes: Annotated[float, *up_to(1e4)] = factor(20.0, "minutes")
    """Length of a match."""
    spread: Annotated[float, *up_to(1e9)] = factor(LOGISTIC, "points")
    """Difference of mean skills at which e to 1 is bet on the better team."""
    leave_prob: Share = factor(0.0)
    """Probability that a player leaves early, at any moment of what is left of the match alike."""
    backfill: Literal["none", "automatic", "manual"] = factor("none")
    """For which places of running matches backfill tickets are sent. automatic: those that were
    free from the beginning. manual: those of leavers, too."""


Preset: Any = Literal[tuple(PRESETS)]


MISSING_PRESET = f"preset: missing (allowed: {', '.join(PRESETS)})"


class OfPreset(Factors, json_schema_extra={"example": "{preset: bar}"}):
    """The rule of a living matchmaker, whose numbers are factors; null: as the preset has it."""

    preset: Preset | None = factor(None)
    """Whose rule it is: a living matchmaker's. null: there is a rule set."""

    def set_numbers(self) -> dict[str, Any]:
        """Return the numbers that are given, of whatever preset."""
        values = {name: getattr(self, name) for name in NUMBERS}
        return {name: value for name, value in values.items() if value is not None}

    def numbers(self) -> Numbers | None:
        """Return the numbers of the rule; None without a preset."""
        return numbers_of(self.preset).model_validate(self.set_numbers()) if self.preset else None

    def spelt_out(self) -> Self:
        """Return the rule with a value for every number, which can then be varied and optimised."""
        if (numbers := self.numbers()) is None:
            return self
        given = self.set_numbers()
        values = {name: x for name, x in numbers if name in given or name not in numbers.later}
        return self.model_copy(update=values)

    def without_effect(self, lacks: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield the numbers that are not as the preset has them and need what there is not."""
        values = self.set_numbers()
        for name in values if self.preset else ():
            numbers = numbers_of(self.preset or "")
            need = needs_of(numbers, name)
            usual = numbers.model_validate({k: v for k, v in values.items() if k != name})
            if need in lacks and values[name] != getattr(usual, name):
                yield name, f"has no effect: {NEEDS[need]}"

    @model_validator(mode="after")
    def _of_one_preset(self) -> Self:
        values = self.set_numbers()
        if self.preset is None:
            if values:
                raise refuse(MISSING_PRESET)
            return self
        known = tuple(numbers_of(self.preset).model_fields)
        for name in values:
            if name not in known:
                raise refuse(f"preset {self.preset} has no such number ({hint(name, known)})", name)
        self.numbers()
        return self


def _every_number() -> dict[str, Any]:
    """Return the fields of the numbers of all presets: one of a name, whoever has it."""
    fields: dict[str, Any] = {}
    readers: dict[str, list[str]] = {}
    for preset in PRESETS:
        numbers = numbers_of(preset)
        kinds = get_type_hints(numbers, include_extras=True)
        for name, field in numbers.model_fields.items():
            readers.setdefault(name, []).append(preset)
            extra: Any = field.json_schema_extra
            made = factor(None, extra["unit"], str(field.description))
            fields.setdefault(name, (kinds[name] | None, made))
    for name, presets in readers.items():
        fields[name][1].description += f" Of preset {' or '.join(presets)} alone."
    return fields


_NUMBERS = _every_number()
NUMBERS = tuple(_NUMBERS)  # the names of the numbers of all presets
OfPreset.unwritten = ("preset", *NUMBERS)

if TYPE_CHECKING:

    class RuleFactors(OfPreset):
        """The rule of a living matchmaker in place of a rule set."""

else:
    RuleFactors = create_model("RuleFactors", __base__=OfPreset, __module__=__name__, **_NUMBERS)
    RuleFactors.__doc__ = "The rule of a living matchmaker in place of a rule set."


class RatingsFactors(Factors, json_schema_extra={"example": "{deviation: 75, newcomers: 0.1}"}):
    """What a matchmaker that rates its players believes of them; read by rules with a preset."""

    deviation: NonNegative = factor(0.0, "points")
    """Median standard deviation of the believed skill. What is seen of a player is off the true
    skill by as much, and by skill.error."""
    spread: LogSpread = factor(0.0)
    """Standard deviation of the logarithm of these deviations; 0: all are alike."""
    newcomers: Share = factor(0.0)
    """Share of players who are new: unrated for bar, provisional for lichess, with few games for
    faf."""
    newcomer_deviation: NonNegative | None = factor(None, "points")
    """Deviation of newcomers. null: as of all others."""
    newcomer_games: Annotated[int, *whole(0, 10**6)] = factor(9, "games")
    """Games of newcomers: any number up to it, equally likely."""
    games: Annotated[int, *whole(0, 10**6)] = factor(1000, "games")
    """Games of all others."""
    users: Annotated[int, *whole(2, 10**8)] | None = factor(None, "users")
    """Number of different users, each as likely to ask next; with single players alone. null:
    nobody comes twice."""
    ranges: Share = factor(0.0)
    """Share of players who want opponents within a range of ratings, for lichess."""
    range_width: Positive = factor(200.0, "points")
    """How far that goes below and above the own rating."""


OF_RULE_SETS = {
    "service.review_seconds": "the rule says when it looks",
    "service.search": "the rule says how it looks",
    "service.passes": "it has none",
    "service.batch_size": "it looks at all at once",
    "service.acceptance_seconds": "all accept at once",
    "service.foresight_seconds": "the rule says for whom it looks",
    "match.leave_prob": "nobody leaves its matches",
    "match.backfill": "it fills no places",
}
"""Factors that a rule set alone reads, and why: they do not go with a living matchmaker's rule."""


BUILTIN = Path(__file__).with_name("round_trips.csv")
"""Published measurements; the file says whose and what is assumed."""

LONGEST = 100_000.0  # most milliseconds of a table


class RoundTrips(NamedTuple):
    """Milliseconds between homes and data centres."""

    homes: tuple[str, ...]
    centres: tuple[str, ...]
    milliseconds: Floats  # (homes, centres)


def read_round_trips(path: Path) -> RoundTrips:
    """Return the table of a file: in each row a home region and milliseconds to data centres."""
    with readable(path):
        lines = read_document(path).decode("utf-8-sig").splitlines()
    rows = [
        (f"{path}:{number}", [cell.strip() for cell in cells])
        for number, cells in enumerate(csv.reader(lines), 1)
        if "".join(cells).strip() and not cells[0].startswith("#")
    ]
    if not rows:
        raise InputError(f"{path}: is empty (a header home,REGION,... and rows are needed)")
    (line, (first, *centres)), *others = rows
    if first != "home" or not centres or len(set(centres)) < len(centres):
        raise InputError(f"{line}: a header home,REGION,... is needed, each region once")
    if len(centres) > MOST_REGIONS:
        raise InputError(f"{line}: {len(centres)} data centres (allowed: {MOST_REGIONS})")
    trips: dict[str, list[float]] = {}
    for line, (home, *cells) in others:
        if len(cells) != len(centres):
            count, wanted = len(cells) + 1, len(centres) + 1
            raise InputError(f"{line}: {count} cells, and the header has {wanted}")
        if home in trips:
            raise InputError(f"{line}: home {shown(home)} twice")
        trips[home] = []
        for cell in cells:
            value = real_number(cell)
            if value is None or not 1.0 <= value <= LONGEST:
                allowed = f"allowed: milliseconds from 1 to {LONGEST:.0f}"
                raise InputError(f"{line}: {shown(cell)} is no latency ({allowed})")
            trips[home].append(value)
    table = np.array(list(trips.values())).reshape(len(trips), -1)
    return RoundTrips(tuple(trips), tuple(centres), table)


def lacking_home(homes: Sequence[str], table: RoundTrips) -> str:
    """Return what is wrong with the first home that a table lacks; "" where it has all."""
    for home in homes:
        if home not in table.homes:
            return f"no latencies of home region {shown(home)} ({hint(home, table.homes)})"
    return ""


def round_trips(homes: Sequence[str], path: Path | None) -> RoundTrips:
    """Return the round trips from some homes."""
    table = read_round_trips(path or BUILTIN)
    if wrong := lacking_home(homes, table):
        raise InputError(f"{path}: {wrong}" if path else f"factors.regions.shares: {wrong}")
    rows = [table.homes.index(home) for home in homes]
    columns = [k for k, name in enumerate(table.centres) if path or name in homes]
    centres = tuple(table.centres[k] for k in columns)
    return RoundTrips(tuple(homes), centres, table.milliseconds[np.ix_(rows, columns)])


Grouping = Literal["sizes", "regions", "hours", "deciles", "attributes"]
Group = Literal[Grouping, "steps", "rules", "reasons", "pools", "backfill"]
"""What `measure` asks for: groups of tickets, and others."""


class TicketsFactors(OfRules):
    """Factors of the model `tickets`."""

    unwritten = ("population",)

    hours: Annotated[float, *up_to(24 * 366)] = factor(24.0, "hours")
    """Length of the run."""
    warmup_minutes: Annotated[float, *real(0, 1e6)] = factor(60.0, "minutes")
    """Time at the start of which nothing is measured."""
    service: Service = Field(Service(), description="How the service ticks.")
    arrivals: Arrivals = Field(Arrivals(), description="When tickets come.")
    population: Population = Field(Population(), description="How many players come.")
    parties: Parties = Field(Parties(), description="With whom they come.")
    skill: Skill = Field(Skill(), description="How good they are.")
    regions: Regions = Field(Regions(), description="Where they come from.")
    attributes: dict[str, dict[str, Any]] = factor({})
    """Further attributes of the rule set, by name. {ranked: 0.7, casual: 0.3}: texts with their
    shares, the same for a whole party. {lists: {tank: 0.2, medic: 0.1}}: of each player's list,
    what is in it with which probability. {mean: 10, std: 2}: normal numbers."""
    patience: Patience = Field(Patience(), description="How long they wait.")
    match: Match = Field(Match(), description="What happens in a match.")
    ratings: RatingsFactors = Field(RatingsFactors())
    """What is believed of players who are rated."""
    rule: RuleFactors = Field(RuleFactors())
    """The rule of a living matchmaker in place of a rule set."""
    rule_set: dict[str, Any] | None = factor(None)
    """The rule set as a mapping, a short form or FlexMatch's own; rules at the top of the config is
    the same where it is a mapping. null: that of the file."""
    rules: dict[str, Any] = RULES
    expansions: Expansions = EXPANSIONS
    measure: tuple[Group, ...] = factor(())
    """Further responses: by size of the party, home region, hour of the day, decile of the skill or
    value of an attribute; shares of matches by expansion step; how often each rule passed and
    failed; why tickets are never matchable; of pools that are looked at again; and of leavers and
    backfill."""

    @property
    def tickets_per_hour(self) -> float:
        """Expected tickets an hour, on average over a day."""
        if self.population.players_per_hour is None:
            return self.arrivals.per_hour
        size = sum(n * share for n, share in enumerate(self.parties.shares, 1))
        return self.population.players_per_hour / size

    @field_validator("attributes")
    @classmethod
    def _laws(cls, attributes: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        for name, law in attributes.items():
            if wrong := _wrong(law):
                # Names with dots are no paths, and are said.
                text = f"{shown(name)}: {wrong}" if "." in name else wrong
                raise refuse(text, f"attributes.{name}")
        return attributes

    @model_validator(mode="after")
    def _something_is_measured(self) -> Self:
        if self.warmup_minutes >= 60.0 * self.hours:
            text = f"leaves nothing of {self.hours:g} hours (allowed: less than"
            raise refuse(f"{text} {60.0 * self.hours:g})", "warmup_minutes")
        if self.skill.attribute in self.attributes:
            raise refuse(f"{self.skill.attribute} is the skill", "attributes")
        numbers, name = self.rule.numbers(), f"rule.preset: {self.rule.preset}"
        if numbers is None:
            if self.ratings != RatingsFactors():
                raise refuse("ratings go with rule.preset alone (there is none)", "ratings")
            return self
        if self.rule_set is not None or self.rules or self.expansions:
            raise refuse(f"{name} does not go with rules (allowed: one of both)", "rule")
        for path, why in OF_RULE_SETS.items():
            if self.is_changed(path):
                raise refuse(f"{path} does not go with {name}: {why}", path)
        for measure in ("steps", "rules", "pools", "backfill"):  # of rule sets alone
            if measure in self.measure:
                raise refuse(f"measure: {measure} does not go with {name}", "measure")
        if self.parties.largest > 1 and not numbers.takes_parties:
            text = f"parties.shares: {name} takes single players alone (allowed: [1])"
            raise refuse(text, "parties.shares")
        if self.parties.largest > 1 and self.ratings.users is not None:
            raise refuse("ratings.users goes with single players alone (parties.shares: [1])")
        return self

    def with_files(self, files: Mapping[str, Path], given: Collection[str]) -> Self:
        """Return the factors with all values of the rule set filled in."""
        if "latency" not in files:
            wrong = lacking_home(tuple(self.regions.shares), read_round_trips(BUILTIN))
            if wrong:
                raise Misplaced(("regions", "shares"), f"{wrong}; or latency: FILE.csv")
        if self.rule.preset is not None:
            if self.source(files) is not None:
                raise Misplaced(("rule",), "there is a rule set, too: rules (allowed: one of both)")
            return self.model_copy(update={"rule": self.rule.spelt_out()})
        values = self.filled_values(files, given)
        return self.model_copy(update=values) if values else self

    def longest_wait(self) -> float:
        """Return how many seconds a ticket lives at most."""
        return self.service.request_timeout_seconds

    def remarks(self) -> Iterator[tuple[str, str]]:
        """Yield (factor, warning) for numbers of a rule that have no effect on who comes."""
        there = {
            "users": self.ratings.users is not None,
            "requeuing": self.ratings.users is not None,
            "ranges": self.ratings.ranges > 0.0,
            "maps": "maps" in self.attributes,
            "parties": self.parties.largest > 1,
        }
        lacks = [need for need, is_there in there.items() if not is_there]
        for name, text in self.rule.without_effect(lacks):
            yield f"rule.{name}", text
