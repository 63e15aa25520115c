"""``valmatch rate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from valmatch.cli.console import progress, show, warn
from valmatch.cli.log_options import MaxBadRows
from valmatch.cli.parameters import (
    ColumnNames,
    Json,
    Out,
    ProgressTo,
    Quiet,
    RawNames,
    Separator,
    SystemParameters,
    Verbose,
    complete_system,
    level,
    path,
    warn_in_job_array,
    whole,
)
from valmatch.errors import InputError, option
from valmatch.ratings.registry import DEFAULT, NAMES


def rate(
    games: Annotated[
        Path,
        typer.Argument(
            parser=path("games"),
            metavar="GAMES.csv",
            help="A CSV file with a header, or - for stdin.",
        ),
    ],
    system: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"{', '.join(NAMES[:-1])} or {NAMES[-1]}; several, such as elo,glicko2, are"
            f" compared.  [default: the one that made --ratings, else {DEFAULT}]",
            autocompletion=complete_system,
        ),
    ] = None,
    ratings: Annotated[
        Path | None,
        typer.Option(
            parser=path("ratings"),
            metavar="FILE",
            help="Go on from an earlier ratings.csv, or its folder, with the parameters that it was"
            " made with.",
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Rate games also if --ratings seems to have rated them already."
        ),
    ] = False,
    redo: Annotated[
        bool,
        typer.Option(
            "--redo",
            help="Replace the rating in --out where GAMES.csv, or what --ratings went on from, was"
            " corrected since.",
        ),
    ] = False,
    columns: ColumnNames = "",
    separator: Separator = ",",
    overrides: SystemParameters = [],  # noqa: B006
    tune: Annotated[
        str,
        typer.Option(
            metavar="NAME[,NAME]",
            help="Fit these parameters to the log loss of the first part of the log; elo.K where"
            " systems are compared, then by the games after that part.",
        ),
    ] = "",
    train: Annotated[
        float | None,
        typer.Option(
            parser=level, metavar="P", help="Share of the games in that part.  [default: 0.5]"
        ),
    ] = None,
    burn_in: Annotated[
        int | None,
        typer.Option(
            parser=whole("burn_in"),
            metavar="N",
            help="Games that all players of a game must have behind them for its prediction to"
            " count as one after the burn-in.  [default: 10]",
        ),
    ] = None,
    cap: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What caps a game of zonestats: most_distant (equation 5) or every_player (nobody"
            " beyond GAME_MULT points a minute up to MAX_GAME_LENGTH).  [default: that of"
            " --ratings, else most_distant]",
        ),
    ] = None,
    pairs: Annotated[
        bool,
        typer.Option("--pairs", help="Write pairs.csv too: every contest of two players."),
    ] = False,
    skip_bad_games: Annotated[
        bool, typer.Option("--skip-bad-games", help="Leave bad games out and count them.")
    ] = False,
    max_bad_rows: MaxBadRows = None,
    raw_names: RawNames = False,
    min_games: Annotated[
        int | None,
        typer.Option(
            parser=whole("min_games"),
            metavar="N",
            help="Print players with so many games only; the files have all.  [default: 0]",
        ),
    ] = None,
    out: Out = None,
    progress_to: ProgressTo = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Rate the players of a game log, predicting each game before it is rated.

    Long format, a row for each player of a game: game, player, score, optional team (empty: the
    player plays alone), minutes, enabled (no: the player was there, but is neither rated nor
    counts for his side), time. A row for each game: winner, loser, optional winner_score,
    loser_score, draw; or home, away, home_score, away_score; or player_a, player_b (or home, away),
    result (1-0, 1/2-1/2, 0-1; for home and away also H, D, A); all with optional game, minutes,
    time. PGN tags in a CSV file: --columns player_a=White,player_b=Black,result=Result,time=Date; a
    name with a comma stands in quotes, game="match, id". By elo, --set home_advantage=60 counts for
    the side in the column home, but where an optional column neutral says yes, --set
    draw_probability=0.3 predicts draws, and --tune home_advantage,draw_probability,K fits both.
    """
    from valmatch.cli.tables.ratings import show_rating, show_systems
    from valmatch.execution.listeners import Listeners
    from valmatch.game_logs.comparison.ratings import compare_systems
    from valmatch.game_logs.options import (
        BURN_IN,
        TRAIN,
        LogFormat,
        LogOptions,
        RatingOptions,
        most_left_out,
    )
    from valmatch.game_logs.parameters import parse_parameters
    from valmatch.game_logs.rating import rate_log
    from valmatch.inputs.csv_columns import parse_columns

    warn_in_job_array("rate")
    systems = [name.strip() for name in (system or "").split(",")]
    if len(systems) > 1:
        _refuse(ratings=ratings, cap=cap, pairs=pairs, again=again)
    parameters = parse_parameters(overrides)
    options = LogOptions(
        LogFormat(parse_columns(columns), separator),
        most_left_out(skip_bad_games, max_bad_rows),
        [name.strip() for name in tune.split(",")] if tune else [],
        TRAIN if train is None else train,
        BURN_IN if burn_in is None else burn_in,
        out,
        redo,
    )
    size = games.stat().st_size if games.is_file() else None
    with progress("bytes", size, progress_to, out) as advance:
        heard = Listeners(advance, warn=warn)
        if len(systems) > 1:
            compared = compare_systems(games, systems, parameters, options, heard)
        else:
            rating = RatingOptions(system, parameters, ratings, again, cap, pairs, raw_names)
            result = rate_log(games, rating, options, heard)
    if len(systems) > 1:
        show(json, compared.summary(), lambda: show_systems(compared), out)
        return
    header = f"{result.system}, {result.games:,} games, {result.rows:,} rows"
    show(json, result.summary(), lambda: show_rating(header, result, min_games or 0), out)


def _refuse(**given: object) -> None:
    """Refuse options that go with one system."""
    for name, value in given.items():
        if value:
            raise InputError(f"{option(name)}: goes with one --system (several are compared)")
