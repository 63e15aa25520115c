"""Matches as they run: who leaves, who joins in their place, how full and how fair they are."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from valmatch.draws.addressed import fill_uniforms_of
from valmatch.kernels.arrays import Floats, Shorts
from valmatch.matching.tickets.layout import COMPLETED
from valmatch.models.tickets.averages import mean, time_average
from valmatch.models.tickets.drawn import Drawn
from valmatch.models.tickets.factors import TicketsFactors
from valmatch.models.tickets.groups import Replication
from valmatch.models.tickets.sources import LEAVES, STAYS


def draw_stays(factors: TicketsFactors, drawn: Drawn) -> Floats:
    """Return which part of what is left of the match each player stays; infinity: all."""
    players, share = drawn.skills.size, factors.match.leave_prob
    if share == 0.0 and factors.match.backfill == "none":
        return np.broadcast_to(np.inf, players)  # one number, as no kernel reads it
    stays = np.full(players, np.inf)
    if share == 0.0:
        return stays
    of, places, uniforms = drawn.of, drawn.places, np.empty(players)
    fill_uniforms_of(drawn.place, LEAVES, of, places, uniforms)
    leavers = np.flatnonzero(uniforms < share)
    parts = np.empty(leavers.size)
    fill_uniforms_of(drawn.place, STAYS, of[leavers], places[leavers], parts)
    stays[leavers] = parts
    return stays


def presence(found: Replication) -> tuple[Floats, Floats]:
    """Return when players of matches joined them and left, in the order of `Matches.of_players`."""
    matches, played = found.matches, found.played
    ends = played.times[matches.of_players] + 60.0 * found.factors.match.minutes
    joins = played.ends[matches.ticket_of]
    stays = found.stays[matches.people]
    left = np.maximum(ends - joins, 0.0)
    return joins, joins + np.where(stays < 1.0, stays, 1.0) * left


def running_figures(found: Replication) -> dict[str, float]:
    """Return what is measured of matches as they run, and of backfill tickets."""
    places = found.places
    backfills, matches, window = found.backfills, found.matches, found.window
    joins, leaves = presence(found)
    begins = found.played.times
    ends = begins + 60.0 * found.factors.match.minutes
    early = (leaves < ends[matches.of_players]) & (leaves >= window[0]) & (leaves < window[1])
    asked = backfills.times >= window[0]
    filled = asked & (backfills.statuses == COMPLETED)
    late = found.played.filled[matches.place_of] & (joins >= window[0])
    matches_running = time_average(begins, ends, 1, window)
    players = time_average(joins, leaves, 1, window)
    gap, full = _over_time(found, joins, leaves)
    return {
        "players_left": int(early.sum()),
        "players_backfilled": int(late.sum()),
        "backfill_tickets": int(asked.sum()),
        "backfill_filled": mean((backfills.statuses == COMPLETED)[asked]),
        "time_to_fill": mean((backfills.ends - backfills.times)[filled]),
        "places_taken": players / (places * matches_running) if matches_running else np.nan,
        "full_time": full,
        "played_win_gap": gap,
    }


def _over_time(found: Replication, joins: Floats, leaves: Floats) -> tuple[float, float]:
    """Return time means over running matches: of |p - 1/2|, and of whether all places are taken.

    Of every match there is a row for each moment at which a player joins or leaves; what holds from
    there on lasts until the next one.
    """
    matches, (start, stop) = found.matches, found.window
    teams = int(matches.team_of.max(initial=0)) + 1
    skills, n = found.drawn.skills[matches.people], joins.size
    times = np.concatenate([joins, leaves])
    signs = np.repeat([1.0, -1.0], n)
    order = np.lexsort((times, np.tile(matches.of_players, 2)))
    of: Shorts = np.tile(matches.of_players, 2)[order]
    times = times[order]
    until = np.append(times[1:], 0.0)
    last = np.append(of[1:] != of[:-1], True)[: of.size]
    until = np.where(last, times, until)
    spent = np.clip(until, start, stop) - np.clip(times, start, stop)
    counts = np.zeros((times.size, teams))
    sums = np.zeros((times.size, teams))
    camp = np.tile(matches.team_of, 2)
    counts[np.arange(2 * n), camp] = signs
    sums[np.arange(2 * n), camp] = signs * np.tile(skills - found.factors.skill.mean, 2)
    counts = np.cumsum(counts[order], axis=0)
    sums = np.cumsum(sums[order], axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(counts > 0.5, sums / counts, np.nan)
    high = np.where(np.isnan(means), -np.inf, means).max(axis=1, initial=-np.inf)
    low = np.where(np.isnan(means), np.inf, means).min(axis=1, initial=np.inf)
    several = (counts > 0.5).sum(axis=1) >= 2
    with np.errstate(invalid="ignore"):
        gaps = np.where(several, expit((high - low) / found.factors.match.spread) - 0.5, 0.0)
    begins = found.played.times
    ends = begins + 60.0 * found.factors.match.minutes
    length = time_average(begins, ends, 1, (start, stop)) * (stop - start)
    full = spent[counts.sum(axis=1) > found.places - 0.5].sum()
    played = spent[several].sum()
    return (
        float((gaps * spent).sum() / played) if played > 0.0 else np.nan,
        float(full / length) if length > 0.0 else np.nan,
    )
