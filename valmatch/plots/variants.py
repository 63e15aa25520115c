"""Paired differences of several variants to one system, a panel for each response."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.models.registry import MODELS, unknown_model
from valmatch.plots.difference import Difference
from valmatch.plots.source import RunFiles, damaged
from valmatch.plots.style import head, panels, wrapped
from valmatch.plots.units import Units
from valmatch.printable import shortened

__all__ = ["draw_variants"]

CHANGES = 3
"""Most differences between two configs that are named."""

LINES = 45
"""Lines of a column of panels, a line a variant."""

MOST_COLUMNS = 3

LINE = 0.2
"""Inches that a variant takes."""


def draw_variants(run: RunFiles, summary: dict[str, Any]) -> Figure:
    """Draw the differences that ``summary.json`` of several variants holds.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    with damaged(run.folder / "summary.json"):
        model, n = str(summary["model"]), int(summary["replications"])
        joint = dict(summary["simultaneous"])
        variants = {name: dict(one) for name, one in summary["variants"].items()}
        found = {name: dict(one["differences"]) for name, one in variants.items()}
        responses = run.choice(next(iter(found.values())))
        rows = {
            response: [
                (name, Difference.of(response, one[response], "mean_base"))
                for name, one in found.items()
            ]
            for response in responses
        }
        if not rows:
            raise ValueError("there are no differences")
        if model not in MODELS:
            raise ValueError(unknown_model(model))
        heading = (
            f"{model}, differences from A in {n:,} paired replications, seed {summary['seed']}"
            + (f"; {run.remark}" if run.remark else "")
        )
        said = (
            f"filled: the interval leaves zero out; the {int(joint['intervals'])} intervals of a"
            f" response hold together at {float(summary['confidence']):.4g} (Bonferroni, each at"
            f" {float(joint['confidence_each']):.4g})"
        )
        names = [f"A: {_source(summary['a'])}"]
        names += [f"{name.upper()}: {_named(name, one)}" for name, one in variants.items()]
    units = Units(model, run.manifest.config and run.manifest.config.factors)
    lines = len(rows) * (len(variants) + 1.5)
    columns = min(MOST_COLUMNS, math.ceil(lines / LINES))
    height = 0.45 + LINE * len(variants)
    figure, grid = panels(len(rows), columns, width=5.2 if columns > 1 else 6.4, height=height)
    for axes, (response, differences) in zip(grid, rows.items(), strict=True):
        _panel(axes, units.response(response), differences)
    legend = [wrapped(name, figure.get_figwidth()) for name in names]
    figure.set_figheight(figure.get_figheight() + 0.5 + 0.16 * len("\n".join(legend).split("\n")))
    figure.supxlabel("\n".join(legend), x=0.01, ha="left", fontsize=8.5)
    known = any(math.isfinite(one.found.low) for panel in rows.values() for _, one in panel)
    head(figure, heading, *([said] if known else []))
    return figure


def _source(found: dict[str, Any]) -> str:
    return f"{shortened(Path(str(found['source'])).stem)}, config {found['config_id']}"


def _named(name: str, found: dict[str, Any]) -> str:
    """Say what a variant is and in what it differs, the first of much."""
    changed = dict(found["changed"])
    said = [shortened(f"{key}: {one['a']} -> {one[name]}") for key, one in changed.items()]
    more = f" and {len(said) - CHANGES} more" if len(said) > CHANGES else ""
    return f"{_source(found)}; {', '.join(said[:CHANGES])}{more}"


def _panel(axes: Axes, title: str, rows: list[tuple[str, Difference]]) -> None:
    """Draw the differences of one response, one below the other on a common scale."""
    axes.set_title(title, loc="left", fontsize=8.5, pad=3)
    axes.axvline(0.0, color="black", linewidth=0.9)
    ends = [x for _, one in rows for x in (one.found.mean, one.found.low, one.found.high)]
    reach = 1.15 * max((abs(x) for x in ends if math.isfinite(x)), default=0.0) or 1.0
    axes.set(xlim=(-reach, reach), ylim=(len(rows) - 0.4, -0.6), yticks=range(len(rows)))
    axes.set_yticklabels([name.upper() for name, _ in rows])
    axes.spines["left"].set_visible(False)
    axes.tick_params(labelsize=8, length=2, pad=1.5)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=5)
    for place, (_, one) in enumerate(rows):
        found = one.found
        axes.text(
            1.01,
            place,
            one.in_words,
            transform=axes.get_yaxis_transform(),
            color=one.colour,
            fontsize=8,
            va="center",
        )
        if math.isnan(found.mean):
            continue
        half = found.high - found.mean
        axes.errorbar(
            [found.mean],
            [place],
            xerr=None if math.isnan(half) else [half],
            fmt="o",
            markersize=4.5,
            color=one.colour,
            markerfacecolor=one.colour if one.sure else "white",
            linewidth=1.6,
        )
