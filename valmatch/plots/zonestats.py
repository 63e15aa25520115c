"""A replication of the `zonestats` model: ratings and latent skills."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.errors import InputError
from valmatch.kernels.arrays import Floats, Ints
from valmatch.plots.parts.labels import label, legend_above
from valmatch.plots.parts.source import RunFiles, damaged
from valmatch.plots.parts.style import COLOURS, GOOD, GREY, dots, head, panels, thinned

SHOWN = 5
LOOKS = 200


class RatingPaths(NamedTuple):
    """What the tables of a replication hold."""

    # skill, rating: of each player, the rating at the end, in points; NaN of who is not rated
    skill: Floats
    rating: Floats
    # game, player: of each row of a game
    game: Ints
    player: Ints
    after: Floats  # rating of the player after the game, in points


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``players.csv`` and ``games.csv``."""
    history = read_history(run)
    initial, bound = (float(run.factor(name)) for name in ("initial_rating", "error_bound"))
    figure, (scatter, error, paths) = panels(3, 3, width=4.0, height=3.3)
    _scatter(scatter, history)
    games, error_at = errors(history, initial)
    error.plot(games, error_at, color=GOOD)
    error.axhline(bound, color=GREY, linestyle=":", label=f"error_bound {bound:g}")
    label(error, "games per player", "root mean square of rating - skill [points]")
    error.set_ylim(bottom=0.0)
    error.legend()
    _paths(paths, history, initial)
    head(figure, run.heading(f"replication {run.manifest.get('replication')}"))
    return {"ratings": figure}


def read_history(run: RunFiles) -> RatingPaths:
    """Return what the tables of a run hold."""
    players = run.table("players.csv", ("skill", "rating"))
    games = run.table("games.csv", ("game", "player", "rating", "adjustment"))
    if not len(players) or not len(games):
        raise InputError(f"{run.folder}: holds no games")
    with damaged(games.path):
        game, player = (games.numbers[name].astype(np.int64) for name in ("game", "player"))
        if player.min() < 0 or player.max() >= len(players):
            raise ValueError(f"player {player.max()} is not in players.csv")
    after = games.numbers["rating"] + games.numbers["adjustment"]
    return RatingPaths(players.numbers["skill"], players.numbers["rating"], game, player, after)


def errors(history: RatingPaths, initial: float) -> tuple[Floats, Floats]:
    """Return games per player so far with the root mean square of rating minus skill, centred."""
    n, rows = history.skill.size, history.player.size
    seats = rows // (int(history.game[-1]) + 1)
    marks = np.unique(np.linspace(0, rows // seats, LOOKS + 1).round().astype(np.int64)) * seats
    rated = ~np.isnan(history.rating)
    ratings = np.full(n, initial)
    skill = history.skill[rated] - history.skill[rated].mean()
    found, last = [], 0
    for mark in marks.tolist():
        # Of several games of a player the last one stays.
        ratings[history.player[last:mark]] = history.after[last:mark]
        now = ratings[rated]
        found.append(float(np.sqrt(np.mean((now - now.mean() - skill) ** 2))))
        last = mark
    return marks / n, np.array(found)


def _scatter(axes: Axes, history: RatingPaths) -> None:
    """Draw ratings against skills, with the line on which they are equal."""
    rated = ~np.isnan(history.rating)
    skill, rating = history.skill[rated], history.rating[rated]
    ends = np.array([skill.min(), skill.max()])
    axes.plot(ends, ends, color=GREY, linewidth=0.9, label="rating = skill")
    dots(axes, skill, rating, color=GOOD, alpha=0.7, label="players at the end")
    axes.set(xlabel="latent skill [points]", ylabel="rating [points]")
    axes.legend()


def _paths(axes: Axes, history: RatingPaths, initial: float) -> None:
    """Draw the ratings of players from the lowest to the highest skill, with their skills."""
    order = np.argsort(history.skill, kind="stable")
    order = order[~np.isnan(history.rating[order])]
    at = np.unique(np.linspace(0, order.size - 1, SHOWN).round().astype(np.int64))
    for player, colour in zip(order[at].tolist(), COLOURS, strict=False):
        path = np.append(initial, history.after[history.player == player])
        shown = thinned(path.size, 1000)
        axes.plot(np.arange(path.size)[shown], path[shown], color=colour, linewidth=1.0)
        axes.axhline(history.skill[player], color=colour, linestyle=(0, (4, 2)), linewidth=1.2)
    axes.plot([], [], color="black", linewidth=1.0, label="rating")
    axes.plot([], [], color="black", linestyle=(0, (4, 2)), linewidth=1.2, label="latent skill")
    axes.set(xlabel="games of the player", ylabel="rating [points]")
    legend_above(axes)
