"""The days of the `ladder` model: fairness and waits, and how ratings approach the skills."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from valmatch.plots.ladder.time import label_below, read_time, shade
from valmatch.plots.parts.labels import label
from valmatch.plots.parts.source import RunFiles
from valmatch.plots.parts.style import COLOURS, GREY, LINES, MOST_VECTOR_MARKS, head, note, panels

OVER_THE_DAY = ("win_gap", "avg_wait_time")
AT_ITS_END = ("rating_error", "scale_stretch")


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``days.csv``, a panel for each measure; a day without a value leaves a gap."""
    figure = figure_of({"": run})
    matches = int(np.nansum(run.table("days.csv", ("matches",)).numbers["matches"]))
    facts = (
        f"replication {run.manifest.get('replication')}",
        f"{matches:,} match{'es' * (matches != 1)}",
    )
    head(figure, run.heading(*facts))
    return {"days": figure}


def figure_of(runs: Mapping[str, RunFiles]) -> Figure:
    """Draw the days of runs by the names of their lines, a panel for each measure."""
    measures = (*OVER_THE_DAY, *AT_ITS_END)
    tables = [run.table("days.csv", ("day", *measures)).numbers for run in runs.values()]
    times = [read_time(run) for run in runs.values()]
    days, warmup = max(time.days for time in times), min(time.warmup for time in times)
    first = next(iter(runs.values()))
    figure, grid = panels(len(measures), 2, width=4.6, height=2.5)
    for axes, measure in zip(grid, measures, strict=True):
        if all(np.isnan(table[measure]).all() for table in tables):
            note(axes, "undefined on all days")
            continue
        shade(axes, warmup)
        if measure == "scale_stretch":
            axes.axhline(1.0, color=GREY, linewidth=0.9, linestyle="--", label="as the skills")
        for k, (name, table) in enumerate(zip(runs, tables, strict=True)):
            begin, end = table["day"], np.minimum(table["day"] + 1.0, times[k].days)
            axes.plot(
                end if measure in AT_ITS_END else (begin + end) / 2.0,
                table[measure],
                color=COLOURS[k % len(COLOURS)],
                linestyle=LINES[k % len(LINES)],
                marker="o",
                markersize=3.0,
                clip_on=False,
                rasterized=table[measure].size > MOST_VECTOR_MARKS,
                label=name or None,
            )
        axes.set_xlim(0.0, days)
        label(axes, "time [days]", first.units.response(measure))
    label_below(figure, grid)
    return figure
