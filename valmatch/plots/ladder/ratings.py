"""The ratings of the `ladder` model against the true skills, of matches and of players."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.kernels.arrays import Floats
from valmatch.plots.ladder.time import read_time
from valmatch.plots.parts.labels import label, legend_above
from valmatch.plots.parts.source import RunFiles, damaged
from valmatch.plots.parts.style import BAD, GOOD, dots, head, note, panels

MOST_DOTS = 500  # matches beyond which their density is drawn instead
DENSITY = "Blues"
CELLS = 30
GROUPS = 10


class Differences(NamedTuple):
    """Between the two teams of each measured match that ended."""

    believed: Floats  # of the means of what the rule saw, in points
    true: Floats  # of the mean skills, in points


class FinalRatings(NamedTuple):
    """Skills and ratings of the players who have finished a match and are not gone."""

    skill: Floats
    rating: Floats


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``players.csv``, with the matches of ``games.csv`` and ``tickets.csv``."""
    standing, found = read_standing(run), read_differences(run)
    figure, (fairness, ratings) = panels(2, 2, width=4.9, height=4.2)
    _fairness(figure, fairness, found)
    _ratings(ratings, standing)
    matches, players = found.true.size, standing.skill.size
    facts = (
        f"replication {run.manifest.get('replication')}",
        f"{matches:,} measured match{'es' * (matches != 1)}",
        f"{players:,} player{'s' * (players != 1)} at the end",
    )
    head(figure, run.heading(*facts))
    return {"ratings": figure}


def read_standing(run: RunFiles) -> FinalRatings:
    """Return how the players stand at the end of a run."""
    columns = ("skill", "rating", "games", "gone")
    skill, rating, games, gone = run.table("players.csv", columns).numbers.values()
    there = (games > 0) & (gone == 0)
    return FinalRatings(skill[there], rating[there])


def read_differences(run: RunFiles) -> Differences:
    """Return how far the teams of matches lay apart, as believed and truly."""
    people = run.table("players.csv", ("skill",), ("player",))
    skill = people.numbers["skill"]
    numbers = {name: number for number, name in enumerate(people.texts["player"])}
    table = run.table("games.csv", ("game",), ("player", "team"))
    tickets = run.table("tickets.csv", ("rating", "ended_hours", "match"), ("player",))
    matched = ~np.isnan(tickets.numbers["match"])
    rating, start, match = (column[matched] for column in tickets.numbers.values())
    with damaged(table.path):
        numbers_of_rows = np.array([numbers[name] for name in table.texts["player"]], np.int64)
    with damaged(tickets.path):
        player = np.array([numbers[name] for name in tickets.texts["player"]], np.int64)[matched]
        side = np.where(np.array(table.texts["team"]) == "A", 1.0, -1.0)
        game = table.numbers["game"]
        # Both in the order of matches and their players; some matches have not ended.
        ended = np.isin(match, game)
        order = np.flatnonzero(ended)[np.lexsort((player[ended], match[ended]))]
        rows = np.lexsort((numbers_of_rows, game))
        if not np.array_equal(player[order], numbers_of_rows[rows]):
            raise ValueError("its matches are not those of games.csv")
        side = side[rows]
        rating, start, ability = rating[order], start[order], skill[numbers_of_rows[rows]]
        _, first, at, seats = np.unique(
            game[rows], return_index=True, return_inverse=True, return_counts=True
        )
        measured = start[first] >= 24.0 * read_time(run).warmup
        believed, true = (
            np.abs(2.0 * np.bincount(at, side * values) / seats)[measured]
            for values in (rating, ability)
        )
    return Differences(believed, true)


def _fairness(figure: Figure, axes: Axes, found: Differences) -> None:
    """Draw the true difference of each match against the believed one."""
    if not found.true.size:
        note(axes, "no measured match ended")
        return
    if found.true.size > MOST_DOTS:
        cells = axes.hexbin(
            found.believed,
            found.true,
            gridsize=CELLS,
            mincnt=1,
            cmap=DENSITY,
            linewidths=0.1,
            rasterized=True,
        )
        figure.colorbar(cells, ax=axes, location="right", aspect=30, pad=0.02, label="matches")
    else:
        dots(axes, found.believed, found.true, color=GOOD, alpha=0.6, label="matches")
    axes.axline((0.0, 0.0), slope=1.0, color=BAD, linestyle="--", label="equal")
    if found.true.size >= 5 * GROUPS:
        groups = np.array_split(np.argsort(found.believed, kind="stable"), GROUPS)
        centres, means = ([values[group].mean() for group in groups] for values in found)
        axes.plot(centres, means, "o-", color="black", markersize=4, label="means of tenths")
    label(
        axes,
        "believed difference of the teams [points]",
        "difference of their mean skills [points]",
    )
    axes.set(xlim=(0.0, None), ylim=(0.0, None))
    legend_above(axes)


def _ratings(axes: Axes, now: FinalRatings) -> None:
    """Draw the rating of each player against the skill, with the line of least squares."""
    if not now.skill.size:
        note(axes, "nobody has finished a match")
        return
    ends = np.array([now.skill.min(), now.skill.max()])
    dots(axes, now.skill, now.rating, color=GOOD, alpha=0.6, label="players")
    axes.plot(ends, ends, color=BAD, linestyle="--", label="equal")
    skill, rating = now.skill - now.skill.mean(), now.rating - now.rating.mean()
    if skill.any():
        slope = float((skill * rating).sum() / (skill * skill).sum())
        line = now.rating.mean() + slope * (ends - now.skill.mean())
        axes.plot(ends, line, color="black", label=f"least squares, slope {slope:.3f}")
    label(axes, "skill [points]", "rating at the end [points]")
    legend_above(axes)
