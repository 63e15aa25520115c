"""``valmatch sprt``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from valmatch.cli.console import progress, show, warn
from valmatch.cli.options import Json, command
from valmatch.errors import InputError, option
from valmatch.game_logs.options import SprtOptions
from valmatch.inputs import options as o
from valmatch.text.numerals import whole_number


def _counts(text: str) -> tuple[int, ...] | None:
    """Return counts between commas; None if they are none."""
    found = [whole_number(part.strip()) for part in text.split(",")]
    known = tuple(n for n in found if n is not None)
    return known if len(known) == len(found) in (3, 5) else None


@command()
def sprt(
    games: Annotated[
        Path | None,
        o.path(
            "A log as `valmatch rate` takes it, or - for stdin; instead of --counts.",
            "[GAMES.csv]",
            argument=True,
        ),
    ],
    counts: Annotated[
        tuple[int, ...] | None,
        o.declare(
            None,
            "Losses, draws and wins; or LL,LD,LW+DD,DW,WW, how many pairs of games made 0, 1/2, 1,"
            " 3/2 and 2 points.",
            "L,D,W",
            read=_counts,
            allowed="L,D,W, or LL,LD,LW+DD,DW,WW: whole numbers >= 0",
        ),
    ],
    player: Annotated[str | None, o.text(None, "Count the wins of this player.", "NAME")],
    against: Annotated[str | None, o.text(None, "Their opponent.", "NAME")],
    options: SprtOptions,
    json: Json,
) -> None:
    """Say whether one player is shown to be stronger than another, while games go on.

    The sequential probability ratio test of engine testers, by wins, draws and losses, or by pairs
    of games: accept_h1 at the upper bound, accept_h0 at the lower one, else continue. It may be
    asked after every game. The exit code is 0 whatever it says.
    """
    from valmatch.cli.tables import show_test
    from valmatch.game_logs.duels import sprt_of
    from valmatch.statistics.sequential_tests import sequential_test

    if (games is None) == (counts is None):
        both = "one of both, not both" if counts is not None else "one of both"
        raise InputError(f"{option('games')} or {option('counts')}: {both} must be given")
    if counts is not None:
        of_log = {"player": player, "against": against}
        for name in ("pairs_by", "columns", "skip_bad_games", "max_bad_rows", "alias"):
            of_log[name] = getattr(options, name)
        for name, value in of_log.items():
            if value:
                raise InputError(f"{option(name)}: goes with {option('games')}")
        found = sequential_test(counts, **options.hypotheses)
    else:
        assert games is not None
        for name, value in (("player", player), ("against", against)):
            if not value:
                raise InputError(f"{option(name)}: is missing (allowed: a player of {games})")
        with progress("bytes", None) as bar:
            given = replace(options, progress=bar, warn=warn)
            found = sprt_of(games, str(player), str(against), given)
    who = f"{player} against {against}" if games is not None else ""
    show(json, found.as_dict(), lambda: show_test(found, who))
