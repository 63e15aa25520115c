"""Several runs of the `ladder` model in the same panels, such as those of different systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from valmatch.plots import curves
from valmatch.plots.ladder import days
from valmatch.plots.parts.curves import read_curves
from valmatch.plots.parts.labels import few_ticks, in_first_column, label
from valmatch.plots.parts.pages import MOST_ROWS, numbered, pages_of
from valmatch.plots.parts.source import ResponseSample, RunFiles, arms_of, fact_of, read_samples
from valmatch.plots.parts.style import COLOURS, GREY, head, panels
from valmatch.text.terminal import labelled, shortened

COLUMNS = 3  # panels of means beside each other
LONGEST = 40  # characters of the name of a run


def draw_all(runs: Sequence[RunFiles]) -> dict[str, Figure]:
    """Draw a line for each run, and of replications a panel for each response with their means."""
    named = dict(zip(names_of(runs), runs, strict=True))
    if runs[0].kind[0] == "simulate":
        figure = days.figure_of(named)
        head(figure, f"{runs[0].kind[1]}, {len(runs)} runs of one replication each")
        return {"systems": figure}
    found = {
        (name, measure): curve
        for name, run in named.items()
        for (_, measure), curve in read_curves(run).items()
    }
    figure = curves.figure_of(runs[0], found)
    confidence = runs[0].manifest.confidence or 0.95
    head(figure, f"{runs[0].kind[1]}, {len(runs)} runs, means with {confidence:.0%} bands")
    return {"systems": figure, **numbered("means", _means(named))}


def names_of(runs: Sequence[RunFiles]) -> list[str]:
    """Return what runs are called: by the factor that tells them apart, or else by their folders.

    If several factors do, by the first of them.
    """
    factors = [_flat(run.manifest.config.factors if run.manifest.config else {}) for run in runs]
    for key in factors[0]:
        values = [str(own.get(key)) for own in factors]
        if len(set(values)) == len(runs):
            return [shortened(f"{key} {value}", LONGEST) for value in values]
    home = Path(*_common([run.folder.parts for run in runs]))
    return [shortened(str(run.folder.relative_to(home)), LONGEST) for run in runs]


def _flat(factors: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return factors by their paths."""
    found: dict[str, Any] = {}
    for name, value in factors.items():
        inner = isinstance(value, dict)
        found |= _flat(value, f"{before}{name}.") if inner else {f"{before}{name}": value}
    return found


def _common(paths: Sequence[Sequence[str]]) -> list[str]:
    """Return how paths begin."""
    together = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        together.append(parts[0])
    return together


def _means(runs: Mapping[str, RunFiles]) -> list[Figure]:
    """Draw the means of responses with their intervals, a row for each run."""
    first, *_ = runs.values()
    responses = [first.units.responses[name] for name in first.choice(first.units.responses)]
    samples = {name: read_samples(run, responses) for name, run in runs.items()}
    figures = []
    for page in pages_of(range(len(responses)), COLUMNS * MOST_ROWS):
        height = 0.9 + 0.25 * len(runs)
        figure, grid = panels(len(page), COLUMNS, width=3.4, height=height, free=True)
        for axes, k in zip(grid, page, strict=True):
            own = [found[k] for found in samples.values()]
            _rows(axes, own)
            axes.set_yticks(range(len(runs)), list(runs) if in_first_column(axes) else [])
            label(axes, labelled(responses[k].name, responses[k].unit))
        made = fact_of(first, next(iter(samples.values())))
        head(figure, f"{first.kind[1]}, {len(runs)} runs, {made}")
        figures.append(figure)
    return figures


def _rows(axes: Any, samples: Sequence[ResponseSample]) -> None:  # noqa: ANN401
    """Draw means with intervals, the first run on top."""
    for place, sample in enumerate(samples):
        estimate, arms = sample.estimate, arms_of(sample.estimate)
        if estimate.mean is None:
            across = axes.get_yaxis_transform()
            axes.text(0.02, place, "undefined", transform=across, va="center", color=GREY)
            continue
        ends = None if np.isnan(arms[0]) else [[arm] for arm in arms]
        colour = COLOURS[place % len(COLOURS)]
        axes.errorbar([estimate.mean], [place], xerr=ends, fmt="o", color=colour, markersize=4.5)
    axes.set_ylim(len(samples) - 0.4, -0.6)
    axes.grid(axis="x", color="0.9", linewidth=0.6)
    few_ticks(axes)
