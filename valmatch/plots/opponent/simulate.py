"""A sample path of the `opponent` model: belief, opponents, games won."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from valmatch.errors import InputError
from valmatch.kernels.arrays import Floats
from valmatch.plots.opponent.replications import BAND, STYLES, moving_average
from valmatch.plots.parts.labels import legend_below
from valmatch.plots.parts.source import RunFiles, damaged
from valmatch.plots.parts.style import GOOD, GREY, dots, head, panels

Games = Mapping[str, Floats]

COLUMNS = ("mean", "variance", "skill_difference", "squared_error", "win")
SPAN = 21


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``games.csv``, with the true skill from ``players.csv``."""
    paths = _read_games(run)
    figure, (belief, gap, error, won) = panels(4, 2, width=4.4, height=2.9)
    skill = _own_skill(run)
    belief.axhline(skill, color="black", linewidth=0.9, label="true skill")
    gap.axhline(0.0, color=GREY, linewidth=0.8)
    won.axhline(0.5, color=GREY, linewidth=0.8)
    for policy, games in paths.items():
        name, colour, style = STYLES.get(policy, (policy, GOOD, "-"))
        properties = {"color": colour, "linestyle": style, "label": name}
        game = np.arange(1, games["mean"].size + 1)
        belief.plot(game, games["mean"], **properties)
        _band(belief, game, games, colour)
        dots(gap, game, games["skill_difference"], color=colour, markersize=1.8, alpha=0.35)
        gap.plot(game, moving_average(games["skill_difference"], SPAN), **properties)
        error.plot(game, games["squared_error"], **properties)
        won.plot(game, np.cumsum(games["win"]) / game, **properties)
    belief.set(ylabel=f"believed skill of player 0\n± {BAND} standard deviations [skill]")
    gap.set(ylabel=f"skill of player 0 - opponent [skill]\n(lines: mean of {SPAN} games)")
    error.set(ylabel="squared error of the belief [skill²]")
    won.set(ylabel="share of the games won so far", ylim=(-0.03, 1.03))
    for axes in (belief, gap, error, won):
        axes.set_xlabel("game")
    legend_below(figure, *belief.get_legend_handles_labels())
    head(figure, run.heading(f"replication {run.manifest.get('replication')}"))
    return {"path": figure}


def _band(axes: Axes, game: NDArray[np.int64], games: Games, colour: str) -> None:
    """Draw the spread of a belief."""
    reach = BAND * np.sqrt(games["variance"])
    low, high = games["mean"] - reach, games["mean"] + reach
    axes.fill_between(game, low, high, color=colour, alpha=0.15, linewidth=0)


def _read_games(run: RunFiles) -> dict[str, dict[str, Floats]]:
    """Return the columns of each policy's games."""
    table = run.table("games.csv", COLUMNS, ("policy",))
    if not len(table):
        raise InputError(f"{table.path}: holds no games")
    policies = np.array(table.texts["policy"])
    return {
        policy: {name: column[policies == policy] for name, column in table.numbers.items()}
        for policy in dict.fromkeys(policies.tolist())
    }


def _own_skill(run: RunFiles) -> float:
    """Return the true skill of player 0, who is known by the rank."""
    players = run.table("players.csv", ("rank", "skill"))
    ranks, skills = players.numbers["rank"], players.numbers["skill"]
    rank = {"top": 1, "bottom": len(players)}.get(run.factor("rank"), run.factor("rank"))
    with damaged(players.path):
        return float(skills[ranks == float(rank)][0])
