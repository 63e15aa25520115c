"""Outcomes of a replication, by ticket, match and player; its tables."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from valmatch.inputs.csv_reader import joined_names
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.matching.living.queue import PresetReport
from valmatch.matching.tickets.columns import Played, Tickets, spans
from valmatch.matching.tickets.layout import COMPLETED, STATUSES
from valmatch.matching.tickets.playing import Backfills
from valmatch.models.model import Table
from valmatch.models.tickets.factors import TicketsFactors
from valmatch.models.tickets.population import HOUR
from valmatch.rule_sets import table as rule_table
from valmatch.rule_sets.types import Reached

REASONS = {
    "party": "larger than every team",
    "value": "without a value that has no default",
    "latency": "over the last limit in all data centres",
}
"""Why no match can ever take a ticket; of several the first."""


class Replication:
    """The tickets of a replication, and what came of them."""

    def __init__(
        self,
        factors: TicketsFactors,
        table: rule_table.Table,
        drawn: Tickets,
        played: Played,
        stays: Floats,
        backfills: Backfills,
        report: PresetReport | None = None,
    ) -> None:
        self.factors, self.table, self.drawn, self.played = factors, table, drawn, played
        self.backfills = backfills
        self.report: Any = report  # what a preset says of its matches; None with a rule set
        # seconds between which all is measured
        self.window = 60.0 * factors.warmup_minutes, HOUR * factors.hours
        tickets, sizes = played.tickets, drawn.sizes[played.tickets]
        # By player in matches, one of those of `played.tickets` after the other.
        self.row = np.repeat(np.arange(tickets.size), sizes)  # the index of the ticket there
        self.people = spans(drawn.firsts[tickets], sizes)  # the number of the player
        self.of = played.matches[self.row]  # the match
        filled = played.filled
        # who is there as the match begins
        self.first: Bools | slice = ~filled[self.row] if filled.any() else slice(None)
        self.stays = stays  # by player: the part of what is left of the match; infinity: all
        self._look_at_matches()
        # By ticket.
        self.came = drawn.times >= self.window[0]  # those after the warm-up, which are measured
        self.match = np.full(drawn.times.size, -1)  # -1 for none
        self.match[tickets] = played.matches
        sums = np.bincount(self.row, self.latencies, tickets.size)
        self.latency = np.full(drawn.times.size, np.nan)  # mean of the players in a match
        self.latency[tickets] = sums / np.maximum(sizes, 1)
        # chance to win as a match of two teams begins; NaN where there is none
        self.wins = np.full(drawn.times.size, np.nan)
        if len(table.teams) == 2:
            mine = self._true[played.matches, played.teams]
            theirs = self._true[played.matches, 1 - played.teams]
            self.wins[tickets] = np.where(filled, np.nan, self._chances(mine - theirs))
        self._look_at_limits()

    def _look_at_matches(self) -> None:
        """Say of each match what it is as it begins; of teams NaN where fewer than two play."""
        played, drawn, n = self.played, self.drawn, self.played.times.size
        self.made = played.times >= self.window[0]  # those after the warm-up, which are measured
        self.ends = played.times + 60.0 * self.factors.match.minutes
        of, people = self.of[self.first], self.people[self.first]
        self.players = np.bincount(of, minlength=n)
        self.full = self.players == self.table.largest
        # Expansion steps that had passed, by the age of the oldest or the newest ticket.
        sign, begins, born = 1.0 if self.table.oldest else -1.0, ~played.filled, np.full(n, np.inf)
        times = sign * drawn.times[played.tickets[begins]]
        np.minimum.at(born, played.matches[begins], times)
        ages, waits = played.proposed - sign * born, np.array(self.table.waits)
        self.steps = np.searchsorted(waits, ages, side="right")
        # The data centre of the least mean latency, and the players' latency to it.
        sums = np.stack([np.bincount(of, ping[people], n) for ping in drawn.latencies.T], axis=1)
        self.centres = np.where(np.isnan(sums), np.inf, sums).argmin(axis=1)
        self.latencies = drawn.latencies[self.people, self.centres[self.of]]
        # Mean true skills of teams, and the largest difference of these and of what is seen.
        self._true, seen = self._team_means(drawn.skills), self._team_means(drawn.seen)
        self.true_diffs, self.seen_diffs = span(self._true), span(seen)
        self.gaps = self._chances(self.true_diffs) - 0.5

    def _chances(self, leads: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            return 1.0 / (1.0 + np.exp(-leads / self.factors.match.spread))

    def _team_means(self, values: Floats) -> Floats:
        n, teams = self.played.times.size, len(self.table.teams)
        side = (self.of * teams + self.played.teams[self.row])[self.first]
        count = np.bincount(side, minlength=n * teams)
        sums = np.bincount(side, values[self.people[self.first]], n * teams)
        return np.asarray(sums / np.where(count > 0, count, np.nan)).reshape(n, teams)

    def _look_at_limits(self) -> None:
        """Say why no match can ever take a ticket: which of `REASONS`, -1 if one can."""
        drawn, table = self.drawn, self.table
        timeout = self.factors.service.request_timeout_seconds
        self.first_limit = math.nan  # the least latency that a rule allows at first, if any does
        why, (party, value, latency) = np.full(drawn.times.size, -1), range(len(REASONS))
        for rule in (rule.predicate for rule in table.rules if rule.alone):
            if isinstance(rule, Reached) and rule.most is not None:
                limits = rule.most.numbers
                self.first_limit = float(np.fmin(self.first_limit, limits[0]))
                steps = zip((0.0, *rule.most.waits), limits, strict=True)
                most = max(number for wait, number in steps if wait < timeout)
                # Over it in all data centres, whenever it is matched.
                pings = drawn.of_party(drawn.latencies, "max" if rule.each else rule.party)
                why[~(pings <= most).any(axis=1)] = latency
        for attribute in table.attributes:
            why[drawn.lacks(attribute)] = value
        why[drawn.sizes > max(team.largest for team in table.teams)] = party
        self.unmatchable = why

    @cached_property
    def presence(self) -> tuple[Floats, Floats]:
        """(players in matches,) twice: when they joined the match and left it."""
        joins = self.played.ends[self.played.tickets[self.row]]
        stays = self.stays[self.people]
        left = np.maximum(self.ends[self.of] - joins, 0.0)
        return joins, joins + np.where(stays < 1.0, stays, 1.0) * left


def span(means: Floats) -> Floats:
    """Return the largest difference between teams; NaN where fewer than two have players."""
    high = np.where(np.isnan(means), -np.inf, means).max(axis=1, initial=-np.inf)
    low = np.where(np.isnan(means), np.inf, means).min(axis=1, initial=np.inf)
    enough = (~np.isnan(means)).sum(axis=1) >= 2
    return np.where(enough, high, np.nan) - np.where(enough, low, np.nan)


def tickets_table(
    run: Replication, homes: Sequence[str], blockers: Sequence[tuple[int, int]]
) -> Table:
    """Return a row for each ticket, in order of time."""
    drawn, played, n = run.drawn, run.played, run.drawn.times.size
    by: dict[int, list[str]] = {}
    for blocker, blocked in blockers:
        by.setdefault(blocked, []).append(str(blocker))
    ends = np.where(played.statuses > 0, played.ends, np.nan)
    teams = np.full(n, np.nan)
    teams[played.tickets] = played.teams
    columns: dict[str, Any] = {
        "ticket": np.arange(n),
        "time": drawn.times,
        "players": drawn.sizes,
        "home": np.array(homes)[drawn.homes],
        "skill": drawn.of_party(drawn.skills, "avg"),
        "seen": drawn.of_party(drawn.seen, "avg"),
        "status": [STATUSES[status] for status in played.statuses.tolist()],
        "ended": ends,
        "wait": ends - drawn.times,
        "match": np.where(run.match >= 0, run.match, np.nan),
        "team": teams,
        "latency": run.latency,
        "win_prob": run.wins,
        "unmatchable": np.array([*REASONS, ""], np.str_)[run.unmatchable],
        "blocked_by": np.array([joined_names(by.get(k, [])) for k in range(n)], np.str_),
    }
    return Table("tickets", columns, whole=("match", "team"))


def matches_table(run: Replication, centres: Sequence[str]) -> Table:
    """Return a row for each match, in the order in which they were made."""
    played, report = run.played, run.report
    first = ~played.filled
    members = played.tickets[first].tolist()  # once: a match takes a few of very many
    ends = np.searchsorted(played.matches[first], np.arange(1, played.times.size + 1)).tolist()
    tickets = [
        joined_names([str(ticket) for ticket in sorted(members[start:end])])
        for start, end in zip([0, *ends], ends, strict=False)
    ]
    thoughts: dict[str, Floats | Ints] = {}
    if report is not None:
        thoughts = {"match_value": report.values, "believed_win_prob": report.chances}
        thoughts["skipped"] = report.skipped.astype(np.int64)
    columns: dict[str, Any] = {
        "match": np.arange(played.times.size),
        "time": played.times,
        "proposed": played.proposed,
        "tickets": np.array(tickets, np.str_),
        "players": run.players,
        "step": run.steps,
        "region": np.array(centres)[run.centres],
        "true_team_diff": run.true_diffs,
        "seen_team_diff": run.seen_diffs,
        "win_gap": run.gaps,
    }
    return Table("matches", {**columns, **thoughts})


def backfills_table(run: Replication) -> Table:
    """Return a row for each backfill ticket, in the order in which they came."""
    backfills, played, late = run.backfills, run.played, run.played.filled
    joined: dict[tuple[int, float], list[str]] = {}
    for ticket, match in zip(played.tickets[late], played.matches[late], strict=True):
        joined.setdefault((int(match), float(played.ends[ticket])), []).append(str(ticket))
    filled = (backfills.statuses == COMPLETED).tolist()
    rows = zip(backfills.matches.tolist(), backfills.ends.tolist(), filled, strict=True)
    names = [joined_names(joined[match, end] if done else []) for match, end, done in rows]
    columns: dict[str, Any] = {
        "backfill": np.arange(backfills.times.size),
        "match": backfills.matches,
        "time": backfills.times,
        "players": backfills.sizes,
        "status": [STATUSES[status] for status in backfills.statuses.tolist()],
        "ended": backfills.ends,
        "wait": backfills.ends - backfills.times,
        "joined": np.array(names, np.str_),
    }
    return Table("backfills", columns)
