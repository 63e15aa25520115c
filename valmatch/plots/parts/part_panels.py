"""Parts of players or matches: what is measured of each, one below the other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.plots.parts.labels import few_ticks, in_first_column, label
from valmatch.plots.parts.source import ResponseSample, RunFiles, arms_of, fact_of, read_samples
from valmatch.plots.parts.style import GOOD, GREY, head, panels


def draw_parts(run: RunFiles, of: str) -> Figure | None:
    """Draw the means of parts in ``replications.csv``, a panel for each measure."""
    known = run.units.responses
    wanted = run.choice(known)
    found = [response for response in known.values() if response.part and response.part.of == of]
    found = [response for response in found if response.name in wanted]
    groups: dict[str, dict[str, ResponseSample]] = {}
    for sample in read_samples(run, found) if found else ():
        assert sample.response.part
        measure, _, part = sample.response.part
        groups.setdefault(measure, {})[part] = sample
    groups = {measure: own for measure, own in groups.items() if len(own) > 1}
    if not groups:
        return None
    most = max(map(len, groups.values()))
    figure, grid = panels(len(groups), 3, width=3.2, height=0.9 + 0.25 * most, free=True)
    for axes, (measure, own) in zip(grid, groups.items(), strict=True):
        _panel(axes, own)
        if len(own) == most and not in_first_column(axes):
            axes.tick_params(labelleft=False)
        label(axes, run.units.response(measure))
    samples = [sample for own in groups.values() for sample in own.values()]
    head(figure, run.heading(fact_of(run, samples)))
    return figure


def _panel(axes: Axes, parts: Mapping[str, ResponseSample]) -> None:
    """Draw means with intervals, the first part at the bottom."""
    for place, sample in enumerate(parts.values()):
        estimate, arms = sample.estimate, arms_of(sample.estimate)
        if estimate.mean is None:
            across = axes.get_yaxis_transform()
            axes.text(0.02, place, "undefined", transform=across, va="center", color=GREY)
            continue
        ends = None if np.isnan(arms[0]) else [[arm] for arm in arms]
        axes.errorbar([estimate.mean], [place], xerr=ends, fmt="o", color=GOOD, markersize=4.5)
    axes.set_yticks(range(len(parts)), list(parts))
    axes.set_ylim(-0.6, len(parts) - 0.4)
    axes.grid(axis="x", color="0.9", linewidth=0.6)
    few_ticks(axes)
