"""The queue by the hour of the day, over all replications."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.plots.parts.labels import label, legend_above
from valmatch.plots.parts.samples import ResponseSample, arms_of, fact_of, read_samples
from valmatch.plots.parts.source import RunFiles
from valmatch.plots.parts.style import BAD, FAINT, GOOD, head, panels

DAY = 24

MIDDLE = (10.0, 90.0)
"""Percentiles between which most replications lie."""


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw the hours of the day in ``replications.csv``, if there are several.

    Raises
    ------
    InputError
        If the file is missing or damaged, or holds no replication.
    """
    known = run.units.responses
    wanted = [known[name] for name in run.choice(known)]
    found = [response for response in wanted if response.part and response.part.of == "hour"]
    if len(found) < 2:
        return {}
    samples = read_samples(run, found)
    figure, (axes,) = panels(1, 1, width=7.5, height=3.2)
    _draw_hours(axes, samples)
    assert found[0].part
    label(axes, "hour of the day", run.units.response(found[0].part.measure))
    axes.set(xlim=(0, DAY), xticks=range(0, DAY + 1, 2), ylim=(0.0, None))
    legend_above(axes)
    head(figure, run.heading(fact_of(run, samples)))
    return {"hours": figure}


def _draw_hours(axes: Axes, samples: list[ResponseSample]) -> None:
    """Draw a step for each hour: mean, interval, and where most replications lie."""
    steps = np.full((5, DAY), np.nan)
    for sample in samples:
        assert sample.response.part
        hour = int(sample.response.part.name.partition("-")[0])
        steps[:, hour] = _step(sample)
    low, high, mean, below, above = steps
    edges = np.arange(DAY + 1.0)
    if (high > low).any():
        text = f"{MIDDLE[0]:g}% to {MIDDLE[1]:g}% of the replications"
        band: Any = {"fill": True, "color": FAINT, "alpha": 0.35, "linewidth": 0.0, "label": text}
        axes.stairs(high, edges, baseline=low, **band)
    axes.stairs(mean, edges, baseline=None, color=GOOD, linewidth=1.3, label="mean")
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
