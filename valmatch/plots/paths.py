"""Rated game logs with a rating for each player and day: paths of players with their bands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from valmatch.errors import InputError
from valmatch.plots.parts.day_paths import DATES, read_paths
from valmatch.plots.parts.source import RunFiles
from valmatch.plots.parts.style import COLOURS, LINES, head, new_figure, thinned

MOST_DAYS = 1500  # days of a player that are drawn


def draw_paths(run: RunFiles, summary: Mapping[str, Any], chosen: Mapping[str, str]) -> Figure:
    """Draw the ratings of some players over the days on which they played."""
    paths, over = read_paths(run, list(chosen))
    if not any(len(path.days) for path in paths.values()):
        raise InputError(f"{run.folder / 'days.csv'}: holds no day of these players")
    figure = new_figure(9.0, 4.6)
    axes = figure.subplots()
    for k, (name, path) in enumerate(paths.items()):
        shown = thinned(path.days.size, MOST_DAYS)
        colour, line = COLOURS[k], LINES[k % len(LINES)]
        days = path.days[shown]
        where = days.astype("datetime64[D]") if over == DATES else days
        axes.fill_between(
            where, path.low[shown], path.high[shown], color=colour, alpha=0.15, linewidth=0.0
        )
        axes.plot(
            where,
            path.ratings[shown],
            color=colour,
            linestyle=line,
            marker=".",
            markersize=2.5,
            linewidth=1.2,
            label=chosen[name],
        )
    axes.set(xlabel=over, ylabel=f"rating by {summary['system']} [points]")
    axes.margins(x=0.01)
    figure.legend(loc="outside right center", title="" if run.players else "best at the end")
    heading = (
        f"{summary['system']}, {summary['games_used']:,} games, {summary['players']:,} players,"
        f" drift {summary['drift']:.4g}"
    )
    heading += f", {run.remark}" if run.remark else ""
    bands = f"bands: {summary['level']:.0%} intervals of each day played"
    head(figure, heading, bands if summary["quantile"] else "")
    return figure
