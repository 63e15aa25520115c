"""Presentation of games to come: predictions, pairs to play next, how many games are enough."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from valmatch.game_logs.next_pairs import NextPairs
from valmatch.game_logs.planning import AIMED, PlannedGames
from valmatch.game_logs.prediction import Forecast, PredictedGames
from valmatch.policies.joint.leagues import UNIFORM
from valmatch.present import document as d
from valmatch.statistics.estimates import t_quantile
from valmatch.statistics.rounding import formatted

NAMED = 3  # games that a finding names
MOST = 12  # numbers of games in the table of a plan: those about the answer, or the last ones

SHARES = {
    "named_best": "leader is the best",
    "shown_best": "one alone is tied for first",
    "coverage": "intervals hold the difference",
}
"""What a plan measures as a share of leagues or of differences."""

PLAN_MEANT = (
    "half-width: of the intervals of differences between two players, their mean; named best: the"
    " leader of the ratings is the true best; shown best: exactly one player is tied for first;"
    " coverage: share of the differences that their intervals hold."
)


def present_predict(result: PredictedGames, view: d.View) -> d.Presentation:
    """Return what predictions show."""
    games = d.counted(len(result.games), "game")
    favourites = [_favourite(game) for game in result.games if game.sides[0].win is not None]
    more = [f"{len(favourites) - NAMED} more below"] if len(favourites) > NAMED else []
    return d.Presentation(
        "Games to come",
        f"Who wins {games} to come, by the ratings of {result.system}?",
        finding=f"{d.joined([*favourites[:NAMED], *more])}." if favourites else "",
        tables=[d.Block("Predictions", table=_predictions(result))],
        blocks=d.parameters_block({result.system: result.parameters}),
    )


def _favourite(game: Forecast) -> str:
    side = max(game.sides, key=lambda side: side.win or 0.0)
    interval = ""
    if side.win_low is not None:
        interval = f" (95% interval {side.win_low:.1%} to {side.win_high:.1%})"
    return f"{';'.join(side.players)} wins game {game.game} with {side.win:.1%}{interval}"


def _predictions(result: PredictedGames) -> d.TextTable:
    rows = result.columns()
    games, ends = (
        zip(rows[a], rows[b], strict=True) for a, b in (("game", "side"), ("win_low", "win_high"))
    )
    columns = {
        "game": [f"{game}" if side == 1 else "" for game, side in games],
        "side": rows["players"],
        "win": ["unknown" if win is None else f"{win:.1%}" for win in rows["win"]],
        "95%": ["" if low is None else f"{low:.1%} to {high:.1%}" for low, high in ends],
        "draw": [formatted(draw, ".1%") for draw in rows["draw"]],
        "newcomers": rows["newcomers"],
    }
    return d.TextTable.of_columns(columns.items(), ("95%", "draw", "newcomers"), repeated=2)


def present_next_pairs(result: NextPairs, view: d.View) -> d.Presentation:
    """Return what pairs to play next show."""
    players, pairs = d.counted(result.players, "player"), d.counted(len(result.pairs), "pair")
    times = Counter((row.player_a, row.player_b) for row in result.pairs)
    rows = {(row.player_a, row.player_b): row for row in reversed(result.pairs)}
    shown = [rows[pair] for pair in times]  # each pair as it was first chosen
    goal = f" for {result.goal}" if result.goal else ""
    first = f"{shown[0].player_a} against {shown[0].player_b} is first" if shown else ""
    known = f"{result.leader} is the best with probability {result.leader_best:.2f}"
    columns: dict[str, list[str]] = {
        "place": [f"{row.place}" for row in shown],
        "player_a": [row.player_a for row in shown],
        "player_b": [row.player_b for row in shown],
        "times": [f"{n}" if result.repeat else "" for n in times.values()],
        "value": [f"{row.value:.4g}" for row in shown],
        "expected": [f"{row.expected_score:.3f}" for row in shown],
        "std_error": [f"{row.std_error:.1f}" for row in shown],
        "games": [f"{row.games:,}" for row in shown],
        "propensity": [f"{row.propensity:.4g}" for row in shown],
    }
    spare = "propensity" if all(row.propensity == 1.0 for row in shown) else ""
    table = d.TextTable.of_columns(columns.items(), ("times",), repeated=3, spare=spare)
    return d.Presentation(
        f"Pairs to play next by {result.policy}",
        f"Which {pairs} of {players} are to play next, by {result.policy}{goal}?",
        finding=f"{first or 'No pair is left'}; {known} (no interval, n = {pairs}).",
        tables=[d.Block("Pairs", table=table)],
    )


def present_plan(result: PlannedGames, view: d.View) -> d.Presentation:
    """Return what a plan shows."""
    o, players = result.options, d.counted(result.players, "player")
    policy, (measure, value) = o.policy_in_words, o.aim
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
        glossary=PLAN_MEANT,
        tables=[d.Block("Games", table=_games(result))],
        charts=[d.Block("What is known after so many games", charts=charts, figure="plan")],
        blocks=[d.Block("How it was simulated", items=facts)],
    )


def _games(result: PlannedGames) -> d.TextTable:
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
    reach = t_quantile(0.5 + 0.5 * result.options.level, math.inf)
    columns = (result.curves[key] for key in ("games", name, f"{name}_std_error"))
    games, mean, error = map(d.floats, columns)
    low, high = mean - reach * error, mean + reach * error
    if name in SHARES:
        low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
    return d.Line(label, games, mean, low, high, colour=colour)
