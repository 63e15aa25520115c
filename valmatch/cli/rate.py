"""``valmatch rate``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valmatch.cli.console import MISSED, log_progress, show, show_result, warn
from valmatch.cli.options import Json, LogArgument, MinGames, command, warn_in_job_array
from valmatch.game_logs.options import RateOptions
from valmatch.game_logs.whole_log.options import RankOptions
from valmatch.inputs import options as o
from valmatch.kernels.plain_python import interpret

if TYPE_CHECKING:
    from valmatch.game_logs.whole_log.result import BatchRating


@command()
def rate(
    games: LogArgument, options: RateOptions, min_games: MinGames = 0, json: Json = False
) -> None:
    """Rate the players of a game log, predicting each game before it is rated.

    Long format, a row for each player of a game: game, player, score, optional team (empty: the
    player plays alone), minutes, enabled (no: the player was there, but is neither rated nor
    counts for their side), time. A row for each game: winner, loser, optional winner_score,
    loser_score, draw; or home, away, home_score, away_score; or player_a, player_b (or home, away),
    result (1-0, 1/2-1/2, 0-1; for home and away also H, D, A); all with optional game, minutes,
    time. PGN tags in a CSV file: --columns player_a=White,player_b=Black,result=Result,time=Date; a
    name with a comma stands in quotes, game="match, id". By elo, --set home_advantage=60 counts for
    the side in the column home, but where an optional column neutral says yes, --set
    draw_probability=0.3 predicts draws, and --tune home_advantage,draw_probability,K fits both.
    `valmatch rank` rates a whole log at once, with intervals.
    """
    from valmatch.game_logs.comparison import compare_systems
    from valmatch.game_logs.rating import rate_log

    warn_in_job_array("rate")
    systems = [name.strip() for name in (options.system or "").split(",")]
    with log_progress(games) as bar:
        options = replace(options, progress=bar, warn=warn)
        if len(systems) > 1:
            compared = compare_systems(games, systems, options)
        else:
            result = rate_log(games, options)
    if len(systems) > 1:
        show_result(json, compared.summary(), compared, options.out)
        return
    show_result(json, result.summary(), result, options.out, min_games=min_games)


# ``valmatch rank``.


@command()
def rank(
    games: LogArgument,
    options: RankOptions,
    min_games: MinGames = 0,
    top: Annotated[int | None, o.whole("top", None, "Print N players.", default="10")] = None,
    markdown: Annotated[bool, o.flag("Print a table to paste.")] = False,
    json: Json = False,
) -> None:
    """Rate the players of a game log by all of its games at once, with intervals.

    The log has the formats of `valmatch rate`. bradley_terry fits one rating a player, and
    coefficients such as home advantage: with intervals, differences and ranges of ranks.
    whole_history fits a rating for each player and day played, which moves by --set drift=3.7
    points a square-root day from a first day of --set deviation=350; --tune drift fits the drift.
    Exit code 3: a player can have no rating (--prior rates all).
    """
    interpret()  # no kernel is called, so that numba need not be imported
    from valmatch.game_logs.whole_log.rating import rank_log

    warn_in_job_array("rank")
    with log_progress(games) as bar:
        result = rank_log(games, replace(options, progress=bar, warn=warn))

    wanted: dict[str, Any] = {"top": top, "min_games": min_games}
    if markdown and not json:
        show(False, {}, lambda: _print_markdown(result, **wanted), options.out)
    else:
        show_result(json, result.document(), result, options.out, **wanted)
    if not result.complete:
        if json:
            warn(result.notes[-1])
        raise typer.Exit(MISSED)


def _print_markdown(result: BatchRating, top: int | None, min_games: int) -> None:
    """Print the ratings of all players as a table to paste."""
    from valmatch.present.document import View
    from valmatch.present.markdown import table_of
    from valmatch.present.presenting import present

    shown = present(result, View(top=top or len(result.players), min_games=min_games))
    table = shown.tables[0].table
    assert table
    table.notes += result.notes
    print("\n".join(table_of(table)).rstrip())
