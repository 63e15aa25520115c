"""Tickets replayed by a rule set, with the files of what comes of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valmatch.errors import InputError, in_lines, option
from valmatch.experiments.explain import explained
from valmatch.experiments.replay_result import (
    SHOWN,
    SUMMARY,
    Played,
    ReplayedTickets,
    ends,
    tables_of,
)
from valmatch.inputs import arguments
from valmatch.inputs.files import read_text, sha256
from valmatch.matching.explaining import blockers
from valmatch.matching.plain_tickets import Pool
from valmatch.matching.tickets.columns import MOST_REVIEWS, SEARCHES, Document, Service
from valmatch.matching.tickets.playing import play
from valmatch.matching.tickets.reading import (
    LATENCIES,
    TIMEOUT,
    EventLog,
    WorldReading,
    has_world,
    is_event_log,
    read_events,
    read_list,
    read_players,
    read_world,
    world_of_log,
)
from valmatch.rule_sets.files import as_remarks, in_line, is_yaml, read_rule_file
from valmatch.rule_sets.json_text import Problem, plain
from valmatch.rule_sets.table import Table
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Warnings
from valmatch.storage.run_folder import RunFolder

Warn = Callable[[str], None]

REVIEW = 1.0  # seconds between reviews, where there is no world that says it


@dataclass(frozen=True)
class ReplayInput:
    """What is replayed: a world, or a rule set with tickets."""

    rules: Path  # a world, or a rule set
    # with a rule set: a list of tickets, an object a line, as those of a world are; a table of
    # single players, whose name ends with ``.csv``; or a game's own log of events
    tickets: Path | None = None
    # with a game's log: attributes and latencies of its players, an object a line as players of a
    # world are, or a table whose name ends with ``.csv``
    players: Path | None = None
    timeout: float | None = None  # with a rule set: seconds after which tickets leave; else 120
    review: float | None = None  # with a rule set: seconds between reviews; else 1
    # whose latency a rule looks at; by default as a world says, else of a ticket one number
    latency_of: str | None = None

    def world(self, warn: Warn) -> tuple[WorldReading, EventLog | None]:
        """Return what is to be played, and the log that it is from, if it is a game's own."""
        source, text = self.rules, read_text(self.rules)
        if self.latency_of is not None:
            arguments.one_of("latency_of", self.latency_of, LATENCIES)
        if is_yaml(source) or not has_world(text):
            world, log = self._world_of_rules(text, warn)
            return self._with_latency(world, "ticket"), log
        for name in ("tickets", "players", "timeout", "review"):
            if getattr(self, name) is not None:
                raise InputError(f"{source}: is a world, which has {name} of its own")
        read, problems = read_world(text)
        _report(source, problems, warn)
        if read is None:
            raise InputError(f"{source}: is no world")
        return self._with_latency(read, read.latency_of), None

    def _with_latency(self, world: WorldReading, default: str) -> WorldReading:
        whose = self.latency_of or default
        return world.with_latency_of(next(name for name in LATENCIES if name == whose))

    def _world_of_rules(self, text: str, warn: Warn) -> tuple[WorldReading, EventLog | None]:
        """Return the world of a rule set and a list of tickets, or a game's log."""
        source, listed = self.rules, self.tickets
        reading = read_rule_file(source, self.timeout)
        _report(source, reading.problems, warn)
        if reading.table is None:
            raise InputError(f"{source}: is no rule set")
        if listed is None:
            why = "is a rule set; a list of tickets is needed too (--tickets)"
            raise InputError(f"{source}: {why}")
        rules = text.removeprefix("\ufeff")
        if is_yaml(source) or reading.is_short:
            rules = "" if reading.node is None else json.dumps(plain(reading.node), indent=1)
        listing, is_table = read_text(listed), listed.suffix.lower() == ".csv"
        review = REVIEW if self.review is None else self.review
        if not is_table and is_event_log(listing):
            known = self._players(reading.table, warn)
            log, problems = read_events(listing)
            _report(listed, problems, warn)
            assert log is not None
            world, problems = world_of_log(log, known, reading.table, (self.timeout, review), warn)
            _report(listed, problems, lambda text: None)
            assert world is not None
            _check_reviews(listed, world.service)
            return world._replace(rules=rules), log
        if self.players is not None:
            raise InputError(f"{listed}: is no log of events; its tickets say all of their players")
        tickets, problems = read_list(listing, reading.table, is_table)
        _report(listed, problems, warn)
        assert tickets is not None
        last = float(tickets.times.max(initial=0.0))
        patience = TIMEOUT if self.timeout is None else self.timeout
        service = Service(patience, last + patience, review)
        _check_reviews(listed, service)
        return WorldReading(reading.table, tickets, service, ("pass",), rules), None

    def _players(self, table: Table, warn: Warn) -> dict[str, Document]:
        """Return what is known of players, by id; nothing without a file."""
        if self.players is None:
            return {}
        is_table = self.players.suffix.lower() == ".csv"
        players, problems = read_players(read_text(self.players), table, is_table)
        _report(self.players, problems, warn)
        return players


def _check_reviews(listed: Path, service: Service) -> None:
    """Raise where a list of tickets would be reviewed too often."""
    # Reviews are counted from second 0, also where times are dates in seconds, or in
    # milliseconds.
    if service.reviews_too_often:
        raise InputError(
            f"{listed}: more than {MOST_REVIEWS:,} reviews, one each {service.review:g} s up to"
            f" {service.horizon:g} s (times are in seconds from the start of the list; with"
            " --review there are fewer)"
        )


def _report(path: Path, problems: Sequence[Problem], warn: Warn) -> None:
    """Warn of what is to be warned of; raise where there are errors."""
    errors = [in_line(path, problem) for problem in problems if problem.severity == "error"]
    if errors:
        raise InputError(*in_lines(errors))
    for remark in as_remarks(path, problems):
        warn(remark)


def replay(
    source: ReplayInput,
    *,
    search: str | None = None,
    out: Path | None = None,
    explain: bool = False,
    warn: Warn = lambda text: None,
) -> ReplayedTickets:
    """Play tickets by a rule set, offline."""
    if explain and out is None:
        raise InputError(f"{option('explain')}: {option('out')} is needed too, which takes it")
    warnings = Warnings(warn)
    world, log = source.world(warnings)
    if search is not None:
        chosen = arguments.one_of("search", search, SEARCHES)
        world = world._replace(searches=tuple(search for search in SEARCHES if search == chosen))
    around: AbstractContextManager[RunFolder | None] = nullcontext()
    if out is not None:
        read = {name: path for name in FILES if (path := getattr(source, name)) is not None}
        identity = {
            **{f"{name}_sha256": sha256(path) for name, path in read.items()},
            "searches": list(world.searches),
            "latency_of": world.latency_of,
        }
        facts, files = {"source": str(source.rules)}, list(read.values())
        around = RunFolder(out, "rules replay", None, identity, facts=facts, read=files)
    with around as folder:
        played, reasons = _play(world, log, explain)
        tables = tables_of(played)
        result = ReplayedTickets(
            str(source.rules),
            {replay.search: replay.numbers() for replay in played},
            {name: table for name, table in tables.items() if name in SHOWN},
            warnings,
            out,
        )
        if folder:
            for name, columns in tables.items():
                write_csv(folder.path / f"{name}.csv", columns)
            _write_texts(folder.path, played, result, reasons)
            folder.close("complete")
    return result


FILES = ("rules", "tickets", "players")  # what the files that are read are called in a manifest


def _play(
    world: WorldReading, log: EventLog | None, explain: bool
) -> tuple[list[Played], list[dict[str, Any]] | None]:
    """Return what comes of a world by its searches, and why tickets ended without a match."""
    played, reasons = [], []
    for search in world.searches:
        inputs = (world.table, world.tickets, world.service, search)
        outcome, pool = play(*inputs), Pool(*inputs)
        behind = blockers(pool, outcome) if search == "pass" else None
        played.append(Played(world, search, outcome, log, behind))
        if explain:
            reasons += explained(pool, outcome, ends(outcome))
    return played, reasons if explain else None


def _write_texts(
    folder: Path,
    played: Sequence[Played],
    result: ReplayedTickets,
    reasons: list[dict[str, Any]] | None,
) -> None:
    """Write all files of a replay but the tables."""
    texts = {
        SUMMARY: [to_json(result.summary())],
        "result.json": [to_json({replay.search: replay.answers() for replay in played})],
        "world.json": played[0].world.text(),
        "proposals.jsonl": [line for replay in played for line in replay.proposal_lines()],
    }
    if played[0].log:
        compared = {search: numbers["compared"] for search, numbers in result.results.items()}
        texts["comparison.json"] = [to_json(compared)]
    if reasons is not None:
        texts["explain.jsonl"] = [f"{json.dumps(reason)}\n" for reason in reasons]
    for name, lines in texts.items():
        with write_atomically(folder / name) as file:
            file.writelines(lines)
