"""Presentation of a replay of tickets: who was matched after how long, by which steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.experiments.replay_result import ReplayedTickets
from valmatch.present import document as d
from valmatch.present.bins import queue_charts
from valmatch.text.terminal import shortened

MATCHED = "COMPLETED"

MOST_POINTS = 400  # points of a line
MOST_BLOCKERS = 3  # tickets that block others, most of whom are named

Waits = Mapping[int, Sequence[float]]  # those of tickets that were matched, sorted, by size


def present(result: ReplayedTickets, view: d.View) -> d.Presentation:
    """Return what a replay shows."""
    rules = shortened(Path(result.source).name)
    found = d.Presentation("Replay of tickets", f"Who is matched with whom and when, by {rules}?")
    said = []
    for search, numbers in result.results.items():
        tickets = result.rows("tickets", search)
        waits, sizes = _waits(tickets), _sizes(tickets)
        of = f", {search}" if len(result.results) > 1 else ""
        said.append(_finding(search, tickets["status"], waits))
        found.tables += _tables(result, search, numbers, of)
        matches = np.sort(d.floats(result.rows("matches", search)["time"]))
        joined_at, ended_at = (d.floats(tickets[name]) for name in ("time", "end"))
        queue = queue_charts(joined_at, ended_at, matches, "tickets")
        charts: list[d.Chart] = [*queue, *_share_matched(waits, sizes)]
        found.charts.append(d.Block(f"What happened{of}", charts=charts, figure="replay"))
    found.finding = " ".join([*said, "This is one replay, without intervals."])
    return found


def _tables(
    result: ReplayedTickets, search: str, numbers: Mapping[str, Any], of: str
) -> Iterator[d.Block]:
    """Yield the tables of one search."""
    tickets = result.rows("tickets", search)
    waits, sizes, matches = _waits(tickets), _sizes(tickets), int(numbers["matches"])
    if compared := numbers.get("compared"):
        yield d.Block(f"What the log says, and what the rules do{of}", table=_compared(compared))
    lacking = sum(bool(lack) for lack in tickets["unmatchable"])
    ends = _ends(tickets["status"], lacking)
    many = "match" if matches == 1 else "matches"
    ends.title = f"search {search}: {matches:,} {many} of {numbers['tickets']:,} tickets"
    yield d.Block(f"How tickets ended{of}", table=ends, items=_blocked(numbers))
    yield d.Block(f"Waits by players of a ticket{of}", table=_waits_by_size(waits, sizes))
    steps = result.rows("steps", search)
    if steps["what"]:
        text = "How many matches were proposed while each value held, by the age of the match."
        yield d.Block(f"Steps of expansions{of}", [text], table=_steps(steps, matches))
    if numbers["rules"]:
        judged = _judged(numbers.get("compared", {}), numbers["rules"])
        yield d.Block(f"Rules{of}", table=judged, folded=True)


def _waits(tickets: Mapping[str, Sequence[Any]]) -> dict[int, list[float]]:
    """Return the waits of tickets that were matched, sorted, by size."""
    found: dict[int, list[float]] = {size: [] for size in _sizes(tickets)}
    for wait, size, status in zip(
        tickets["wait"], tickets["players"], tickets["status"], strict=True
    ):
        if status == MATCHED and wait is not None and not math.isnan(wait):
            found[int(size)].append(wait)
    return {size: sorted(waits) for size, waits in found.items()}


def _sizes(tickets: Mapping[str, Sequence[Any]]) -> dict[int, int]:
    """Return how many tickets there are of each size."""
    sizes = sorted(int(size) for size in tickets["players"])
    return {size: sizes.count(size) for size in dict.fromkeys(sizes)}


def _finding(search: str, statuses: Sequence[str], waits: Waits) -> str:
    """Say what came of the tickets, by one search."""
    done, late = list(statuses).count(MATCHED), list(statuses).count("TIMED_OUT")
    said = [f"{d.counted(done, 'ticket')} {'is' if done == 1 else 'are'} matched"]
    whole = sorted(wait for own in waits.values() for wait in own)
    if whole:
        half, most = (seconds(quantile(whole, level)) for level in (0.5, 0.9))
        said.append(f"half of those within {half} and 90 % within {most}")
    said.append(f"{late:,} time{'s' * (late == 1)} out")
    return f"By the search {search}, of all tickets (n = {len(statuses):,}), {d.joined(said)}."


def _blocked(numbers: Mapping[str, Any]) -> list[str]:
    """Say who waited behind whom."""
    blocked = numbers.get("blocked_by", [])
    said = [
        f"blocked: {one['behind']:,} tickets of {numbers['tickets']:,} waited behind"
        f" {' and '.join(one['tickets'])}, which could join them, and without which they had a"
        " match"
        for one in blocked[:MOST_BLOCKERS]
    ]
    if len(blocked) > MOST_BLOCKERS:
        said.append(f"blocked: by {len(blocked) - MOST_BLOCKERS:,} others, fewer")
    if numbers.get("reviews_looked_at", 0) < numbers.get("reviews", 0):
        looked, every = numbers["reviews_looked_at"], numbers["reviews"]
        seen = "seen" if blocked else "nobody, as seen"
        said.append(f"blocked: {seen} at {looked:,} of {every:,} reviews at even distances")
    return said


def _share_matched(waits: Waits, sizes: Mapping[int, int]) -> Iterator[d.Chart]:
    """Yield which share of tickets of each size has been matched after how long."""
    last = max((own[-1] for own in waits.values() if own), default=0.0)
    lines = []
    for number, (size, own) in enumerate(waits.items()):
        if own:
            share = np.arange(1, len(own) + 1) / sizes[size]
            places = np.linspace(0, len(own) - 1, min(len(own), MOST_POINTS)).astype(int)
            x = np.concatenate([[0.0], np.array(own)[places], [last]])
            y = np.concatenate([[0.0], share[places], share[-1:]])
            lines.append(d.Line(d.counted(size, "player"), x, y, colour=number))
    if lines:
        yield d.Graph("Share of tickets matched", "seconds since the ticket came", "", lines)


ENDS = ("matched", "timed_out", "cancelled", "failed", "searching")
COMPARED = {
    "matches": "matches",
    **{name: name.replace("_", " ") for name in ENDS},
    "time_to_match": "time to match, mean",
    "time_to_match_p50": "time to match, half",
    "time_to_match_p90": "time to match, 90 %",
}


def _compared(compared: Mapping[str, Any]) -> d.TextTable:
    """Return how tickets ended in a game's log and by the rules."""
    table = d.TextTable.of("tickets", "in the log", "by the rules", left=["tickets"])
    log, rules = compared["log"], compared["rules"]
    for name, said in COMPARED.items():
        shown = seconds if name.startswith("time_") else "{:,}".format
        table.add(said, shown(log[name]), shown(rules[name]))
    tickets = sum(log[name] for name in ENDS)
    table.notes.append(f"{compared['same_end']:,} of {tickets:,} tickets end alike")
    both, difference = compared["matched_in_both"], compared["wait_difference"]
    if difference is not None:
        longer = "longer" if difference >= 0 else "shorter"
        said = f"by the rules they wait {abs(difference):.4g} s {longer}"
        table.notes.append(f"{both:,} are matched in both: {said}")
    same = compared["same_matches"]
    table.notes.append(f"{same:,} of {log['matches']:,} matches of the log have the same tickets")
    return table


def _judged(compared: Mapping[str, Any], rules: Mapping[str, Mapping[str, int]]) -> d.TextTable:
    """Return how often rules passed and failed, in the log where it says so."""
    logged = compared.get("judged_in_log", {})
    heads = ["rule", "passed", "failed", *(["passed in the log", "failed in it"] if logged else [])]
    table = d.TextTable.of(*heads)
    for name, counts in rules.items():
        own = logged.get(name)
        theirs = [f"{own['passed']:,}", f"{own['failed']:,}"] if own else []
        table.add(name, f"{counts['passed']:,}", f"{counts['failed']:,}", *theirs)
    return table


def _ends(statuses: Sequence[str], unmatchable: int) -> d.TextTable:
    """Return how many tickets ended how."""
    table = d.TextTable.of("end", "tickets", "share")
    for status in sorted(dict.fromkeys(statuses), key=lambda one: one != MATCHED):
        number = list(statuses).count(status)
        said = status.lower().replace("_", " ") or "after the horizon"
        table.add(said, f"{number:,}", f"{number / len(statuses):.1%}")
    if unmatchable:
        table.notes.append(f"{unmatchable:,} tickets lack an attribute and cannot be matched")
    return table


def _waits_by_size(waits: Mapping[int, Sequence[float]], tickets: Mapping[int, int]) -> d.TextTable:
    """Return waits by the size of tickets."""
    table = d.TextTable.of("players", "tickets", "matched", "mean wait", "half", "90 %", left=[])
    for size, number in sorted(tickets.items()):
        own = waits.get(size, ())
        share = f"{len(own) / number:.1%}" if number else ""
        mean = math.fsum(own) / len(own) if own else None
        levels = [seconds(quantile(own, level)) for level in (0.5, 0.9)]
        table.add(f"{size}", f"{number:,}", share, seconds(mean), *levels)
    return table


def _steps(steps: Mapping[str, Sequence[Any]], matches: int) -> d.TextTable:
    """Return which steps held when matches were proposed."""
    table = d.TextTable.of("value", "from", "is", "matches", "share", left=["value"])
    last = ""
    names = ("what", "from_seconds", "value", "matches")
    for what, begins, value, number in zip(*(steps[name] for name in names), strict=True):
        share = f"{number / matches:.1%}" if matches else ""
        table.add("" if what == last else what, f"{begins:g} s", value, f"{number:,.0f}", share)
        last = what
    return table


def quantile(values: Sequence[float], level: float) -> float | None:
    """Return the least value that so large a share of sorted values does not exceed."""
    return values[max(math.ceil(level * len(values)) - 1, 0)] if len(values) else None


def seconds(value: float | None) -> str:
    """Return seconds as tables show them."""
    return "" if value is None else f"{value:.1f} s"
