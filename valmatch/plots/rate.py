"""Rated game logs: the ratings of players game by game, the calibration of predictions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from valmatch.errors import InputError, option
from valmatch.kernels.arrays import Floats
from valmatch.plots import whole_log
from valmatch.plots.parts.source import RunFiles, damaged
from valmatch.plots.parts.style import (
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
from valmatch.plots.paths import draw_paths
from valmatch.ratings.registry import BATCH_NAMES
from valmatch.text.durations import seconds_of
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import correction

SHOWN = 5
MOST_STEPS = 1500
HEADER = ("game", "player", "rating_before", "rating_after")

Z = 1.96  # standard errors to either end of an interval of 95 %

MARKERS = "osD^vPX"
APART = 0.004  # by how much expected score the points of compared systems are drawn apart

GAMES, DATES, TIMES = "games of the log, in order of play", "date (UTC)", "time"
"""What ratings are drawn over."""


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``history.csv`` for the best of ``ratings.csv``, and the calibration.

    Of a whole log the paths of ``days.csv``, where players have such.
    """
    summary = run.json("summary.json")
    if "best" in summary:
        return _draw_systems(run, summary)
    if summary.get("system") in BATCH_NAMES:
        paths = _draw_paths(run, summary) if "drift" in summary else {}
        return {**paths, **whole_log.draw(run, summary)}
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


def _draw_paths(run: RunFiles, summary: Mapping[str, Any]) -> dict[str, Figure]:
    """Draw the paths of some players."""
    rows = run.rows("ratings.csv", ("rank", "player", "rating"))
    places = {player: rank for rank, player, rating in rows if rating}
    if not places:
        raise InputError(f"{run.folder / 'ratings.csv'}: nobody has a rating")
    chosen = _chosen(run, list(places))
    labels = {player: f"{places[player]}. {_short(player)}" for player in chosen}
    with damaged(run.folder / "summary.json"):
        return {"paths": draw_paths(run, summary, labels)}


# ---- history ----


def _history(run: RunFiles, system: str, heading: str) -> Figure:
    """Draw the ratings of some players over the games of the log, or over their times."""
    ranking = run.table("ratings.csv", ("rank",), ("player",))
    if not len(ranking):
        raise InputError(f"{ranking.path}: holds no players")
    rank_of = dict(zip(ranking.texts["player"], ranking.numbers["rank"].tolist(), strict=True))
    chosen = _chosen(run, list(rank_of))
    paths, last, over = read_history(run, chosen)
    figure = new_figure(9.0, 4.6)
    axes = figure.subplots()
    for k, player in enumerate(chosen):
        games, ratings = paths[player]
        shown = thinned(games.size, MOST_STEPS)
        properties: dict[str, Any] = {"color": COLOURS[k], "linestyle": LINES[k % len(LINES)]}
        # To the last game, at which the rating is that of the ranking.
        at, height = np.append(games[shown], last), np.append(ratings[shown], ratings[-1:])
        label = f"{rank_of[player]:.0f}. {_short(player)}"
        if games.size:
            where = at.astype("datetime64[s]") if over == DATES else at
            axes.step(where, height, where="post", linewidth=1.2, label=label, **properties)
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


class CalibrationPoint(NamedTuple):
    """Predictions of about the same expected score of the favourite, of ``summary.json``."""

    # low, high: limits of the expected score
    low: float
    high: float
    games: float  # how many
    # predicted, observed: mean expected score, mean score
    predicted: float
    observed: float

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval of the mean score."""
        n, share = self.games, self.observed
        centre = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
        half = Z / (1 + Z * Z / n) * np.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
        return centre - half, centre + half


def bins_of(found: Sequence[Mapping[str, Any]]) -> list[CalibrationPoint]:
    """Return bins as ``summary.json`` has them."""
    return [CalibrationPoint(**{name: float(x) for name, x in row.items()}) for row in found]


def _points(bins: Sequence[CalibrationPoint]) -> tuple[Floats, Floats, Floats]:
    """Return predicted and observed scores, (n,), and how far intervals reach, (2, n)."""
    predicted = np.array([point.predicted for point in bins])
    observed = np.array([point.observed for point in bins])
    ends = np.array([point.interval for point in bins]).reshape(-1, 2).T
    return predicted, observed, np.abs(ends - observed)


def _calibration_figure(width: float, height: float, heading: str) -> tuple[Figure, Axes, Axes]:
    """Return a figure of mean over expected scores, with room below for the games of each bin."""
    figure = new_figure(width, height)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3.0, 1.0])
    head(figure, heading, "predictions before each game, with 95% Wilson intervals")
    lower.set_xlabel("expected score of the favourite")
    upper.set(ylabel="mean score of the favourite", xlim=(0.49, 1.01))
    upper.plot([0.5, 1.0], [0.5, 1.0], color=GREY, linewidth=0.9, label="perfect")
    return figure, upper, lower


def _calibration(bins: dict[str, list[CalibrationPoint]], heading: str) -> Figure:
    """Draw observed against predicted scores, and how many games each bin holds."""
    figure, upper, lower = _calibration_figure(6.0, 6.4, heading)
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
    predicted, observed, reach = _points(bins)
    upper.errorbar(
        predicted,
        observed,
        yerr=reach,
        fmt="os"[place],
        color=colour,
        markersize=5,
        label=label,
    )
    width = np.array([point.high - point.low for point in bins]) / 2.5
    shift = 0.1 + 0.4 * place
    left = np.array([point.low + (point.high - point.low) * shift for point in bins])
    bars = lower.bar(left, [point.games for point in bins], width, align="edge", color=colour)
    if place == 0:  # those of the others would touch them
        lower.bar_label(bars, fmt="{:,.0f}", fontsize=7.5, padding=1)


# ---- compared systems ----


def _draw_systems(run: RunFiles, summary: Mapping[str, Any]) -> dict[str, Figure]:
    """Draw the calibration of all compared systems, as ``summary.json`` has it."""
    with damaged(run.folder / "summary.json"):
        bins = {
            str(name): bins_of(system["predictions"]["all"]["calibration"])
            for name, system in summary["systems"].items()
            if not system["baseline"]
        }
        heading = f"{summary['games']:,} games, best: {summary['best']}"
    heading += f", {run.remark}" if run.remark else ""
    return {"calibration": _calibration_of_systems(bins, heading)}


def _calibration_of_systems(bins: Mapping[str, Sequence[CalibrationPoint]], heading: str) -> Figure:
    """Draw observed against predicted scores of each system, and how many games each bin holds."""
    figure, upper, lower = _calibration_figure(7.5, 6.6, heading)
    if not any(bins.values()):
        note(lower, "no predictions")
        return figure
    for k, (name, own) in enumerate(bins.items()):
        colour, line = COLOURS[k % len(COLOURS)], LINES[k % len(LINES)]
        predicted, observed, reach = _points(own)
        upper.errorbar(
            predicted + APART * (k - (len(bins) - 1) / 2),
            observed,
            yerr=reach,
            marker=MARKERS[k % len(MARKERS)],
            markersize=5,
            linewidth=1.0,
            linestyle=line,
            color=colour,
            label=name,
        )
        middles = [(point.low + point.high) / 2 for point in own]
        games = [point.games for point in own]
        lower.plot(middles, games, color=colour, linestyle=line, marker=".", linewidth=1.0)
    upper.legend(loc="upper left")
    counted(lower, "games")
    return figure
