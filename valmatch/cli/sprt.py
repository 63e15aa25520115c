"""``valmatch sprt``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valmatch.cli.console import progress, show, warn
from valmatch.cli.options import (
    ColumnNames,
    Json,
    MaxBadRows,
    Quiet,
    Separator,
    Verbose,
    level,
    path,
)
from valmatch.errors import InputError, option
from valmatch.text.numerals import real_number, whole_number
from valmatch.text.terminal import shown

if TYPE_CHECKING:
    from valmatch.statistics.sequential_tests import SequentialTest


def _counts(text: str) -> list[int]:
    """Parse counts between commas."""
    found = [whole_number(part.strip()) for part in text.split(",")]
    if len(found) not in (3, 5) or None in found:
        allowed = "L,D,W, or LL,LD,LW+DD,DW,WW: whole numbers >= 0"
        raise InputError(f"{option('counts')}: {shown(text)} (allowed: {allowed})")
    return [n for n in found if n is not None]


def _elo(text: str) -> float:
    """Parse a hypothesis."""
    value = real_number(text)
    if value is None:
        raise typer.BadParameter(f"{shown(text)} (allowed: a number)")
    return value


def sprt(
    games: Annotated[
        Path | None,
        typer.Argument(
            parser=path("games"),
            metavar="[GAMES.csv]",
            help="A log as rate takes it, or - for stdin; instead of --counts.",
        ),
    ] = None,
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="L,D,W",
            help="Losses, draws and wins; or LL,LD,LW+DD,DW,WW, how many pairs of games made 0,"
            " 1/2, 1, 3/2 and 2 points.",
        ),
    ] = None,
    player: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose wins are counted in GAMES.csv.")
    ] = None,
    against: Annotated[str | None, typer.Option(metavar="NAME", help="Against whom.")] = None,
    pairs_by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Two games with equal cells there are a pair, such as an opening with either"
            " colour; others are left out and counted.",
        ),
    ] = None,
    columns: ColumnNames = "",
    separator: Separator = ",",
    skip_bad_games: Annotated[
        bool, typer.Option("--skip-bad-games", help="Leave bad games out and count them.")
    ] = False,
    max_bad_rows: MaxBadRows = None,
    elo0: Annotated[
        float | None,
        typer.Option(parser=_elo, metavar="ELO", help="The first hypothesis.  [default: 0]"),
    ] = None,
    elo1: Annotated[
        float | None,
        typer.Option(parser=_elo, metavar="ELO", help="The second one, larger.  [default: 5]"),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            parser=level,
            metavar="P",
            help="Probability of accepting elo1 where elo0 is true.  [default: 0.05]",
        ),
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(
            parser=level,
            metavar="P",
            help="Probability of accepting elo0 where elo1 is true.  [default: 0.05]",
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Say whether one player is shown to be stronger than another, while games go on.

    The sequential probability ratio test of engine testers, by wins, draws and losses, or by pairs
    of games: accept_h1 at the upper bound, accept_h0 at the lower one, else continue. It may be
    asked after every game. The exit code is 0 whatever it says.
    """
    from valmatch.cli.tables import show_test
    from valmatch.statistics.sequential_tests import sequential_test

    hypotheses = {"elo0": elo0, "elo1": elo1, "alpha": alpha, "beta": beta}
    given: Any = {name: value for name, value in hypotheses.items() if value is not None}
    of_log = {"player": player, "against": against, "pairs_by": pairs_by}
    if (games is None) == (counts is None):
        both = "one of both, not both" if counts is not None else "one of both"
        raise InputError(f"{option('games')} or {option('counts')}: {both} must be given")
    if counts is not None:
        others = {**of_log, "columns": columns, "skip_bad_games": skip_bad_games}
        for name, value in {**others, "max_bad_rows": max_bad_rows}.items():
            if value:
                raise InputError(f"{option(name)}: goes with {option('games')}")
        found = sequential_test(_counts(counts), **given)
    else:
        assert games is not None
        for name in ("player", "against"):
            if not of_log[name]:
                raise InputError(f"{option(name)}: is missing (allowed: a player of {games})")
        found = _of_log(
            games,
            (str(player), str(against)),
            pairs_by,
            given,
            (columns, separator, skip_bad_games, max_bad_rows),
        )
    who = f"{player} against {against}" if games is not None else ""
    show(json, found.as_dict(), lambda: show_test(found, who))


def _of_log(
    games: Path,
    players: tuple[str, str],
    pairs_by: str | None,
    hypotheses: dict[str, Any],
    reading: tuple[str, str, bool, float | None],
) -> SequentialTest:
    """Return the test of the games of a log."""
    from valmatch.game_logs.duels import sprt_games
    from valmatch.inputs.csv_reader import parse_columns

    columns, separator, skip_bad_games, max_bad_rows = reading
    with progress("bytes", None) as bar:
        return sprt_games(
            games,
            *players,
            pairs_by=pairs_by,
            columns=parse_columns(columns),
            separator=separator,
            skip_bad_games=skip_bad_games,
            max_bad_rows=max_bad_rows,
            progress=bar,
            warn=warn,
            **hypotheses,
        )
