"""Tables of replays of tickets: ends, waits, steps, rules, and what a game's log says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from valmatch.text.sheet import Sheet

ENDS = ("matches", "matched", "timed_out", "cancelled", "failed", "searching")
WAITS = {
    "time_to_match": "time to match, mean",
    "time_to_match_p50": "time to match, half",
    "time_to_match_p90": "time to match, 90 %",
}


def comparison_sheet(compared: Mapping[str, Any]) -> Sheet:
    """Return how tickets ended in a game's log and by the rules."""
    sheet = Sheet.of("tickets", "in the log", "by the rules", left=["tickets"])
    log, rules = compared["log"], compared["rules"]
    for name in ENDS:
        sheet.add(name.replace("_", " "), f"{log[name]:,}", f"{rules[name]:,}")
    for name, said in WAITS.items():
        sheet.add(said, seconds(log[name]), seconds(rules[name]))
    tickets = sum(log[name] for name in ENDS[1:])
    sheet.notes.append(f"{compared['same_end']:,} of {tickets:,} tickets end alike")
    both, difference = compared["matched_in_both"], compared["wait_difference"]
    if difference is not None:
        longer = "longer" if difference >= 0 else "shorter"
        said = f"by the rules they wait {abs(difference):.4g} s {longer}"
        sheet.notes.append(f"{both:,} are matched in both: {said}")
    same = compared["same_matches"]
    sheet.notes.append(f"{same:,} of {log['matches']:,} matches of the log have the same tickets")
    return sheet


def judged_sheet(compared: Mapping[str, Any], rows: Sequence[tuple[str, float, float]]) -> Sheet:
    """Return how often rules passed and failed, in the log where it says so.

    Shapes: `rows` (str, float, float).
    """
    logged = compared.get("judged_in_log", {})
    heads = ["rule", "passed", "failed", *(["passed in the log", "failed in it"] if logged else [])]
    sheet = Sheet.of(*heads, left=["rule"])
    for name, passed, failed in rows:
        own = logged.get(name)
        theirs = [f"{own['passed']:,}", f"{own['failed']:,}"] if own else []
        sheet.add(name, f"{passed:,.0f}", f"{failed:,.0f}", *theirs)
    return sheet


def ends_sheet(statuses: Sequence[str], unmatchable: int) -> Sheet:
    """Return how many tickets ended how."""
    sheet = Sheet.of("end", "tickets", "share", left=["end"])
    for status in dict.fromkeys(statuses):
        number = list(statuses).count(status)
        said = status.lower().replace("_", " ") or "after the horizon"
        sheet.add(said, f"{number:,}", f"{number / len(statuses):.1%}")
    if unmatchable:
        sheet.notes.append(f"{unmatchable:,} tickets lack an attribute and cannot be matched")
    return sheet


def waits_sheet(waits: Mapping[int, Sequence[float]], tickets: Mapping[int, int]) -> Sheet:
    """Return waits by the size of tickets."""
    sheet = Sheet.of("players", "tickets", "matched", "mean wait", "half", "90 %", left=[])
    for size, number in sorted(tickets.items()):
        own = waits.get(size, ())
        share = f"{len(own) / number:.1%}" if number else ""
        mean = math.fsum(own) / len(own) if own else None
        levels = [seconds(quantile(own, level)) for level in (0.5, 0.9)]
        sheet.add(f"{size}", f"{number:,}", share, seconds(mean), *levels)
    return sheet


def steps_sheet(rows: Sequence[tuple[str, float, str, float]], matches: int) -> Sheet:
    """Return which steps held when matches were proposed.

    Shapes: `rows` (str, float, str, float).
    """
    sheet = Sheet.of("value", "from", "is", "matches", "share", left=["value"])
    last = ""
    for what, begins, value, number in rows:
        share = f"{number / matches:.1%}" if matches else ""
        sheet.add("" if what == last else what, f"{begins:g} s", value, f"{number:,.0f}", share)
        last = what
    return sheet


def quantile(values: Sequence[float], level: float) -> float | None:
    """Return the least value that so large a share of sorted values does not exceed."""
    return values[max(math.ceil(level * len(values)) - 1, 0)] if len(values) else None


def seconds(value: float | None) -> str:
    """Return seconds as tables show them."""
    return "" if value is None else f"{value:.1f} s"
