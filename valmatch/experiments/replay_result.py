"""The result of a replay: matches, ends of tickets, numbers by search, the files of its folder."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

from valmatch.matching.tickets.columns import Search
from valmatch.matching.tickets.reading import EventLog, WorldReading
from valmatch.rule_sets.descriptions import stepped
from valmatch.rule_sets.types import spelled
from valmatch.storage.result_files import damaged
from valmatch.storage.results import Result, warnings_entry, warnings_in

if TYPE_CHECKING:
    from valmatch.matching.explaining import Blockers
    from valmatch.matching.tickets.playing import Match, Outcome
    from valmatch.storage.result_files import ResultFiles

SUMMARY = "summary.json"
DONE = "COMPLETED"
STATUSES = (DONE, "TIMED_OUT", "CANCELLED", "FAILED", "SEARCHING")

Columns: TypeAlias = "dict[str, list[Any]]"


class Ended(NamedTuple):
    """How a ticket ended, and when."""

    status: str
    time: float


def ends(outcome: Outcome) -> dict[int, Ended]:
    """Return how each ticket ended."""
    return {k: Ended(outcome.statuses[k], outcome.times[k]) for k in outcome.ended}


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


@dataclass(frozen=True)
class Side:
    """How tickets ended, in a game's log or by the rules."""

    statuses: list[str]  # of each ticket
    waits: list[float | None]  # seconds until its match was proposed, None where none was made
    matches: list[frozenset[int]]  # the tickets of each match

    def numbers(self) -> dict[str, Any]:
        """Return how many ended how, and waits of those who were matched."""
        waits = sorted(wait for wait in self.waits if wait is not None)
        counts = {status.lower(): self.statuses.count(status) for status in STATUSES}
        quantiles = {
            f"time_to_match_p{level}": waits[max(math.ceil(level / 100 * len(waits)) - 1, 0)]
            if waits
            else None
            for level in (50, 90)
        }
        return {
            "matches": len(self.matches),
            "matched": counts.pop("completed"),
            **counts,
            "time_to_match": _mean(waits),
            **quantiles,
        }


def side_of_log(log: EventLog) -> Side:
    """Return what a log says of its tickets."""
    ends = zip(log.waits, log.ends, strict=True)
    waits = [round(wait, 3) if end.status == DONE else None for wait, end in ends]
    return Side([end.status for end in log.ends], waits, list(map(frozenset, log.matches)))


@dataclass(frozen=True)
class Played:
    """What came of the tickets of a world by one search."""

    world: WorldReading  # what was played
    search: Search
    outcome: Outcome
    log: EventLog | None = None  # the log that the tickets are of, where it is a game's own
    blockers: Blockers | None = None  # who waited behind whom; None where nobody blocks

    @property
    def matches(self) -> list[Match]:
        """The matches, in the order in which they were made."""
        return self.outcome.matches

    @cached_property
    def by_rules(self) -> Side:
        """What came of the tickets, as a log says it."""
        times = self.world.tickets.times.tolist()
        waits: list[float | None] = [None] * len(times)
        for match in self.matches:
            for ticket in match.tickets:
                waits[ticket] = match.proposed - times[ticket]
        statuses = [status or "SEARCHING" for status in self.outcome.statuses]
        return Side(statuses, waits, [frozenset(match.tickets) for match in self.matches])

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
        outcome, tickets = self.outcome, self.world.tickets
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
            "matches": len(self.matches),
            "matched": len(done),
            **{name.lower(): statuses[name] for name in ("TIMED_OUT", "CANCELLED", "SEARCHING")},
            "time_to_match": _mean([outcome.times[k] - float(tickets.times[k]) for k in done]),
            "players_per_match": players / len(self.matches) if self.matches else None,
            "rules": {
                rule.name: {"passed": passed, "failed": failed} for rule, (passed, failed) in rules
            },
            **blocked,
            **({"compared": self.compared(self.log)} if self.log else {}),
        }

    def compared(self, log: EventLog) -> dict[str, Any]:
        """Return the numbers of the log and of the rules, and what they have in common."""
        logged, rules = side_of_log(log), self.by_rules
        ends = list(zip(logged.statuses, rules.statuses, strict=True))
        both = [k for k, pair in enumerate(ends) if pair == (DONE, DONE)]
        waits = [(logged.waits[k], rules.waits[k]) for k in both]
        return {
            "log": logged.numbers(),
            "rules": rules.numbers(),
            "same_end": sum(in_log == by_rules for in_log, by_rules in ends),
            "matched_in_both": len(both),
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
        return {
            "matches": [
                {
                    "time": match.time,
                    "anchor": names[match.anchor],
                    "tickets": self.names(match.tickets),
                    "teams": dict(zip(teams, match.teams, strict=True)),
                }
                for match in self.matches
            ],
            "tickets": {names[k]: end._asdict() for k, end in ends(self.outcome).items()},
        }

    def proposal_lines(self) -> list[str]:
        """Return the lines of ``proposals.jsonl``: with the world, who waited at which review."""
        rows = [
            {
                "search": self.search,
                "time": proposal.proposed,
                "review": proposal.review,
                "anchor": self.world.tickets.names[proposal.anchor],
                "tickets": self.names(proposal.tickets),
            }
            for proposal in self.outcome.proposed
        ]
        return [f"{json.dumps(row)}\n" for row in rows]

    # The tables: the names of their columns, and their rows.

    def tables(self) -> dict[str, tuple[str, list[tuple[Any, ...]]]]:
        """Return the tables by name, each as the names of its columns and its rows."""
        names = self.world.tickets.names
        rules = zip(self.world.table.rules, self.outcome.judged.tolist(), strict=True)
        tables: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
            "tickets": (
                "ticket time players status end wait match unmatchable blocked_by",
                self._tickets(),
            ),
            "matches": (
                "match time proposed anchor tickets players age",
                [
                    (
                        number,
                        match.time,
                        match.proposed,
                        names[match.anchor],
                        len(match.tickets),
                        sum(map(len, match.teams)),
                        self._age(match),
                    )
                    for number, match in enumerate(self.matches)
                ],
            ),
            "players": ("match team player ticket wait", self._players()),
            "rules": ("rule passed failed", [(rule.name, *counts) for rule, counts in rules]),
            "steps": ("what from_seconds value matches", self._steps()),
        }
        if self.log:
            header = "ticket players status wait log_status log_wait log_match"
            by_rules, logged = self.by_rules, side_of_log(self.log)
            ends = (by_rules.statuses, by_rules.waits, logged.statuses, logged.waits)
            matches, sizes = [end.match for end in self.log.ends], self.world.tickets.sizes.tolist()
            tables["log"] = (header, list(zip(names, sizes, *ends, matches, strict=True)))
        return tables

    def _tickets(self) -> list[tuple[Any, ...]]:
        """Return of each ticket how and when it ended, why it cannot be matched, behind whom."""
        # Where it waited behind several, those count that it waited behind at most reviews.
        outcome, most = self.outcome, dict[int, tuple[int, tuple[int, ...]]]()
        for by, waiting in self.behind.items():
            for ticket, reviews in waiting.items():
                if ticket not in most or reviews > most[ticket][0]:
                    most[ticket] = reviews, by
        match_of = {k: number for number, match in enumerate(self.matches) for k in match.tickets}
        tickets, attributes = self.world.tickets, self.world.table.attributes
        lacks = {attribute.name: tickets.lacks(attribute).tolist() for attribute in attributes}
        rows: list[tuple[Any, ...]] = []
        columns = (tickets.names, tickets.times.tolist(), tickets.sizes.tolist())
        for k, start in enumerate(zip(*columns, strict=True)):
            status = outcome.statuses[k]
            end = outcome.times[k] if status else None
            wait = None if end is None else end - start[1]
            lacking = " ".join(name for name, of in lacks.items() if of[k])
            behind = " ".join(self.names(most[k][1] if k in most else ()))
            rows.append((*start, status, end, wait, match_of.get(k), lacking, behind))
        return rows

    def _age(self, match: Match) -> float:
        """Return the age that the steps of a match went by."""
        times = self.world.tickets.times[match.tickets].tolist()
        return float(match.proposed - (min(times) if self.world.table.oldest else max(times)))

    def _players(self) -> list[tuple[Any, ...]]:
        """Return a row for each player of a match."""
        tickets, ids, rows = self.world.tickets, self.world.tickets.player_ids(), []
        firsts, times = tickets.firsts, tickets.times.tolist()
        for number, match in enumerate(self.matches):
            ticket_of = {
                player: k
                for k in match.tickets
                for player in ids[firsts[k] : firsts[k] + tickets.sizes[k]]
            }
            for team, players in zip(self.world.table.teams, match.teams, strict=True):
                for player in players:
                    k = ticket_of[player]
                    wait = match.time - times[k]
                    rows.append((number, team.name, player, tickets.names[k], wait))
        return rows

    def _steps(self) -> list[tuple[Any, ...]]:
        """Return a row for each step of a value: how many matches were proposed while it held."""
        ages, rows = [self._age(match) for match in self.matches], []
        for what, steps in stepped(self.world.table):
            held = [bisect_right(steps.waits, age) for age in ages]
            for number, value in enumerate(steps.values):
                begins = float(steps.waits[number - 1]) if number else 0.0
                rows.append((what, begins, spelled(value), held.count(number)))
        return rows


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


SHOWN = {
    "tickets": (("time", "end", "wait", "players"), ("search", "status", "unmatchable")),
    "matches": (("time",), ("search",)),
    "rules": (("passed", "failed"), ("search", "rule")),
    "steps": (("from_seconds", "matches"), ("search", "what", "value")),
}
"""The tables that are shown of a replay, with their columns of numbers and of texts."""


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
        tables = {}
        for name, columns in SHOWN.items():
            table = files.table(f"{name}.csv", *columns)
            numbers = {key: values.tolist() for key, values in table.numbers.items()}
            tables[name] = {**numbers, **table.texts}
        return cls(files.manifest.source, results, tables, warnings, files.folder)
