"""A day of the `valorant` model: queue, waits, matches."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from valmatch.kernels.arrays import Floats
from valmatch.models.valorant.hours import WEEK
from valmatch.models.valorant.wall_clock import DAY
from valmatch.plots.parts.labels import label, legend_above
from valmatch.plots.parts.source import RunFiles
from valmatch.plots.parts.style import BAD, FAINT, GOOD, GREY, counted, dots, head, new_figure, note
from valmatch.plots.parts.waiting import Steps, fill_steps, waiting_between
from valmatch.plots.valorant import week
from valmatch.plots.valorant.calendar import first_midnight

WINDOWS_PER_DAY = 24
GROUPS = 10
HOURS, MOST_TICKS = (2, 6, 12, 24), 13
"""Hours between ticks, and how many there may be."""

DAYS = (1, 2, 7, 14, 28)  # days between ticks of longer logs

LONG, LONGER = 2 * DAY, 28 * DAY
"""Hours from which on dates stand on the axis, and beyond which no hour of a day can be seen."""

WINDOWS = (3.0, float(DAY))  # hours that means are taken over below and beyond that


GIVES_UP = "left_hours"  # the column of those who give up, which former versions did not write


class ValorantDay(NamedTuple):
    """The players and the matches of a day, as arrays."""

    horizon: float  # its length in hours, as far as it is drawn
    first: datetime | None  # the midnight that hours are counted from, where it has a date
    threshold: float  # wait in hours after which a player is prioritized
    # arrival, leaving: hours of each player; NaN where still in the queue at the end
    arrival: Floats
    leaving: Floats
    rating: Floats  # rating of each player in Elo points
    wait: Floats  # minutes of each player until the match; NaN where never matched
    differences: Floats  # of the mean ratings in each match, in Elo points


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``players.csv`` and ``matches.csv``."""
    day = read_day(run)
    figure = new_figure(9.5, 8.8)
    places = figure.subplot_mosaic([["queue"] * 2, ["waits"] * 2, ["ratings", "matches"]])
    _queue(places["queue"], day)
    _waits(places["waits"], day)
    _ratings(places["ratings"], day)
    _matches(places["matches"], day, run)
    players, matches = day.arrival.size, day.differences.size
    facts = (
        f"replication {run.manifest.get('replication')}",
        f"{players:,} player{'s' * (players != 1)}",
        f"{matches:,} match{'es' * (matches != 1)}",
        *([f"from {day.first:%Y-%m-%d} on"] if day.first else []),
    )
    head(figure, run.heading(*facts))
    if day.first is None or day.horizon < DAY * len(WEEK):
        return {"day": figure}
    pictures = week.draw(day.first, day.horizon, day.arrival, day.leaving, day.wait)
    head(pictures, run.heading(*facts))
    return {"day": figure, "week": pictures}


def read_day(run: RunFiles) -> ValorantDay:
    """Return what the tables of a run hold."""
    columns = ("arrival_hours", "match_hours", "rating", "wait_minutes")
    gives_up = [GIVES_UP] if GIVES_UP in run.header("players.csv") else []
    found = run.table("players.csv", [*columns, *gives_up]).numbers
    arrival, matched, rating, wait = (found[name] for name in columns)
    leaving = np.fmin(matched, found.get(GIVES_UP, matched))  # each player has one of them at most
    horizon = run.factor("horizon")
    last = float(np.nanmax(np.concatenate([[0.0], arrival, leaving])))
    # A short queue log is drawn to its end rather than over the whole day of the config.
    if horizon is None or (last < 0.5 * horizon and not np.isnan(leaving).any()):
        horizon = last
    differences = run.table("matches.csv", ("team_diff",)).numbers["team_diff"]
    threshold = float(run.factor("wait_thresh"))
    first = first_midnight(run)
    return ValorantDay(
        float(horizon), first, threshold, arrival, leaving, rating, wait, differences
    )


def waiting(day: ValorantDay, prioritized: bool = False) -> Steps:
    """Return how many players wait, or how many of them are prioritized, over the day."""
    begin = day.arrival + (day.threshold if prioritized else 0.0)
    return waiting_between(0.0, day.horizon, begin, day.leaving)


def window_of(day: ValorantDay) -> float:
    """Return over how many hours waits are averaged."""
    if day.horizon <= LONG:
        return day.horizon / WINDOWS_PER_DAY
    return WINDOWS[day.horizon > LONGER]


def rolling(day: ValorantDay) -> tuple[Floats, Floats, Floats, Floats]:
    """Return hours with mean, 10th and 90th percentile of the waits around them, in minutes.

    A wait counts at the time of arrival, in a centred window.
    """
    matched = ~np.isnan(day.wait)
    arrival, wait = day.arrival[matched], day.wait[matched]
    half = window_of(day) / 2
    windows = day.horizon / window_of(day)
    hours = np.linspace(half, day.horizon - half, round(8 * windows))
    first = np.searchsorted(arrival, hours - half)
    last = np.searchsorted(arrival, hours + half, side="right")
    found = np.full((3, hours.size), np.nan)
    for k, (low, high) in enumerate(zip(first, last, strict=True)):
        if high > low:
            own = wait[low:high]
            found[:, k] = own.mean(), *np.percentile(own, (10, 90))
    return hours, found[0], found[1], found[2]


def _queue(axes: Axes, day: ValorantDay) -> None:
    """Draw the number of waiting players."""
    if not day.arrival.size:
        note(axes, "nobody arrived")
        return
    for steps, colour, what in (
        (waiting(day), FAINT, "waiting"),
        (waiting(day, prioritized=True), BAD, "of them prioritized"),
    ):
        fill_steps(axes, steps, colour, what)
    _over_the_day(axes, day, "time", "")
    counted(axes, "waiting players")
    legend_above(axes)


def _waits(axes: Axes, day: ValorantDay) -> None:
    """Draw the rolling mean of the waits."""
    if np.isnan(day.wait).all():
        note(axes, "nobody was matched")
        return
    hours, mean, low, high = rolling(day)
    axes.fill_between(hours, low, high, color=FAINT, alpha=0.4, linewidth=0, label="10% to 90%")
    hours_of_mean = window_of(day)
    over = f"{60 * hours_of_mean:.3g} minutes" if hours_of_mean <= 2 else f"{hours_of_mean:g} hours"
    axes.plot(hours, mean, color=GOOD, label=f"mean over {over}")
    _over_the_day(axes, day, "time of arrival", "wait of matched players [minutes]")
    legend_above(axes)


def _over_the_day(axes: Axes, day: ValorantDay, x: str, y: str) -> None:
    """Label axes and set the ticks of time: hours, or days of a long log, with dates if known."""
    axes.set_xlim(0.0, day.horizon or 1.0)
    axes.set_ylim(bottom=0.0)
    if day.horizon <= LONG or (day.first is None and day.horizon <= HOURS[-1] * MOST_TICKS):
        label(axes, f"{x} [hours]", y)
        for step in HOURS:
            if step * MOST_TICKS / 2 < day.horizon <= step * MOST_TICKS:
                axes.xaxis.set_major_locator(MultipleLocator(step))
                break
        return
    days = day.horizon / DAY
    apart = next((step for step in DAYS if days / step < MOST_TICKS), math.ceil(days / MOST_TICKS))
    ticks = range(0, math.floor(days) + 1, apart)
    label(axes, f"{x} [{'date' if day.first else 'days'}]", y)
    axes.set_xticks([DAY * k for k in ticks], [_day_in_words(day.first, k) for k in ticks])


def _day_in_words(first: datetime | None, number: int) -> str:
    """Return the date of a day, or its number where it has none."""
    if first is None:
        return str(number)
    found = first + timedelta(days=number)
    return f"{found:%b} {found.day}"


def _ratings(axes: Axes, day: ValorantDay) -> None:
    """Draw the wait of each player against the rating, with the means of equal groups."""
    if not day.arrival.size:
        note(axes, "nobody arrived")
        return
    matched = ~np.isnan(day.wait)
    rating, wait = day.rating[matched], day.wait[matched]
    dots(axes, rating, wait, color=FAINT, alpha=0.8, label="matched")
    gave_up, never = ~matched & ~np.isnan(day.leaving), ~matched & np.isnan(day.leaving)
    left = 60.0 * (np.fmin(day.leaving, day.horizon) - day.arrival)
    if gave_up.any():
        dots(axes, day.rating[gave_up], left[gave_up], color=GREY, marker="s", label="gave up")
    dots(
        axes,
        day.rating[never],
        left[never],
        color=BAD,
        marker="^",
        markersize=4.5,
        label="unmatched",
    )
    if rating.size >= 5 * GROUPS:
        groups = np.array_split(np.argsort(rating, kind="stable"), GROUPS)
        centres, means = ([values[group].mean() for group in groups] for values in (rating, wait))
        axes.plot(centres, means, "o-", color="black", markersize=4, label="means of tenths")
    waits = np.append(wait, left[~matched])
    # Linear up to about the mean wait, because many players wait for no time at all.
    threshold = 10.0 ** round(math.log10(max(float(waits.mean()), 1e-6)))
    most = float(waits.max())
    if most > 10.0 * threshold:
        axes.set_yscale("symlog", linthresh=threshold)
        axes.set_ylim(-0.05 * threshold, 1.5 * most)
    label(axes, "rating [Elo points]", "wait [minutes]")
    axes.yaxis.set_major_formatter("{x:g}")
    legend_above(axes)


def _matches(axes: Axes, day: ValorantDay, run: RunFiles) -> None:
    """Draw how the differences of matches are distributed, between the limits of the rules."""
    if not day.differences.size:
        note(axes, "no matches")
        return
    counts, edges = np.histogram(day.differences, min(40, max(8, int(day.differences.size**0.5))))
    axes.stairs(counts, edges, fill=True, color=FAINT, alpha=0.7)
    mean = float(day.differences.mean())
    axes.axvline(mean, color=BAD, label=f"mean {mean:.4g}")
    limit = float(run.factor("team_diff"))
    relaxed = limit + float(run.factor("team_slack"))
    for value, name, style in ((limit, "team_diff", "--"), (relaxed, "with slack", ":")):
        if value <= 1.5 * edges[-1]:
            axes.axvline(value, color=GREY, linestyle=style, label=f"{name} {value:.4g}")
    label(axes, "difference of the mean ratings [Elo points]")
    counted(axes, "matches")
    legend_above(axes)
