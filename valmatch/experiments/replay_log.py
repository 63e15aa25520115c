"""Comparison of what a game's log says happened with what a rule set does with the same tickets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from valmatch.rule_sets.event_log import EventLog, proposals

if TYPE_CHECKING:
    from valmatch.matching.tickets.playing import Outcome
    from valmatch.rule_sets.worlds import Ticket

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
