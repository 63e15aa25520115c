"""The dialect of a user's CSV file: the separator of its cells, the names of its columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from valmatch.errors import InputError, option
from valmatch.inputs import arguments

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
"""What may stand between cells, by name."""


ITEM = re.compile(
    r"""\s* (?: "(?P<whole>(?:[^"]|"")*)" \s*
        | (?P<meaning>[^=,"]*) = \s* "(?P<quoted>(?:[^"]|"")*)" \s*
        | (?P<plain>[^,]*) ) (?P<end>,|$)""",
    re.VERBOSE,
)
"""An item of a list of columns: its name, or all of it, may stand in quotes."""

SEPARATES = ";"  # what stands between names in one cell


def joined_names(names: Sequence[str]) -> str:
    """Return names as one cell; one that could be taken for several stands in quotes, as in CSV.

    Examples
    --------
    >>> joined_names(["ann", "b;c", "dan"])
    'ann;"b;c";dan'
    """
    return SEPARATES.join(
        '"{}"'.format(name.replace('"', '""'))
        if name.startswith('"') or any(character in name for character in f"{SEPARATES}\r\n")
        else name
        for name in names
    )


def split_names(cell: str) -> list[str]:
    """Return the names of a cell that `joined_names` made."""
    return next(csv.reader(io.StringIO(cell, newline=""), delimiter=SEPARATES), [])


def cells_of(text: str) -> list[str]:
    """Return the cells of an option that is written as a row of a CSV file, without outer blanks.

    Examples
    --------
    >>> cells_of('ann, "bob, jr"')
    ['ann', 'bob, jr']
    """
    return [cell.strip() for cell in next(csv.reader([text], skipinitialspace=True), [])]


def parse_columns(text: str, example: str = "game=match_id") -> dict[str, str]:
    """Return the names that ``game=match_id,winner=winning_team`` gives to columns, by meaning.

    A name with a comma stands in quotes: ``rating="mmr, now"``.
    """
    names: dict[str, str] = {}
    for item in _items(text):
        meaning, equals, name = (piece.strip() for piece in item.partition("="))
        if not (equals and meaning and name):
            raise InputError(
                f"{option('columns')}: {item!r} (allowed: MEANING=NAME, such as {example}; a NAME"
                " with a comma in quotes)"
            )
        if meaning in names:
            raise InputError(f"{option('columns')}: {meaning} is given twice")
        names[meaning] = name
    return names


def _items(text: str) -> Iterator[str]:
    """Yield the items of a list of columns, without their quotes."""
    place, end = 0, "," if text else ""
    while end:
        found = ITEM.match(text, place)
        assert found is not None
        place, end = found.end(), found["end"]
        if found["whole"] is not None:
            yield found["whole"].replace('""', '"')
        elif found["quoted"] is not None:
            yield "{}={}".format(found["meaning"], found["quoted"].replace('""', '"'))
        else:
            yield found["plain"]


def separator_called(name: str) -> str:
    """Return the separator that is meant by its name or by itself."""
    if name in SEPARATORS.values():
        return name
    return SEPARATORS[arguments.one_of("separator", name, SEPARATORS)]
