"""What a replication of tickets gives: responses, of all and of groups."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, cast

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.matching.tickets.columns import Played
from valmatch.matching.tickets.layout import CANCELLED, COMPLETED, SEARCHING, TIMED_OUT
from valmatch.models.model import NOT_NEGATIVE, SHARE, Part, Response, Responses
from valmatch.models.tickets.factors import HOURS, TicketsFactors
from valmatch.models.tickets.population import HOUR, Drawn
from valmatch.rule_sets.table import Table, Team

RESPONSES = Responses(
    Response("time_to_match", "seconds", "mean wait of matched tickets", limits=NOT_NEGATIVE),
    *(
        Response(
            f"time_to_match_p{percent}",
            "seconds",
            f"{percent}th percentile of the wait of matched tickets",
            limits=NOT_NEGATIVE,
        )
        for percent in (50, 90, 99)
    ),
    Response(
        "matched_fraction",
        "",
        "share of tickets that were matched",
        share_of="n_tickets",
        limits=SHARE,
    ),
    Response("n_tickets", "", "tickets that came", whole=True, limits=NOT_NEGATIVE),
    Response("tickets_matched", "", "tickets matched", whole=True, limits=NOT_NEGATIVE),
    Response("tickets_timed_out", "", "tickets that timed out", whole=True, limits=NOT_NEGATIVE),
    Response(
        "tickets_cancelled",
        "",
        "tickets cancelled, or dropped as a match was not accepted",
        whole=True,
        limits=NOT_NEGATIVE,
    ),
    Response(
        "tickets_searching", "", "tickets that wait at the end", whole=True, limits=NOT_NEGATIVE
    ),
    Response(
        "never_matchable",
        "",
        "tickets that no match can ever take",
        whole=True,
        limits=NOT_NEGATIVE,
    ),
    Response(
        "current_tickets",
        "tickets",
        "time average of the number of waiting tickets",
        limits=NOT_NEGATIVE,
    ),
    Response("n_matches", "", "matches", whole=True, limits=NOT_NEGATIVE),
    Response(
        "players_per_match", "players", "mean number of players of a match", limits=NOT_NEGATIVE
    ),
    Response(
        "full_share", "", "share of matches that are full", share_of="n_matches", limits=SHARE
    ),
    Response(
        "players_in_matches",
        "players",
        "time average of the number of players in matches",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "step_used",
        "",
        "mean over matches of the number of expansion steps that their age had passed",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "latency",
        "milliseconds",
        "mean latency of players to the data centre of the match, that of the least mean",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "latency_p95", "milliseconds", "95th percentile of these latencies", limits=NOT_NEGATIVE
    ),
    Response(
        "true_team_diff",
        "points",
        "mean over matches of the largest difference between mean true skills of teams",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "seen_team_diff", "points", "the same of what the matchmaker sees", limits=NOT_NEGATIVE
    ),
    Response(
        "win_gap",
        "",
        "mean over matches of |p - 1/2|, p of the best team against the worst, by true skill",
        limits=(0.0, 0.5),
    ),
    Response(
        "worst_wait_ratio",
        "",
        "90th percentile of the wait in the worst group by size or home, over that of all",
        limits=NOT_NEGATIVE,
    ),
)

OF_GROUPS = (
    Response("time_to_match", "seconds", "mean wait of matched tickets", limits=NOT_NEGATIVE),
    Response(
        "time_to_match_p90",
        "seconds",
        "90th percentile of the wait of matched tickets",
        limits=NOT_NEGATIVE,
    ),
    Response("matched_fraction", "", "share of tickets that were matched", limits=SHARE),
    Response("timed_out_fraction", "", "share of tickets that timed out", limits=SHARE),
    Response("latency", "milliseconds", "mean latency of tickets in matches", limits=NOT_NEGATIVE),
    Response("win_gap", "", "mean over tickets of |p - 1/2| of the match", limits=(0.0, 0.5)),
    Response(
        "win_prob",
        "",
        "mean over tickets in matches of two teams of the chance to win, by true skill",
        limits=SHARE,
    ),
)
"""What is measured of a group of tickets."""

DECILES = 10


class Matches(NamedTuple):
    """The matches of a replication.

    Attributes
    ----------
    players, steps, centres : (matches,) ndarray of int64
        Number of players; expansion steps passed; number of the data centre.
    full : (matches,) ndarray of bool
    true_diffs, seen_diffs, gaps : (matches,) ndarray of float64
        NaN where fewer than two teams have players.
    latencies : (players in matches,) ndarray of float64
        Of players, in the order of `of_players`.
    of_players : (players in matches,) ndarray of int64
        Their match.
    wins, latency : (tickets,) ndarray of float64
        Of each ticket the chance to win and the mean latency; NaN where there are none.
    match : (tickets,) ndarray of int64
        -1 for none.
    """

    players: Ints
    steps: Ints
    centres: Ints
    full: Bools
    true_diffs: Floats
    seen_diffs: Floats
    gaps: Floats
    latencies: Floats
    of_players: Ints
    wins: Floats
    latency: Floats
    match: Ints


def further_responses(factors: TicketsFactors) -> list[Response]:
    """Return the responses of groups that factors ask for."""
    found: list[Response] = []
    for of in dict.fromkeys(factors.measure):
        if of == "steps":
            found += [
                Response(
                    f"step_used.{step}",
                    "",
                    f"share of matches whose age had passed {step} expansion steps",
                    part=Part("step_used", "step", str(step)),
                    limits=SHARE,
                )
                for step in range(len(_waits(factors.expansions)) + 1)
            ]
            continue
        kind, names = _groups(factors, of)
        found += [_of_group(one, kind, name) for one in OF_GROUPS for name in names]
    return found


def _of_group(measure: Response, kind: str, name: str) -> Response:
    return Response(
        f"{measure.name}.{name}",
        measure.unit,
        f"{measure.meaning}; by {kind}: {name}",
        part=Part(measure.name, kind, name),
        limits=measure.limits,
    )


def _groups(factors: TicketsFactors, of: str) -> tuple[str, list[str]]:
    """Return by what tickets are grouped, and the names of the groups."""
    if of == "sizes":
        return "size", [f"size_{size}" for size in range(1, len(factors.parties.shares) + 1)]
    if of == "regions":
        return "region", list(factors.regions.shares)
    if of == "hours":
        hours = min(HOURS, math.ceil(factors.hours))
        return "hour", [f"{hour}-{hour + 1}h" for hour in range(hours)]
    return "skill", [f"decile_{number}" for number in range(1, DECILES + 1)]


def _waits(expansions: Mapping[str, object]) -> set[float]:
    """Return the ages at which something changes, as far as all steps are there."""
    found: set[float] = set()
    for properties in expansions.values():
        for steps in properties.values() if isinstance(properties, dict) else ():
            found |= {float(step["wait"]) for step in steps if isinstance(step, dict)}
    return found


def matches_of(drawn: Drawn, played: Played, table: Table, spread: float) -> Matches:
    """Return the matches of a replication.

    Parameters
    ----------
    drawn : Drawn
        The tickets.
    played : Played
        What came of them.
    table : Table
        What the matchmaker went by.
    spread : float
        Points at which e to 1 is bet on the better team.
    """
    n, teams = played.times.size, len(table.teams)
    tickets, sizes = played.tickets, drawn.sizes[played.tickets]
    firsts = (np.cumsum(drawn.sizes) - drawn.sizes)[tickets]
    people = np.repeat(firsts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
    of = np.repeat(played.matches, sizes)
    camp = of * teams + np.repeat(played.teams, sizes)
    players = np.bincount(of, minlength=n)
    true = _team_means(drawn.skills[people], camp, n, teams)
    seen = _team_means(drawn.seen[people], camp, n, teams)
    true_diffs = _span(true)
    centres, latencies = _latencies(drawn.latencies[people], of, n)
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
            wins[tickets] = 1.0 / (1.0 + np.exp(-(own - other) / spread))
        gaps = 1.0 / (1.0 + np.exp(-true_diffs / spread)) - 0.5
    return Matches(
        players,
        np.searchsorted(np.array(table.waits), _ages(drawn, played, table.oldest), side="right"),
        centres,
        players == _most(table),
        true_diffs,
        _span(seen),
        gaps,
        latencies,
        of,
        wins,
        latency,
        match,
    )


def _most(table: Table) -> int:
    """Return how many players a full match has: all teams with their most at any age."""
    return sum(most_players(team) for team in table.teams)


def most_players(team: Team) -> int:
    """Return the most players that a team takes at any age."""
    return int(max(cast("tuple[float, ...]", team.most.values)))


def _ages(drawn: Drawn, played: Played, oldest: bool) -> Floats:
    """Return the ages of matches when they were proposed."""
    born = np.full(played.times.size, np.inf if oldest else -np.inf)
    function = np.minimum if oldest else np.maximum
    function.at(born, played.matches, drawn.times[played.tickets])
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


def _latencies(latencies: Floats, of: Ints, n: int) -> tuple[Ints, Floats]:
    """Return the data centres of matches, and the latencies of their players to these."""
    if not n:
        return np.empty(0, np.int64), np.empty(0)
    sums = np.stack([np.bincount(of, column, n) for column in latencies.T], axis=1)
    centres = sums.argmin(axis=1)
    return centres, latencies[np.arange(of.size), centres[of]]


def measure(
    factors: TicketsFactors, drawn: Drawn, played: Played, matches: Matches, matchable: Bools
) -> dict[str, float]:
    """Return all responses by name; NaN where undefined.

    Tickets that come after the warm-up, and matches made after it, are measured.

    Parameters
    ----------
    factors : TicketsFactors
        The factors.
    drawn, played, matches
        The replication.
    matchable : (tickets,) ndarray of bool
        Which tickets a match can ever take.
    """
    start, end = 60.0 * factors.warmup_minutes, HOUR * factors.hours
    came, made = drawn.times >= start, played.times >= start
    matched = came & (played.statuses == COMPLETED)
    waits = (played.ends - drawn.times)[matched]
    players = made[matches.of_players]
    found: dict[str, float] = {
        "time_to_match": _mean(waits),
        **{f"time_to_match_p{p}": _percentile(waits, p) for p in (50, 90, 99)},
        "n_tickets": int(came.sum()),
        "matched_fraction": _mean(matched[came]),
        "tickets_matched": int(matched.sum()),
        "tickets_timed_out": int((came & (played.statuses == TIMED_OUT)).sum()),
        "tickets_cancelled": int((came & (played.statuses == CANCELLED)).sum()),
        "tickets_searching": int((came & (played.statuses == SEARCHING)).sum()),
        "never_matchable": int((came & ~matchable).sum()),
        "current_tickets": _time_average(drawn.times, played.ends, np.ones(1), (start, end)),
        "n_matches": int(made.sum()),
        "players_per_match": _mean(matches.players[made]),
        "full_share": _mean(matches.full[made]),
        "players_in_matches": _time_average(
            played.times, played.times + 60.0 * factors.match.minutes, matches.players, (start, end)
        ),
        "step_used": _mean(matches.steps[made]),
        "latency": _mean(matches.latencies[players]),
        "latency_p95": _percentile(matches.latencies[players], 95),
        "true_team_diff": _mean(matches.true_diffs[made]),
        "seen_team_diff": _mean(matches.seen_diffs[made]),
        "win_gap": _mean(matches.gaps[made]),
        "worst_wait_ratio": _worst(factors, drawn, played, matched),
    }
    for of in dict.fromkeys(factors.measure):
        if of == "steps":
            for step in range(len(_waits(factors.expansions)) + 1):
                found[f"step_used.{step}"] = _mean(matches.steps[made] == step)
        else:
            found.update(_of_groups(factors, of, drawn, played, matches, came))
    return found


def group_of(factors: TicketsFactors, of: str, drawn: Drawn) -> Ints:
    """Return the number of the group of each ticket."""
    if of == "sizes":
        return drawn.sizes - 1
    if of == "regions":
        return drawn.homes
    if of == "hours":
        return (drawn.times / HOUR).astype(np.int64) % HOURS
    sums = np.bincount(drawn.of, drawn.skills, drawn.sizes.size)
    means = sums / drawn.sizes
    ranks = np.argsort(np.argsort(means, kind="stable"), kind="stable")
    return np.asarray(ranks * DECILES // max(ranks.size, 1), np.int64)


def _of_groups(
    factors: TicketsFactors,
    of: str,
    drawn: Drawn,
    played: Played,
    matches: Matches,
    came: Bools,
) -> dict[str, float]:
    """Return the responses of groups."""
    groups = group_of(factors, of, drawn)
    waits = np.where(played.statuses == COMPLETED, played.ends - drawn.times, np.nan)
    gaps = np.append(matches.gaps, np.nan)[matches.match]
    found: dict[str, float] = {}
    for number, name in enumerate(_groups(factors, of)[1]):
        own = came & (groups == number)
        wait = waits[own][~np.isnan(waits[own])]
        values = (
            _mean(wait),
            _percentile(wait, 90),
            _mean(played.statuses[own] == COMPLETED),
            _mean(played.statuses[own] == TIMED_OUT),
            _mean(matches.latency[own]),
            _mean(gaps[own]),
            _mean(matches.wins[own]),
        )
        measured = zip(OF_GROUPS, values, strict=True)
        found.update({f"{response.name}.{name}": value for response, value in measured})
    return found


def _worst(factors: TicketsFactors, drawn: Drawn, played: Played, matched: Bools) -> float:
    """Return the 90th percentile of the wait in the worst group over that of all.

    Groups of fewer than `FEW` matched tickets do not count.
    """
    waits, worst = (played.ends - drawn.times)[matched], math.nan
    for of in ("sizes", "regions"):
        groups = group_of(factors, of, drawn)[matched]
        for number in np.unique(groups):
            own = waits[groups == number]
            if own.size >= FEW:
                worst = np.fmax(worst, _percentile(own, 90))
    every = _percentile(waits, 90)
    return float(worst / every) if every > 0.0 else math.nan


FEW = 20
"""Matched tickets of a group from which on its percentile says something."""


def _time_average(
    begin: Floats, end: Floats, weights: Floats | Ints, within: tuple[float, float]
) -> float:
    """Return the time average of a number of things that begin and end."""
    start, stop = within
    spent = np.clip(end, start, stop) - np.clip(begin, start, stop)
    return float((weights * spent).sum() / (stop - start))


def _mean(values: Floats | Ints | Bools) -> float:
    """Return a mean of what is defined; NaN of nothing."""
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    return float(known.mean()) if known.size else math.nan


def _percentile(values: Floats, percent: float) -> float:
    return float(np.percentile(values, percent)) if values.size else math.nan
