"""Paired differences between two configs, each response in its own unit."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.models.registry import MODELS, unknown_model
from valmatch.plots.difference import Difference
from valmatch.plots.source import RunFiles, damaged
from valmatch.plots.style import head, panels
from valmatch.plots.units import Units
from valmatch.plots.variants import draw_variants
from valmatch.printable import shortened

__all__ = ["draw"]

CHANGES = 3
"""Most differences between the configs that are named."""

ROWS = 20
"""Responses in a column."""


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw the differences of ``summary.json``, one below the other with a common zero line.

    Raises
    ------
    InputError
        If the file is missing or damaged.
    """
    summary = run.json("summary.json")
    if "variants" in summary:
        return {"differences": draw_variants(run, summary)}
    with damaged(run.folder / "summary.json"):
        model, n = str(summary["model"]), int(summary["replications"])
        heading = (
            f"{model}, b - a in {n:,} paired replications, seed {summary['seed']}, with"
            f" {float(summary['confidence']):.0%} intervals"
        )
        sides = [_side(name, summary[name]) for name in ("a", "b")]
        changed = _changed(dict(summary.get("changed", {})))
        found = dict(summary["differences"])
        differences = [Difference.of(name, found[name], "mean_a") for name in run.choice(found)]
        if not differences:
            raise ValueError("there are no differences")
        if model not in MODELS:
            raise ValueError(unknown_model(model))
    units = Units(model, run.manifest.config and run.manifest.config.factors)
    columns = math.ceil(len(differences) / ROWS)
    figure, grid = panels(len(differences), columns, width=5.6, height=0.62)
    for axes, one in zip(grid, differences, strict=True):
        _row(axes, one, units)
    legend = "filled: the interval leaves zero out; right of zero: b is larger"
    parts = [heading + (f"; {run.remark}" if run.remark else ""), *sides, changed, legend]
    figure.set_figheight(figure.get_figheight() + 0.45)
    head(figure, *filter(None, parts), lines=8)
    return {"differences": figure}


def _side(name: str, found: dict[str, Any]) -> str:
    return f"{name}: {Path(str(found['source'])).stem}, config {found['config_id']}"


def _changed(found: dict[str, Any]) -> str:
    """Say what differs, the first of much."""
    said = [shortened(f"{name}: {one['a']} -> {one['b']}") for name, one in found.items()]
    more = f" and {len(said) - CHANGES} more" if len(said) > CHANGES else ""
    return ", ".join(said[:CHANGES]) + more


def _row(axes: Axes, one: Difference, units: Units) -> None:
    """Draw a difference on a scale of its own, zero in the middle."""
    found = one.found
    axes.set_title(units.response(one.response), loc="left", fontsize=8.5, pad=3)
    axes.set_title(one.in_words, loc="right", fontsize=8.5, pad=3, color=one.colour)
    axes.axvline(0.0, color="black", linewidth=0.9)
    ends = [abs(x) for x in (found.mean, found.low, found.high) if math.isfinite(x)]
    reach = 1.15 * max(ends, default=0.0) or 1.0
    axes.set(xlim=(-reach, reach), ylim=(-1.0, 1.0), yticks=[])
    axes.spines["left"].set_visible(False)
    axes.tick_params(labelsize=8, length=2, pad=1.5)
    axes.locator_params(axis="x", nbins=7)
    if math.isnan(found.mean):
        return
    half = found.high - found.mean
    axes.errorbar(
        [found.mean],
        [0.0],
        xerr=None if math.isnan(half) else [half],
        fmt="o",
        color=one.colour,
        markerfacecolor=one.colour if one.sure else "white",
        linewidth=1.8,
    )
