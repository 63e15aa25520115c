"""Presentation of a plan: how many games are enough, and what is known after fewer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from valmatch.game_logs.leagues import UNIFORM
from valmatch.game_logs.planning import AIMED, PlannedGames
from valmatch.kernels.arrays import Floats
from valmatch.present.document import Block, Graph, Line, Presentation, View, counted
from valmatch.statistics.estimates import t_quantile
from valmatch.statistics.rounding import formatted
from valmatch.text.terminal import Sheet

SHARES = {
    "named_best": "leader is the best",
    "shown_best": "one alone is tied for first",
    "coverage": "intervals hold the difference",
}
"""What is measured as a share of leagues or of differences."""

MEANT = (
    "half-width: of the intervals of differences between two players, their mean; named best: the"
    " leader of the ratings is the true best; shown best: exactly one player is tied for first;"
    " coverage: share of the differences that their intervals hold."
)

MOST = 12  # numbers of games in the table: those about the answer, or the last ones


def present(result: PlannedGames, view: View) -> Presentation:
    """Return what a plan shows."""
    o, players = result.options, counted(result.players, "player")
    policy = f"{o.policy} ({o.goal_of_policy})" if o.goal_of_policy else o.policy
    measure, value = o.aim
    aim = AIMED[measure].format(value=value)
    sure = "no interval" if result.games is None else f"{o.level:.0%} interval"
    n = counted(o.replications, "league")
    batch = "" if o.policy == UNIFORM else f", {o.batch:,} games at a time"
    facts = [
        f"Pairs: {policy}{batch}.",
        f"Intervals: {o.level:.0%}; that of the games resamples the leagues.",
    ]
    return Presentation(
        f"Plan of games of {players}",
        f"How many games of {players}, paired by {policy}, reach {aim}?",
        finding=f"{result.sentence}; {sure}, n = {n}.",
        glossary=MEANT,
        tables=[Block("Games", sheet=_games(result), items=[result.sentence, *result.notes])],
        charts=[Block("What is known after so many games", charts=_charts(result), figure="plan")],
        blocks=[Block("How it was simulated", items=facts)],
    )


def _games(result: PlannedGames) -> Sheet:
    """Return the curves about the answer as a table."""
    columns, grid = result.columns(), result.curves["games"]
    names = {"half_width": ".1f", **dict.fromkeys(SHARES, ".3f")}
    sheet = Sheet.of("games", *(name.replace("_", " ") for name in names))
    sheet.heads[1] = "half-width"
    n, games = len(grid), result.games
    middle = n if games is None else sum(one < games for one in grid)
    start = max(0, min(middle - MOST // 2, n - MOST))
    for k in range(start, min(start + MOST, n)):
        sheet.add(f"{grid[k]}", *(formatted(columns[name][k], names[name]) for name in names))
    return sheet


def _charts(result: PlannedGames) -> list[Graph]:
    """Return the curves as charts, with their intervals."""
    widths = [_line(result, "half_width", "", 0)]
    shares = [_line(result, name, what, k) for k, (name, what) in enumerate(SHARES.items())]
    return [
        Graph("Mean half-width of the differences", "games", "half-width [points]", widths),
        Graph("What is known", "games", "share", shares),
    ]


def _line(result: PlannedGames, name: str, label: str, colour: int) -> Line:
    reach = t_quantile(0.5 + 0.5 * result.options.level, math.inf)
    games, mean, error = (
        _numbers(result.curves[column]) for column in ("games", name, f"{name}_std_error")
    )
    low, high = mean - reach * error, mean + reach * error
    if name in SHARES:
        low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
    return Line(label, games, mean, low, high, colour=colour)


def _numbers(values: Any) -> Floats:  # noqa: ANN401
    return np.array([math.nan if value is None else value for value in values], np.float64)
