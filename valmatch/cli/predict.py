"""``valmatch predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from valmatch.cli.console import show_result, warn
from valmatch.cli.options import (
    ColumnNames,
    Json,
    Out,
    Quiet,
    Separator,
    SystemParameters,
    Verbose,
    complete_system,
    path,
)
from valmatch.ratings.registry import NAMES


def predict(
    ratings: Annotated[
        Path,
        typer.Argument(
            parser=path("ratings"),
            metavar="RATINGS",
            help="A ratings.csv, or the folder of a rating.",
        ),
    ],
    fixtures: Annotated[
        Path | None,
        typer.Argument(
            parser=path("fixtures"),
            metavar="[FIXTURES.csv]",
            help="A CSV file with a header, or - for stdin.",
        ),
    ] = None,
    pair: Annotated[
        list[str],
        typer.Option(
            "--pair",
            metavar="SIDE,SIDE",
            help="A game to predict, such as ann,bob or 'ann;bob,cy;dan', nobody at home; may be"
            " repeated.",
        ),
    ] = [],  # noqa: B006
    system: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="By which system RATINGS is, if no manifest beside it says so:"
            f" {', '.join(NAMES[:-1])} or {NAMES[-1]}.",
            autocompletion=complete_system,
        ),
    ] = None,
    columns: ColumnNames = "",
    separator: Separator = ",",
    overrides: SystemParameters = [],  # noqa: B006
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Predict games to come by the system that rated their players.

    A row for each game: home, away, or player_a, player_b, or side_1, side_2, side_3 ...; a side of
    several players is ann;bob. Or a row for each player: game, player, optional team. Both may have
    a time. Only a side in the column home plays at home, which elo may know to be of advantage,
    unless a column neutral says yes.
    """
    from valmatch.game_logs.options import parse_parameters
    from valmatch.game_logs.prediction import predict_games
    from valmatch.inputs.csv_reader import parse_columns

    result = predict_games(
        ratings,
        fixtures,
        pair=pair,
        system=system,
        parameters=parse_parameters(overrides),
        columns=parse_columns(columns),
        separator=separator,
        out=out,
        warn=warn,
    )
    show_result(json, result.summary(), result, out)
