"""Responses of a replication of tickets, of all and of groups."""

from __future__ import annotations

import numpy as np

from valmatch.kernels.arrays import Bools
from valmatch.matching.tickets.layout import COMPLETED
from valmatch.models.tickets.arrivals import HOUR
from valmatch.models.tickets.averages import (
    count,
    covered,
    mean,
    percentile,
    time_average,
    worst_percentile,
)
from valmatch.models.tickets.groups import Replication, figures, group_of, masks, over
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
    factors, played, matches = found.factors, found.played, found.matches
    values = figures(found, np.ones(found.drawn.times.size, np.bool_))
    del values["timed_out_fraction"], values["win_prob"]
    made = played.times >= found.window[0]
    latencies = matches.latencies[made[matches.of_players]]
    values |= {
        "n_matches": count(made),
        "players_per_match": mean(matches.players[made]),
        "full_share": mean(matches.full[made]),
        "players_in_matches": _playing(found),
        "step_used": mean(matches.steps[made]),
        "latency": mean(latencies),
        "latency_p95": percentile(latencies, 95),
        "latency_over_limit": over(latencies, found.limit),
        "true_team_diff": mean(matches.true_diffs[made]),
        "seen_team_diff": mean(matches.seen_diffs[made]),
        "win_gap": mean(matches.gaps[made]),
        "worst_wait_ratio": _worst(found),
        "matchmaking_hours": covered(found.drawn.times, played.ends, found.window) / HOUR,
    }
    values |= measure_preset(found, made)
    for of in dict.fromkeys(factors.measure):
        values |= _further(found, of, made)
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
        return {f"never_matchable.{name}": count(why == k) for k, name in enumerate(REASONS)}
    if of == "rules":
        counts = {"passed": played.held, "failed": played.refused}
        return {
            f"rule_{verdict}.{name}": int(count)
            for verdict, own in counts.items()
            for name, count in zip(rule_names(factors.rules), own, strict=True)
        }
    values: dict[str, float] = {}
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
    return time_average(*presence(found), 1, found.window)


def _worst(found: Replication) -> float:
    """Return the 90th percentile of the wait in the worst group over that of all."""
    drawn, played = found.drawn, found.played
    matched = found.came & (played.statuses == COMPLETED)
    waits = (played.ends - drawn.times)[matched]
    divisions = [group_of(found.factors, of, drawn)[matched] for of in ("sizes", "regions")]
    return worst_percentile(waits, divisions, 90, FEW)


FEW = 20  # matched tickets of a group from which on its percentile says something
