"""Plans: what is known after how many games, and how many are needed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from valmatch.errors import InputError
from valmatch.plots.parts.labels import label, legend_below
from valmatch.plots.parts.source import FileTable, RunFiles, damaged
from valmatch.plots.parts.style import BAD, COLOURS, GOOD, head, panels
from valmatch.statistics.estimates import t_quantile

_SHARES = {
    "named_best": "leader is the best",
    "shown_best": "one alone is tied for first",
    "coverage": "intervals hold the difference",
}
_FILE, _SUMMARY = "plan.csv", "summary.json"


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``plan.csv``: half-widths and shares against games, with what was wanted."""
    names = ("half_width", *_SHARES)
    table = run.table(_FILE, ["games", *names, *(f"{name}_std_error" for name in names)])
    if not table.numbers["games"].size:
        raise InputError(f"{run.folder / _FILE}: damaged: holds no number of games")
    summary = run.json(_SUMMARY)
    with damaged(run.folder / _SUMMARY):
        aim, value = str(summary["aim"]), float(summary["value"])
        level = float(summary["level"])
        policy = " ".join(filter(None, (str(summary["policy"]), str(summary["goal"]))))
        facts = f"{summary['players']:,} players, {policy}, {summary['replications']:,} leagues"
        figure, (widths, shares) = panels(2, 2, width=4.4, height=3.4, free=True)
        reach = t_quantile(0.5 + 0.5 * level, math.inf)
        _line(widths, table, "half_width", reach, COLOURS[0], "mean half-width")
        if (table.numbers["half_width"] > 0.0).any():  # else nobody is rated, or all are known
            widths.set_yscale("log")
        _plain_ticks(widths.yaxis, minor=True)
        for k, (name, what) in enumerate(_SHARES.items()):
            _line(shares, table, name, reach, COLOURS[k], what)
        shares.set_ylim(-0.02, 1.02)
        _mark(widths if aim == "half_width" else shares, value, summary)
        said = _said(summary)
    label(widths, "games", f"half-width of {level:.6g} intervals [points]")
    label(shares, "games", "share")
    legend_below(figure, *shares.get_legend_handles_labels())
    heading = f"plan, {facts}" + (f", {run.remark}" if run.remark else "")
    head(figure, heading, said)
    return {"plan": figure}


def _line(
    axes: Axes,
    table: FileTable,
    name: str,
    reach: float,
    colour: str,
    what: str,
) -> None:
    """Draw a curve over games with its band."""
    games, mean = table.numbers["games"], table.numbers[name]
    error = reach * table.numbers[f"{name}_std_error"]
    axes.plot(games, mean, color=colour, label=what)
    axes.fill_between(games, mean - error, mean + error, color=colour, alpha=0.25, linewidth=0)
    axes.set_xscale("log")
    _plain_ticks(axes.xaxis, minor=False)


def _plain_ticks(axis: Axis, minor: bool) -> None:
    """Write the numbers of a logarithmic axis out, those between powers of ten, too, if wanted."""

    def written(value: float, place: int | None = None) -> str:
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:.0e}"

    def between(value: float, place: int | None = None) -> str:
        digit = f"{value:e}"[0]
        return written(value) if minor and digit in "25" else ""

    axis.set_major_formatter(FuncFormatter(written))
    axis.set_minor_formatter(FuncFormatter(between))


def _mark(axes: Axes, value: float, summary: Mapping[str, Any]) -> None:
    """Mark what was wanted, and where it is reached."""
    axes.axhline(value, color=BAD, linewidth=0.8, linestyle=":")
    if summary["games"] is None:
        return
    axes.axvline(float(summary["games"]), color=GOOD, linewidth=1.0)
    if summary["low"] is not None and summary["high"] is not None:
        axes.axvspan(float(summary["low"]), float(summary["high"]), color=GOOD, alpha=0.12)


def _said(summary: Mapping[str, Any]) -> str:
    """Say what was found."""
    if summary["games"] is None:
        return f"not reached within {summary['max_games']:,} games"
    low, high = (summary[name] for name in ("low", "high"))
    ends = "" if low is None or high is None else f" ({low:,} to {high:,})"
    return f"reached after {summary['games']:,} games{ends}"
