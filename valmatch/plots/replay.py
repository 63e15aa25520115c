"""A replay of tickets: who waits, waits by size of the ticket, steps that held."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.markers import TICKUP

from valmatch.kernels.arrays import Floats
from valmatch.plots.parts.bins import MOST_BINS
from valmatch.plots.parts.labels import entitle, label
from valmatch.plots.parts.replay_files import Replayed, Step, read_replay
from valmatch.plots.parts.source import RunFiles
from valmatch.plots.parts.style import COLOURS, FAINT, GOOD, counted, dots, head, note, panels
from valmatch.plots.parts.waiting import fill_steps, waiting_between
from valmatch.text.terminal import shortened

MOST_VALUES = 12  # values with steps of which the shares are drawn, the first ones
MOST_MATCHES = 400  # matches that are marked one by one; more are counted in bins

Drawer = Callable[[list[Axes], Replayed], None]


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw the files of a replay, a row of panels for each search."""
    searches = read_replay(run)
    figures = {
        "queue": _figure(run, searches, _queue, 2, 9.5, 2.3),
        "waits": _figure(run, searches, _waits, 1, 6.5, 3.2),
    }
    if any(one.steps for one in searches.values()):
        most = max(len(_values(one.steps)) for one in searches.values())
        figures["steps"] = _figure(run, searches, _steps, 1, 7.5, 1.1 + 0.34 * most)
    return figures


def _figure(
    run: RunFiles,
    searches: Mapping[str, Replayed],
    drawer: Drawer,
    each: int,
    width: float,
    height: float,
) -> Figure:
    """Return a figure with so many panels for each search."""
    figure, axes = panels(each * max(len(searches), 1), 1, width=width, height=height)
    for number, (search, found) in enumerate(searches.items()):
        own = axes[each * number : each * (number + 1)]
        drawer(own, found)
        if len(searches) > 1:
            entitle(own[0], f"search {search}")
    if not searches:
        note(axes[0], "no ticket")
    name = shortened(Path(run.manifest.source).name)
    facts = [f"replay of {name}", run.remark, *(_fact(*one) for one in searches.items())]
    head(figure, ", ".join(fact for fact in facts if fact))
    return figure


def _fact(search: str, found: Replayed) -> str:
    matches, tickets = found.matches.size, len(found.statuses)
    return f"{search}: {matches:,} matches of {tickets:,} tickets"


def _queue(axes: list[Axes], found: Replayed) -> None:
    """Draw how many tickets wait, and when matches are made."""
    waiting, made = axes
    seconds, unit = found.unit
    times = np.concatenate([found.joined, found.ended]) / seconds
    if not np.isfinite(times).any():
        note(waiting, "nobody waited")
        note(made, "no match")
        return
    first, last = float(np.nanmin(times)), float(np.nanmax(times))
    last = last if last > first else first + 1.0
    steps = waiting_between(first, last, found.joined / seconds, found.ended / seconds)
    fill_steps(waiting, steps, FAINT)
    counted(waiting, "waiting tickets")
    if found.matches.size:
        edges = np.linspace(first, last, MOST_BINS + 1)
        counts, _ = np.histogram(found.matches / seconds, edges)
        made.stairs(counts, edges, fill=True, color=GOOD, alpha=0.7)
        counted(made, "matches made")
        if found.matches.size <= MOST_MATCHES:
            tick: dict[str, Any] = {"marker": TICKUP, "markersize": 6.0, "markeredgewidth": 1.0}
            zeros = np.zeros(found.matches.size)
            dots(waiting, found.matches / seconds, zeros, color=GOOD, clip_on=False, **tick)
    else:
        note(made, "no match")
    for one in axes:
        if one.has_data():
            one.set_xlim(first, last)
            one.set_ylim(bottom=0.0)
    label(made, f"time [{unit}]")


def _waits(axes: list[Axes], found: Replayed) -> None:
    """Draw, for each size of tickets, which share of all has been matched after how long."""
    (own,) = axes
    drawn, last = 0, float(np.nanmax(found.waits, initial=0.0))
    for number, (size, waits) in enumerate(found.matched.items()):
        if not waits.size:
            continue
        share = np.arange(1, waits.size + 1) / found.by_size[size]
        x, y = _whole(waits, share, last)
        name = f"{size} player{'s' * (size != 1)} (n = {found.by_size[size]:,})"
        own.step(x, y, where="post", color=COLOURS[number % len(COLOURS)], label=name)
        drawn += 1
    if not drawn:
        note(own, "nobody was matched")
        return
    own.set_ylim(0.0, 1.02)
    own.set_xlim(left=0.0)
    label(own, "seconds since the ticket came", "share of tickets matched")
    own.legend(loc="best")


def _whole(waits: Floats, share: Floats, last: float) -> tuple[Floats, Floats]:
    """Return the steps of a share from 0 on, to the last of all waits."""
    return np.concatenate([[0.0], waits, [last]]), np.concatenate([[0.0], share, share[-1:]])


def _values(steps: list[Step]) -> dict[str, list[Step]]:
    """Return the steps by the value that they are of."""
    found = {what: list(own) for what, own in groupby(steps, key=lambda step: step.what)}
    return dict(list(found.items())[:MOST_VALUES])


def _steps(axes: list[Axes], found: Replayed) -> None:
    """Draw, for each value that changes, the share of matches at each of its steps."""
    (own,) = axes
    values = _values(found.steps)
    if not found.matches.size or not values:
        note(own, "no match" if values else "no value changes")
        return
    for row, steps in enumerate(values.values()):
        left = 0.0
        total = math.fsum(step.matches for step in steps) or 1.0
        for number, step in enumerate(steps):
            share = step.matches / total
            own.barh(row, share, left=left, color=COLOURS[number % len(COLOURS)], alpha=0.75)
            if share >= 0.12:
                said = f"{shortened(step.value, 14)} from {step.begins:g} s"
                own.text(left + share / 2, row, said, ha="center", va="center", fontsize=7.5)
            left += share
    own.set_yticks(range(len(values)), [shortened(what, 40) for what in values])
    own.set_xlim(0.0, 1.0)
    own.invert_yaxis()
    label(own, "share of matches proposed while the step held")
