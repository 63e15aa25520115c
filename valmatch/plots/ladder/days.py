"""The days of the `ladder` model: fairness and waits, and how ratings approach the skills."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from valmatch.plots.ladder.time import label_below, read_time, shade
from valmatch.plots.parts.labels import label
from valmatch.plots.parts.source import RunFiles
from valmatch.plots.parts.style import GOOD, GREY, MOST_VECTOR_MARKS, head, note, panels

OVER_THE_DAY = ("win_gap", "avg_wait_time")
AT_ITS_END = ("rating_error", "scale_stretch")


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``days.csv``, a panel for each measure; a day without a value leaves a gap.

    Raises
    ------
    InputError
        If the file is missing or damaged.
    """
    days, warmup = read_time(run)
    measures = (*OVER_THE_DAY, *AT_ITS_END)
    table = run.table("days.csv", ("day", "matches", *measures)).numbers
    begin, end = table["day"], np.minimum(table["day"] + 1.0, days)
    figure, grid = panels(len(measures), 2, width=4.6, height=2.5)
    for axes, measure in zip(grid, measures, strict=True):
        values = table[measure]
        if np.isnan(values).all():
            note(axes, "undefined on all days")
            continue
        shade(axes, warmup)
        if measure == "scale_stretch":
            axes.axhline(1.0, color=GREY, linewidth=0.9, linestyle="--", label="as the skills")
        axes.plot(
            end if measure in AT_ITS_END else (begin + end) / 2.0,
            values,
            color=GOOD,
            marker="o",
            markersize=3.0,
            clip_on=False,
            rasterized=values.size > MOST_VECTOR_MARKS,
        )
        axes.set_xlim(0.0, days)
        label(axes, "time [days]", run.units.response(measure))
    label_below(figure, grid)
    matches = int(np.nansum(table["matches"]))
    facts = (
        f"replication {run.manifest.get('replication')}",
        f"{matches:,} match{'es' * (matches != 1)}",
    )
    head(figure, run.heading(*facts))
    return {"days": figure}
