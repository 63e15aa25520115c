"""How the CSV file of a user is to be read: what stands between its cells, who is which column."""

from __future__ import annotations

import csv

from valmatch.config import arguments
from valmatch.errors import InputError, option

__all__ = ["SEPARATORS", "parse_columns", "separator_called"]

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
"""What may stand between cells, by name."""


def parse_columns(text: str, example: str = "game=match_id") -> dict[str, str]:
    """Return the names that ``game=match_id,winner=winning_team`` gives to columns, by meaning.

    Raises
    ------
    InputError
        If it is no such list, or names the same meaning twice.
    """
    names: dict[str, str] = {}
    for item in next(csv.reader([text], skipinitialspace=True), []):
        meaning, equals, name = (piece.strip() for piece in item.partition("="))
        if not (equals and meaning and name):
            raise InputError(
                f"{option('columns')}: {item!r} (allowed: MEANING=NAME, such as {example})"
            )
        if meaning in names:
            raise InputError(f"{option('columns')}: {meaning} is given twice")
        names[meaning] = name
    return names


def separator_called(name: str) -> str:
    """Return the separator that is meant by its name or by itself.

    Raises
    ------
    InputError
        If there is none.
    """
    if name in SEPARATORS.values():
        return name
    return SEPARATORS[arguments.one_of("separator", name, SEPARATORS)]
