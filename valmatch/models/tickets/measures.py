"""Responses of a replication of tickets, of all and of groups."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from valmatch.kernels.arrays import Bools
from valmatch.matching.tickets.layout import COMPLETED
from valmatch.models.tickets.arrivals import HOUR
from valmatch.models.tickets.gathering import (
    Count,
    CountedPercentile,
    Covered,
    Mean,
    Part,
    Parts,
    TimeAverage,
    Whole,
    WorstPercentile,
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


def measure(blocks: Iterable[Replication]) -> dict[str, float]:
    """Return all responses by name, but those of `pools`; NaN where undefined.

    Tickets that come after the warm-up, and matches made after it, are measured.
    """
    every = Parts()
    for found in blocks:
        every.merge(gather(found))
    return every.values_of()


def gather(found: Replication) -> Parts:
    """Return what is measured of a block."""
    factors, played, matches = found.factors, found.played, found.matches
    parts = figures(found, np.ones(found.drawn.times.size, np.bool_))
    del parts["timed_out_fraction"], parts["win_prob"]
    made = played.times >= found.window[0]
    latencies = matches.latencies[made[matches.of_players]]
    parts |= {
        "n_matches": Count.of(made),
        "players_per_match": Mean.of(matches.players[made]),
        "full_share": Mean.of(matches.full[made]),
        "players_in_matches": _playing(found),
        "step_used": Mean.of(matches.steps[made]),
        "latency": Mean.of(latencies),
        "latency_p95": CountedPercentile.of(latencies, 95),
        "latency_over_limit": over(latencies, found.limit),
        "true_team_diff": Mean.of(matches.true_diffs[made]),
        "seen_team_diff": Mean.of(matches.seen_diffs[made]),
        "win_gap": Mean.of(matches.gaps[made]),
        "worst_wait_ratio": _worst(found),
        "matchmaking_hours": Covered.of(found.drawn.times, played.ends, found.window, HOUR),
    }
    parts |= {name: Whole(value) for name, value in measure_preset(found, made).items()}
    for of in dict.fromkeys(factors.measure):
        parts |= _further(found, of, made)
    return parts


def _further(found: Replication, of: str, made: Bools) -> dict[str, Part]:
    """Return the responses of one kind that `measure` asks for."""
    factors, played = found.factors, found.played
    if of == "pools":
        return {}
    if of == "backfill":
        return {name: Whole(value) for name, value in running_figures(found).items()}
    if of == "steps":
        steps = found.matches.steps[made]
        numbers = range(len(passed_waits(factors.expansions)) + 1)
        return {f"step_used.{step}": Mean.of(steps == step) for step in numbers}
    if of == "reasons":
        why = found.unmatchable[found.came]
        return {f"never_matchable.{name}": Count.of(why == k) for k, name in enumerate(REASONS)}
    if of == "rules":
        counts = {"passed": played.held, "failed": played.refused}
        return {
            f"rule_{verdict}.{name}": Count(int(count))
            for verdict, own in counts.items()
            for name, count in zip(rule_names(factors.rules), own, strict=True)
        }
    parts: dict[str, Part] = {}
    for (_, name), group in zip(groups(factors, of), masks(found, of), strict=True):
        own = figures(found, group)
        parts.update({f"{one.name}.{name}": own[one.name] for one in OF_GROUPS})
    return parts


def _playing(found: Replication) -> TimeAverage:
    """Return the time average of the number of players in matches."""
    match, played = found.factors.match, found.played
    if match.leave_prob == 0.0 and match.backfill == "none":
        ends = played.times + 60.0 * match.minutes
        return TimeAverage.of(played.times, ends, found.matches.players, found.window)
    return TimeAverage.of(*presence(found), 1, found.window)


def _worst(found: Replication) -> WorstPercentile:
    """Return the 90th percentile of the wait in the worst group over that of all."""
    drawn, played = found.drawn, found.played
    matched = found.came & (played.statuses == COMPLETED)
    waits = (played.ends - drawn.times)[matched]
    numbers = [group_of(found.factors, of, drawn)[matched] for of in ("sizes", "regions")]
    return WorstPercentile(90, FEW, [(waits, np.array(numbers, np.int8))])


FEW = 20  # matched tickets of a group from which on its percentile says something
