"""The options that say how a queue log is read, for all commands that simulate."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from valmatch.csv_dialect import SEPARATORS, parse_columns, separator_called

__all__ = ["Columns", "LogSeparator", "SkipBadRows", "SortRows", "log_levels"]

Columns = Annotated[
    str,
    typer.Option(
        metavar="MEANING=NAME,...",
        help="Names that the arrivals file has for columns, such as"
        " arrival_hours=joined_at,rating=mmr,player=account.",
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


SortRows = Annotated[bool, typer.Option("--sort-rows", help="Sort its rows by arrival.")]


def log_levels(
    columns: str, separator: str | None, skip_bad_rows: bool, sort_rows: bool
) -> list[tuple[str, str]]:
    """Return what options set in the section `log` of the factors, as `load` takes levels."""
    names = {between: name for name, between in SEPARATORS.items()}
    given = {
        "--columns": ("columns", columns and parse_columns(columns, "rating=mmr")),
        "--separator": ("separator", separator and names[separator_called(separator)]),
        "--skip-bad-rows": ("skip_bad_rows", skip_bad_rows),
        "--sort-rows": ("sort", sort_rows),
    }
    return [
        (name, f"factors.log.{key}={json.dumps(value)}")
        for name, (key, value) in given.items()
        if value
    ]
