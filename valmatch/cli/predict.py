"""``valmatch predict``."""

from __future__ import annotations

from dataclasses import MISSING, replace
from pathlib import Path
from typing import Annotated

from valmatch.cli.console import show_result, warn
from valmatch.cli.options import Json, command
from valmatch.game_logs.options import PredictOptions
from valmatch.inputs import options as o


@command()
def predict(
    ratings: Annotated[
        Path,
        o.path(
            "A ratings.csv, or the folder of a rating.", "RATINGS", argument=True, value=MISSING
        ),
    ],
    fixtures: Annotated[
        Path | None,
        o.path("A CSV file with a header, or - for stdin.", "[FIXTURES.csv]", argument=True),
    ],
    options: PredictOptions,
    json: Json,
) -> None:
    """Predict games to come by the system that rated their players.

    A row for each game: home, away, or player_a, player_b, or side_1, side_2, side_3 ...; a side of
    several players is ann;bob. Or a row for each player: game, player, optional team. Both may have
    a time. Only a side in the column home plays at home, which elo may know to be of advantage,
    unless a column neutral says yes.
    """
    from valmatch.game_logs.prediction import predict_from

    result = predict_from(ratings, fixtures, replace(options, warn=warn))
    show_result(json, result.summary(), result, options.out)
