"""Curves over the games of a player, a panel for each measure."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats
from valmatch.plots.parts.curves import Curve, read_curves
from valmatch.plots.parts.labels import label, legend_below
from valmatch.plots.parts.source import RunFiles
from valmatch.plots.parts.style import COLOURS, LINES, dots, head, note, panels
from valmatch.statistics.estimates import t_quantile

ALONG = {"targeting": "measurements"}
"""What curves run along, where it is not the games of a player."""


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``curves.csv``."""
    curves = read_curves(run)
    figure = figure_of(run, curves)
    confidence = run.manifest.confidence or 0.95
    n = run.manifest.replications or int(max(curve.n.max() for curve in curves.values()))
    head(figure, run.heading(f"mean of {n:,} replications with {confidence:.0%} bands"))
    return {"curves": figure}


def figure_of(run: RunFiles, curves: Mapping[tuple[str, str], Curve]) -> Figure:
    """Draw curves by the name of their line and their measure, in the units of a run."""
    measures = list(dict.fromkeys(measure for _, measure in curves))
    figure, grid = panels(len(measures), 3, width=3.6, height=2.8, free=True)
    for axes, measure in zip(grid, measures, strict=True):
        own = {policy: curve for (policy, name), curve in curves.items() if name == measure}
        _panel(axes, own, run.manifest.confidence or 0.95)
        label(axes, ALONG.get(run.kind[1], "games of a player"), run.units.measure(measure))
    if len(curves) > len(measures):
        legend_below(figure, *grid[0].get_legend_handles_labels())
    return figure


def _panel(axes: Axes, curves: dict[str, Curve], confidence: float) -> None:
    """Draw one measure of all policies with bands; games that none defines leave gaps."""
    if all(np.isnan(curve.mean).all() for curve in curves.values()):
        note(axes, "undefined in all replications")
        return
    for k, (policy, curve) in enumerate(curves.items()):
        game = np.arange(1, curve.mean.size + 1)
        colour, style = COLOURS[k % len(COLOURS)], LINES[k % len(LINES)]
        axes.plot(game, curve.mean, color=colour, linestyle=style, label=policy)
        alone = _alone(curve.mean)
        dots(axes, game[alone], curve.mean[alone], color=colour)
        reach = _factors(curve.n, confidence) * curve.error
        axes.fill_between(
            game, curve.mean - reach, curve.mean + reach, color=colour, alpha=0.25, linewidth=0
        )
    _limit_to_means(axes, np.concatenate([curve.mean for curve in curves.values()]))


def _limit_to_means(axes: Axes, means: Floats) -> None:
    """Cut off what bands of few replications need of the vertical axis, and less than nothing."""
    least, most = float(np.nanmin(means)), float(np.nanmax(means))
    bottom, top = axes.get_ylim()
    reach = most - least
    if reach > 0.0:
        floor = 0.0 if least >= 0.0 else -math.inf
        axes.set_ylim(max(bottom, least - reach, floor), min(top, most + reach))


def _alone(values: Floats) -> NDArray[np.bool_]:
    """Return which values have none beside them, so that no line shows them."""
    gap = np.isnan(np.concatenate([[np.nan], values, [np.nan]]))
    return np.asarray(gap[:-2] & ~gap[1:-1] & gap[2:])


def _factors(n: Floats, confidence: float) -> Floats:
    """Return half the width of intervals in standard errors, by the number of replications."""
    numbers, at = np.unique(n, return_inverse=True)
    half = (1.0 + confidence) / 2.0
    return np.array([t_quantile(half, k - 1) if k > 1 else math.nan for k in numbers])[at]
