"""The options of `rate` that only systems have which rate a whole log at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from valmatch.cli.options.declarations import level, path, whole
from valmatch.errors import InputError, option
from valmatch.inputs.limits import DEVIATION
from valmatch.ratings.registry import BATCH_NAMES
from valmatch.text.numerals import real_number
from valmatch.text.terminal import shown


def _points(text: str) -> float:
    """Parse a standard deviation in points."""
    value, (low, high) = real_number(text), DEVIATION
    if value is None or not low <= value <= high:
        raise typer.BadParameter(f"{shown(text)} (allowed: points from {low:g} to {high:g})")
    return value


Draws = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="whole logs: what a draw is: davidson (a result of its own) or half (half a win)."
        "  [default: davidson where there are draws]",
    ),
]
Home = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="whole logs: fit or none, the advantage of the side at home.  [default: fit where"
        " the log says who is]",
    ),
]
Covariate = Annotated[
    list[str],
    typer.Option(
        metavar="COLUMN",
        help="whole logs: fit points per unit of this column, or of COLUMN_a less COLUMN_b; may"
        " be repeated.",
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="whole logs: as so many games a game counts."),
]
Prior = Annotated[
    float | None,
    typer.Option(
        parser=_points,
        metavar="D",
        help="bradley_terry: ratings scatter with this deviation about a common mean, so that all"
        " can be rated.  [default: nothing is known]",
    ),
]
AnchorFile = Annotated[
    Path | None,
    typer.Option(
        "--anchors",
        parser=path("anchors"),
        metavar="FILE",
        help="bradley_terry: players whose ratings are known: player, rating, optional deviation.",
    ),
]
Interval = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="whole logs: information, sandwich or none.  [default: sandwich with clusters, half"
        " draws or broken weights, else information]",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN[,COLUMN]",
        help="whole logs: games with equal cells depend on each other, as those of a voter.",
    ),
]
ClusterDays = Annotated[
    int | None,
    typer.Option(
        parser=whole("cluster_days"),
        metavar="N",
        help="whole logs: games of N days depend on each other.",
    ),
]
TimeUnit = Annotated[
    str | None,
    typer.Option(
        metavar="UNIT",
        help="whole logs: days or hours, of times that are numbers.  [default: days]",
    ),
]
Level = Annotated[
    float | None,
    typer.Option(parser=level, metavar="P", help="whole logs: of the intervals.  [default: 0.95]"),
]
BootstrapN = Annotated[
    int | None,
    typer.Option(
        "--bootstrap",
        parser=whole("bootstrap"),
        metavar="N",
        help="whole logs: check the intervals by N refits of resampled games.",
    ),
]
Differences = Annotated[
    bool,
    typer.Option(
        "--differences", help="whole logs: write all differences, also of more than 300 players."
    ),
]
Top = Annotated[
    int | None,
    typer.Option(
        parser=whole("top"), metavar="N", help="whole logs: print N players.  [default: 10]"
    ),
]
Markdown = Annotated[bool, typer.Option("--markdown", help="whole logs: print a table to paste.")]


def refuse_for_one_game_at_a_time(given: Mapping[str, Any]) -> None:
    """Refuse options of systems that rate a whole log, where others are asked for."""
    for name, value in given.items():
        if value is not None and value is not False and value != []:
            what = f"goes with {option('system')} {' or '.join(BATCH_NAMES)}"
            raise InputError(f"{option(name)}: {what}")


def refuse_for_batch(system: str, given: Mapping[str, Any]) -> None:
    """Refuse options of systems that go from game to game, where a whole log is rated."""
    for name, value in given.items():
        if value is not None and value is not False and value != "":
            what = f"{system} rates a whole log at once, and goes from no game to the next"
            raise InputError(f"{option(name)}: {what}")
