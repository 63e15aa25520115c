"""The tables, numbers in sentences and charts of this study, from the rows of its files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from results.pages import table
from results.tickets.commands import CELLS, Run

Row = dict[str, str]
Rows = Sequence[Row]


class Shown(NamedTuple):
    """How a response is shown: its words and unit, digits, and what it is multiplied by."""

    words: str
    unit: str
    digits: int
    factor: float = 1.0


SHOWN = {
    "time_to_match": Shown("mean wait", "s", 1),
    "time_to_match_p90": Shown("p90 of the wait", "s", 1),
    "matched_fraction": Shown("matched", "%", 1, 100.0),
    "timed_out_fraction": Shown("timed out", "%", 1, 100.0),
    "win_gap": Shown("`win_gap`", "", 4),
    "win_prob": Shown("chance to win", "%", 1, 100.0),
    "latency": Shown("latency", "ms", 1),
    "seen_team_diff": Shown("teams apart as seen", "points", 1),
    "true_team_diff": Shown("teams apart in truth", "points", 1),
    "worst_wait_ratio": Shown("p90 of the worst group to that of all", "", 2),
    "blocked_by": Shown("reviews with a blocker", "%", 1, 100.0),
    "search_gap": Shown("left out by `pass`", "%", 1, 100.0),
    "rule_failed": Shown("refused", "thousand", 0, 0.001),
    "players_per_match": Shown("players at the start", "", 2),
    "played_win_gap": Shown("`win_gap` over its time", "", 4),
    "places_taken": Shown("places taken", "%", 1, 100.0),
    "full_time": Shown("time full", "%", 1, 100.0),
    "time_to_match_p99": Shown("p99 of the wait", "s", 1),
    "skill_spread": Shown("players apart in truth", "points", 1),
    "skipped": Shown("matches that skip an older ticket", "%", 1, 100.0),
    "repeat_share": Shown("repeated", "%", 2, 100.0),
    "believed_win_prob": Shown("chance to win that the rule believes in", "%", 1, 100.0),
    "relaxed": Shown("reviews that ask for less", "%", 1, 100.0),
    "reviews": Shown("reviews", "", 0),
}


def split(response: str) -> tuple[str, str]:
    """Return the measure of a response, and its group."""
    measure, _, group = response.partition(".")
    return measure, group


def headed(response: str) -> str:
    """Return what stands above a column."""
    measure, group = split(response)
    shown = SHOWN[measure]
    of_hours = re.fullmatch(r"[\d-]+h", group)
    named = f" from {group.replace('-', ' to ')}" if of_hours else f", {group.replace('_', ' ')}"
    words = f"{shown.words}{named}" if group else shown.words
    return f"{words}, {shown.unit}" if shown.unit else words


def text_of(row: Row, *, of_base: bool = False) -> str:
    """Return a mean, or a difference with its sign, with its interval; empty where undefined."""
    shown = SHOWN[split(row["response"])[0]]
    differs = bool(row["base"])
    if of_base:
        return f"{float(row['base']) * shown.factor:,.{shown.digits}f}" if differs else ""
    if not row["mean"] or not row["low"]:
        return ""
    mean, low, high = (float(row[key]) * shown.factor for key in ("mean", "low", "high"))
    sign, digits = "+" if differs else ",", shown.digits
    text = f"{mean:{sign}.{digits}f}"
    below, above = mean - low, high - mean
    if abs(below - above) <= 0.01 * (below + above):
        text += f" ± {above:.{digits}f}"
    else:
        text += f" ({low:{sign}.{digits}f} to {high:{sign}.{digits}f})"
    return f"{text} (open)" if differs and low <= 0.0 <= high else text


def run_table(rows: Rows, base: str = "as it is") -> str:
    """Return the table of a command: its systems, points or groups in rows, measures in columns.

    Of systems that are compared the first row is the base.
    """
    # What is of all beside groups stands in sentences; an hour stands beside the day.
    grouped = sum(bool(split(row["response"])[1]) for row in rows) > len(rows) / 2
    by: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        measure, group = split(row["response"])
        if grouped and group:
            by.setdefault((row["point"], group), {})[measure] = row
        elif not grouped:
            by.setdefault((row["point"], ""), {})[row["response"]] = row
    columns = list(dict.fromkeys(column for own in by.values() for column in own))
    lines = []
    if rows[0]["base"]:
        first = {group: own for (point, group), own in by.items() if point == rows[0]["point"]}
        for group, own in first.items():
            lines.append([label_of(base, group), *_texts(own, columns, of_base=True)])
    for (point, group), own in by.items():
        lines.append([label_of(_number(point), group), *_texts(own, columns)])
    return table(["", *map(headed, columns)], lines)


def _texts(own: Mapping[str, Row], columns: Sequence[str], *, of_base: bool = False) -> list[str]:
    """Return the cells of a row, empty where there is nothing."""
    return [text_of(own[name], of_base=of_base) if name in own else "" for name in columns]


def _number(point: str) -> str:
    """Return a point of a sweep with its thousands divided."""
    return f"{float(point):,g}" if re.fullmatch(r"[\d.]+", point) else point


def label_of(point: str, group: str) -> str:
    """Return what a row is called."""
    return ", ".join(one.replace("_", " ") for one in (group, point) if one)


def apart(one: Row, other: Row) -> bool:
    """Return whether a contrast hangs on the order of search, as PLAN.md says."""
    low, high, low2, high2 = (float(r[key]) for r in (one, other) for key in ("low", "high"))
    return high < low2 or high2 < low or (low > 0.0 > high2) or (low2 > 0.0 > high)


def order_table(rows: Rows, runs: tuple[str, str], head: str) -> str:
    """Return contrasts, or groups, by both searches; * where they hang on the order."""
    first, second = ([row for row in rows if row["run"] == run] for run in runs)
    lines: dict[str, list[str]] = {}
    for one, other in zip(first, second, strict=True):
        group = split(one["response"])[1]
        known = one["low"] and other["low"]
        mark = " *" if known and apart(one, other) else ""
        text = "; ".join(text_of(row).removesuffix(" (open)") for row in (one, other))
        text = f"{text}{mark}" if known else ""
        lines.setdefault(label_of(one["point"], group), []).append(text)
    measures = dict.fromkeys(split(row["response"])[0] for row in first)
    return table([head, *map(headed, measures)], [[name, *own] for name, own in lines.items()])


def command_text(run: Run) -> str:
    """Return a command as it is typed, no line too long to be read."""
    words = ["valmatch", *(_quoted(word) for word in run.words)]
    lines, line = [], ""
    options = re.split(r" (?=-)", " ".join(words))
    for option in options:
        if line and len(line) + len(option) > 110:
            lines.append(line)
            line = f"    {option}"
        else:
            line = f"{line} {option}".strip() if not line.startswith(" ") else f"{line} {option}"
    return " \\\n".join([*lines, line])


def _quoted(word: str) -> str:
    """Return a word as a shell takes it."""
    return word if re.fullmatch(r"[\w.,=:/+-]+", word) else shlex.quote(word)


ALONE = ("eu alone", "us alone", "ap alone")

VALUE = re.compile(r"<!-- (\w+)\|([^|]*)\|([^|]*)\|([\w.-]+)(@base)? -->")
"""Where a number of a table stands in a sentence: question, run, point, response."""


def texts_of(tables: Mapping[str, Rows], page: str) -> dict[str, str]:
    """Return all that is put into the page, by its marks."""
    texts = {}
    for name, rows in tables.items():
        for run in CELLS[name]:
            own = [row for row in rows if row["run"] == run.name]
            texts[f"{name}: {run.name}"] = f"\n{run_table(own)}\n"
    rows = tables["order"]
    pair = ("pass", "exhaustive")
    texts["order: contrasts"] = f"\n{order_table(rows, pair, 'pass; exhaustive')}\n"
    groups = (f"groups, {pair[0]}", f"groups, {pair[1]}")
    texts["order: groups"] = f"\n{order_table(rows, groups, 'pass; exhaustive')}\n"
    alone = [row | {"point": row["run"]} for row in tables["latency"] if row["run"] in ALONE]
    texts["latency: alone"] = f"\n{run_table(alone)}\n"
    texts = {name: text for name, text in texts.items() if f"<!-- {name} -->" in page}
    return texts | dict(values_of(tables, page))


def values_of(tables: Mapping[str, Rows], page: str) -> Iterator[tuple[str, str]]:
    """Yield the numbers that stand in sentences."""
    for found in VALUE.finditer(page):
        question, run, point, response, base = found.groups()
        (row,) = (
            row
            for row in tables[question]
            if (row["run"], row["point"], row["response"]) == (run, point, response)
        )
        text = text_of(row, of_base=bool(base)).removesuffix(" (open)").removeprefix("+")
        unit = SHOWN[split(response)[0]].unit
        yield found[0][5:-4], f"{text} {unit}".strip()
