"""Outcomes of a replication, by ticket, match and player; its tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
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

REASONS = {
    "party": "larger than every team",
    "value": "without a value that has no default",
    "latency": "over the last limit in all data centres",
}
"""Why no match can ever take a ticket; of several the first."""


@dataclass(frozen=True)
class Replication:
    """The tickets of a replication, and what came of them."""

    factors: TicketsFactors
    table: rule_table.Table
    drawn: Tickets
    played: Played
    # (players,); which part of what is left of the match a player stays; infinity: all
    stays: Floats
    backfills: Backfills
    report: PresetReport | None = None  # what a preset says of its matches; None with a rule set

    @property
    def window(self) -> tuple[float, float]:
        """Seconds between which all is measured."""
        return 60.0 * self.factors.warmup_minutes, HOUR * self.factors.hours

    @property
    def came(self) -> Bools:
        """(tickets,): those that come after the warm-up, which are measured."""
        return np.asarray(self.drawn.times >= self.window[0])

    @cached_property
    def unmatchable(self) -> Ints:
        """(tickets,): number of the one of `REASONS` why no match can ever take it; -1: one can."""
        drawn, table = self.drawn, self.table
        why, (party, value, latency) = np.full(drawn.times.size, -1), range(len(REASONS))
        for rule, limit in self._limits():  # over it in all data centres, whenever it is matched
            steps = zip((0.0, *limit.waits), limit.numbers, strict=True)
            timeout = self.factors.service.request_timeout_seconds
            most = max(number for wait, number in steps if wait < timeout)
            pings = drawn.of_party(drawn.latencies, "max" if rule.each else rule.party)
            why[~(pings <= most).any(axis=1)] = latency
        for attribute in table.attributes:
            why[drawn.lacks(attribute)] = value
        why[drawn.sizes > max(team.largest for team in table.teams)] = party
        return why

    @cached_property
    def first_limit(self) -> float:
        """The least latency that a rule allows at first; NaN where none has a limit."""
        return min((float(limit.numbers[0]) for _, limit in self._limits()), default=math.nan)

    def _limits(self) -> list[tuple[rule_table.Reached, rule_table.Steps]]:
        """Return the rules that limit latencies, and their limits."""
        rules = [rule.predicate for rule in self.table.rules if rule.alone]
        return [
            (rule, rule.most)
            for rule in rules
            if isinstance(rule, rule_table.Reached) and rule.most is not None
        ]

    @cached_property
    def match(self) -> Ints:
        """(tickets,): the match of each; -1 for none."""
        match = np.full(self.drawn.times.size, -1)
        match[self.played.tickets] = self.played.matches
        return match

    @cached_property
    def latency(self) -> Floats:
        """(tickets,): mean latency of the players; NaN without a match."""
        latency, tickets = np.full(self.match.size, np.nan), self.played.tickets
        sums = np.bincount(self.row, self.latencies, tickets.size)
        latency[tickets] = sums / np.maximum(self.drawn.sizes[tickets], 1)
        return latency

    @cached_property
    def wins(self) -> Floats:
        """(tickets,): chance to win as a match of two teams begins; NaN where there is none."""
        wins, played = np.full(self.match.size, np.nan), self.played
        if len(self.table.teams) == 2:
            mine = self.true[played.matches, played.teams]
            theirs = self.true[played.matches, 1 - played.teams]
            with np.errstate(invalid="ignore"):
                chances = 1.0 / (1.0 + np.exp(-(mine - theirs) / self.factors.match.spread))
            wins[played.tickets] = np.where(played.filled, np.nan, chances)
        return wins

    # By match. What is said of teams is NaN where fewer than two have players as it begins.

    @property
    def made(self) -> Bools:
        """(matches,): those made after the warm-up, which are measured."""
        return np.asarray(self.played.times >= self.window[0])

    @property
    def ends(self) -> Floats:
        """(matches,): when they end."""
        return np.asarray(self.played.times + 60.0 * self.factors.match.minutes)

    @cached_property
    def players(self) -> Ints:
        """(matches,): number of players at the beginning."""
        return np.bincount(self.of[self.first], minlength=self.played.times.size)

    @property
    def full(self) -> Bools:
        """(matches,): whether all places are taken at the beginning."""
        return np.asarray(self.players == self.table.largest)

    @cached_property
    def steps(self) -> Ints:
        """(matches,): expansion steps that had passed as it was proposed."""
        # By the age of the oldest or the newest ticket.
        played, oldest = self.played, self.table.oldest
        born = np.full(played.times.size, np.inf if oldest else -np.inf)
        begins, earliest = ~played.filled, np.minimum if oldest else np.maximum
        earliest.at(born, played.matches[begins], self.drawn.times[played.tickets[begins]])
        return np.searchsorted(np.array(self.table.waits), played.proposed - born, side="right")

    @cached_property
    def centres(self) -> Ints:
        """(matches,): data centre of the least mean latency of who is there from the beginning."""
        every, of, people = self.drawn.latencies, self.of[self.first], self.people[self.first]
        n = self.played.times.size
        sums = np.stack([np.bincount(of, column[people], n) for column in every.T], axis=1)
        return np.where(np.isnan(sums), np.inf, sums).argmin(axis=1)

    @cached_property
    def true(self) -> Floats:
        """(matches, teams): mean true skills."""
        return self._team_means(self.drawn.skills)

    @cached_property
    def true_diffs(self) -> Floats:
        """(matches,): largest difference of mean true skills."""
        return span(self.true)

    @cached_property
    def seen_diffs(self) -> Floats:
        """(matches,): the same of what the matchmaker sees."""
        return span(self._team_means(self.drawn.seen))

    @cached_property
    def gaps(self) -> Floats:
        """(matches,): by how much the chance of the best team to win is over one half."""
        with np.errstate(invalid="ignore"):
            chances = 1.0 / (1.0 + np.exp(-self.true_diffs / self.factors.match.spread))
        return np.asarray(chances - 0.5)

    def _team_means(self, values: Floats) -> Floats:
        n, teams = self.played.times.size, len(self.table.teams)
        side = (self.of * teams + self.played.teams[self.row])[self.first]
        count = np.bincount(side, minlength=n * teams)
        sums = np.bincount(side, values[self.people[self.first]], n * teams)
        return np.asarray(sums / np.where(count > 0, count, np.nan)).reshape(n, teams)

    # By player in matches, one of those of `played.tickets` after the other.

    @cached_property
    def row(self) -> Ints:
        """(players in matches,): the index of the ticket in `played.tickets`."""
        tickets = self.played.tickets
        return np.repeat(np.arange(tickets.size), self.drawn.sizes[tickets])

    @cached_property
    def people(self) -> Ints:
        """(players in matches,): the number of the player."""
        tickets = self.played.tickets
        return spans(self.drawn.firsts[tickets], self.drawn.sizes[tickets])

    @cached_property
    def of(self) -> Ints:
        """(players in matches,): the match."""
        return self.played.matches[self.row]

    @cached_property
    def first(self) -> Bools | slice:
        """(players in matches,): who is there as the match begins."""
        filled = self.played.filled
        return ~filled[self.row] if filled.any() else slice(None)

    @cached_property
    def latencies(self) -> Floats:
        """(players in matches,): latency to the data centre of the match."""
        return self.drawn.latencies[self.people, self.centres[self.of]]

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
