"""Chapters on replays of tickets: who was matched after how long, by which steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from valmatch.present.document import Block, Chart, Graph, Line, Presentation, counted, joined
from valmatch.present.provenance import run_name
from valmatch.present.replay_files import MATCHED, Replayed, read_replay
from valmatch.present.series import queue_charts
from valmatch.present.sheets import (
    comparison_sheet,
    ends_sheet,
    judged_sheet,
    quantile,
    seconds,
    steps_sheet,
    waits_sheet,
)
from valmatch.present.source import RunFiles
from valmatch.storage.result_files import damaged

COMPARISON = "comparison.json"

MOST_POINTS = 400  # points of a line


def chapter(run: RunFiles) -> Presentation:
    """Return the chapter on a run of `rules replay`."""
    asked = f"Who is matched with whom and when, by the rules of {run_name(run)}?"
    result = Presentation("Replay of tickets", asked)
    if not (run.folder / "tickets.csv").exists() and run.status != "complete":
        return result
    searches = read_replay(run)
    logged: Mapping[str, Any] = {}
    if (run.folder / COMPARISON).exists():
        logged = run.json(COMPARISON)
    said = [_finding(search, found) for search, found in searches.items()]
    result.finding = " ".join([*said, "This is one replay, without intervals."])
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
    queue = queue_charts(found.joined, found.ended, found.matches, "tickets")
    charts = [*queue, *_waits(found)]
    if charts:
        yield Block(f"What happened{of}", charts=charts, figure="replay")
    waits = {size: own.tolist() for size, own in found.matched.items()}
    yield Block(f"Waits by players of a ticket{of}", sheet=waits_sheet(waits, found.by_size))
    if found.steps:
        sheet = steps_sheet(found.steps, found.matches.size)
        text = "How many matches were proposed while each value held, by the age of the match."
        yield Block(f"Steps of expansions{of}", [text], sheet=sheet)
    if found.rules:
        sheet = judged_sheet(logged, found.rules)
        yield Block(f"Rules{of}", sheet=sheet, folded=True)


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
