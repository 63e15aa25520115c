"""The result of a replay: matches, ends of tickets, numbers by search."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from valmatch.matching.plain_tickets.pool import Proposal
from valmatch.rule_sets.event_log import EventLog, proposals
from valmatch.rule_sets.world_reading import WorldReading
from valmatch.rule_sets.worlds import Search
from valmatch.storage.result_files import damaged
from valmatch.storage.results import Result, warnings_entry, warnings_in

if TYPE_CHECKING:
    from valmatch.matching.plain_tickets.explaining import Blockers
    from valmatch.matching.tickets.playing import Outcome
    from valmatch.rule_sets.worlds import Ticket
    from valmatch.storage.result_files import ResultFiles


# Comparison of what a game's log says happened with what a rule set does with the same tickets.

STATUSES = ("COMPLETED", "TIMED_OUT", "CANCELLED", "FAILED", "SEARCHING")


@dataclass(frozen=True)
class Side:
    """How tickets ended, in the log or by the rules."""

    statuses: list[str]  # of each ticket
    waits: list[float | None]  # seconds until it was matched, None where it was not
    matches: list[frozenset[int]]  # the tickets of each match

    def numbers(self) -> dict[str, Any]:
        """Return how many ended how, and waits of those who were matched."""
        waits = sorted(wait for wait in self.waits if wait is not None)
        counts = {status.lower(): self.statuses.count(status) for status in STATUSES}
        return {
            "matches": len(self.matches),
            "matched": counts.pop("completed"),
            **counts,
            "time_to_match": math.fsum(waits) / len(waits) if waits else None,
            "time_to_match_p50": _quantile(waits, 0.5),
            "time_to_match_p90": _quantile(waits, 0.9),
        }

    def match_of(self) -> dict[int, int]:
        """Return the match of each ticket that has one."""
        return {ticket: number for number, match in enumerate(self.matches) for ticket in match}


def _quantile(values: list[float], level: float) -> float | None:
    """Return the least value that so large a share of sorted values does not exceed."""
    return values[max(math.ceil(level * len(values)) - 1, 0)] if values else None


def side_of_log(log: EventLog) -> Side:
    """Return what a log says of its tickets."""
    places = {one.id: number for number, one in enumerate(log.tickets)}
    return Side(
        [one.status for one in log.tickets],
        [
            round(one.end - one.time, 3) if one.status == "COMPLETED" else None
            for one in log.tickets
        ],
        [frozenset(places[one.id] for one in own) for _, own in proposals(log)],
    )


def side_of_rules(tickets: tuple[Ticket, ...], outcome: Outcome) -> Side:
    """Return what came of tickets by the rules; waits end when the match is proposed."""
    waits: list[float | None] = [None] * len(tickets)
    for match in outcome.matches:
        for ticket in match.tickets:
            waits[ticket] = match.proposed - tickets[ticket].time
    statuses = [status or "SEARCHING" for status in outcome.statuses]
    return Side(statuses, waits, [frozenset(match.tickets) for match in outcome.matches])


def compared(log: EventLog, rules: Side) -> dict[str, Any]:
    """Return the numbers of the log and of the rules, and what they have in common."""
    logged = side_of_log(log)
    done = "COMPLETED"
    both = [
        k
        for k, (a, b) in enumerate(zip(logged.statuses, rules.statuses, strict=True))
        if a == b == done
    ]
    differences = [
        after - before
        for k in both
        if (after := rules.waits[k]) is not None and (before := logged.waits[k]) is not None
    ]
    return {
        "log": logged.numbers(),
        "rules": rules.numbers(),
        "same_end": sum(a == b for a, b in zip(logged.statuses, rules.statuses, strict=True)),
        "matched_in_both": len(both),
        "wait_difference": math.fsum(differences) / len(differences) if differences else None,
        "same_matches": len(set(logged.matches) & set(rules.matches)),
        "judged_in_log": {
            name: {"passed": passed, "failed": failed}
            for name, (passed, failed) in sorted(log.judged.items())
        },
    }


class Ended(NamedTuple):
    """How a ticket ended, and when."""

    status: str
    time: float


def ends(outcome: Outcome) -> dict[int, Ended]:
    """Return how each ticket ended."""
    return {k: Ended(outcome.statuses[k], outcome.times[k]) for k in outcome.ended}


def proposals_of(outcome: Outcome) -> list[Proposal]:
    """Return all that was proposed, in order."""
    return [Proposal(one.review, one.anchor, tuple(one.tickets)) for one in outcome.proposed]


SUMMARY = "summary.json"

SHOWN = {
    "tickets": (("time", "end", "wait", "players"), ("search", "status", "unmatchable")),
    "matches": (("time",), ("search",)),
    "rules": (("passed", "failed"), ("search", "rule")),
    "steps": (("from_seconds", "matches"), ("search", "what", "value")),
}
"""The tables that are shown of a replay, with their columns of numbers and of texts."""


@dataclass(frozen=True, repr=False)
class ReplayedTickets(Result):
    """What is shown of a replay: numbers by search, and how tickets ended."""

    presented_by = "replay"

    source: str  # the world, or the rule set
    numbers: Mapping[str, Mapping[str, Any]]  # by search
    tables: Mapping[str, Mapping[str, Sequence[Any]]]  # by name the columns of each of `SHOWN`
    warnings: Sequence[str] = ()  # what has to be known of what was read
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was played, in one line."""
        return f"replay of {Path(self.source).name}, {', '.join(self.numbers)}"

    def summary(self) -> dict[str, Any]:
        """Return numbers by search, and what was warned of."""
        return {**self.numbers, **warnings_entry(self.warnings)}

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return a row for each ticket and search."""
        return self.tables["tickets"]

    def rows(self, table: str, search: str) -> dict[str, list[Any]]:
        """Return the rows of a table that are of one search."""
        columns = self.tables[table]
        own = [k for k, one in enumerate(columns["search"]) if one == search]
        return {name: [values[k] for k in own] for name, values in columns.items()}

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the replay that a folder holds."""
        numbers = files.json(SUMMARY)
        with damaged(files.folder / SUMMARY):
            warnings = warnings_in(numbers)
        numbers.pop("warnings", None)
        tables = {}
        for name, columns in SHOWN.items():
            table = files.table(f"{name}.csv", *columns)
            known = {key: own.tolist() for key, own in table.numbers.items()}
            tables[name] = {**known, **table.texts}
        return cls(files.manifest.source, numbers, tables, warnings, files.folder)


@dataclass(frozen=True)
class Replay:
    """What came of tickets."""

    source: Path  # the world, or the rule set
    world: WorldReading  # what was played
    outcomes: dict[Search, Outcome]  # by search
    log: EventLog | None = None  # the log that the tickets are of, where it is a game's own
    # by search, who waited behind whom
    blockers: dict[Search, Blockers] = field(default_factory=dict)
    # why tickets ended without a match, see `valmatch.experiments.explain`
    explained: list[dict[str, Any]] | None = None
    shown: ReplayedTickets | None = None  # what is shown of it

    def answers(self) -> dict[str, Any]:
        """Return what ``result.json`` holds: by search the matches, and how each ticket ended."""
        return {search: self._answers(outcome) for search, outcome in self.outcomes.items()}

    def _answers(self, outcome: Outcome) -> dict[str, Any]:
        tickets = self.world.tickets
        names = [team.name for team in self.world.table.teams]
        matches = [
            {
                "time": match.time,
                "anchor": tickets[match.anchor].id,
                "tickets": [tickets[number].id for number in match.tickets],
                "teams": dict(zip(names, match.teams, strict=True)),
            }
            for match in outcome.matches
        ]
        ended = {
            tickets[number].id: {"status": outcome.statuses[number], "time": outcome.times[number]}
            for number in outcome.ended
        }
        return {"matches": matches, "tickets": ended}

    def summary(self) -> dict[str, Any]:
        """Return what is printed: numbers by search."""
        return {
            search: {
                **self._numbers(outcome),
                **self._blocked(search),
                **self._compared(outcome),
            }
            for search, outcome in self.outcomes.items()
        }

    def _compared(self, outcome: Outcome) -> dict[str, Any]:
        """Return what the log of a game says beside it; nothing without one."""
        if self.log is None:
            return {}
        return {"compared": compared(self.log, side_of_rules(self.world.tickets, outcome))}

    def behind(self, search: Search) -> dict[tuple[int, ...], Counter[int]]:
        """Return who waited behind which tickets, and at how many reviews; who blocks most first.

        Of reviews at even distances, where there were too many to look at all of them.
        """
        found: dict[tuple[int, ...], Counter[int]] = {}
        for one in self.blockers[search].found if search in self.blockers else ():
            found.setdefault(one.by, Counter()).update(one.tickets)
        return dict(sorted(found.items(), key=lambda one: (-len(one[1]), one[0])))

    def _blocked(self, search: Search) -> dict[str, Any]:
        """Return who blocked whom; nothing of a search that lets nobody block."""
        if search not in self.blockers:
            return {}
        blockers, tickets = self.blockers[search], self.world.tickets
        reviews = Counter(one.by for one in blockers.found)
        return {
            "reviews": blockers.reviews,
            "reviews_looked_at": blockers.looked,
            "blocked_by": [
                {
                    "tickets": [tickets[k].id for k in by],
                    "behind": len(behind),
                    "reviews": reviews[by],
                }
                for by, behind in self.behind(search).items()
            ],
        }

    def _numbers(self, outcome: Outcome) -> dict[str, Any]:
        tickets = self.world.tickets
        done = [k for k in outcome.ended if outcome.statuses[k] == "COMPLETED"]
        waits = [outcome.times[k] - tickets[k].time for k in done]
        players = sum(len(tickets[k].players) for k in done)
        statuses = [outcome.statuses[k] for k in outcome.ended]
        rules = zip(self.world.table.rules, outcome.judged.tolist(), strict=True)
        return {
            "tickets": len(tickets),
            "matches": len(outcome.matches),
            "matched": len(done),
            "timed_out": statuses.count("TIMED_OUT"),
            "cancelled": statuses.count("CANCELLED"),
            "searching": statuses.count("SEARCHING"),
            "time_to_match": math.fsum(waits) / len(waits) if waits else None,
            "players_per_match": players / len(outcome.matches) if outcome.matches else None,
            "rules": {
                rule.name: {"passed": passed, "failed": failed} for rule, (passed, failed) in rules
            },
        }
