"""Presentation of predictions: how likely each side of a game is to win."""

from __future__ import annotations

import math

from valmatch.game_logs.prediction import Forecast, PredictedGames
from valmatch.present import document as d

NAMED = 3  # games that a finding names


def present(result: PredictedGames, view: d.View) -> d.Presentation:
    """Return what predictions show."""
    games = d.counted(len(result.forecasts), "game")
    parameters = d.parameters_table({result.system: result.parameters})
    return d.Presentation(
        "Games to come",
        f"Who wins {games} to come, by the ratings of {result.system}?",
        finding=_finding(result),
        tables=[d.Block("Predictions", table=_predictions(result))],
        blocks=[d.Block("Parameters", table=parameters, folded=True)] if parameters.rows else [],
    )


def _finding(result: PredictedGames) -> str:
    """Name the favourites of the first games."""
    said = [_favourite(game) for game in result.forecasts if not math.isnan(game.wins[0])]
    more = [f"{len(said) - NAMED} more below"] if len(said) > NAMED else []
    return f"{d.joined([*said[:NAMED], *more])}." if said else ""


def _favourite(game: Forecast) -> str:
    k = int(game.wins.argmax())
    low, high = game.low[k], game.high[k]
    interval = "" if math.isnan(low) else f" (95% interval {low:.1%} to {high:.1%})"
    side = ";".join(game.fixture.sides[k])
    return f"{side} wins game {game.fixture.game} with {game.wins[k]:.1%}{interval}"


def _predictions(result: PredictedGames) -> d.TextTable:
    """Return a table of a row for each side of each game."""
    rows = result.columns()
    columns = {
        "game": [str(game) for game in rows["game"]],
        "side": rows["players"],
        "win": [_percent(win) for win in rows["win"]],
    }
    ends = list(zip(rows["win_low"], rows["win_high"], strict=True))
    if any(low is not None for low, _ in ends):
        columns["95%"] = ["" if a is None else f"{a:.1%} to {b:.1%}" for a, b in ends]
    if any(draw is not None for draw in rows["draw"]):
        columns["draw"] = [_percent(draw) for draw in rows["draw"]]
    if any(rows["newcomers"]):
        columns["newcomers"] = rows["newcomers"]
    games = columns["game"]
    columns["game"] = ["" if k and games[k - 1] == game else game for k, game in enumerate(games)]
    table = d.TextTable.of_columns(columns.items())
    table.repeated = 2
    return table


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"
