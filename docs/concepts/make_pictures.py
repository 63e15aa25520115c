"""Make the pictures of the concepts, an SVG file each, from runs of valmatch itself.

The same version of matplotlib gives the same bytes. All pictures take about a minute.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import valmatch
from valmatch.matching import match_players, ranges

HERE = Path(__file__).parent

BLUE, ORANGE, GREEN, GREY, LIGHT = "#0072B2", "#D55E00", "#009E73", "#666666", "#BFD9EA"
"""Colours that all kinds of colour vision tell apart."""

STYLE: Any = {
    "svg.hashsalt": "valmatch",  # names inside the file that do not change
    "svg.fonttype": "none",  # text stays text
    "font.family": "DejaVu Sans, sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.facecolor": "white",  # readable on a dark page, too
    "savefig.facecolor": "white",
}

SEED = 1


def panels(columns: int = 1, height: float = 2.9) -> tuple[Figure, list[Axes]]:
    """Return a figure of one row of panels."""
    figure = Figure(figsize=(7.0, height), layout="constrained")
    grid = figure.subplots(1, columns, squeeze=False)
    return figure, list(grid[0])


def above(axes: Axes, columns: int = 2) -> None:
    """Put the legend over a panel, where it hides nothing."""
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, borderaxespad=0.2)


def value(config: valmatch.Config, factor: str) -> Any:  # noqa: ANN401
    """Return what a factor is."""
    return getattr(config.factors, factor)


def prioritized() -> Figure:
    """Draw how long the players of forty minutes wait, and from when on they are prioritized."""
    day = valmatch.simulate("valorant", SEED)
    players = day["players"]
    threshold = 60.0 * float(value(day.config, "wait_thresh"))
    came = 60.0 * players["arrival_hours"]
    gone = came + players["wait_minutes"]
    own = np.flatnonzero((came >= 780.0) & (came < 820.0) & ~np.isnan(gone))
    figure, [axes] = panels()
    for place, player in enumerate(own):
        begin, end = came[player] - 780.0, gone[player] - 780.0
        turn = min(end, begin + threshold)
        axes.plot([begin, turn], [place, place], color=BLUE, lw=2.5, solid_capstyle="butt")
        axes.plot([turn, end], [place, place], color=ORANGE, lw=2.5, solid_capstyle="butt")
        axes.plot(end, place, "o", color="black", ms=2.5)
    for colour, text in ((BLUE, "waits"), (ORANGE, f"prioritized, after {threshold:g} minutes")):
        axes.plot([], [], color=colour, lw=2.5, label=text)
    axes.plot([], [], "o", color="black", ms=2.5, label="matched")
    axes.set(xlabel="minutes after one o'clock", ylabel="players, in order of arrival", yticks=[])
    above(axes, 3)
    return figure


def slack() -> Figure:
    """Draw the ranges of all teams of a day over the longest wait in the match."""
    day = valmatch.simulate("valorant", SEED)
    players = day["players"]
    wait, rating, team = players["wait_minutes"], players["rating"], players["team"]
    numbers = np.unique(team[~np.isnan(team)])
    longest = [float(wait[team == number].max()) for number in numbers]
    width = [float(np.ptp(rating[team == number])) for number in numbers]
    threshold, end = 60.0 * value(day.config, "wait_thresh"), 60.0
    tight = value(day.config, "player_diff")
    loose = tight + value(day.config, "player_slack")
    figure, [axes] = panels()
    axes.fill_between([0, threshold, threshold, end], [tight, tight, loose, loose], color=LIGHT,
                      lw=0, label="what a team may have")  # fmt: skip
    axes.plot(longest, width, "o", color=BLUE, ms=3, label="the teams of a day")
    axes.axvline(threshold, color=ORANGE, ls="--", lw=1.2)
    axes.annotate("+ player_slack", (end, loose), (-4, 3), textcoords="offset points", ha="right")
    axes.annotate("player_diff", (0, tight), (3, 3), textcoords="offset points")
    axes.annotate("wait_thresh", (threshold, 0), (3, 3), textcoords="offset points", color=ORANGE)
    axes.set(xlabel="longest wait of its players [minutes]", xlim=(0, end), ylim=(0, 1.12 * loose),
             ylabel="best minus worst rating of a team")  # fmt: skip
    above(axes)
    return figure


def rule() -> Figure:
    """Draw whom two rules let meet, of the same twenty players."""
    rng = np.random.default_rng(4)
    times, ratings = np.sort(rng.uniform(0.0, 1.0, 20)), rng.normal(1500.0, 200.0, 20)
    figure, grid = panels(2)
    limits = ranges(team_num=1, team_diff=100.0, horizon=1.0)
    for axes, name, text in (
        (grid[0], "fifo", "fifo: who waits longest"),
        (grid[1], "team_first", "team_first, team_diff 100"),
    ):
        found = match_players(times, ratings, limits, name)
        for match in found.matches:
            pair = [*match.team_a, *match.team_b]
            axes.plot(60.0 * times[pair], ratings[pair], color=BLUE, lw=1.5)
        waiting = list(found.waiting)
        axes.plot(60.0 * times, ratings, "o", color=BLUE, ms=4)
        axes.plot(60.0 * times[waiting], ratings[waiting], "o", color=ORANGE, ms=5)
        axes.set(title=text, xlabel="arrival [minutes]")
    grid[0].set_ylabel("rating")
    grid[1].plot([], [], "o", color=ORANGE, ms=5, label="still waits")
    grid[1].legend(loc="lower right")
    return figure


def band() -> Figure:
    """Draw the bands of the ratings of a day, and how long those in them wait."""
    config = valmatch.load_config("valorant", {"measure": ["bands"], "team_diff": 150.0})
    found = valmatch.replicate(config, 200, seed=SEED)
    ratings = valmatch.simulate(config, SEED)["players"]["rating"]
    edges = np.quantile(ratings, value(config, "bands"))
    names = [name.partition(".")[2] for name in found.estimates if name.startswith("wait_p95.")]
    figure, grid = panels(2)
    shades = ("#56B4E9", "#9ECAE1", "#C6DBEF", "#FDD0A2", ORANGE)
    counts, bins = np.histogram(ratings, np.linspace(edges[0], edges[-1], 31))
    for low, high, shade in zip(edges[:-1], edges[1:], shades, strict=True):
        grid[0].axvspan(low, high, color=shade, lw=0)
    grid[0].stairs(counts, bins, color="black", lw=1.2)
    grid[0].set(xlabel="rating", ylabel="players of a day")
    for place, (name, shade) in enumerate(zip(names, shades, strict=True)):
        wait = found.estimates[f"wait_p95.{name}"]
        half = (wait.ci_high or 0.0) - (wait.mean or 0.0)
        grid[1].bar(place, wait.mean or 0.0, 0.8, color=shade, yerr=half, capsize=3)
    grid[1].set_xticks(range(len(names)), names, rotation=25, ha="right")
    grid[1].set(ylabel="95th percentile of waits [minutes]")
    return figure


def block() -> Figure:
    """Draw from which days of a log two resamples of it are put together."""
    days, hours = 21, np.arange(0.5, 21 * 24.0)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.csv")
        with log.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["arrival_hours", "rating", "player"])
            rows.writerows([hour, 1500, f"h{hour // 24:.0f}"] for hour in hours.tolist())
        config = valmatch.load_config(
            "valorant", {"arrivals": str(log), "horizon": None, "log.resample": "block"}
        )
        figure, [axes] = panels(height=1.8)
        colours = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.85, days))
        for row, replication in enumerate((0, 1, 2)):
            players = valmatch.simulate(config, SEED, replication)["players"]
            for day in range(days):
                [origin] = {name[1:] for name in _of_day(players, day)}
                place = (day, 2 - row + 0.12)
                box = Rectangle(place, 1, 0.76, color=colours[int(origin)], lw=0, clip_on=False)
                axes.add_artist(box)
                number = f"{int(origin) + 1}"
                axes.text(day + 0.5, 2.5 - row, number, color="white", ha="center", va="center")
    axes.set(xlim=(0, days), ylim=(0, 3), xlabel="day of the resample",
             xticks=np.arange(0.5, days, 4), xticklabels=range(1, days + 1, 4))  # fmt: skip
    axes.set_yticks([2.5, 1.5, 0.5], ["the log", "resample 1", "resample 2"])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return figure


def _of_day(players: Mapping[str, Any], day: int) -> list[str]:
    """Return the names of the players who arrive on a day."""
    own = np.floor(players["arrival_hours"] / 24.0) == day
    return [str(name) for name in np.asarray(players["player"])[own]]


def certification() -> Figure:
    """Draw waits on the days that a search has seen, and on fresh ones, by a rule's limit."""
    limits, at_most = np.arange(60.0, 201.0, 10.0), 20.0
    seen, fresh = [], []
    for limit in limits.tolist():
        config = valmatch.load_config("valorant", {"player_diff": limit})
        seen.append(valmatch.replicate(config, 10, seed=2).estimates["avg_wait_time"])
        fresh.append(valmatch.replicate(config, 200, seed=3).estimates["avg_wait_time"])
    figure, [axes] = panels()
    early = np.array([one.mean for one in seen], float)
    axes.plot(limits, early, "s-", color=ORANGE, ms=4, lw=1,
              label="10 days that the search has seen")  # fmt: skip
    means = np.array([one.mean for one in fresh], float)
    half = np.array([one.ci_high for one in fresh], float) - means
    axes.errorbar(limits, means, half, fmt="o-", color=BLUE, ms=3.5, lw=1, capsize=2.5,
                  label="200 fresh days, with intervals")  # fmt: skip
    axes.axhline(at_most, color="black", ls="--", lw=1.2)
    axes.annotate("allowed", (limits[-1], at_most), (0, 4), textcoords="offset points", ha="right")
    axes.set(xlabel="player_diff", ylabel="mean wait [minutes]")
    above(axes)
    return figure


def common_random_numbers() -> Figure:
    """Draw the waits of days under two rules, and the interval of their difference."""
    loose = valmatch.load_config("valorant")
    tight = valmatch.load_config("valorant", {"team_diff": 300.0})
    comparison = valmatch.compare(loose, tight, 200, seed=SEED).comparisons["avg_wait_time"]
    a = valmatch.replicate(loose, 200, seed=SEED)["avg_wait_time"]
    b = valmatch.replicate(tight, 200, seed=SEED)["avg_wait_time"]
    other = valmatch.replicate(tight, 200, seed=SEED + 1)["avg_wait_time"]
    figure, grid = panels(2)
    both = [min(a.min(), b.min()), max(a.max(), b.max())]
    grid[0].plot(both, both, color=GREY, lw=1)
    grid[0].plot(a[::2], b[::2], "o", color=BLUE, ms=3, alpha=0.7, mew=0)
    grid[0].set(xlabel="mean wait of a day under rule A", ylabel="of the same day under rule B")
    apart = float(other.mean() - a.mean())
    wide = 1.96 * float(np.sqrt(a.var(ddof=1) / a.size + other.var(ddof=1) / other.size))
    difference = comparison.difference
    near = float(difference.mean or 0.0)
    half = float(difference.ci_high or 0.0) - near
    for place, (mean, error, colour) in enumerate(((apart, wide, ORANGE), (near, half, BLUE))):
        grid[1].errorbar(mean, place, xerr=error, fmt="o", color=colour, capsize=4)
        grid[1].annotate(f"± {error:.2f}", (mean, place), (0, 8), textcoords="offset points",
                         ha="center")  # fmt: skip
    grid[1].axvline(0.0, color=GREY, lw=1)
    grid[1].set(xlabel="B - A [minutes]", ylim=(-0.6, 1.7))
    grid[1].set_yticks([0, 1], ["other days\nfor each", "the same\ndays"])
    return figure


def control_variates() -> Figure:
    """Draw the waits of days over how many players came, and the line through them."""
    found = valmatch.replicate("valorant", 30, seed=17)
    came, waits = found["n_players"], found["avg_wait_time"]
    expected = float(np.sum(value(found.config, "poisson_rate")[:24]))
    slope, start = np.polyfit(came, waits, 1)
    figure, [axes] = panels()
    axes.plot(came, waits, "o", color=BLUE, ms=3.5, label="a day")
    ends = np.array([came.min(), came.max()])
    axes.plot(ends, start + slope * ends, color=BLUE, lw=1.2)
    axes.axvline(expected, color=GREEN, lw=1.2, ls="--", label=f"expected: {expected:g} players")
    plain, adjusted = float(waits.mean()), float(start + slope * expected)
    axes.plot(came.mean(), plain, "D", color=ORANGE, ms=7, label=f"plain mean {plain:.2f}")
    axes.plot(expected, adjusted, "D", color=GREEN, ms=7, label=f"adjusted mean {adjusted:.2f}")
    axes.set(xlabel="players who came", ylabel="mean wait of the day [minutes]")
    above(axes, 4)
    return figure


def scale_stretch() -> Figure:
    """Draw ratings over skills at the end of a ladder, and the stretch day by day for two K."""
    figure, grid = panels(2)
    for steps, colour in ((16, BLUE), (64, ORANGE)):
        config = valmatch.load_config(
            "ladder-elo", {"rating.K": steps, "days": 14, "warmup_days": 0}
        )
        week = valmatch.simulate(config, SEED)
        players, days = week["players"], week["days"]
        own = players["games"] > 0
        rating, skill = players["rating"][own], players["skill"][own]
        text = f"K = {steps}"
        grid[0].plot(skill[::18], rating[::18], "o", color=colour, ms=2.5, mew=0, alpha=0.7)
        grid[1].plot(days["day"] + 1, days["scale_stretch"], "o-", color=colour, ms=3.5, label=text)
    line = np.array([900.0, 2100.0])
    grid[0].plot(line, line, color=GREY, lw=1)
    grid[0].set(xlabel="true skill", ylabel="rating after two weeks")
    grid[1].axhline(1.0, color=GREY, lw=1)
    grid[1].set(xlabel="day", ylabel="scale_stretch", ylim=(0, 1.1), xticks=range(2, 15, 2))
    above(grid[1])
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    "prioritized": prioritized,
    "slack": slack,
    "rule": rule,
    "band": band,
    "block": block,
    "certification": certification,
    "common-random-numbers": common_random_numbers,
    "control-variates": control_variates,
    "scale-stretch": scale_stretch,
}
"""By the name of a concept."""


def main() -> None:
    """Make the pictures that the command line names, or all."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)}; or all")
    words.add_argument("--out", type=Path, default=HERE, help="folder of the pictures")
    words.add_argument("--png", action="store_true", help="PNG files, too, to look at")
    given = words.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.names or PICTURES:
        if name not in PICTURES:
            words.error(f"no picture {name!r} (allowed: {', '.join(PICTURES)})")
        print(name, file=sys.stderr)
        with matplotlib.rc_context(STYLE):
            figure = PICTURES[name]()
            metadata = {"Date": None, "Creator": "valmatch"}
            figure.savefig(given.out / f"{name}.svg", metadata=metadata)
            if given.png:
                figure.savefig(given.out / f"{name}.png", dpi=110)


if __name__ == "__main__":
    main()
