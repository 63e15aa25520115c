"""Presentation of a replay of tickets: who was matched after how long, by which steps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.experiments.explain import DONE
from valmatch.experiments.replay import ReplayedTickets
from valmatch.present import document as d
from valmatch.text.terminal import shortened

MOST_POINTS = 400  # points of a line
MOST_BLOCKERS = 3  # tickets that block others, most of whom are named

Columns = Mapping[str, Sequence[Any]]
Waits = Mapping[int, Sequence[float]]  # those of tickets that were matched, sorted, by size


def present_replay(result: ReplayedTickets, view: d.View) -> d.Presentation:
    """Return what a replay shows."""
    rules = shortened(Path(result.source).name)
    page = d.Presentation("Replay of tickets", f"Who is matched with whom and when, by {rules}?")
    findings = []
    for search, numbers in result.results.items():
        tickets = result.rows("tickets", search)
        counts = dict(sorted(Counter(map(int, tickets["players"])).items()))
        waits = _waits(tickets, counts)
        of = f", {search}" if len(result.results) > 1 else ""
        findings.append(_finding(search, tickets["status"], waits))
        if compared := numbers.get("compared"):
            title = f"What the log says, and what the rules do{of}"
            page.tables.append(d.Block(title, table=_compared(compared)))
        page.tables += [
            d.Block(
                f"How tickets ended{of}",
                table=_ends(search, numbers, tickets),
                items=_blocked(numbers),
            ),
            d.Block(f"Waits by players of a ticket{of}", table=_waits_by_size(waits, counts)),
        ]
        steps = result.rows("steps", search)
        if steps["what"]:
            text = "How many matches were proposed while each value held, by the age of the match."
            table = _steps(steps, int(numbers["matches"]))
            page.tables.append(d.Block(f"Steps of expansions{of}", [text], table=table))
        if numbers["rules"]:
            table = _judged(compared or {}, numbers["rules"])
            page.tables.append(d.Block(f"Rules{of}", table=table, folded=True))
        matches = np.sort(d.floats(result.rows("matches", search)["time"]))
        came, went = (d.floats(tickets[name]) for name in ("time", "end"))
        queue = d.queue_charts(came, went, matches, "tickets")
        charts: list[d.Chart] = [*queue, *_share_matched(waits, counts)]
        page.charts.append(d.Block(f"What happened{of}", charts=charts, figure="replay"))
    page.finding = " ".join([*findings, "This is one replay, without intervals."])
    return page


def _waits(tickets: Columns, sizes: Mapping[int, int]) -> dict[int, list[float]]:
    waits: dict[int, list[float]] = {size: [] for size in sizes}
    columns = (tickets[name] for name in ("wait", "players", "status"))
    for wait, size, status in zip(*columns, strict=True):
        if status == DONE and wait is not None and not math.isnan(wait):
            waits[int(size)].append(wait)
    return {size: sorted(times) for size, times in waits.items()}


def _finding(search: str, statuses: Sequence[str], waits: Waits) -> str:
    """Say what came of the tickets, by one search."""
    matched, late = list(statuses).count(DONE), list(statuses).count("TIMED_OUT")
    parts = [f"{d.counted(matched, 'ticket')} {'is' if matched == 1 else 'are'} matched"]
    if every := sorted(wait for times in waits.values() for wait in times):
        half, most = (seconds(quantile(every, level)) for level in (0.5, 0.9))
        parts.append(f"half of those within {half} and 90 % within {most}")
    parts.append(f"{late:,} time{'s' * (late == 1)} out")
    return f"By the search {search}, of all tickets (n = {len(statuses):,}), {d.joined(parts)}."


def _ends(search: str, numbers: Mapping[str, Any], tickets: Columns) -> d.TextTable:
    matches, ends = int(numbers["matches"]), Counter(tickets["status"])
    many = "match" if matches == 1 else "matches"
    title = f"search {search}: {matches:,} {many} of {numbers['tickets']:,} tickets"
    table = d.TextTable.of("end", "tickets", "share", title=title)
    for status in sorted(ends, key=lambda end: end != DONE):
        end = status.lower().replace("_", " ") or "after the horizon"
        table.add(end, f"{ends[status]:,}", f"{ends[status] / ends.total():.1%}")
    if lacking := sum(map(bool, tickets["unmatchable"])):
        table.notes.append(f"{lacking:,} tickets lack an attribute and cannot be matched")
    return table


def _blocked(numbers: Mapping[str, Any]) -> list[str]:
    blocked = numbers.get("blocked_by", [])
    lines = [
        f"blocked: {blocker['behind']:,} tickets of {numbers['tickets']:,} waited behind"
        f" {' and '.join(blocker['tickets'])}, which could join them, and without which they had a"
        " match"
        for blocker in blocked[:MOST_BLOCKERS]
    ]
    if len(blocked) > MOST_BLOCKERS:
        lines.append(f"blocked: by {len(blocked) - MOST_BLOCKERS:,} others, fewer")
    looked, every = numbers.get("reviews_looked_at", 0), numbers.get("reviews", 0)
    if looked < every:
        seen = "seen" if blocked else "nobody, as seen"
        lines.append(f"blocked: {seen} at {looked:,} of {every:,} reviews at even distances")
    return lines


def _share_matched(waits: Waits, sizes: Mapping[int, int]) -> Iterator[d.Chart]:
    """Yield which share of tickets of each size has been matched after how long."""
    last = max((times[-1] for times in waits.values() if times), default=0.0)
    lines = []
    for k, (size, times) in enumerate(waits.items()):
        if times:
            share = np.arange(1, len(times) + 1) / sizes[size]
            thinned = np.linspace(0, len(times) - 1, min(len(times), MOST_POINTS)).astype(int)
            x = np.concatenate([[0.0], np.array(times)[thinned], [last]])
            y = np.concatenate([[0.0], share[thinned], share[-1:]])
            lines.append(d.Line(d.counted(size, "player"), x, y, colour=k))
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
    for name, label in COMPARED.items():
        shown = seconds if name.startswith("time_") else "{:,}".format
        cells = shown(log[name]), shown(rules[name])
        if any(cells):
            table.add(label, *cells)
    tickets = sum(log[name] for name in ENDS)
    table.notes.append(f"{compared['same_end']:,} of {tickets:,} tickets end alike")
    both, difference = compared["matched_in_both"], compared["wait_difference"]
    if difference is not None:
        wait = f"they wait {abs(difference):.4g} s {'longer' if difference >= 0 else 'shorter'}"
        table.notes.append(f"{both:,} are matched in both: by the rules {wait}")
    same = compared["same_matches"]
    table.notes.append(f"{same:,} of {log['matches']:,} matches of the log have the same tickets")
    return table


def _judged(compared: Mapping[str, Any], rules: Mapping[str, Mapping[str, int]]) -> d.TextTable:
    """Return how often rules passed and failed, in the log where it says so."""
    logged = compared.get("judged_in_log", {})
    heads = ("passed in the log", "failed in it") if logged else ()
    table = d.TextTable.of("rule", "passed", "failed", *heads)
    for name, counts in rules.items():
        both = [counts, *([logged[name]] if name in logged else [])]
        table.add(name, *(f"{side[key]:,}" for side in both for key in ("passed", "failed")))
    return table


def _waits_by_size(waits: Waits, tickets: Mapping[int, int]) -> d.TextTable:
    table = d.TextTable.of("players", "tickets", "matched", "mean wait", "half", "90 %", left=[])
    for size, number in tickets.items():
        times = waits[size]
        mean = math.fsum(times) / len(times) if times else None
        cells = map(seconds, (mean, quantile(times, 0.5), quantile(times, 0.9)))
        table.add(f"{size}", f"{number:,}", f"{len(times) / number:.1%}", *cells)
    return table


def _steps(steps: Columns, matches: int) -> d.TextTable:
    """Return which steps held when matches were proposed."""
    table = d.TextTable.of("value", "from", "is", "matches", "share", left=["value"])
    names, last = ("what", "from_seconds", "value", "matches"), ""
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
