"""``valmatch rate``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from valmatch.cli.console import MISSED, progress, show, show_result, warn
from valmatch.cli.options import (
    Alias,
    AnchorFile,
    BootstrapN,
    Cluster,
    ClusterDays,
    ColumnNames,
    Covariate,
    Differences,
    Draws,
    Home,
    Interval,
    Json,
    Level,
    Markdown,
    MaxBadRows,
    Out,
    Prior,
    Quiet,
    Seed,
    Separator,
    SystemParameters,
    TimeUnit,
    Top,
    Verbose,
    Weight,
    complete_system,
    level,
    path,
    refuse_for_batch,
    refuse_for_one_game_at_a_time,
    warn_in_job_array,
    whole,
)
from valmatch.errors import InputError, option
from valmatch.inputs.csv_reader import is_brief
from valmatch.kernels.plain_python import interpret
from valmatch.ratings.registry import BATCH_NAMES, DEFAULT, NAMES

if TYPE_CHECKING:
    from valmatch.execution.run_options import Listeners
    from valmatch.game_logs.options import LogOptions, RatingOptions
    from valmatch.game_logs.whole_log.result import BatchRating


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
            help=f"{', '.join(NAMES)}, or {' or '.join(BATCH_NAMES)}, which rate all games at"
            " once, with intervals; several, such as elo,glicko2, are"
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
    columns: ColumnNames = "",
    separator: Separator = ",",
    overrides: SystemParameters = [],  # noqa: B006
    tune: Annotated[
        str,
        typer.Option(
            metavar="NAME[,NAME]",
            help="Fit these parameters to the log loss of the first part of the log; elo.K where"
            " systems are compared, then by the games after that part. whole_history: drift, by its"
            " evidence in the whole log.",
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
    skip_bad_games: Annotated[
        bool, typer.Option("--skip-bad-games", help="Leave bad games out and count them.")
    ] = False,
    max_bad_rows: MaxBadRows = None,
    alias: Alias = None,
    min_games: Annotated[
        int | None,
        typer.Option(
            parser=whole("min_games"),
            metavar="N",
            help="Print players with so many games only; the files have all.  [default: 0]",
        ),
    ] = None,
    draws: Draws = None,
    home: Home = None,
    covariate: Covariate = [],  # noqa: B006
    weight: Weight = None,
    prior: Prior = None,
    anchors: AnchorFile = None,
    interval: Interval = None,
    cluster: Cluster = None,
    cluster_days: ClusterDays = None,
    time_unit: TimeUnit = None,
    level: Level = None,
    bootstrap: BootstrapN = None,
    seed: Seed = None,
    differences: Differences = False,
    top: Top = None,
    markdown: Markdown = False,
    out: Out = None,
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
    bradley_terry fits all games at once: ratings and coefficients with intervals, differences,
    ranges of ranks; exit code 3 where somebody can have no rating. whole_history does so with a
    rating for each player and day played, which moves by --set drift=3.7 points a square-root day
    from a first day of --set deviation=350; --tune drift fits the drift.
    """
    systems = [name.strip() for name in (system or "").split(",")]
    whole_log = [name for name in systems if name in BATCH_NAMES]
    if whole_log and is_brief(games):
        interpret()
    # Imported now, because kernels are compiled, or left in plain Python, when they are imported.
    from valmatch.game_logs.options import (
        BURN_IN,
        TRAIN,
        LogFormat,
        LogOptions,
        RatingOptions,
        most_left_out,
        parse_parameters,
    )
    from valmatch.game_logs.reading.aliases import NO_ALIASES, read_aliases
    from valmatch.inputs.csv_reader import parse_columns

    warn_in_job_array("rate")
    if len(systems) > 1:
        if whole_log:
            what = f"{whole_log[0]} rates a whole log at once, and predicts no game of it"
            raise InputError(f"{option('system')}: {what} (allowed among several: {_ONLINE})")
        _refuse(ratings=ratings, cap=cap, again=again)
    given = {
        "draws": draws,
        "home": home,
        "covariate": covariate,
        "weight": weight,
        "prior": prior,
        "anchors": anchors,
        "interval": interval,
        "cluster": [name.strip() for name in cluster.split(",")] if cluster else None,
        "cluster_days": cluster_days,
        "time_unit": time_unit,
        "level": level,
        "bootstrap": bootstrap,
        "seed": seed,
        "differences": differences,
    }
    parameters = parse_parameters(overrides)
    if whole_log:
        online = {"ratings": ratings, "again": again, "train": train, "burn_in": burn_in}
        refuse_for_batch(whole_log[0], {**online, "cap": cap})
    else:
        refuse_for_one_game_at_a_time({**given, "top": top, "markdown": markdown})
    options = LogOptions(
        LogFormat(parse_columns(columns), separator),
        most_left_out(skip_bad_games, max_bad_rows),
        [name.strip() for name in tune.split(",")] if tune else [],
        TRAIN if train is None else train,
        BURN_IN if burn_in is None else burn_in,
        out,
        NO_ALIASES if alias is None else read_aliases(alias),
    )
    log = _Log(games, options, json)
    if whole_log:
        _rate_whole(
            log,
            {**given, "system": whole_log[0], "tune": options.tune},
            parameters,
            _Printed(top, markdown, min_games or 0),
        )
    elif len(systems) > 1:
        _compare(log, systems, parameters)
    else:
        rating = RatingOptions(system, parameters, ratings, again, cap)
        _rate(log, rating, min_games or 0)


_ONLINE = ", ".join(NAMES)


class _Log(NamedTuple):
    """The log to rate, how it is read, and how what comes of it is told."""

    games: Path
    options: LogOptions
    json: bool

    @contextmanager
    def listeners(self) -> Iterator[Listeners]:
        """Show how far reading is."""
        from valmatch.execution.run_options import Listeners

        size = self.games.stat().st_size if self.games.is_file() else None
        with progress("bytes", size) as advance:
            yield Listeners(advance, warn=warn)


class _Printed(NamedTuple):
    """What of a rating of a whole log is printed."""

    top: int | None
    markdown: bool
    min_games: int


def _rate(log: _Log, rating: RatingOptions, min_games: int) -> None:
    """Rate a log game by game."""
    from valmatch.game_logs.rating import rate_log

    with log.listeners() as heard:
        result = rate_log(log.games, rating, log.options, heard)
    show_result(log.json, result.summary(), result, log.options.out, min_games=min_games)


def _compare(log: _Log, systems: Sequence[str], parameters: Mapping[str, float]) -> None:
    """Compare systems by how they predict a log."""
    from valmatch.game_logs.comparison import compare_systems

    with log.listeners() as heard:
        compared = compare_systems(log.games, systems, parameters, log.options, heard)
    show_result(log.json, compared.summary(), compared, log.options.out)


def _rate_whole(
    log: _Log,
    given: Mapping[str, Any],
    parameters: Mapping[str, float],
    printed: _Printed,
) -> None:
    """Rate a whole log at once; exit code 3 where somebody has no rating."""
    from valmatch.game_logs.whole_log.options import BatchOptions
    from valmatch.game_logs.whole_log.rating import rate_whole

    named = {k: v for k, v in given.items() if v is not None and v is not False}  # 0 is a value
    batch = BatchOptions(**named, parameters=parameters)
    with log.listeners() as heard:
        result = rate_whole(log.games, log.options, batch, heard)

    wanted: dict[str, Any] = {"top": printed.top, "min_games": printed.min_games}
    if printed.markdown and not log.json:
        show(False, {}, lambda: _print_markdown(result, **wanted), log.options.out)
    else:
        show_result(log.json, result.document(), result, log.options.out, **wanted)
    if not result.complete:
        if log.json:
            warn(result.notes[-1])
        raise typer.Exit(MISSED)


def _print_markdown(result: BatchRating, top: int | None, min_games: int) -> None:
    """Print the ratings of all players as a table to paste."""
    from valmatch.present.document import View
    from valmatch.present.markdown import table_of
    from valmatch.present.presenting import present

    shown = present(result, View(top=top or len(result.players), min_games=min_games))
    sheet = shown.tables[0].sheet
    assert sheet
    sheet.notes += result.notes
    print("\n".join(table_of(sheet)).rstrip())


def _refuse(**given: object) -> None:
    """Refuse options that go with one system."""
    for name, value in given.items():
        if value:
            raise InputError(f"{option(name)}: goes with one --system (several are compared)")
