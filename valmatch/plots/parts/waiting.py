"""The number of players who wait, as a step function of time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from valmatch.kernels.arrays import Floats

MOST_STEPS = 3000  # changes that are drawn one by one; more are drawn at this many times


class Steps(NamedTuple):
    """A number of players that stays the same from each time to the next."""

    hours: Floats
    players: Floats


def waiting_between(first: float, last: float, came: Floats, went: Floats) -> Steps:
    """Return how many wait from the hour `first` to `last`; NaN is who has not gone."""
    begin, end = np.maximum(came, first), np.fmin(went, last)
    begin, end = begin[begin < end], end[begin < end]
    hours = np.unique(np.concatenate([[first], begin, end, [last]]))
    if hours.size > MOST_STEPS:
        hours = np.linspace(first, last, MOST_STEPS)
    there = np.searchsorted(np.sort(begin), hours, side="right")
    gone = np.searchsorted(np.sort(end), hours, side="right")
    return Steps(hours, (there - gone).astype(np.float64))


def fill_steps(axes: Axes, steps: Steps, colour: str, label: str = "") -> None:
    """Fill what lies below the steps."""
    axes.fill_between(
        steps.hours,
        steps.players,
        step="post",
        color=colour,
        linewidth=0,
        label=label,
        rasterized=steps.hours.size >= MOST_STEPS,
    )
