"""A day of the `ladder` model: the queue, and the matches that start."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.kernels.arrays import Floats
from valmatch.plots.ladder.time import label_below, read_time, shade
from valmatch.plots.parts.labels import label
from valmatch.plots.parts.source import RunFiles
from valmatch.plots.parts.style import FAINT, GOOD, counted, head, note, panels
from valmatch.plots.parts.waiting import fill_steps, waiting_between


class LadderDay(NamedTuple):
    """The queue and the matches of the last whole day, or of a run that is shorter."""

    number: int  # which day, counted from 0
    # length, warmup: hours of it, and those that belong to the warm-up
    length: float
    warmup: float
    # queued, ended: hours of that day at which each ticket came and went, from before it and to
    # after it; NaN where the run ended first
    queued: Floats
    ended: Floats
    starts: Floats  # hours at which matches started


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw a day of ``tickets.csv``."""
    day = read_day(run)
    figure, (queue, starts) = panels(2, 1, width=9.5, height=2.7)
    _queue(queue, day)
    _starts(starts, day)
    for axes in (queue, starts):
        if axes.has_data():
            shade(axes, day.warmup)
            label(axes, f"time on day {day.number} [hours]")
            axes.set_xlim(0.0, day.length)
            axes.set_ylim(bottom=0.0)
            if day.length == 24.0:
                axes.set_xticks(range(0, 25, 2))
    label_below(figure, (queue, starts))
    n = day.starts.size
    facts = (
        f"replication {run.manifest.get('replication')}",
        f"day {day.number}",
        f"{n:,} match{'es' * (n != 1)}",
    )
    head(figure, run.heading(*facts))
    return {"queue": figure}


def read_day(run: RunFiles) -> LadderDay:
    """Return what the tickets of a run say of its last whole day."""
    days, warmup = read_time(run)
    number = max(0, math.floor(days) - 1)
    first, length = 24.0 * number, 24.0 * min(1.0, days)
    columns = ("queued_hours", "ended_hours", "match")
    queued, ended, match = run.table("tickets.csv", columns).numbers.values()
    matched = ~np.isnan(match)
    _, firsts = np.unique(match[matched], return_index=True)
    starts = ended[matched][firsts] - first
    return LadderDay(
        number,
        length,
        min(length, max(0.0, 24.0 * warmup - first)),
        queued - first,
        ended - first,
        starts[(starts >= 0.0) & (starts < length)],
    )


def _queue(axes: Axes, day: LadderDay) -> None:
    """Draw the number of players who wait."""
    steps = waiting_between(0.0, day.length, day.queued, day.ended)
    if not steps.players.any():
        note(axes, "nobody waited")
        return
    fill_steps(axes, steps, FAINT)
    counted(axes, "waiting players")


def _starts(axes: Axes, day: LadderDay) -> None:
    """Draw the rate at which matches start, hour by hour."""
    if not day.starts.size:
        note(axes, "no match started")
        return
    edges = np.append(np.arange(0.0, day.length), day.length)
    counts, _ = np.histogram(day.starts, edges)
    axes.stairs(counts / np.diff(edges), edges, fill=True, color=GOOD, alpha=0.7)
    counted(axes, "matches started [per hour]")
