"""Presentation of predictions: how likely each side of a game is to win."""

from __future__ import annotations

from valmatch.game_logs.prediction import Forecast, PredictedGames
from valmatch.present import document as d
from valmatch.statistics.rounding import formatted

NAMED = 3  # games that a finding names


def present(result: PredictedGames, view: d.View) -> d.Presentation:
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
    """Return a table of a row for each side of each game."""
    rows = result.columns()
    ends = zip(rows["win_low"], rows["win_high"], strict=True)
    columns = {
        "game": [
            str(game) if n == 1 else "" for game, n in zip(rows["game"], rows["side"], strict=True)
        ],
        "side": rows["players"],
        "win": ["unknown" if win is None else f"{win:.1%}" for win in rows["win"]],
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
