"""The time that a run of the `ladder` model takes, and the part of it that is not measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.plots.parts.labels import legend_below
from valmatch.plots.parts.source import RunFiles, damaged
from valmatch.storage.contents import MANIFEST


class Time(NamedTuple):
    """The length of a run and of its warm-up, in days."""

    days: float
    warmup: float


def read_time(run: RunFiles) -> Time:
    """Return what the factors of a run say."""
    with damaged(run.folder / MANIFEST):
        return Time(float(run.factor("days")), float(run.factor("warmup_days")))


def shade(axes: Axes, end: float) -> None:
    """Shade the warm-up, from zero to its end, if there is any."""
    if end > 0.0:
        axes.axvspan(0.0, end, color="0.92", linewidth=0, zorder=0, label="warm-up")


def label_below(figure: Figure, grid: Sequence[Axes]) -> None:
    """Say below all panels what has a label in any of them."""
    found: dict[str, Artist] = {}
    for axes in grid:
        handles, labels = axes.get_legend_handles_labels()
        found.update(zip(labels, handles, strict=True))
    if found:
        legend_below(figure, list(found.values()), list(found))
