"""Presentation of predictions: how likely each side of a game is to win."""

from __future__ import annotations

import math

from valmatch.game_logs.prediction import Forecast, PredictedGames
from valmatch.present import document as d
from valmatch.statistics.rounding import formatted

NAMED = 3  # games that a finding names


def present(result: PredictedGames, view: d.View) -> d.Presentation:
    """Return what predictions show."""
    games = d.counted(len(result.forecasts), "game")
    favourites = [_favourite(game) for game in result.forecasts if not math.isnan(game.wins[0])]
    more = [f"{len(favourites) - NAMED} more below"] if len(favourites) > NAMED else []
    return d.Presentation(
        "Games to come",
        f"Who wins {games} to come, by the ratings of {result.system}?",
        finding=f"{d.joined([*favourites[:NAMED], *more])}." if favourites else "",
        tables=[d.Block("Predictions", table=_predictions(result))],
        blocks=d.parameters_block({result.system: result.parameters}),
    )


def _favourite(game: Forecast) -> str:
    k = int(game.wins.argmax())
    low, high = game.low[k], game.high[k]
    interval = "" if math.isnan(low) else f" (95% interval {low:.1%} to {high:.1%})"
    side = ";".join(game.fixture.sides[k])
    return f"{side} wins game {game.fixture.game} with {game.wins[k]:.1%}{interval}"


def _predictions(result: PredictedGames) -> d.TextTable:
    """Return a table of a row for each side of each game."""
    rows = result.columns()
    games = list(map(str, rows["game"]))
    repeated = [k > 0 and games[k - 1] == game for k, game in enumerate(games)]
    ends = list(zip(rows["win_low"], rows["win_high"], strict=True))
    columns = {
        "game": ["" if again else game for game, again in zip(games, repeated, strict=True)],
        "side": rows["players"],
        "win": [formatted(win, ".1%") for win in rows["win"]],
        "95%": ["" if low is None else f"{low:.1%} to {high:.1%}" for low, high in ends],
        "draw": [formatted(draw, ".1%") for draw in rows["draw"]],
        "newcomers": rows["newcomers"],
    }
    for name in ("95%", "draw", "newcomers"):
        if not any(columns[name]):
            del columns[name]
    table = d.TextTable.of_columns(columns.items())
    table.repeated = 2
    return table
