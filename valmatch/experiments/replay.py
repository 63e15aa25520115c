"""Tickets replayed by a rule set: what comes of them, in files, and why a ticket waited."""

import json
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar, cast

from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.execution.chunks import build
from valmatch.execution.run_options import ReplayOptions
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.files import read_text, sha256
from valmatch.matching.explaining import Blockers, Failed, Reasons, blockers, explain
from valmatch.matching.plain_tickets import Judge, Pool, holds_from, missing
from valmatch.matching.tickets.columns import MOST_REVIEWS, SEARCHES, Document, Search, Service
from valmatch.matching.tickets.layout import DONE
from valmatch.matching.tickets.playing import Outcome, play
from valmatch.matching.tickets.reading import (
    LATENCIES,
    TIMEOUT,
    EventLog,
    LatencyOf,
    WorldReading,
    has_world,
    is_event_log,
    read_events,
    read_list,
    read_players,
    read_world,
    world_of_log,
)
from valmatch.models.tickets.model import TicketsModel, TicketWorld
from valmatch.rule_sets.files import as_remarks, error_lines, is_yaml, read_rule_file
from valmatch.rule_sets.json_text import Problem, plain
from valmatch.rule_sets.table import Lack, spelled, stepped
from valmatch.rule_sets.types import OF_PREDICATE
from valmatch.storage.manifest import Manifest, SimulateManifest, command_of, read_manifest
from valmatch.storage.output import MANIFEST, to_json, write_atomically, write_csv
from valmatch.storage.results import (
    SUMMARY,
    Result,
    ResultFiles,
    Warnings,
    damaged,
    warnings_entry,
    warnings_in,
)
from valmatch.storage.run_folder import RunFolder
from valmatch.storage.store import Warn
from valmatch.text.suggestions import closest_name
from valmatch.text.terminal import shown

REPLAY, SIMULATE = "rules replay", "simulate"

Columns: TypeAlias = dict[str, list[Any]]
Rows: TypeAlias = Iterable[tuple[Any, ...]]

T = TypeVar("T")

STATUSES = (DONE, "TIMED_OUT", "CANCELLED", "FAILED", "SEARCHING")
REVIEW = 1.0  # seconds between reviews, where there is no world that says it

# The tables that are shown of a replay, with their columns of numbers and of texts.
SHOWN = {
    "tickets": (("time", "end", "wait", "players"), ("search", "status", "unmatchable")),
    "matches": (("time",), ("search",)),
    "rules": (("passed", "failed"), ("search", "rule")),
    "steps": (("from_seconds", "matches"), ("search", "what", "value")),
}


def _world_of(
    source: Path, options: ReplayOptions, warn: Warn
) -> tuple[WorldReading, EventLog | None]:
    """Return what is to be played, and the log that it is from, if it is a game's own."""
    text, whose = read_text(source), options.latency_of
    if whose is not None:
        arguments.one_of("latency_of", whose, LATENCIES)
    if is_yaml(source) or not has_world(text):
        world, log = _world_of_rules(source, text, options, warn)
    else:
        for name in ("tickets", "players", "timeout", "review"):
            if getattr(options, name) is not None:
                raise InputError(f"{source}: is a world, which has {name} of its own")
        world, log = _checked(source, read_world(text), warn), None
        whose = whose or world.latency_of
    return world.with_latency_of(cast(LatencyOf, whose or "ticket")), log


def _world_of_rules(
    source: Path, text: str, options: ReplayOptions, warn: Warn
) -> tuple[WorldReading, EventLog | None]:
    """Return the world of a rule set and a list of tickets, or a game's log."""
    listed = options.tickets
    reading = read_rule_file(source, options.timeout)
    table = _checked(source, (reading.table, reading.problems), warn)
    if listed is None:
        why = "is a rule set; a list of tickets is needed too (--tickets)"
        raise InputError(f"{source}: {why}")
    rules = text.removeprefix("\ufeff")
    if is_yaml(source) or reading.is_short:
        rules = "" if reading.node is None else json.dumps(plain(reading.node), indent=1)
    listing, is_table = read_text(listed), listed.suffix.lower() == ".csv"
    review, log = REVIEW if options.review is None else options.review, None
    if not is_table and is_event_log(listing):
        known: dict[str, Document] = {}
        if options.players is not None:
            of_csv = options.players.suffix.lower() == ".csv"
            players = read_players(read_text(options.players), table, of_csv)
            known = _checked(options.players, players, warn)
        log = _checked(listed, read_events(listing), warn)
        of_log = world_of_log(log, known, table, (options.timeout, review), warn)
        world = _checked(listed, of_log, lambda text: None)._replace(rules=rules)
    elif options.players is not None:
        raise InputError(f"{listed}: is no log of events; its tickets say all of their players")
    else:
        tickets = _checked(listed, read_list(listing, table, is_table), warn)
        patience = TIMEOUT if options.timeout is None else options.timeout
        service = Service(patience, float(tickets.times.max(initial=0.0)) + patience, review)
        world = WorldReading(table, tickets, service, ("pass",), rules)
    # Reviews are counted from second 0, also where times are dates in seconds, or in
    # milliseconds.
    if world.service.reviews_too_often:
        horizon = world.service.horizon
        raise InputError(
            f"{listed}: more than {MOST_REVIEWS:,} reviews, one each {review:g} s up to"
            f" {horizon:g} s (times are in seconds from the start of the list; with"
            " --review there are fewer)"
        )
    return world, log


def _checked(path: Path, reading: tuple[T | None, Sequence[Problem]], warn: Warn) -> T:
    """Return what was read, with what is to be warned of; raise where there are errors."""
    read, problems = reading
    if errors := error_lines(path, problems):
        raise InputError(*errors)
    for remark in as_remarks(path, problems):
        warn(remark)
    assert read is not None  # there is an error where nothing was read
    return read


class Ends(NamedTuple):
    """How tickets ended, in a game's log or by the rules."""

    statuses: list[str]  # of each ticket
    waits: list[float | None]  # seconds until its match was proposed, None where none was made
    matches: list[frozenset[int]]  # the tickets of each match

    def numbers(self) -> dict[str, Any]:
        """Return how many ended how, and waits of those who were matched."""
        waits = sorted(wait for wait in self.waits if wait is not None)
        counts = {status.lower(): self.statuses.count(status) for status in STATUSES}
        ranks = {level: max(math.ceil(level / 100 * len(waits)) - 1, 0) for level in (50, 90)}
        return {
            "matches": len(self.matches),
            "matched": counts.pop("completed"),
            **counts,
            "time_to_match": _mean(waits),
            **{f"time_to_match_p{n}": waits[k] if waits else None for n, k in ranks.items()},
        }


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


@dataclass(frozen=True)
class Played:
    """What came of the tickets of a world by one search."""

    world: WorldReading  # what was played
    search: Search
    outcome: Outcome
    log: EventLog | None = None  # the log that the tickets are of, where it is a game's own
    blockers: Blockers | None = None  # who waited behind whom; None where nobody blocks

    @cached_property
    def ends(self) -> tuple[Ends, Ends]:
        """What came of the tickets in the log and by the rules."""
        assert self.log
        times, matches = self.world.tickets.times.tolist(), self.outcome.matches
        waits: list[float | None] = [None] * len(times)
        for match in matches:
            for ticket in match.tickets:
                waits[ticket] = match.proposed - times[ticket]
        statuses = [status or "SEARCHING" for status in self.outcome.statuses]
        by_rules = Ends(statuses, waits, [frozenset(match.tickets) for match in matches])
        ends = zip(self.log.waits, self.log.ends, strict=True)
        waits = [round(wait, 3) if end.status == DONE else None for wait, end in ends]
        statuses = [end.status for end in self.log.ends]
        return Ends(statuses, waits, list(map(frozenset, self.log.matches))), by_rules

    @cached_property
    def behind(self) -> dict[tuple[int, ...], Counter[int]]:
        """Who waited behind which tickets, and at how many reviews; who blocks most first."""
        # Of reviews at even distances, where there were too many to look at all of them.
        waiting: dict[tuple[int, ...], Counter[int]] = {}
        for wait in self.blockers.blocked if self.blockers else ():
            waiting.setdefault(wait.by, Counter()).update(wait.tickets)
        return dict(sorted(waiting.items(), key=lambda item: (-len(item[1]), item[0])))

    def names(self, tickets: Sequence[int]) -> list[str]:
        """Return the ids of tickets."""
        return [self.world.tickets.names[ticket] for ticket in tickets]

    def numbers(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds of the search."""
        outcome, tickets, matches = self.outcome, self.world.tickets, len(self.outcome.matches)
        done = [k for k in outcome.ended if outcome.statuses[k] == DONE]
        players, statuses = int(tickets.sizes[done].sum()), Counter(outcome.statuses)
        rules = zip(self.world.table.rules, outcome.judged.tolist(), strict=True)
        blocked: dict[str, Any] = {}  # who blocked whom, of a search that lets anybody block
        if self.blockers:
            reviews = Counter(wait.by for wait in self.blockers.blocked)
            blocked = {
                "reviews": self.blockers.reviews,
                "reviews_looked_at": self.blockers.looked,
                "blocked_by": [
                    {"tickets": self.names(by), "behind": len(waiting), "reviews": reviews[by]}
                    for by, waiting in self.behind.items()
                ],
            }
        return {
            "tickets": tickets.sizes.size,
            "matches": matches,
            "matched": len(done),
            **{name.lower(): statuses[name] for name in ("TIMED_OUT", "CANCELLED", "SEARCHING")},
            "time_to_match": _mean([outcome.times[k] - float(tickets.times[k]) for k in done]),
            "players_per_match": players / matches if matches else None,
            "rules": {
                rule.name: {"passed": passed, "failed": failed} for rule, (passed, failed) in rules
            },
            **blocked,
            **({"compared": self.compared(self.log)} if self.log else {}),
        }

    def compared(self, log: EventLog) -> dict[str, Any]:
        """Return the numbers of the log and of the rules, and what they have in common."""
        logged, rules = self.ends
        ends = list(zip(logged.statuses, rules.statuses, strict=True))
        waits = zip(logged.waits, rules.waits, strict=True)
        return {
            "log": logged.numbers(),
            "rules": rules.numbers(),
            "same_end": sum(in_log == by_rules for in_log, by_rules in ends),
            "matched_in_both": ends.count((DONE, DONE)),
            "wait_difference": _mean([b - a for a, b in waits if a is not None and b is not None]),
            "same_matches": len(set(logged.matches) & set(rules.matches)),
            "judged_in_log": {
                name: {"passed": passed, "failed": failed}
                for name, (passed, failed) in sorted(log.judged.items())
            },
        }

    def answers(self) -> dict[str, Any]:
        """Return what ``result.json`` holds: the matches, and how each ticket ended."""
        teams, names = [team.name for team in self.world.table.teams], self.world.tickets.names
        statuses, times = self.outcome.statuses, self.outcome.times
        return {
            "matches": [
                {
                    "time": match.time,
                    "anchor": names[match.anchor],
                    "tickets": self.names(match.tickets),
                    "teams": dict(zip(teams, match.teams, strict=True)),
                }
                for match in self.outcome.matches
            ],
            "tickets": {
                names[k]: {"status": statuses[k], "time": times[k]} for k in self.outcome.ended
            },
        }

    def proposal_lines(self) -> list[str]:
        """Return the lines of ``proposals.jsonl``: with the world, who waited at which review."""
        rows = (
            {
                "search": self.search,
                "time": proposal.proposed,
                "review": proposal.review,
                "anchor": self.world.tickets.names[proposal.anchor],
                "tickets": self.names(proposal.tickets),
            }
            for proposal in self.outcome.proposed
        )
        return [f"{json.dumps(row)}\n" for row in rows]

    def tables(self) -> dict[str, tuple[str, Rows]]:
        """Return the tables by name, each as the names of its columns and its rows."""
        names, sizes = self.world.tickets.names, self.world.tickets.sizes.tolist()
        tickets = "ticket time players status end wait match unmatchable blocked_by"
        rules = zip(self.world.table.rules, self.outcome.judged.tolist(), strict=True)
        matches = (
            (k, m.time, m.proposed, names[m.anchor], len(m.tickets), sum(map(len, m.teams)), age)
            for k, (m, age) in enumerate(zip(self.outcome.matches, self._ages, strict=True))
        )
        tables: dict[str, tuple[str, Rows]] = {
            "tickets": (tickets, self._tickets()),
            "matches": ("match time proposed anchor tickets players age", matches),
            "players": ("match team player ticket wait", self._players()),
            "rules": ("rule passed failed", ((rule.name, *counts) for rule, counts in rules)),
            "steps": ("what from_seconds value matches", self._steps()),
        }
        if self.log:
            logged, ends = self.ends
            columns = [names, sizes, ends.statuses, ends.waits, logged.statuses, logged.waits]
            rows = zip(*columns, [end.match for end in self.log.ends], strict=True)
            tables["log"] = "ticket players status wait log_status log_wait log_match", rows
        return tables

    def _tickets(self) -> Rows:
        """Return of each ticket how and when it ended, why it cannot be matched, behind whom."""
        # Where it waited behind several, those count that it waited behind at most reviews.
        outcome, most = self.outcome, dict[int, tuple[int, tuple[int, ...]]]()
        for by, waiting in self.behind.items():
            for ticket, reviews in waiting.items():
                if ticket not in most or reviews > most[ticket][0]:
                    most[ticket] = reviews, by
        match_of = {k: n for n, match in enumerate(outcome.matches) for k in match.tickets}
        tickets, attributes = self.world.tickets, self.world.table.attributes
        lacks = {attribute.name: tickets.lacks(attribute).tolist() for attribute in attributes}
        columns = (tickets.names, tickets.times.tolist(), tickets.sizes.tolist())
        for k, start in enumerate(zip(*columns, strict=True)):
            status = outcome.statuses[k]
            end = outcome.times[k] if status else None
            wait = None if end is None else end - start[1]
            lacking = " ".join(name for name, of in lacks.items() if of[k])
            behind = " ".join(self.names(most[k][1] if k in most else ()))
            yield (*start, status, end, wait, match_of.get(k), lacking, behind)

    @cached_property
    def _ages(self) -> list[float]:
        """The age that the steps of each match went by."""
        last, times = min if self.world.table.oldest else max, self.world.tickets.times
        return [float(m.proposed - last(times[m.tickets].tolist())) for m in self.outcome.matches]

    def _players(self) -> Rows:
        """Return a row for each player of a match."""
        tickets, ids = self.world.tickets, self.world.tickets.player_ids()
        firsts, times = tickets.firsts, tickets.times.tolist()
        for number, match in enumerate(self.outcome.matches):
            ticket_of = {
                player: k
                for k in match.tickets
                for player in ids[firsts[k] : firsts[k] + tickets.sizes[k]]
            }
            for team, players in zip(self.world.table.teams, match.teams, strict=True):
                for player in players:
                    k = ticket_of[player]
                    yield number, team.name, player, tickets.names[k], match.time - times[k]

    def _steps(self) -> Rows:
        """Return a row for each step of a value: how many matches were proposed while it held."""
        for what, steps in stepped(self.world.table):
            held = [bisect_right(steps.waits, age) for age in self._ages]
            for number, value in enumerate(steps.values):
                begins = float(steps.waits[number - 1]) if number else 0.0
                yield what, begins, spelled(value), held.count(number)


def tables_of(played: Sequence[Played]) -> dict[str, Columns]:
    """Return the tables of all searches: by name their columns, that of the search first."""
    tables: dict[str, Columns] = {}
    for replay in played:
        for name, (header, rows) in replay.tables().items():
            columns = tables.setdefault(name, {key: [] for key in ("search", *header.split())})
            for row in rows:
                for cells, cell in zip(columns.values(), (replay.search, *row), strict=True):
                    cells.append(cell)
    return tables


@dataclass(frozen=True, repr=False)
class ReplayedTickets(Result):
    """A replay: numbers by search, and how tickets ended."""

    presented_by = "replay"

    source: str  # the world, or the rule set
    results: Mapping[str, Mapping[str, Any]]  # numbers by search
    tables: Mapping[str, Mapping[str, Sequence[Any]]]  # by name the columns of each of `SHOWN`
    warnings: Sequence[str] = ()  # what has to be known of what was read
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was played, in one line."""
        return f"replay of {Path(self.source).name}, {', '.join(self.results)}"

    def summary(self) -> dict[str, Any]:
        """Return numbers by search, and what was warned of."""
        return {**self.results, **warnings_entry(self.warnings)}

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return a row for each ticket and search."""
        return self.tables["tickets"]

    def rows(self, table: str, search: str) -> Columns:
        """Return the rows of a table that are of one search."""
        columns = self.tables[table]
        rows = [k for k, name in enumerate(columns["search"]) if name == search]
        return {name: [values[k] for k in rows] for name, values in columns.items()}

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the replay that a folder holds."""
        results = files.json(SUMMARY)
        with damaged(files.folder / SUMMARY):
            warnings = warnings_in(results)
        results.pop("warnings", None)
        tables = {name: files.table(f"{name}.csv", *columns) for name, columns in SHOWN.items()}
        return cls(files.manifest.source, results, tables, warnings, files.folder)


def replay(rules: Path, options: ReplayOptions, warn: Warn = lambda text: None) -> ReplayedTickets:
    """Replay tickets or a log of events against a rule set, or play a world."""
    out, explain = options.out, options.explain
    if explain and out is None:
        raise InputError(f"{option('explain')}: {option('out')} is needed too, which takes it")
    warnings = Warnings(warn)
    world, log = _world_of(rules, options, warnings)
    if options.search is not None:
        chosen = arguments.one_of("search", options.search, SEARCHES)
        world = world._replace(searches=(cast(Search, chosen),))
    around: AbstractContextManager[RunFolder | None] = nullcontext()
    if out is not None:
        given = {"rules": rules, "tickets": options.tickets, "players": options.players}
        read = {name: path for name, path in given.items() if path is not None}
        identity = {
            **{f"{name}_sha256": sha256(path) for name, path in read.items()},
            "searches": list(world.searches),
            "latency_of": world.latency_of,
        }
        facts, files = {"source": str(rules)}, list(read.values())
        around = RunFolder(out, "rules replay", None, identity, facts=facts, read=files)
    with around as folder:
        played, reasons = list[Played](), list[dict[str, Any]]()
        for name in world.searches:
            inputs = (world.table, world.tickets, world.service, name)
            outcome, pool = play(*inputs), Pool(*inputs)
            behind = blockers(pool, outcome) if name == "pass" else None
            played.append(Played(world, name, outcome, log, behind))
            if explain:
                reasons += explained(pool, outcome)
        tables = tables_of(played)
        numbers: dict[str, Any] = {of.search: of.numbers() for of in played}
        shown = {table: tables[table] for table in SHOWN}
        result = ReplayedTickets(str(rules), numbers, shown, warnings, out)
        if folder:
            for table, columns in tables.items():
                write_csv(folder.path / f"{table}.csv", columns)
            texts = {
                SUMMARY: [to_json(result.summary())],
                "result.json": [to_json({of.search: of.answers() for of in played})],
                "world.json": world.text(),
                "proposals.jsonl": [line for of in played for line in of.proposal_lines()],
            }
            if log:
                compared = {search: of["compared"] for search, of in numbers.items()}
                texts["comparison.json"] = [to_json(compared)]
            if explain:
                texts["explain.jsonl"] = [f"{json.dumps(reason)}\n" for reason in reasons]
            for text, lines in texts.items():
                with write_atomically(folder.path / text) as file:
                    file.writelines(lines)
            folder.close("complete")
    return result


def explain_ticket(
    folder: PathLike, ticket: str, *, search: str | None = None
) -> dict[Search, dict[str, Any]]:
    """Return why a ticket waited, whatever has become of it, by search."""
    path = arguments.path("folder", folder)
    command = command_of(path)
    if command not in (REPLAY, SIMULATE):
        ours = f"valmatch {REPLAY} --out or valmatch {SIMULATE} tickets --out makes one"
        raise InputError(f"{path}: no folder of tickets that were played ({ours})")
    worlds = _replayed(path) if command == REPLAY else [simulated(path)]
    tickets = worlds[0].tickets
    names = [tickets.name(number) for number in range(tickets.sizes.size)]
    if ticket not in names:
        near = closest_name(ticket, names)
        meant = f" (did you mean {near}?)" if near else f" of {len(names):,}"
        raise InputError(f"{path}: no ticket {shown(ticket)}{meant}")
    if search is not None:
        arguments.one_of("search", search, [world.search for world in worlds])
    number = names.index(ticket)
    documents: dict[Search, dict[str, Any]] = {}
    for world in (world for world in worlds if search in (None, world.search)):
        outcome = play(*world, counted=False)
        if number not in outcome.ended:
            raise InputError(f"{path}: {ticket} joined after the horizon")
        (documents[world.search],) = explained(Pool(*world), outcome, number)
    return documents


def _replayed(folder: Path) -> list[TicketWorld]:
    """Return the world that was replayed, for each of the searches that were made."""
    path = folder / "world.json"
    world, problems = read_world(read_text(path))
    if world is None:
        line, column, _, where, what = next(
            problem for problem in problems if problem.severity == "error"
        )
        raise InputError(f"{path}:{line}:{column}: damaged: {where}: {what}")
    made = read_manifest(folder, Manifest).get("searches")
    if not (isinstance(made, list) and made and set(made) <= set(SEARCHES)):
        raise InputError(f"{folder / MANIFEST}: damaged: searches: {shown(made)}")
    return [TicketWorld(*world[:3], search) for search in SEARCHES if search in made]


def simulated(folder: Path) -> TicketWorld:
    """Return the tickets of a run of `simulate`, by drawing them once more."""
    manifest = read_manifest(folder, SimulateManifest)
    config = manifest.same_config(folder, "explain")
    model = build(config)
    if not isinstance(model, TicketsModel):
        raise InputError(f"{folder}: is of the model {config.model}, and tickets alone has tickets")
    inputs = model.draw(Streams(manifest.seed), manifest.replication)
    try:
        return model.world(inputs)
    except InputError as error:
        raise InputError(f"{folder}: {error}") from None


def explained(pool: Pool, outcome: Outcome, ticket: int | None = None) -> list[dict[str, Any]]:
    """Return why a ticket waited, or each of those that ended without a match."""
    waiting = [k for k in sorted(outcome.ended) if outcome.statuses[k] != DONE]
    chosen = waiting if ticket is None else [ticket]
    reasons = explain(pool, outcome, chosen, max((outcome.times[k] for k in chosen), default=0.0))
    return [_explanation(pool, reasons[k], outcome) for k in chosen]


def _explanation(pool: Pool, reasons: Reasons, outcome: Outcome) -> dict[str, Any]:
    """Return why a ticket waited; the keys are those of ``explain.jsonl``."""
    ticket = pool.tickets[reasons.ticket]
    candidates = reasons.as_anchor.tried + reasons.others.tried
    names = [rule.name for rule in pool.table.rules]
    rules = [
        {
            "rule": names[number],
            "refused": refusals.refused,
            "share": refusals.refused / candidates if candidates else None,
            "alone": refusals.alone,
            "nearest": _failed(pool, reasons.ticket, refusals.nearest, [number]),
        }
        for number, refusals in sorted(reasons.rules.items())
    ]
    return {
        "search": pool.search,
        "ticket": ticket["id"],
        "players": [
            {key: player[key] for key in ("id", "attributes", "latency")}
            for player in ticket["players"]
        ],
        "region": region(ticket),
        "joined": ticket["time"],
        "status": outcome.statuses[reasons.ticket],
        "ended": outcome.times[reasons.ticket],
        "waited": outcome.times[reasons.ticket] - ticket["time"],
        "unmatchable": missing(pool.table, ticket),
        "reviews": reasons.reviews,
        "looked_at": reasons.looked,
        "anchor": reasons.anchored,
        "refused_alone": {
            "no room" if number is None else names[number]: reasons.itself[number]
            for number in sorted(reasons.itself, key=lambda key: -1 if key is None else key)
        },
        "tried": asdict(reasons.as_anchor),
        "tried_by_others": asdict(reasons.others),
        "rules": rules,
        "nearest": _failed(pool, reasons.ticket, reasons.nearest, None),
        "fullest": _failed(pool, reasons.ticket, reasons.fullest, None),
        "blocked_by": [
            {"tickets": [pool.tickets[k]["id"] for k in by], "reviews": count}
            for by, count in reasons.blocked.most_common()
        ],
    }


def region(ticket: Document) -> str | None:
    """Return the region with the lowest mean latency, of those that all report; None of none."""
    pings = [player["latency"] for player in ticket["players"]]
    names = set.intersection(*map(set, pings))
    return min(names, key=lambda name: (sum(of[name] for of in pings), name), default=None)


def _failed(
    pool: Pool, ticket: int, failed: Failed | None, only: Sequence[int] | None
) -> dict[str, Any] | None:
    """Return a match that failed: who was in it, what refused it, what would have let it hold."""
    # Of the rules that refused it, only some are named, all where that is None.
    if failed is None:
        return None
    match, rules = failed.match, failed.rules if only is None else only
    judge, sizes = Judge(match, failed.time, failed.partial), match.sizes(failed.time)

    def needed(rule: int, lack: Lack) -> dict[str, Any]:
        called = OF_PREDICATE[type(pool.table.rules[rule].predicate)].expandable
        names = {key: name for name, key in called.items()}
        return {"property": names[lack.key], "needed": lack.needed, "in_force": lack.held}

    return {
        "time": failed.time,
        "age": failed.time - match.born,
        "anchor": pool.tickets[match.tickets[0]]["id"],
        "with": [pool.tickets[k]["id"] for k in match.tickets if k != ticket],
        "players": match.players,
        "teams": {
            team.name: {"players": len(players), "least": least, "most": most}
            for team, players, (least, most) in zip(
                pool.table.teams, match.teams, sizes, strict=True
            )
        },
        "rules": [
            {
                "rule": pool.table.rules[number].name,
                "needs": [needed(number, lack) for lack in judge.finding(number).lacks],
                "holds_from": holds_from(match, failed.time, failed.partial, number),
            }
            for number in rules
        ],
    }
