"""The matches of a replication: how full, how near, how fair."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints, Shorts
from valmatch.matching.tickets.columns import Played, Tickets
from valmatch.rule_sets import table as rule_table


class Matches(NamedTuple):
    """The matches of a replication."""

    # players, steps, centres: (matches,); number of players at the beginning; expansion steps
    # passed; number of the data centre
    players: Ints
    steps: Ints
    centres: Ints
    full: Bools  # (matches,)
    # true_diffs, seen_diffs, gaps: (matches,); at the beginning; NaN where fewer than two teams
    # have players
    true_diffs: Floats
    seen_diffs: Floats
    gaps: Floats
    latencies: Floats  # (players in matches,); of players, in the order of `of_players`
    # of_players, ticket_of, people, team_of, place_of: (players in matches,); their match, ticket,
    # number, team, and place of the ticket in `Played.tickets`
    of_players: Shorts
    ticket_of: Shorts
    people: Shorts
    team_of: Shorts
    place_of: Shorts
    # wins, latency: (tickets,); of each ticket the chance to win as the match begins, and the mean
    # latency; NaN where there are none
    wins: Floats
    latency: Floats
    match: Ints  # (tickets,); -1 for none


def matches_of(drawn: Tickets, played: Played, table: rule_table.Table, spread: float) -> Matches:
    """Return the matches of a replication."""
    n, teams = played.times.size, len(table.teams)
    tickets, sizes = played.tickets, drawn.sizes[played.tickets]
    # Numbers of players are short ones, as a long run has many of them.
    firsts = drawn.firsts[tickets]
    people = np.repeat((firsts - (np.cumsum(sizes) - sizes)).astype(np.int32), sizes)
    people += np.arange(people.size, dtype=np.int32)
    of = np.repeat(played.matches.astype(np.int32), sizes)
    team_of = np.repeat(played.teams.astype(np.int32), sizes)
    some = played.filled.any()
    first = np.repeat(~played.filled, sizes) if some else slice(None)
    camp = np.repeat(played.matches * teams + played.teams, sizes)[first]
    players = np.bincount(of[first], minlength=n)
    true = _team_means(drawn.skills[people[first]], camp, n, teams)
    seen = _team_means(drawn.seen[people[first]], camp, n, teams)
    true_diffs = _span(true)
    centres, latencies = _latencies(drawn.latencies, people, of, first, n)
    match = np.full(drawn.times.size, -1)
    match[tickets] = played.matches
    latency, wins = np.full(match.size, np.nan), np.full(match.size, np.nan)
    with np.errstate(invalid="ignore"):
        latency[tickets] = np.bincount(
            np.repeat(np.arange(tickets.size), sizes), latencies, tickets.size
        ) / np.maximum(sizes, 1)
        if teams == 2:
            own = true[played.matches, played.teams]
            other = true[played.matches, 1 - played.teams]
            chances = 1.0 / (1.0 + np.exp(-(own - other) / spread))
            wins[tickets] = np.where(played.filled, np.nan, chances)
        gaps = 1.0 / (1.0 + np.exp(-true_diffs / spread)) - 0.5
    return Matches(
        players,
        np.searchsorted(np.array(table.waits), _ages(drawn, played, table.oldest), side="right"),
        centres,
        players == table.largest,
        true_diffs,
        _span(seen),
        gaps,
        latencies,
        of,
        np.repeat(tickets.astype(np.int32), sizes),
        people,
        team_of,
        np.repeat(np.arange(sizes.size, dtype=np.int32), sizes),
        wins,
        latency,
        match,
    )


def _ages(drawn: Tickets, played: Played, oldest: bool) -> Floats:
    """Return the ages of matches when they were proposed."""
    born = np.full(played.times.size, np.inf if oldest else -np.inf)
    function = np.minimum if oldest else np.maximum
    first = ~played.filled
    function.at(born, played.matches[first], drawn.times[played.tickets[first]])
    return np.asarray(played.proposed - born)


def _team_means(values: Floats, camp: Ints, n: int, teams: int) -> Floats:
    """Return the mean of each team of each match, (n, teams); NaN where it has no players."""
    count = np.bincount(camp, minlength=n * teams)
    sums = np.bincount(camp, values, minlength=n * teams)
    return np.asarray(sums / np.where(count > 0, count, np.nan)).reshape(n, teams)


def _span(means: Floats) -> Floats:
    """Return the largest difference between teams; NaN where fewer than two have players."""
    high = np.where(np.isnan(means), -np.inf, means).max(axis=1, initial=-np.inf)
    low = np.where(np.isnan(means), np.inf, means).min(axis=1, initial=np.inf)
    enough = (~np.isnan(means)).sum(axis=1) >= 2
    return np.where(enough, high, np.nan) - np.where(enough, low, np.nan)


def _latencies(
    every: Floats, people: Shorts, of: Shorts, first: Bools | slice, n: int
) -> tuple[Ints, Floats]:
    """Return the data centres of matches, and the latencies of their players to these.

    Those who are there from the beginning decide.
    """
    if not n:
        return np.empty(0, np.int64), np.empty(0)
    deciding, their = people[first], of[first]
    sums = np.stack([np.bincount(their, column[deciding], n) for column in every.T], axis=1)
    centres = np.where(np.isnan(sums), np.inf, sums).argmin(axis=1)
    return centres, every[people, centres[of]]
