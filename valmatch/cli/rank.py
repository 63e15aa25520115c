"""``valmatch rank``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valmatch.cli.console import MISSED, log_progress, show, show_result, warn
from valmatch.cli.options import Json, LogArgument, MinGames, command, warn_in_job_array
from valmatch.game_logs.whole_log.options import RankOptions
from valmatch.inputs import options as o
from valmatch.inputs.csv_reader import is_brief
from valmatch.kernels.plain_python import interpret

if TYPE_CHECKING:
    from valmatch.game_logs.whole_log.result import BatchRating


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
    if is_brief(games):
        interpret()
    # Imported now, because kernels are compiled, or left in plain Python, when they are imported.
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
    sheet = shown.tables[0].sheet
    assert sheet
    sheet.notes += result.notes
    print("\n".join(table_of(sheet)).rstrip())
