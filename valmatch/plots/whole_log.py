"""Ratings of a whole log at once: sorted with their intervals, and how likely who is stronger."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from valmatch.errors import InputError, option
from valmatch.plots.parts.source import RunFiles, damaged
from valmatch.plots.parts.style import GOOD, GREY, head, new_figure
from valmatch.plots.report.chapters.whole_log import (
    RATINGS,
    SUPERIORITY,
    percent_of,
    rows_shown,
    superiority_of,
)
from valmatch.plots.report.document import counted
from valmatch.text.suggestions import correction

NUMBERED = 16  # players up to whom its cells have numbers

MAP = "RdBu"
"""Colours from the second player to the first, which all kinds of colour vision tell apart."""


def draw(run: RunFiles, summary: Mapping[str, Any]) -> dict[str, Figure]:
    """Draw the ratings of a whole log, and who is how likely stronger than whom."""
    with damaged(run.folder / "summary.json"):
        heading = (
            f"{summary['system']}, {summary['rated']:,} of {summary['players']:,} players by"
            f" {counted(int(summary['games_used']), 'game')}"
        )
        zero, level = str(summary["zero"]), float(summary["level"])
    heading += f", {run.remark}" if run.remark else ""
    figures = {"ratings": _ratings(run, heading, zero, level)}
    if (run.folder / SUPERIORITY).exists():
        figures["superiority"] = _superiority(run, heading)
    return figures


def _ratings(run: RunFiles, heading: str, zero: str, level: float) -> Figure:
    """Draw ratings, the best at the top, with their intervals; of many players both ends."""
    rows, _ = rows_shown(run, run.players)
    if missing := [name for name in run.players if name not in {row["player"] for row in rows}]:
        known = [row["player"] for row in rows_shown(run)[0]]
        what = f"has no rating in {run.folder / RATINGS}{correction(missing[0], known)}"
        raise InputError(f"{option('players')}: {missing[0]!r} {what}")
    if not rows:
        raise InputError(f"{run.folder / RATINGS}: nobody has a rating")
    with damaged(run.folder / RATINGS):
        means, low, high = (
            np.array([float(row[name] or math.nan) for row in rows])
            for name in ("rating", "low", "high")
        )
        ranks = [int(row["rank"]) for row in rows]
    figure = new_figure(7.2, 1.2 + 0.22 * len(rows))
    axes = figure.subplots()
    gaps = np.flatnonzero(np.diff(ranks) > 1) if not run.players else np.zeros(0, np.int64)
    places = np.arange(len(rows)) + np.searchsorted(gaps, np.arange(len(rows)))
    tied = np.array([row["rank_low"] == "1" for row in rows])
    for which, colour, label in ((tied, GOOD, "tied for first"), (~tied, GREY, "")):
        if which.any():
            arms = [means[which] - low[which], high[which] - means[which]]
            axes.errorbar(
                means[which], places[which], xerr=arms, fmt="o", color=colour, markersize=4.0,
                elinewidth=1.4, capsize=2.0, label=label or None,
            )  # fmt: skip
    for gap in gaps.tolist():
        left = ranks[gap + 1] - ranks[gap] - 1
        axes.axhline(places[gap] + 1.0, color=GREY, linewidth=0.6, linestyle=":")
        axes.annotate(
            f"{left:,} more between", (1.0, places[gap] + 1.0), xycoords=("axes fraction", "data"),
            ha="right", va="center", color=GREY, backgroundcolor="white", fontsize="small",
        )  # fmt: skip
    names = [f"{rank}. {_short(row['player'])}" for rank, row in zip(ranks, rows, strict=True)]
    axes.set_yticks(places, names)
    axes.set_ylim(places[-1] + 0.7, -0.7)
    axes.grid(axis="y", visible=False)
    interval = f", intervals of {level:.0%}" if np.isfinite(low).any() else ""
    against = "anchors" if zero == "anchors" else "mean of all"
    axes.set_xlabel(f"rating [points] against the {against}{interval}")
    if tied.any():
        axes.legend(loc="lower right")
    head(figure, heading)
    return figure


def _superiority(run: RunFiles, heading: str) -> Figure:
    """Draw how likely the player of each row is stronger than that of each column."""
    names = [row["player"] for row in rows_shown(run, run.players)[0]]
    chances = superiority_of(run, names)
    n = len(names)
    size = max(3.2, 1.9 + 0.3 * n)
    figure = new_figure(size + 1.0, size)
    axes = figure.subplots()
    edges = np.arange(n + 1) - 0.5
    hidden = np.where(np.eye(n, dtype=bool), math.nan, chances)
    drawn = axes.pcolormesh(edges, edges, hidden, cmap=MAP, vmin=0.0, vmax=1.0, rasterized=True)
    if n <= NUMBERED:
        for row, column in zip(*np.nonzero(~np.isnan(hidden)), strict=True):
            value = float(hidden[row, column])
            colour = "white" if abs(value - 0.5) > 0.3 else "black"
            axes.text(
                column, row, percent_of(value), ha="center", va="center", color=colour, fontsize=7.0
            )
    labels = [_short(name) for name in names]
    axes.set_xticks(np.arange(n), labels, rotation=90)
    axes.set_yticks(np.arange(n), labels)
    axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
    axes.grid(visible=False)
    axes.set(xlabel="than this player", ylabel="this player is stronger")
    bar = figure.colorbar(drawn, ax=axes, shrink=0.8)
    bar.set_label("probability [%]")
    bar.set_ticks([0.0, 0.25, 0.5, 0.75, 1.0], labels=["0", "25", "50", "75", "100"])
    head(figure, heading)
    return figure


def _short(name: str) -> str:
    """Return a name that fits beside a row."""
    name = " ".join(name.split())
    return name if len(name) <= 24 else name[:23] + "…"
