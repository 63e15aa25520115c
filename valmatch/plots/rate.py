"""Rated game logs: the best players' ratings game by game, the calibration of predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from valmatch.arrays import Floats
from valmatch.config.numerals import real_number
from valmatch.errors import InputError, option
from valmatch.moments import seconds_of
from valmatch.nearest import correction
from valmatch.plots import rating_systems
from valmatch.plots.calibration import CalibrationPoint, bins_of
from valmatch.plots.source import RunFiles, damaged
from valmatch.plots.style import (
    BAD,
    COLOURS,
    GOOD,
    GREY,
    LINES,
    counted,
    head,
    new_figure,
    note,
    thinned,
)

SHOWN = 5
MOST_STEPS = 1500
HEADER = ("game", "player", "rating_before", "rating_after")

GAMES, DATES, TIMES = "games of the log, in order of play", "date (UTC)", "time"
"""What ratings are drawn over."""


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``history.csv`` for the best of ``ratings.csv``, and the calibration.

    Raises
    ------
    InputError
        If a file is missing or damaged.
    """
    summary = run.json("summary.json")
    if "best" in summary:
        return rating_systems.draw(run, summary)
    with damaged(run.folder / "summary.json"):
        heading = f"{summary['system']}, {summary['games']:,} games, {summary['players']:,} players"
        later = f"after {summary['burn_in']} games of every player"
        parts = {"all games": "all", later: "after_burn_in"}
        bins = {
            label: bins_of(summary["predictions"][part]["calibration"])
            for label, part in parts.items()
        }
    heading += f", {run.remark}" if run.remark else ""
    return {
        "history": _history(run, str(summary["system"]), heading),
        "calibration": _calibration(bins, heading),
    }


# ---- history ----


def _history(run: RunFiles, system: str, heading: str) -> Figure:
    """Draw the ratings of some players over the games of the log, or over their times."""
    ranking = run.table("ratings.csv", (), ("rank", "player"))
    if not len(ranking):
        raise InputError(f"{ranking.path}: holds no players")
    rank_of = dict(zip(ranking.texts["player"], ranking.texts["rank"], strict=True))
    chosen = _chosen(run, list(rank_of))
    paths, last, over = read_history(run, chosen)
    figure = new_figure(9.0, 4.6)
    axes = figure.subplots()
    for k, player in enumerate(chosen):
        games, ratings = paths[player]
        shown = thinned(games.size, MOST_STEPS)
        style: dict[str, Any] = {"color": COLOURS[k], "linestyle": LINES[k % len(LINES)]}
        # To the last game, at which the rating is that of the ranking.
        at, height = np.append(games[shown], last), np.append(ratings[shown], ratings[-1:])
        label = f"{rank_of[player]}. {_short(player)}"
        if games.size:
            where = at.astype("datetime64[s]") if over == DATES else at
            axes.step(where, height, where="post", linewidth=1.2, label=label, **style)
    axes.set(xlabel=over, ylabel=f"rating by {system} [points]")
    axes.margins(x=0.01)
    if over == GAMES:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(loc="outside right center", title="" if run.players else "best at the end")
    head(figure, heading)
    return figure


def _chosen(run: RunFiles, ranked: Sequence[str]) -> Sequence[str]:
    """Return the players that are drawn."""
    for player in run.players:
        if player not in ranked:
            raise InputError(
                f"{option('players')}: {player!r} is not in {run.folder / 'ratings.csv'}"
                f"{correction(player, ranked)}"
            )
    if len(run.players) > len(COLOURS):
        most = f"allowed: {len(COLOURS)}, which colours tell apart"
        raise InputError(f"{option('players')}: {len(run.players)} players ({most})")
    return list(dict.fromkeys(run.players)) or ranked[:SHOWN]


def _short(name: str) -> str:
    """Return a name that fits into a legend."""
    name = " ".join(name.split())
    return name if len(name) <= 24 else name[:23] + "…"


def read_history(
    run: RunFiles, players: Sequence[str]
) -> tuple[dict[str, tuple[Floats, Floats]], float, str]:
    """Return of each player where his games stand with the ratings after them; the last; over what.

    Games stand at their times, if there are any, in seconds since 1970 if these are dates; else at
    their numbers. A rating before the first game stands at its time, or at the game before it. Rows
    stream through, because there may be many millions.

    Raises
    ------
    InputError
        If ``history.csv`` is missing or damaged.
    """
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in players}
    timed = "time" in run.header("history.csv")
    over, place, before_first, last = GAMES, 0.0, 1.0, None
    with damaged(run.folder / "history.csv"):
        header = (*HEADER, "time") if timed else HEADER
        for game, player, before, after, *time in run.rows("history.csv", header):
            if game != last:
                last = game
                if timed:
                    place, over, before_first = *_time(time[0]), 0.0
                else:
                    place += 1.0
            if player in found:
                games, ratings = found[player]
                if not games:
                    games.append(place - before_first)
                    ratings.append(float(before))
                games.append(place)
                ratings.append(float(after))
    return {name: (np.array(g), np.array(r)) for name, (g, r) in found.items()}, place, over


def _time(text: str) -> tuple[float, str]:
    """Return the time of a game, and what an axis of such times is called."""
    number = real_number(text)
    if number is not None:
        return number, TIMES
    value = seconds_of(text)
    if math.isnan(value):
        raise ValueError(f"{text!r} is no time")
    return value, DATES


# ---- calibration ----


def _calibration(bins: dict[str, list[CalibrationPoint]], heading: str) -> Figure:
    """Draw observed against predicted scores, and how many games each bin holds."""
    figure = new_figure(6.0, 6.4)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3.0, 1.0])
    head(figure, heading, "predictions before each game, with 95% Wilson intervals")
    lower.set_xlabel("expected score of the favourite")
    upper.set(ylabel="mean score of the favourite", xlim=(0.49, 1.01))
    upper.plot([0.5, 1.0], [0.5, 1.0], color=GREY, linewidth=0.9, label="perfect")
    if not any(bins.values()):
        note(lower, "no predictions")
        return figure
    for k, ((label, own), colour) in enumerate(zip(bins.items(), (GOOD, BAD), strict=True)):
        _bins(upper, lower, own, k, colour, label)
    upper.legend(loc="upper left")
    counted(lower, "games")
    return figure


def _bins(
    upper: Axes, lower: Axes, bins: Sequence[CalibrationPoint], place: int, colour: str, label: str
) -> None:
    """Draw the bins of some games, beside those of others."""
    predicted = np.array([point.predicted for point in bins])
    observed = np.array([point.observed for point in bins])
    ends = np.array([point.interval for point in bins]).reshape(-1, 2).T
    upper.errorbar(
        predicted,
        observed,
        yerr=np.abs(ends - observed),
        fmt="os"[place],
        color=colour,
        markersize=5,
        label=label,
    )
    width = np.array([point.high - point.low for point in bins]) / 2.5
    left = np.array([point.low + (point.high - point.low) * (0.1 + 0.4 * place) for point in bins])
    bars = lower.bar(left, [point.games for point in bins], width, align="edge", color=colour)
    if place == 0:  # those of the others would touch them
        lower.bar_label(bars, fmt="{:,.0f}", fontsize=7.5, padding=1)
