"""Paired differences between two configs, each response in its own unit."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.models.registry import MODELS, unknown_model
from valmatch.plots.source import Mean, RunFiles, damaged
from valmatch.plots.style import GOOD, GREY, head, panels, plus_minus
from valmatch.plots.units import Units
from valmatch.printable import shortened

__all__ = ["Difference", "draw"]

CHANGES = 3
"""Most differences between the configs that are named."""

ROWS = 20
"""Responses in a column."""


class Difference(NamedTuple):
    """The paired difference b - a of one response, and its mean under a; NaN where undefined."""

    response: str
    found: Mean
    mean_a: float

    @property
    def sure(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.found.low > 0.0 or self.found.high < 0.0


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw the differences of ``summary.json``, one below the other with a common zero line.

    Raises
    ------
    InputError
        If the file is missing or damaged.
    """
    summary = run.json("summary.json")
    with damaged(run.folder / "summary.json"):
        model, n = str(summary["model"]), int(summary["replications"])
        heading = (
            f"{model}, b - a in {n:,} paired replications, seed {summary['seed']}, with"
            f" {float(summary['confidence']):.0%} intervals"
        )
        sides = [_side(name, summary[name]) for name in ("a", "b")]
        changed = _changed(dict(summary.get("changed", {})))
        found = dict(summary["differences"])
        differences = [_difference(name, found[name]) for name in run.choice(found)]
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


def _difference(response: str, found: dict[str, Any]) -> Difference:
    mean_a = found["mean_a"]
    return Difference(response, Mean.of(found), math.nan if mean_a is None else float(mean_a))


def _row(axes: Axes, one: Difference, units: Units) -> None:
    """Draw a difference on a scale of its own, zero in the middle."""
    found = one.found
    axes.set_title(units.response(one.response), loc="left", fontsize=8.5, pad=3)
    axes.set_title(_in_words(one), loc="right", fontsize=8.5, pad=3, color=_colour(one))
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
        color=_colour(one),
        markerfacecolor=_colour(one) if one.sure else "white",
        linewidth=1.8,
    )


def _colour(one: Difference) -> str:
    return GOOD if one.sure else GREY


def _in_words(one: Difference) -> str:
    """Return the difference in its unit and in percent of the mean under a."""
    mean, half = one.found.mean, one.found.high - one.found.mean
    if mean == 0.0 and half == 0.0:
        return "no difference"
    text = plus_minus(mean, half)
    if one.mean_a and math.isfinite(one.mean_a) and math.isfinite(mean):
        percent = 100.0 * mean / abs(one.mean_a)
        text += f"  ({percent:+,.0f}%)" if abs(percent) >= 10 else f"  ({percent:+.2g}%)"
    if one.found.undefined:
        text += f"  undefined in {one.found.undefined:,}"
    return text
