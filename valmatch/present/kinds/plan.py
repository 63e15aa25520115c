"""Presentation of a plan: how many games are enough, and what is known after fewer."""

from __future__ import annotations

import math

import numpy as np

from valmatch.game_logs.planning import AIMED, PlannedGames
from valmatch.policies.joint.leagues import UNIFORM
from valmatch.present import document as d
from valmatch.statistics.estimates import t_quantile
from valmatch.statistics.rounding import formatted

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


def present(result: PlannedGames, view: d.View) -> d.Presentation:
    """Return what a plan shows."""
    o, players = result.options, d.counted(result.players, "player")
    policy = o.policy_in_words
    measure, value = o.aim
    sure = "no interval" if result.games is None else f"{o.level:.0%} interval"
    batch = "" if o.policy == UNIFORM else f", {o.batch:,} games at a time"
    facts = [
        f"Pairs: {policy}{batch}.",
        f"Intervals: {o.level:.0%}; that of the games resamples the leagues.",
    ]
    shares = [_line(result, name, label, k) for k, (name, label) in enumerate(SHARES.items())]
    widths = [_line(result, "half_width", "", 0)]
    charts = [
        d.Graph("Mean half-width of the differences", "games", "half-width [points]", widths),
        d.Graph("What is known", "games", "share", shares),
    ]
    return d.Presentation(
        f"Plan of games of {players}",
        f"How many games of {players}, paired by {policy}, reach"
        f" {AIMED[measure].format(value=value)}?",
        finding=f"{result.sentence}; {sure}, n = {d.counted(o.replications, 'league')}.",
        glossary=MEANT,
        tables=[d.Block("Games", table=_games(result))],
        charts=[d.Block("What is known after so many games", charts=charts, figure="plan")],
        blocks=[d.Block("How it was simulated", items=facts)],
    )


def _games(result: PlannedGames) -> d.TextTable:
    """Return the curves about the answer as a table."""
    columns, grid = result.columns(), result.curves["games"]
    n, games = len(grid), result.games
    middle = n if games is None else sum(point < games for point in grid)
    start = max(0, min(middle - MOST // 2, n - MOST))
    shown = slice(start, start + MOST)
    table = {
        "games": [f"{point}" for point in grid[shown]],
        "half-width": [formatted(x, ".1f") for x in columns["half_width"][shown]],
    }
    for name in SHARES:
        table[name.replace("_", " ")] = [formatted(x, ".3f") for x in columns[name][shown]]
    return d.TextTable.of_columns(table.items())


def _line(result: PlannedGames, name: str, label: str, colour: int) -> d.Line:
    """Return a curve with its intervals."""
    reach = t_quantile(0.5 + 0.5 * result.options.level, math.inf)
    curves = result.curves
    games, mean, error = map(d.floats, (curves["games"], curves[name], curves[f"{name}_std_error"]))
    low, high = mean - reach * error, mean + reach * error
    if name in SHARES:
        low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
    return d.Line(label, games, mean, low, high, colour=colour)
