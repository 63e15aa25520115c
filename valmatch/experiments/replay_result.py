"""The result of a replay: matches, ends of tickets, numbers by search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valmatch.experiments.replay_log import compared, side_of_rules
from valmatch.rule_sets.event_log import EventLog
from valmatch.rule_sets.world_reading import WorldReading
from valmatch.rule_sets.worlds import Search

if TYPE_CHECKING:
    from valmatch.matching.tickets.playing import Outcome


@dataclass(frozen=True)
class Replay:
    """What came of tickets.

    Attributes
    ----------
    source : Path
        The world, or the rule set.
    world : WorldReading
        What was played.
    outcomes : dict of str to Outcome
        By search.
    log : EventLog or None
        The log that the tickets are of, where it is a game's own.
    """

    source: Path
    world: WorldReading
    outcomes: dict[Search, Outcome]
    log: EventLog | None = None

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
        found: dict[str, Any] = {
            search: self._numbers(outcome) for search, outcome in self.outcomes.items()
        }
        if self.log:
            for search, outcome in self.outcomes.items():
                side = side_of_rules(self.world.tickets, outcome)
                found[search]["compared"] = compared(self.log, side)
        return found

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
