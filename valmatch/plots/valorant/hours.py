"""Queue and waits by the hour of the day and by the day of the week, over all replications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.models.valorant.hours import WEEK
from valmatch.models.valorant.wall_clock import DAY
from valmatch.plots.parts.labels import label, legend_below
from valmatch.plots.parts.source import ResponseSample, RunFiles, arms_of, fact_of, read_samples
from valmatch.plots.parts.style import BAD, FAINT, GOOD, head, panels

MIDDLE = (10.0, 90.0)  # percentiles between which most replications lie

PARTS: Mapping[str, tuple[str, Sequence[str]]] = {
    "hour": ("hours", [f"{hour}-{hour + 1}h" for hour in range(DAY)]),
    "weekday": ("weekdays", WEEK),
}
"""The figure of what is divided, and its parts."""


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw the hours and the weekdays in ``replications.csv``, where there are several."""
    known = run.units.responses
    wanted = [known[name] for name in run.choice(known)]
    figures = {}
    for of, (name, parts) in PARTS.items():
        found = [response for response in wanted if response.part and response.part.of == of]
        if len(found) > 1:
            figures[name] = _figure(run, read_samples(run, found), parts)
    return figures


def _figure(run: RunFiles, samples: Sequence[ResponseSample], parts: Sequence[str]) -> Figure:
    """Draw a panel for each measure, one below the other."""
    groups: dict[str, list[ResponseSample]] = {}
    for sample in samples:
        assert sample.response.part
        groups.setdefault(sample.response.part.measure, []).append(sample)
    figure, grid = panels(len(groups), 1, width=7.5, height=2.4 if len(groups) > 1 else 3.2)
    for axes, (measure, own) in zip(grid, groups.items(), strict=True):
        _draw_parts(axes, own, parts)
        label(axes, y=run.units.response(measure))
        axes.set(xlim=(0, len(parts)), ylim=(0.0, None))
        if len(parts) == DAY:
            axes.set_xticks(range(0, DAY + 1, 2))
        else:
            axes.set_xticks(np.arange(len(parts)) + 0.5, [name.capitalize() for name in parts])
            axes.tick_params(axis="x", length=0)
    if len(parts) == DAY:
        label(grid[-1], "hour of the day")
    legend_below(figure, *grid[0].get_legend_handles_labels())
    head(figure, run.heading(fact_of(run, samples)))
    return figure


def _draw_parts(axes: Axes, samples: Sequence[ResponseSample], parts: Sequence[str]) -> None:
    """Draw a step for each part: mean, interval, and where most replications lie."""
    steps = np.full((5, len(parts)), np.nan)
    for sample in samples:
        assert sample.response.part
        steps[:, parts.index(sample.response.part.name)] = _step(sample)
    low, high, mean, below, above = steps
    edges = np.arange(len(parts) + 1.0)
    if (high > low).any():
        text = f"{MIDDLE[0]:g}% to {MIDDLE[1]:g}% of the replications"
        band: Any = {"fill": True, "color": FAINT, "alpha": 0.35, "linewidth": 0.0, "label": text}
        axes.stairs(high, edges, baseline=low, **band)
    alone = max(sample.estimate.n for sample in samples) == 1
    name = "the one replication" if alone else "mean"
    axes.stairs(mean, edges, baseline=None, color=GOOD, linewidth=1.3, label=name)
    if not np.isnan(below).all():
        middles = edges[:-1] + 0.5
        axes.errorbar(
            middles, mean, yerr=[below, above], fmt="none", color=BAD, label="its interval"
        )


def _step(sample: ResponseSample) -> list[float]:
    """Return where most replications lie, the mean, both arms of its interval; NaN for none."""
    estimate = sample.estimate
    if estimate.mean is None:
        return [np.nan] * 5
    low, high = np.percentile(sample.values, MIDDLE).tolist()
    return [low, high, estimate.mean, *arms_of(estimate)]
