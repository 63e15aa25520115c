"""The `tickets` model: parties ask for matches, and the rule set of a game makes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.inputs.csv_reader import joined_names
from valmatch.inputs.fields import Factors
from valmatch.kernels.arrays import Floats, Ints
from valmatch.matching.tickets.columns import FEW, Search, Service, Tickets
from valmatch.matching.tickets.games import NO_BACKFILLS, Serving, play_with_games
from valmatch.matching.tickets.layout import COMPLETED, STATUSES
from valmatch.matching.tickets.playing import play_columns
from valmatch.matching.tickets.search import MOST_TRIED
from valmatch.models.model import NO_FILES, Model, Outcome, Record, Response, Responses, Table
from valmatch.models.tickets.factors import Group, Kind, TicketsFactors, kind_of, round_trips
from valmatch.models.tickets.groups import Replication, groups_table, matches_of
from valmatch.models.tickets.logged import TicketLog
from valmatch.models.tickets.matchmaking import PRESET_SEES, play_rule, table_of
from valmatch.models.tickets.measures import (
    draw_stays,
    first_limit,
    lacking,
    measure,
    preset_responses,
    unmatchable,
)
from valmatch.models.tickets.pools import Blocking, blocking, search_gap
from valmatch.models.tickets.population import (
    BELIEFS,
    HOUR,
    draw_answers,
    draw_tickets,
    most_at_once,
)
from valmatch.models.tickets.responses import REASONS, RESPONSES, further_responses
from valmatch.models.tickets.rule_file import read_rules
from valmatch.rule_sets import table as rule_table
from valmatch.rule_sets.table import Attribute, Valued
from valmatch.text.suggestions import hint
from valmatch.text.terminal import Note, Notice, shown

# Tables of a replication: its tickets, its matches.


def tickets_table(
    run: Replication, homes: Sequence[str], blockers: Sequence[tuple[int, int]]
) -> Table:
    """Return a row for each ticket, in order of time."""
    drawn, played, matches = run.drawn, run.played, run.matches
    by: dict[int, list[str]] = {}
    for blocker, blocked in blockers:
        by.setdefault(blocked, []).append(str(blocker))
    ends = np.where(played.statuses > 0, played.ends, np.nan)
    teams = np.full(drawn.times.size, np.nan)
    teams[played.tickets] = played.teams
    return Table(
        "tickets",
        {
            "ticket": np.arange(drawn.times.size),
            "time": drawn.times,
            "players": drawn.sizes,
            "home": np.array(homes)[drawn.homes],
            "skill": drawn.of_party(drawn.skills, "avg"),
            "seen": drawn.of_party(drawn.seen, "avg"),
            "status": [STATUSES[int(status)] for status in played.statuses],
            "ended": ends,
            "wait": ends - drawn.times,
            "match": np.where(matches.match >= 0, matches.match, np.nan),
            "team": teams,
            "latency": matches.latency,
            "win_prob": matches.wins,
            "unmatchable": np.array([*REASONS, ""], np.str_)[run.unmatchable],
            "blocked_by": np.array(
                [joined_names(by.get(ticket, [])) for ticket in range(drawn.times.size)], np.str_
            ),
        },
        whole=("match", "team"),
    )


def matches_table(run: Replication, centres: Sequence[str]) -> Table:
    """Return a row for each match, in the order in which they were made."""
    played, matches, report = run.played, run.matches, run.report
    first = ~played.filled
    members = played.tickets[first].tolist()  # once: a match takes a few of very many
    ends = np.searchsorted(played.matches[first], np.arange(1, played.times.size + 1))
    starts = np.append(0, ends[:-1])[: ends.size]
    tickets = [
        joined_names([str(ticket) for ticket in sorted(members[start:end])])
        for start, end in zip(starts, ends, strict=True)
    ]
    thoughts: dict[str, Floats | Ints] = {}
    if report is not None:
        thoughts = {"match_value": report.values, "believed_win_prob": report.chances}
        thoughts["skipped"] = report.skipped.astype(np.int64)
    return Table(
        "matches",
        {
            "match": np.arange(played.times.size),
            "time": played.times,
            "proposed": played.proposed,
            "tickets": np.array(tickets, np.str_),
            "players": matches.players,
            "step": matches.steps,
            "region": np.array(centres)[matches.centres],
            "true_team_diff": matches.true_diffs,
            "seen_team_diff": matches.seen_diffs,
            "win_gap": matches.gaps,
            **thoughts,
        },
    )


def backfills_table(run: Replication) -> Table:
    """Return a row for each backfill ticket, in the order in which they came."""
    backfills, played = run.backfills, run.played
    joined: dict[tuple[int, float], list[str]] = {}
    late = played.filled
    for ticket, match in zip(played.tickets[late], played.matches[late], strict=True):
        joined.setdefault((int(match), float(played.ends[ticket])), []).append(str(ticket))
    filled = (backfills.statuses == COMPLETED).tolist()
    rows = zip(backfills.matches.tolist(), backfills.ends.tolist(), filled, strict=True)
    return Table(
        "backfills",
        {
            "backfill": np.arange(backfills.times.size),
            "match": backfills.matches,
            "time": backfills.times,
            "players": backfills.sizes,
            "status": [STATUSES[int(status)] for status in backfills.statuses],
            "ended": backfills.ends,
            "wait": backfills.ends - backfills.times,
            "joined": np.array(
                [joined_names(joined[match, end] if done else []) for match, end, done in rows],
                np.str_,
            ),
        },
    )


GIVES: dict[Kind, Valued] = {"numbers": "number", "texts": "text", "lists": "texts"}
"""What an attribute is that a law gives."""

CALLED: dict[Valued, str] = {
    "number": "a number",
    "text": "a string",
    "texts": "a string_list",
    "map": "a string_number_map",
}


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
    drawn_by = frozenset(
        (
            "hours",
            "arrivals",
            "population",
            "parties",
            "skill",
            "regions",
            "attributes",
            "ratings",
            "patience",
            "service.accept_prob",
            "service.answer_seconds",
            "match.leave_prob",
        )
    )

    def __init__(self, factors: TicketsFactors, files: Mapping[str, Path] = NO_FILES) -> None:
        service = factors.service
        self._factors = factors
        if factors.measure or factors.rule.preset:
            self.responses = Responses(*RESPONSES, *self.further(factors))
        values = {"rules": factors.rules, "expansions": factors.expansions}
        source = files.get("rules", factors.rule_set)
        rules = read_rules(source, values, service.request_timeout_seconds)
        self._table = rules.table
        self._trips = round_trips(tuple(factors.regions.shares), files.get("latency"))
        self._preset = factors.rule.numbers()  # None: there is a rule set
        if self._preset:
            self._table = table_of(*self._preset.teams)
        self._service = Service(
            service.request_timeout_seconds,
            HOUR * factors.hours,
            service.review_seconds,
            service.batch_size,
            service.passes,
            service.acceptance_seconds,
        )
        self._check_laws(files)
        self._log: TicketLog | None = None
        if "arrivals" in files:
            declared = [Attribute(name, kind) for name, kind in self._kinds().items()]
            path, end = files["arrivals"], self._service.horizon
            self._log = TicketLog(path, self._table, declared, self._trips, end)
        from_log = self._log.remarks if self._log else ()
        self.warnings = (*rules.remarks, *from_log, *self._remarks())

    @classmethod
    def further(cls, factors: Factors) -> Sequence[Response]:
        """Return the responses of groups that factors ask for."""
        assert isinstance(factors, TicketsFactors)
        asked_for = dict.fromkeys(factors.measure)
        groups = [response for of in asked_for for response in further_responses(factors, of)]
        return [*preset_responses(factors), *groups]

    def _kinds(self) -> dict[str, Valued]:
        """Return what factors give, by attribute."""
        laws = self._factors.attributes.items()
        kinds = {name: GIVES[kind_of(law)] for name, law in laws}
        if self._preset:
            kinds |= dict.fromkeys(BELIEFS, "number")
        return {self._factors.skill.attribute: "number", **kinds}

    def _check_laws(self, files: Mapping[str, Path]) -> None:
        """Refuse values of another type than the rule set declares, and a limit of few."""
        declared = {attribute.name: attribute.kind for attribute in self._table.attributes}
        for name, kind in self._kinds().items():
            if declared.get(name, kind) != kind:
                where = "skill" if name == self._factors.skill.attribute else "attributes"
                raise InputError(
                    f"factors.{where}: {shown(name)} is {CALLED[declared[name]]} in"
                    f" {files.get('rules', 'the rule set')}, and {CALLED[kind]} here"
                )

    def _remarks(self) -> Iterator[str]:
        """Yield what is to be said of the rule set and of who comes."""
        table = self._table
        known = {*self._kinds(), *(self._log.given if self._log else ())}
        declared = [attribute.name for attribute in table.attributes]
        for name in self._factors.attributes:
            if name not in (*declared, *(PRESET_SEES if self._preset else ())):
                yield Note(
                    f"factors.attributes: {shown(name)} is not declared in the rule set"
                    f" ({hint(name, declared)}): no rule sees it",
                    "ignored_attribute",
                )
        for attribute in table.attributes:
            if attribute.kind == "number" and attribute.name not in known:
                yield from self._same_for_all(attribute)
        for name in lacking(table, known):
            yield Notice(
                f"the attribute {shown(name)} has neither a value nor a default: no ticket can ever"
                " be matched",
                "unmatchable",
            )
        if self._factors.service.search == "exhaustive":
            yield from self._crowd()
        shares, largest = self._factors.parties.shares, max(team.largest for team in table.teams)
        if self._log:  # which says it of its own tickets
            return
        for size in range(largest + 1, len(shares) + 1):
            if shares[size - 1] > 0.0:
                yield Notice(
                    f"parties of {size} are larger than every team ({largest} players): they can"
                    " never be matched",
                    "unmatchable",
                )

    def _same_for_all(self, attribute: Attribute) -> Iterator[str]:
        """Yield what is to be said where all players have the default of an attribute."""
        table, skill = self._table, self._factors.skill.attribute
        index = table.attributes.index(attribute)
        rules = [rule.name for rule in table.rules if index in rule.attributes]
        if attribute.default is None or not rules:
            return
        meant = f"attributes: {{{attribute.name}: {{mean: ..., std: ...}}}}"
        if skill not in {declared.name for declared in table.attributes}:
            meant = f"skill.attribute={attribute.name}, as no rule sees {shown(skill)}"
        yield Notice(
            f"the attribute {shown(attribute.name)} is {attribute.default:g} for everybody, its"
            f" default: {' and '.join(rules)} cannot tell players apart ({meant})",
            "same_for_all",
        )

    def _crowd(self) -> Iterator[str]:
        """Yield what is to be said where an exhaustive search may have many tickets to look at."""
        timeout = self._service.timeout
        most = most_at_once(self._factors, timeout, self._log.tickets.times if self._log else None)
        if most > FEW:
            yield (
                f"service.search: exhaustive is for pools of up to {FEW} tickets, and {most:,} wait"
                f" at once at the busiest hour if none is matched for {timeout:g} s; with more than"
                f" {MOST_TRIED} at once the run ends with an error, and with nearly as many each"
                " review takes seconds"
            )

    def draw(self, streams: Streams, replication: int) -> Tickets:
        """Return the tickets of a replication; no rule enters."""
        return draw_tickets(self._factors, self._trips, streams.place(replication), self._log)

    def run(self, inputs: Tickets) -> Outcome:
        """Return the responses."""
        return Outcome(self._responses(self.play(inputs)))

    def record(self, inputs: Tickets) -> Record:
        """Return the responses with every ticket, match and group."""
        run = self.play(inputs)
        blocked = self._blocking(run)
        homes = tuple(self._factors.regions.shares)
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
        stays = draw_stays(factors, inputs)
        backfills, report, search = NO_BACKFILLS, None, factors.service.search
        counted = 60.0 * factors.warmup_minutes if "rules" in factors.measure else None
        if self._preset:
            preset = factors.rule.preset or ""
            played, report = play_rule(preset, self._preset, self._trips, inputs, service)
        elif factors.match.backfill == "none":
            played = play_columns(table, self._answered(inputs), service, search, counted)
        else:
            leavers = factors.match.backfill == "manual"
            serving = Serving(60.0 * factors.match.minutes, leavers, stays)
            tickets = self._answered(inputs)
            played, backfills = play_with_games(table, tickets, service, search, serving, counted)
        return Replication(
            factors,
            inputs,
            played,
            matches_of(inputs, played, table, factors.match.spread),
            unmatchable(table, inputs, service.timeout),
            first_limit(table),
            table.largest,
            stays,
            backfills,
            report,
        )

    def world(self, inputs: Tickets) -> TicketWorld:
        """Return the tickets of a replication as a world, which can be looked at one by one."""
        match = self._factors.match
        if self._preset:
            rule = f"rule.preset is {self._factors.rule.preset}"
            raise InputError(
                f"{rule}, and a rule set alone says which of its rules refuse whom (explain a run"
                " with rules: FILE in place of it)"
            )
        if match.backfill != "none":
            backfill = f"match.backfill is {match.backfill}"
            raise InputError(
                f"{backfill}: why tickets wait can be told without backfill alone (simulate with"
                " --set match.backfill=none, and explain that folder)"
            )
        search = self._factors.service.search
        return TicketWorld(self._table, self._answered(inputs), self._service, search)

    def _answered(self, inputs: Tickets) -> Tickets:
        """Return the tickets with their answers to proposals, if there are any."""
        if self._factors.service.acceptance_seconds is None:
            return inputs
        answers = draw_answers(self._factors, inputs, self._log)
        return inputs._replace(answers=answers)

    def _blocking(self, run: Replication) -> Blocking:
        """Return who blocks whom."""
        start = run.window[0]
        return blocking(self._table, run.drawn, self._service, run.played, start)

    def _responses(self, run: Replication, blocked: Blocking | None = None) -> dict[str, float]:
        values = measure(run)
        if "pools" in self._factors.measure:
            world = self._table, run.drawn, self._service
            values["search_gap"] = search_gap(*world, run.window[0])
            values["blocked_by"] = (blocked or self._blocking(run)).share
        return values
