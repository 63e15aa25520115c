"""The charts of this study, one for each question, from the rows of its files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from PIL import Image

from results.tickets.showing import SHOWN, Row, Rows, label_of, split
from valmatch.plots.parts.style import COLOURS, panels, save, style_context

PALETTE = 32
"""Colours of a chart, which keep its file small."""


class Panel(NamedTuple):
    """One response of some commands: of each its points, its differences, or its groups."""

    response: str
    runs: Sequence[str]


PANELS = {
    "waits": [Panel(one, ["players"]) for one in ("time_to_match", "matched_fraction", "win_gap")],
    "steps": [Panel(one, ["steps"]) for one in ("time_to_match", "win_gap", "latency")],
    "age": [
        Panel(one, ["300 an hour", "1,200 an hour"])
        for one in ("time_to_match", "matched_fraction", "win_gap")
    ],
    "parties": [Panel(one, ["sizes"]) for one in ("time_to_match", "matched_fraction", "win_prob")],
    "blocks": [
        Panel("matched_fraction", ["lifted"]),
        Panel("win_gap", ["lifted"]),
        Panel("rule_failed", ["counts"]),
    ],
    "latency": [Panel(one, ["limits"]) for one in ("matched_fraction", "latency")],
    "population": [Panel("matched_fraction", [one]) for one in ("tickets", "tickets-low")],
    "starving": [Panel("timed_out_fraction", [one]) for one in ("tickets", "tickets-low")],
    "truth": [Panel(one, ["errors"]) for one in ("seen_team_diff", "true_team_diff", "win_gap")],
    "backfill": [
        Panel(one, ["small matches"]) for one in ("time_to_match", "played_win_gap", "places_taken")
    ],
    "order": [Panel(one, ["pass", "exhaustive"]) for one in ("time_to_match", "win_gap")],
}


def draw(name: str, rows: Rows, folder: Path) -> None:
    """Draw the chart of a question."""
    wanted = PANELS[name]
    longest = max(len({_key(row) for row in _of(rows, panel)}) for panel in wanted)
    with style_context():
        figure, axes = panels(len(wanted), len(wanted), 3.0, max(1.8, 0.17 * longest + 0.5))
        for number, (axis, panel) in enumerate(zip(axes, wanted, strict=True)):
            own = _of(rows, panel)
            shown = SHOWN[panel.response]
            what = shown.words.replace("`", "") + f" [{shown.unit}]" * bool(shown.unit)
            swept = all(re.fullmatch(r"[\d.]+", row["point"]) for row in own)
            if swept:
                _lines(axis, own)
                axis.set(ylabel=what, title=panel.runs[0] if name == "population" else "")
            else:
                title = panel.runs[0] if name == "starving" else ""
                _bars(axis, own, panel, labelled=number == 0 or name == "blocks")
                axis.set(xlabel=f"change: {what}" if own[0]["base"] else what, title=title)
    (file,) = save({name: figure}, folder, ["png"])
    with Image.open(file) as drawn:
        reduced = drawn.convert("RGB").quantize(PALETTE, dither=Image.Dither.NONE)
    reduced.save(file, optimize=True)


def _of(rows: Rows, panel: Panel) -> list[Row]:
    """Return the rows of a panel, without those of no interval."""
    return [
        row
        for row in rows
        if row["run"] in panel.runs and split(row["response"])[0] == panel.response and row["low"]
    ]


def _key(row: Row) -> tuple[str, str]:
    return row["point"], split(row["response"])[1]


def _numbers(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return means, and how far the ends of their intervals are from them."""
    factor = SHOWN[split(rows[0]["response"])[0]].factor
    mean, low, high = (
        np.array([float(row[key]) * factor for row in rows]) for key in ("mean", "low", "high")
    )
    return mean, np.maximum([mean - low, high - mean], 0.0)


def _lines(axis: Axes, rows: Rows) -> None:
    """Draw what a response, and that of an hour, is at the points of a sweep."""
    for number, group in enumerate(dict.fromkeys(split(row["response"])[1] for row in rows)):
        own = [row for row in rows if split(row["response"])[1] == group]
        mean, errors = _numbers(own)
        points = [float(row["point"]) for row in own]
        axis.errorbar(
            points, mean, errors, marker="o", markersize=3, capsize=2, color=COLOURS[number],
            label=f"from {group.removesuffix('h').replace('-', ' to ')} h" if group else "all day",
        )  # fmt: skip
        axis.set_xscale("log")
        axis.set_xticks(points, [f"{point:,g}" for point in points])
        axis.minorticks_off()
        if group:
            axis.legend(fontsize=7)
    axis.set_xlabel("tickets an hour")


def _bars(axis: Axes, rows: Rows, panel: Panel, *, labelled: bool) -> None:
    """Draw intervals, one above the other."""
    together = len({_key(row) for row in rows}) > 1 and len(panel.runs) > 1
    names = list(
        dict.fromkeys(label_of(*_key(row)) if together or len(panel.runs) == 1 else row["run"]
                      for row in rows)
    )  # fmt: skip
    for number, run in enumerate(panel.runs if together else panel.runs[:1]):
        own = [row for row in rows if row["run"] == run] if together else rows
        mean, errors = _numbers(own)
        places = np.arange(len(own)) + (0.3 * number - 0.15 if together else 0.0)
        axis.errorbar(
            mean, places, xerr=errors, fmt="o", markersize=3, capsize=2, color=COLOURS[number],
            label=run if together else None,
        )  # fmt: skip
    if rows[0]["base"]:
        axis.axvline(0.0, color="0.6", linewidth=0.8)
    axis.set_yticks(range(len(names)), names if labelled else [""] * len(names), fontsize=7)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.xaxis.set_major_locator(MaxNLocator(4))
    if together:
        axis.legend(fontsize=7)
