"""Chapters on replays of tickets: who was matched after how long, by which steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from valmatch.plots.parts.replay_files import MATCHED, Replayed, read_replay
from valmatch.plots.parts.source import RunFiles, damaged
from valmatch.plots.parts.waiting import waiting_between
from valmatch.plots.report.document import Block, Chapter, Chart, Graph, Line, counted, joined
from valmatch.plots.report.origin import run_name
from valmatch.plots.sheets import (
    comparison_sheet,
    ends_sheet,
    judged_sheet,
    quantile,
    seconds,
    steps_sheet,
    waits_sheet,
)

COMPARISON = "comparison.json"

BINS, MOST_POINTS = 40, 400
"""Bins of time, and points of a line."""


def chapter(run: RunFiles) -> Chapter:
    """Return the chapter on a run of `rules replay`."""
    asked = f"Who is matched with whom and when, by the rules of {run_name(run)}?"
    result = Chapter("Replay of tickets", asked)
    if not (run.folder / "tickets.csv").exists() and run.status != "complete":
        return result
    searches = read_replay(run)
    logged: Mapping[str, Any] = {}
    if (run.folder / COMPARISON).exists():
        logged = run.json(COMPARISON)
    said = [_finding(search, found) for search, found in searches.items()]
    result.found = " ".join([*said, "This is one replay, without intervals."])
    with damaged(run.folder / COMPARISON):
        for search, found in searches.items():
            own = logged.get(search, {})
            result.blocks += _blocks(found, own, f", {search}" if len(searches) > 1 else "")
    return result


def _finding(search: str, found: Replayed) -> str:
    """Say what came of the tickets, by one search."""
    done = found.statuses.count(MATCHED)
    late = found.statuses.count("TIMED_OUT")
    said = [f"{counted(done, 'ticket')} {'is' if done == 1 else 'are'} matched"]
    waits = np.sort(np.concatenate([np.zeros(0), *found.matched.values()]))
    if waits.size:
        half, most = (seconds(quantile(waits.tolist(), level)) for level in (0.5, 0.9))
        said.append(f"half of those within {half} and 90 % within {most}")
    said.append(f"{late:,} time{'s' * (late == 1)} out")
    return f"By the search {search}, of all tickets (n = {len(found.statuses):,}), {joined(said)}."


def _blocks(found: Replayed, logged: Mapping[str, Any], of: str) -> Iterator[Block]:
    """Yield what is said of one search."""
    if logged:
        sheet = comparison_sheet(logged)
        yield Block(f"What the log says, and what the rules do{of}", sheet=sheet)
    yield Block(f"How tickets ended{of}", sheet=ends_sheet(found.statuses, found.lacking))
    charts = [*_queue(found), *_waits(found)]
    if charts:
        yield Block(f"What happened{of}", charts=charts)
    waits = {size: own.tolist() for size, own in found.matched.items()}
    yield Block(f"Waits by players of a ticket{of}", sheet=waits_sheet(waits, found.by_size))
    if found.steps:
        sheet = steps_sheet(found.steps, found.matches.size)
        text = "How many matches were proposed while each value held, by the age of the match."
        yield Block(f"Steps of expansions{of}", [text], sheet=sheet)
    if found.rules:
        sheet = judged_sheet(logged, found.rules)
        yield Block(f"Rules{of}", sheet=sheet, folded=True)


def _queue(found: Replayed) -> Iterator[Chart]:
    """Yield how many tickets wait in time, and when matches were made."""
    scale, unit = found.unit
    times = np.concatenate([found.joined, found.ended]) / scale
    if not np.isfinite(times).any():
        return
    first, last = float(np.nanmin(times)), float(np.nanmax(times))
    last = last if last > first else first + 1.0
    steps = waiting_between(first, last, found.joined / scale, found.ended / scale)
    edges = np.linspace(first, last, BINS + 1)
    # The mean number in each bin: what lies below the steps, divided by the bin.
    below = np.concatenate([[0.0], np.cumsum(steps.players[:-1] * np.diff(steps.hours))])
    means = np.diff(np.interp(edges, steps.hours, below)) / np.diff(edges)
    yield Graph("Waiting tickets, mean", f"time [{unit}]", "", edges=edges, counts=means)
    if found.matches.size:
        counts, _ = np.histogram(found.matches / scale, edges)
        made = counts.astype(np.float64)
        yield Graph("Matches made", f"time [{unit}]", "matches", edges=edges, counts=made)


def _waits(found: Replayed) -> Iterator[Chart]:
    """Yield which share of tickets of each size has been matched after how long."""
    lines, last = [], float(np.nanmax(found.waits, initial=0.0))
    for number, (size, waits) in enumerate(found.matched.items()):
        if waits.size:
            share = np.arange(1, waits.size + 1) / found.by_size[size]
            places = np.linspace(0, waits.size - 1, min(waits.size, MOST_POINTS)).astype(int)
            name = f"{size} player{'s' * (size != 1)}"
            x = np.concatenate([[0.0], waits[places], [last]])
            y = np.concatenate([[0.0], share[places], share[-1:]])
            lines.append(Line(name, x, y, colour=number))
    if lines:
        yield Graph("Share of tickets matched", "seconds since the ticket came", "", lines)
