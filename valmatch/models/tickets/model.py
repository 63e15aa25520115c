"""The `tickets` model: parties ask for matches, and the rule set of a game makes them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.inputs.fields import Factors
from valmatch.kernels.arrays import Floats
from valmatch.matching.living.queue import ANY, Parties, PresetInput, play_preset
from valmatch.matching.tickets.columns import FEW, Search, Service, Tickets
from valmatch.matching.tickets.playing import NO_BACKFILLS, Serving, play_columns, play_with_games
from valmatch.matching.tickets.search import MOST_TRIED
from valmatch.models.model import NO_FILES, Model, Outcome, Record, Response, Responses, Table
from valmatch.models.tickets import population
from valmatch.models.tickets.factors import Group, RoundTrips, TicketsFactors, kind_of, round_trips
from valmatch.models.tickets.logged import TicketLog
from valmatch.models.tickets.measures import (
    RESPONSES,
    further_responses,
    groups_table,
    measure,
    of_preset,
)
from valmatch.models.tickets.pools import Blocking, blocking, search_gap
from valmatch.models.tickets.population import BELIEFS, DEVIATION, GAMES, HIGH, LOW, NEW
from valmatch.models.tickets.replication import (
    Replication,
    backfills_table,
    matches_table,
    tickets_table,
)
from valmatch.models.tickets.rule_file import plain_table
from valmatch.rule_sets import table as rule_table
from valmatch.rule_sets.flexmatch import ATTRIBUTE_TYPES
from valmatch.rule_sets.table import Attribute, Valued
from valmatch.text.suggestions import hint
from valmatch.text.terminal import Note, Notice, shown

CALLED = {valued: f"a {name}" for name, valued in ATTRIBUTE_TYPES.items()}


DRAWN_BY = (
    "hours arrivals population parties skill regions attributes ratings patience"
    " service.accept_prob service.answer_seconds match.leave_prob"
)


class TicketWorld(NamedTuple):
    """What a rule set is played on."""

    table: rule_table.Table
    tickets: Tickets
    service: Service
    search: Search


class TicketsModel(Model[Tickets]):
    """Parties with latencies and wishes, matched by a rule set."""

    responses = RESPONSES
    releases_gil = True
    measures = get_args(Group)
    drawn_by = frozenset(DRAWN_BY.split())

    def __init__(self, factors: TicketsFactors, files: Mapping[str, Path] = NO_FILES) -> None:
        service = factors.service
        self._factors = factors
        if factors.measure or factors.rule.preset:
            self.responses = Responses(*RESPONSES, *self.further(factors))
        self._table, remarks = factors.read_rules(files, service.request_timeout_seconds)
        self._trips = round_trips(tuple(factors.regions.shares), files.get("latency"))
        self._preset = factors.rule.numbers()  # None: there is a rule set
        if self._preset:
            teams, size = self._preset.teams
            self._table = plain_table((f"team{number + 1}" for number in range(teams)), size)
        self._service = Service(
            service.request_timeout_seconds,
            population.HOUR * factors.hours,
            service.review_seconds,
            service.batch_size,
            service.passes,
            service.acceptance_seconds,
            service.foresight_seconds,
        )
        skill = factors.skill.attribute
        # What factors give, by attribute.
        kinds: dict[str, Valued] = {skill: "number"}
        kinds |= {name: kind_of(law) for name, law in factors.attributes.items()}
        kinds |= dict.fromkeys(population.BELIEFS, "number") if self._preset else {}
        declared = {attribute.name: attribute.kind for attribute in self._table.attributes}
        for name, kind in kinds.items():
            if declared.get(name, kind) != kind:
                where = "skill" if name == skill else "attributes"
                there = f"{CALLED[declared[name]]} in {files.get('rules', 'the rule set')}"
                text = f"{shown(name)} is {there}, and {CALLED[kind]} here"
                raise InputError(f"factors.{where}: {text}")
        self._log: TicketLog | None = None
        if "arrivals" in files:
            of_factors = [Attribute(name, kind) for name, kind in kinds.items()]
            path, end = files["arrivals"], self._service.horizon
            self._log = TicketLog(path, self._table, of_factors, self._trips, end)
        from_log = self._log.remarks if self._log else ()
        known = {*kinds, *(self._log.known if self._log else ())}
        self.warnings = (*remarks, *from_log, *self._remarks(known))

    @classmethod
    def further(cls, factors: Factors) -> Sequence[Response]:
        """Return the responses of groups that factors ask for."""
        assert isinstance(factors, TicketsFactors)
        asked_for = dict.fromkeys(factors.measure)
        groups = [response for of in asked_for for response in further_responses(factors, of)]
        return [*(response for response, _ in of_preset(factors)), *groups]

    def _remarks(self, known: Collection[str]) -> Iterator[str]:
        table, factors = self._table, self._factors
        declared = [attribute.name for attribute in table.attributes]
        for name in factors.attributes:
            if name not in (*declared, *(PRESET_SEES if self._preset else ())):
                there = f"is not declared in the rule set ({hint(name, declared)})"
                text = f"factors.attributes: {shown(name)} {there}: no rule sees it"
                yield Note(text, "ignored_attribute")
        unknown = [attribute for attribute in table.attributes if attribute.name not in known]
        skill = factors.skill.attribute
        for attribute in unknown:
            index = table.attributes.index(attribute)
            rules = [rule.name for rule in table.rules if index in rule.attributes]
            if attribute.kind == "number" and attribute.default is not None and rules:
                name = attribute.name
                meant = f"attributes: {{{name}: {{mean: ..., std: ...}}}}"
                if skill not in declared:
                    meant = f"skill.attribute={name}, as no rule sees {shown(skill)}"
                same = f"the attribute {shown(name)} is {attribute.default:g} for everybody"
                text = f"its default: {' and '.join(rules)} cannot tell players apart ({meant})"
                yield Notice(f"{same}, {text}", "same_for_all")
        for attribute in unknown:
            if attribute.default is None:
                neither = f"{shown(attribute.name)} has neither a value nor a default"
                text = f"the attribute {neither}: no ticket can ever be matched"
                yield Notice(text, "unmatchable")
        timeout, times = self._service.timeout, self._log.tickets.times if self._log else None
        most = population.most_at_once(factors, timeout, times)
        if factors.service.search == "exhaustive" and most > FEW:
            yield (
                f"service.search: exhaustive is for pools of up to {FEW} tickets, and {most:,} wait"
                f" at once at the busiest hour if none is matched for {timeout:g} s; with more than"
                f" {MOST_TRIED} at once the run ends with an error, and with nearly as many each"
                " review takes seconds"
            )
        largest = max(team.largest for team in table.teams)
        # A log says it of its own tickets.
        for size, share in enumerate(() if self._log else factors.parties.shares, 1):
            if size > largest and share > 0.0:
                text = f"parties of {size} are larger than every team ({largest} players)"
                yield Notice(f"{text}: they can never be matched", "unmatchable")

    def draw(self, streams: Streams, replication: int) -> Tickets:
        """Return the tickets of a replication; no rule enters."""
        draw = self._log.draw if self._log else population.draw_tickets
        return draw(self._factors, self._trips, streams.place(replication))

    def run(self, inputs: Tickets) -> Outcome:
        """Return the responses."""
        return Outcome(self._responses(self.play(inputs)))

    def record(self, inputs: Tickets) -> Record:
        """Return the responses with every ticket, match and group."""
        run = self.play(inputs)
        blocked, homes = self._blocking(run), tuple(self._factors.regions.shares)
        tables: tuple[Table, ...] = (
            tickets_table(run, homes, blocked.blockers),
            matches_table(run, self._trips.centres),
            groups_table(run),
        )
        if self._factors.match.backfill != "none":
            tables = (*tables, backfills_table(run))
        return Record(self._responses(run, blocked), tables)

    def play(self, inputs: Tickets) -> Replication:
        """Let the matchmaker match the tickets of a replication."""
        factors, service, table = self._factors, self._service, self._table
        stays, search = population.draw_stays(factors, inputs), factors.service.search
        backfills, report = NO_BACKFILLS, None
        counted = 60.0 * factors.warmup_minutes if "rules" in factors.measure else None
        if self._preset:
            preset, people = factors.rule.preset or "", people_of(inputs, self._trips)
            users, cancels = population.users_by_ticket(inputs), inputs.cancels
            tickets = PresetInput(inputs.times, cancels, users, people, inputs.rng_key)
            end = service.timeout, service.horizon
            played, report = play_preset(preset, self._preset, tickets, *end)
        elif factors.match.backfill == "none":
            played = play_columns(table, self._answered(inputs), service, search, counted)
        else:
            leavers = factors.match.backfill == "manual"
            serving = Serving(60.0 * factors.match.minutes, leavers, stays)
            world = table, self._answered(inputs), service, search
            played, backfills = play_with_games(*world, serving, counted)
        return Replication(factors, table, inputs, played, stays, backfills, report)

    def world(self, inputs: Tickets) -> TicketWorld:
        """Return the tickets of a replication as a world, which can be looked at one by one."""
        match = self._factors.match
        if self._preset:
            text = "a rule set alone says which of its rules refuse whom"
            instead = "explain a run with rules: FILE in place of it"
            preset = self._factors.rule.preset
            raise InputError(f"rule.preset is {preset}, and {text} ({instead})")
        if match.backfill != "none":
            text = "why tickets wait can be told without backfill alone"
            instead = "simulate with --set match.backfill=none, and explain that folder"
            raise InputError(f"match.backfill is {match.backfill}: {text} ({instead})")
        search = self._factors.service.search
        return TicketWorld(self._table, self._answered(inputs), self._service, search)

    def _answered(self, inputs: Tickets) -> Tickets:
        if self._factors.service.acceptance_seconds is None:
            return inputs
        answers = population.draw_answers(self._factors, inputs)
        return inputs._replace(answers=self._log.answered(answers) if self._log else answers)

    def _blocking(self, run: Replication) -> Blocking:
        return blocking(self._table, run.drawn, self._service, run.played, run.window[0])

    def _responses(self, run: Replication, blocked: Blocking | None = None) -> dict[str, float]:
        values = measure(run)
        if "pools" in self._factors.measure:
            world = self._table, run.drawn, self._service
            values["search_gap"] = search_gap(*world, run.window[0])
            values["blocked_by"] = (blocked or self._blocking(run)).share
        return values


MAPS = "maps"
"""The attribute that is map picks, where players have it: a list; an empty one takes any map."""

PRESET_SEES = (*BELIEFS, MAPS)  # attributes that a rule may see, besides the skill


def people_of(drawn: Tickets, trips: RoundTrips) -> Parties:
    """Return what a rule knows of the players of tickets."""
    firsts = drawn.firsts

    def numbers(name: str, default: float) -> Floats:
        values = drawn.values.get(name)
        if not isinstance(values, np.ndarray):
            return np.full(drawn.of.size, default)
        return np.where(np.isnan(values), default, values)

    # Milliseconds between data centres that are homes, too; NaN of others.
    between = np.full((len(trips.centres), len(trips.centres)), np.nan)
    for number, centre in enumerate(trips.centres):
        if centre in trips.homes:
            between[number] = trips.milliseconds[trips.homes.index(centre)]
    np.fill_diagonal(between, 0.0)
    latencies = drawn.latencies[firsts]
    known = ~np.isnan(latencies).all(axis=1)
    nearest = np.where(np.isnan(latencies), np.inf, latencies).argmin(axis=1)
    pings = latencies[np.arange(firsts.size), nearest]
    low, high = numbers(LOW, np.nan)[firsts], numbers(HIGH, np.nan)[firsts]
    ranged = ~np.isnan(low)
    # Map picks as bits, -1 of those without.
    maps, bits, places = drawn.values.get(MAPS), np.full(firsts.size, -1), dict[str, int]()
    for ticket, names in enumerate([] if maps is None else maps[firsts].tolist()):
        if isinstance(names, tuple):
            picked = {places.setdefault(name, len(places)) for name in names}
            bits[ticket] = sum(1 << k for k in picked if k < 62) or -1  # as many as bits tell apart
    return Parties(
        drawn.sizes,
        firsts,
        drawn.seen,
        np.maximum(numbers(DEVIATION, 0.0), 0.0),
        np.maximum(numbers(GAMES, 1000.0), 0.0).astype(np.int64),
        numbers(NEW, 0.0) > 0.0,
        np.where(known, nearest, -1).astype(np.int64),
        np.where(known, pings, 0.0),
        np.fmin(between, between.T),
        bits,
        np.where(ranged, low, -ANY).astype(np.int64),
        np.where(ranged, high, ANY).astype(np.int64),
        ranged,
        np.zeros(firsts.size, np.int64),
    )
