"""Groups of tickets: by size, home, hour, skill and values of attributes; what comes of each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints, Shorts
from valmatch.matching.living.queue import PresetReport
from valmatch.matching.tickets.columns import Played, Tickets, spans
from valmatch.matching.tickets.games import Backfills
from valmatch.matching.tickets.layout import CANCELLED, COMPLETED, SEARCHING, TIMED_OUT
from valmatch.models.model import Table
from valmatch.models.tickets.factors import HOURS, TicketsFactors, kind_of
from valmatch.models.tickets.population import HOUR
from valmatch.models.tickets.responses import BY, DECILES, QUARTERS, groups, values_of_law
from valmatch.rule_sets import table as rule_table
from valmatch.statistics.exact_sums import sums_of

# The matches of a replication: how full, how near, how fair.


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
    people = spans(drawn.firsts[tickets], sizes).astype(np.int32)
    of = np.repeat(played.matches.astype(np.int32), sizes)
    team_of = np.repeat(played.teams.astype(np.int32), sizes)
    some = played.filled.any()
    first = np.repeat(~played.filled, sizes) if some else slice(None)
    camp = np.repeat(played.matches * teams + played.teams, sizes)[first]
    players = np.bincount(of[first], minlength=n)
    true = _team_means(drawn.skills[people[first]], camp, n, teams)
    seen = _team_means(drawn.seen[people[first]], camp, n, teams)
    true_diffs = span(true)
    born = np.full(n, np.inf if table.oldest else -np.inf)  # of the ticket whose age counts
    begins, earliest = ~played.filled, np.minimum if table.oldest else np.maximum
    earliest.at(born, played.matches[begins], drawn.times[tickets[begins]])
    centres, latencies = _latencies(drawn.latencies, people, of, first, n)
    match = np.full(drawn.times.size, -1)
    match[tickets] = played.matches
    latency, wins = np.full(match.size, np.nan), np.full(match.size, np.nan)
    with np.errstate(invalid="ignore"):
        latency[tickets] = np.bincount(
            np.repeat(np.arange(tickets.size), sizes), latencies, tickets.size
        ) / np.maximum(sizes, 1)
        if teams == 2:
            mine = true[played.matches, played.teams]
            theirs = true[played.matches, 1 - played.teams]
            chances = 1.0 / (1.0 + np.exp(-(mine - theirs) / spread))
            wins[tickets] = np.where(played.filled, np.nan, chances)
        gaps = 1.0 / (1.0 + np.exp(-true_diffs / spread)) - 0.5
    return Matches(
        players,
        np.searchsorted(np.array(table.waits), played.proposed - born, side="right"),
        centres,
        players == table.largest,
        true_diffs,
        span(seen),
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


def _team_means(values: Floats, camp: Ints, n: int, teams: int) -> Floats:
    """Return the mean of each team of each match, (n, teams); NaN where it has no players."""
    count = np.bincount(camp, minlength=n * teams)
    sums = np.bincount(camp, values, minlength=n * teams)
    return np.asarray(sums / np.where(count > 0, count, np.nan)).reshape(n, teams)


def span(means: Floats) -> Floats:
    """Return the largest difference between teams; NaN where fewer than two have players."""
    high = np.where(np.isnan(means), -np.inf, means).max(axis=1, initial=-np.inf)
    low = np.where(np.isnan(means), np.inf, means).min(axis=1, initial=np.inf)
    enough = (~np.isnan(means)).sum(axis=1) >= 2
    return np.where(enough, high, np.nan) - np.where(enough, low, np.nan)


def _latencies(
    every: Floats, people: Shorts, of: Shorts, first: Bools | slice, n: int
) -> tuple[Ints, Floats]:
    """Return the data centres by who was there from the beginning, and latencies of players."""
    if not n:
        return np.empty(0, np.int64), np.empty(0)
    deciding, their = people[first], of[first]
    sums = np.stack([np.bincount(their, column[deciding], n) for column in every.T], axis=1)
    centres = np.where(np.isnan(sums), np.inf, sums).argmin(axis=1)
    return centres, every[people, centres[of]]


# Counts, averages and percentiles; sums are exact, and NaN is what is undefined.


def count(which: Bools) -> int:
    """Return how many are True."""
    return int(np.count_nonzero(which))


def mean(values: Floats | Ints | Bools) -> float:
    """Return the mean of the values that are defined; NaN of none."""
    sums = sums_of(np.asarray(values, np.float64))
    return sums.mean if sums.n else math.nan


def percentile(values: Floats, percent: float) -> float:
    """Return a percentile of the values that are defined; NaN of none."""
    known = values[~np.isnan(values)]
    return float(np.percentile(known, percent, overwrite_input=True)) if known.size else math.nan


def worst_percentile(
    values: Floats, divisions: Iterable[Ints], percent: float, enough: int
) -> float:
    """Return a percentile in the worst group with enough values over that of all."""
    worst = math.nan
    for of in divisions:
        for number in np.unique(of):
            group = values[of == number]
            if group.size >= enough:
                worst = np.fmax(worst, percentile(group, percent))
    every = percentile(values, percent)
    return float(worst / every) if every > 0.0 else math.nan


def time_average(
    begin: Floats, end: Floats, weights: float | Ints, within: tuple[float, float]
) -> float:
    """Return the time average of a number of things that begin and end, each with its weight."""
    start, stop = within
    spent = np.clip(end, start, stop) - np.clip(begin, start, stop)
    return sums_of(weights * spent).sum / (stop - start)


def covered(begin: Floats, end: Floats, within: tuple[float, float]) -> float:
    """Return how long at least one of some things is there."""
    begins, ends = np.clip(begin, *within), np.clip(end, *within)
    order = np.argsort(begins, kind="stable")
    begins, latest = begins[order], np.maximum.accumulate(ends[order])
    apart = np.ones(begins.size, np.bool_)
    apart[1:] = begins[1:] > latest[:-1]
    return sums_of(latest[np.roll(apart, -1)] - begins[apart]).sum


class Replication(NamedTuple):
    """What is measured."""

    factors: TicketsFactors
    drawn: Tickets  # the tickets
    played: Played  # what came of them
    matches: Matches
    # (tickets,); why no match can ever take a ticket: the number of a reason, from 0; -1 where one
    # can
    unmatchable: Ints
    limit: float  # milliseconds that the rule set allows at first; NaN where it has no limit
    places: int  # players of a full match
    # (players,); which part of what is left of the match a player stays; infinity: all
    stays: Floats
    backfills: Backfills
    report: PresetReport | None = None  # what a preset says of its matches; None with a rule set

    @property
    def window(self) -> tuple[float, float]:
        """Seconds between which all is measured."""
        return 60.0 * self.factors.warmup_minutes, HOUR * self.factors.hours

    @property
    def ends(self) -> Floats:
        """When matches end."""
        return np.asarray(self.played.times + 60.0 * self.factors.match.minutes)

    @property
    def made(self) -> Bools:
        """Which matches are measured: those made after the warm-up."""
        return np.asarray(self.played.times >= self.window[0])

    @property
    def came(self) -> Bools:
        """Which tickets are measured: those that come after the warm-up."""
        return np.asarray(self.drawn.times >= self.window[0])


def masks(run: Replication, of: str) -> Iterator[Bools]:
    """Yield which tickets are in each group, in the order of `responses.groups`."""
    factors, drawn = run.factors, run.drawn
    if of != "attributes":
        numbers = group_of(factors, of, drawn)
        for number in range(len(groups(factors, of))):
            yield numbers == number
        return
    n = drawn.times.size
    for name, law in factors.attributes.items():
        values, kind = drawn.values[name], kind_of(law)
        if kind == "numbers":
            quarters = _ranked(drawn.of_party(values, "avg"), QUARTERS)
            for number in range(QUARTERS):
                yield quarters == number
            continue
        for value in values_of_law(law):
            if kind == "texts":
                yield _any(drawn.of, values == value, n)
            else:
                yield _any(
                    drawn.of, np.array([value in (held or ()) for held in values.tolist()]), n
                )


def group_of(factors: TicketsFactors, of: str, drawn: Tickets) -> Ints:
    """Return the number of the group of each ticket, by what puts each into one group."""
    if of == "sizes":
        return drawn.sizes - 1
    if of == "regions":
        return drawn.homes
    if of == "hours":
        return (drawn.times / HOUR).astype(np.int64) % HOURS
    return _ranked(drawn.of_party(drawn.skills, "avg"), DECILES)


def _any(of: Ints, has: Bools, n: int) -> Bools:
    """Return which tickets have a player with something."""
    return np.asarray(np.bincount(of, has, n) > 0)


def _ranked(values: Floats, parts: int) -> Ints:
    """Return in which of some equal parts each value is, by its rank."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return np.asarray(ranks * parts // max(ranks.size, 1), np.int64)


def figures(run: Replication, group: Bools) -> dict[str, float]:
    """Return what is measured of tickets of a group: of matches a mean over tickets."""
    drawn, played, matches = run.drawn, run.played, run.matches
    came = run.came & group
    statuses = played.statuses[came]
    waits = (played.ends - drawn.times)[came & (played.statuses == COMPLETED)]
    of = matches.match[came]
    of = of[of >= 0]
    latencies = matches.latencies[came[matches.ticket_of]]
    return dict(
        n_tickets=count(came),
        tickets_matched=count(statuses == COMPLETED),
        tickets_timed_out=count(statuses == TIMED_OUT),
        tickets_cancelled=count(statuses == CANCELLED),
        tickets_searching=count(statuses == SEARCHING),
        never_matchable=count(run.unmatchable[came] >= 0),
        matched_fraction=mean(statuses == COMPLETED),
        timed_out_fraction=mean(statuses == TIMED_OUT),
        time_to_match=mean(waits),
        **{f"time_to_match_p{percent}": percentile(waits, percent) for percent in (50, 90, 99)},
        current_tickets=time_average(drawn.times[group], played.ends[group], 1, run.window),
        players_per_match=mean(matches.players[of]),
        full_share=mean(matches.full[of]),
        step_used=mean(matches.steps[of]),
        latency=mean(matches.latency[came]),
        latency_p95=percentile(latencies, 95),
        latency_over_limit=over(latencies, run.limit),
        true_team_diff=mean(matches.true_diffs[of]),
        seen_team_diff=mean(matches.seen_diffs[of]),
        win_gap=mean(matches.gaps[of]),
        win_prob=mean(matches.wins[came]),
    )


def groups_table(run: Replication) -> Table:
    """Return a row for all tickets and for each group, with what is measured of it."""
    every = np.ones(run.drawn.times.size, np.bool_)
    rows = [("all", "", figures(run, every))]
    for of in BY:
        for (by, name), group in zip(groups(run.factors, of), masks(run, of), strict=True):
            rows.append((by, name.removeprefix(f"{by}."), figures(run, group)))
    columns = {name: [values[name] for _, _, values in rows] for name in rows[0][2]}
    return Table(
        "groups",
        {"by": [by for by, _, _ in rows], "group": [name for _, name, _ in rows], **columns},
    )


def over(values: Floats, limit: float) -> float:
    """Return the share of values over a limit; undefined without one."""
    known = values[~np.isnan(values)]
    return mean(known[:0] if math.isnan(limit) else known > limit)
