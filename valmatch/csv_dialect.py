"""How the CSV file of a user is to be read: what stands between its cells, who is which column."""

from __future__ import annotations

import csv
import re

from valmatch.config import arguments
from valmatch.errors import InputError, option

__all__ = ["SEPARATORS", "parse_columns", "separator_called"]

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
"""What may stand between cells, by name."""


_QUOTED = re.compile(r'"(?:[^"]|"")*"')

_NAMED = re.compile(rf"=\s*{_QUOTED.pattern}\s*(?:,|$)")
"""A name in quotes behind the sign."""

_ITEM = re.compile(rf"(?:^|(?<=,))((?:\s*[^\",=]*=\s*)?(?:{_QUOTED.pattern}\s*(?=,|$)|[^,]*))")


def parse_columns(text: str, example: str = "game=match_id") -> dict[str, str]:
    """Return the names that ``game=match_id,winner=winning_team`` gives to columns, by meaning.

    What has a comma stands in quotes: a name, as in ``game="match, id"``, or an item, as in
    ``"game=match, id"``; a quote in quotes is doubled.

    Raises
    ------
    InputError
        If it is no such list, or names the same meaning twice.
    """
    names: dict[str, str] = {}
    for item in _items(text):
        meaning, equals, name = (piece.strip() for piece in item.partition("="))
        if _QUOTED.fullmatch(name):
            name = name[1:-1].replace('""', '"')
        if not (equals and meaning and name):
            raise InputError(
                f"{option('columns')}: {item!r} (allowed: MEANING=NAME, such as {example})"
            )
        if meaning in names:
            raise InputError(f"{option('columns')}: {meaning} is given twice")
        names[meaning] = name
    return names


def _items(text: str) -> list[str]:
    """Divide a list at its commas, but those in quotes; a whole item in quotes loses them."""
    if not _NAMED.search(text):
        return next(csv.reader([text], skipinitialspace=True), [])
    items = [item.strip() for item in _ITEM.findall(text)]
    return [one[1:-1].replace('""', '"') if _QUOTED.fullmatch(one) else one for one in items]


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
