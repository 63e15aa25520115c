"""Compared rating systems: the calibration of the predictions of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from valmatch.plots.calibration import CalibrationPoint, bins_of
from valmatch.plots.source import RunFiles, damaged
from valmatch.plots.style import COLOURS, GREY, LINES, counted, head, new_figure, note

MARKERS = "osD^vPX"
APART = 0.004
"""By how much expected score the points of systems are drawn apart."""


def draw(run: RunFiles, summary: Mapping[str, Any]) -> dict[str, Figure]:
    """Draw the calibration of all systems, as ``summary.json`` has it.

    Raises
    ------
    InputError
        If it is damaged.
    """
    with damaged(run.folder / "summary.json"):
        bins = {
            str(name): bins_of(system["predictions"]["all"]["calibration"])
            for name, system in summary["systems"].items()
            if not system["baseline"]
        }
        heading = f"{summary['games']:,} games, best: {summary['best']}"
    heading += f", {run.remark}" if run.remark else ""
    return {"calibration": _calibration(bins, heading)}


def _calibration(bins: Mapping[str, Sequence[CalibrationPoint]], heading: str) -> Figure:
    """Draw observed against predicted scores, and how many games each bin holds."""
    figure = new_figure(7.5, 6.6)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3.0, 1.0])
    head(figure, heading, "predictions before each game, with 95% Wilson intervals")
    lower.set_xlabel("expected score of the favourite")
    upper.set(ylabel="mean score of the favourite", xlim=(0.49, 1.01))
    upper.plot([0.5, 1.0], [0.5, 1.0], color=GREY, linewidth=0.9, label="perfect")
    if not any(bins.values()):
        note(lower, "no predictions")
        return figure
    for k, (name, own) in enumerate(bins.items()):
        colour, line = COLOURS[k % len(COLOURS)], LINES[k % len(LINES)]
        predicted = np.array([point.predicted for point in own]) + APART * (k - (len(bins) - 1) / 2)
        observed = np.array([point.observed for point in own])
        ends = np.array([point.interval for point in own]).reshape(-1, 2).T
        upper.errorbar(
            predicted,
            observed,
            yerr=np.abs(ends - observed),
            marker=MARKERS[k % len(MARKERS)],
            markersize=5,
            linewidth=1.0,
            linestyle=line,
            color=colour,
            label=name,
        )
        middles = [(point.low + point.high) / 2 for point in own]
        games = [point.games for point in own]
        lower.plot(middles, games, color=colour, linestyle=line, marker=".", linewidth=1.0)
    upper.legend(loc="upper left")
    counted(lower, "games")
    return figure
