"""The options that say how a queue log is read, for all commands that simulate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from valmatch.cli.options.declarations import path
from valmatch.inputs.csv_columns import SEPARATORS, parse_columns, separator_called
from valmatch.text.numerals import real_number
from valmatch.text.terminal import shown

Columns = Annotated[
    str,
    typer.Option(
        metavar="MEANING=NAME,...",
        help="Names that the arrivals file has for columns, such as"
        " arrival_hours=joined_at,rating=mmr,player=account; a NAME with a comma in quotes.",
    ),
]


LogSeparator = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="What stands between its cells: comma, semicolon, tab, bar, or the character."
        "  [default: comma]",
    ),
]


SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Leave bad rows of it out and count them.")
]


def _share(text: str) -> float:
    """Parse a share: a number, or a percentage."""
    value = real_number(text.removesuffix("%"))
    share = None if value is None else value / 100.0 if text.endswith("%") else value
    if share is None or not 0.0 <= share <= 1.0:
        raise typer.BadParameter(f"{shown(text)} (allowed: from 0 to 1, or from 0% to 100%)")
    return share


MaxBadRows = Annotated[
    float | None,
    typer.Option(
        parser=_share,
        metavar="SHARE",
        help="Leave bad rows (of a game log: games) out even if they are as large a part of it as"
        " 0.4, or 40%."
        "  [default: 0.05]",
    ),
]


Alias = Annotated[
    Path | None,
    typer.Option(
        parser=path("alias"),
        metavar="FILE",
        help="A CSV file with name, alias: whoever the log calls by an alias goes by the name.",
    ),
]


SortRows = Annotated[bool, typer.Option("--sort-rows", help="Sort its rows by arrival.")]


def log_levels(
    columns: str,
    separator: str | None,
    skip_bad_rows: bool,
    max_bad_rows: float | None,
    sort_rows: bool,
) -> list[tuple[str, str]]:
    """Return what options set in the section `log` of the factors, as `load` takes levels.

    A share of bad rows is one of rows that are left out.
    """
    names = {between: name for name, between in SEPARATORS.items()}
    given = {
        "--columns": ("columns", parse_columns(columns, "rating=mmr") if columns else None),
        "--separator": ("separator", names[separator_called(separator)] if separator else None),
        "--skip-bad-rows": ("skip_bad_rows", skip_bad_rows or max_bad_rows is not None or None),
        "--max-bad-rows": ("max_bad_rows", max_bad_rows),
        "--sort-rows": ("sort", sort_rows or None),
    }
    return [
        (name, f"factors.log.{key}={json.dumps(value)}")
        for name, (key, value) in given.items()
        if value is not None
    ]
