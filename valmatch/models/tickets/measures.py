"""Responses of a replication of tickets, of all and of groups."""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.arrays import Bools, Floats
from valmatch.matching.tickets.layout import COMPLETED
from valmatch.models.tickets.groups import (
    Replication,
    figures,
    group_of,
    masks,
    mean,
    over,
    percentile,
    time_average,
)
from valmatch.models.tickets.population import HOUR
from valmatch.models.tickets.preset_responses import measure_preset
from valmatch.models.tickets.responses import (
    OF_GROUPS,
    REASONS,
    groups,
    passed_waits,
    rule_names,
)
from valmatch.models.tickets.running import presence, running_figures


def measure(found: Replication) -> dict[str, float]:
    """Return all responses by name, but those of `pools`; NaN where undefined.

    Tickets that come after the warm-up, and matches made after it, are measured.
    """
    factors, drawn, played, matches = found.factors, found.drawn, found.played, found.matches
    every = figures(found, np.ones(drawn.times.size, np.bool_))
    made = played.times >= found.window[0]
    players = made[matches.of_players]
    of_tickets = ("timed_out_fraction", "win_prob")
    values: dict[str, float] = {
        **{name: value for name, value in every.items() if name not in of_tickets},
        "n_matches": int(made.sum()),
        "players_per_match": mean(matches.players[made]),
        "full_share": mean(matches.full[made]),
        "players_in_matches": _playing(found),
        "step_used": mean(matches.steps[made]),
        "latency": mean(matches.latencies[players]),
        "latency_p95": percentile(matches.latencies[players], 95),
        "latency_over_limit": over(matches.latencies[players], found.limit),
        "true_team_diff": mean(matches.true_diffs[made]),
        "seen_team_diff": mean(matches.seen_diffs[made]),
        "win_gap": mean(matches.gaps[made]),
        "worst_wait_ratio": _worst(found),
        "matchmaking_hours": _busy(drawn.times, played.ends, found.window) / HOUR,
    }
    values.update(measure_preset(found, made))
    for of in dict.fromkeys(factors.measure):
        values.update(_further(found, of, made))
    return values


def _further(found: Replication, of: str, made: Bools) -> dict[str, float]:
    """Return the responses of one kind that `measure` asks for."""
    factors, played = found.factors, found.played
    if of == "pools":
        return {}
    if of == "backfill":
        return running_figures(found)
    if of == "steps":
        steps = found.matches.steps[made]
        numbers = range(len(passed_waits(factors.expansions)) + 1)
        return {f"step_used.{step}": mean(steps == step) for step in numbers}
    if of == "reasons":
        why = found.unmatchable[found.came]
        return {f"never_matchable.{name}": int((why == k).sum()) for k, name in enumerate(REASONS)}
    if of == "rules":
        counts = {"passed": played.held, "failed": played.refused}
        return {
            f"rule_{verdict}.{name}": int(count)
            for verdict, own in counts.items()
            for name, count in zip(rule_names(factors.rules), own, strict=True)
        }
    values = {}
    for (_, name), group in zip(groups(factors, of), masks(found, of), strict=True):
        own = figures(found, group)
        values.update({f"{one.name}.{name}": own[one.name] for one in OF_GROUPS})
    return values


def _playing(found: Replication) -> float:
    """Return the time average of the number of players in matches."""
    match, played = found.factors.match, found.played
    if match.leave_prob == 0.0 and match.backfill == "none":
        ends = played.times + 60.0 * match.minutes
        return time_average(played.times, ends, found.matches.players, found.window)
    return time_average(*presence(found), np.ones(1), found.window)


def _worst(found: Replication) -> float:
    """Return the 90th percentile of the wait in the worst group over that of all.

    Groups of fewer than `FEW` matched tickets do not count.
    """
    drawn, played = found.drawn, found.played
    matched = found.came & (played.statuses == COMPLETED)
    waits, worst = (played.ends - drawn.times)[matched], math.nan
    for of in ("sizes", "regions"):
        numbers = group_of(found.factors, of, drawn)[matched]
        for number in np.unique(numbers):
            own = waits[numbers == number]
            if own.size >= FEW:
                worst = np.fmax(worst, percentile(own, 90))
    every = percentile(waits, 90)
    return float(worst / every) if every > 0.0 else math.nan


FEW = 20
"""Matched tickets of a group from which on its percentile says something."""


def _busy(begin: Floats, end: Floats, within: tuple[float, float]) -> float:
    """Return how long at least one of some things is there, which come in order of time."""
    first, last = np.clip(begin, *within), np.clip(end, *within)
    covered = np.maximum.accumulate(np.append(within[0], last))[:-1]
    return float(np.maximum(last - np.maximum(first, covered), 0.0).sum())
