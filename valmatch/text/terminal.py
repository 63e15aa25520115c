"""Text of others, such as names and paths, made fit for a terminal: harmless and not too long."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

LINE = 500  # most characters of a line of a message
VALUE = 60  # most characters of a value, key or name in a message

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that steer a terminal, turn text around or cannot be encoded."""

JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
"""Characters of such a category that names in many languages need."""


def escaped(text: str) -> str:
    """Return a text with control characters escaped, also those that end a line."""
    return text if text.isprintable() else "".join(map(_escaped_character, text))


def _escaped_character(character: str) -> str:
    if unicodedata.category(character) in HIDDEN and character not in JOINERS:
        return character.encode("unicode_escape").decode("ascii")
    return character


def shortened(text: str, most: int = VALUE) -> str:
    """Return a text of at most `most` characters: what is too much is left out of its middle."""
    if len(text) <= most:
        return text
    end = (most - 3) // 2
    return f"{text[: most - 3 - end]}...{text[-end:]}"


def shown(value: object) -> str:
    """Return a value as Python writes it, in moderate length."""
    try:
        return shortened(repr(value))
    except ValueError:  # Python does not write integers of thousands of digits
        return "a number of thousands of digits"


def one_line(text: str) -> str:
    """Return a text as a line of a message."""
    return shortened(escaped(text), LINE)


# Names with their units.


def labelled(name: str, unit: str) -> str:
    """Return a name with its unit in brackets, if it has one.

    Examples
    --------
    >>> labelled("avg_wait_time", "minutes")
    'avg_wait_time [minutes]'
    """
    return f"{name} [{unit}]" if unit else name


# What has to be known of a result, in two weights: warnings and notes.


class Notice(str):
    """A sentence on what was left out, guessed or ignored, or on what is doubtful."""

    kind: str  # a word that all such sentences share, such as ``rows_left_out``
    n: int  # how many rows, players, values it is about

    def __new__(cls, text: str, kind: str = "remark", n: int = 1) -> Self:
        """Return a notice with its kind and its count."""
        self = super().__new__(cls, text)
        self.kind, self.n = kind, n
        return self

    @classmethod
    def of(cls, text: str) -> Notice:
        """Return a text as a notice, whose kind and count may not be known."""
        return text if isinstance(text, Notice) else cls(text)

    def after(self, name: str) -> Notice:
        """Return the same notice of something that has a name."""
        return type(self)(f"{name}: {self}", self.kind, self.n)

    def as_dict(self) -> dict[str, Any]:
        """Return the notice as files hold it."""
        return {"kind": self.kind, "count": self.n, "text": str(self)}


class Note(Notice):
    """A notice that asks for nothing: how input was read, what follows from it by itself."""


# A table as a terminal, a web page and Markdown show it: heads, rows of texts, remarks.

UNIT, COUNT = "unit", "n"
"""The columns of units, and of how many replications a mean is of."""

CELL = 100  # most characters of a cell

TEXT_COLUMNS = (
    "response",
    UNIT,
    "band",
    "hour",
    "weekday",
    "meaning",
    "variable",
    "mean of",
    "bound",
    "solver",
    "certified",
    "player",
    "predictions",
    "game",
    "side",
    "newcomers",
    "system",
    "last game",
    "what it does",
    "needs",
    "from",
    "problem",
    "constraints",
    "coefficient",
    "status",
)
"""Columns of text in any table."""


@dataclass
class Sheet:
    """A table that is still to be shown."""

    heads: list[str]  # names of the columns, fit for a terminal
    left: set[str]  # those that are texts and stand on the left; numbers stand on the right
    # a text for each column; names are no markup, whatever they hold
    rows: list[list[str]] = field(default_factory=list)
    title: str = ""  # what stands above it
    notes: list[str] = field(default_factory=list)  # what stands below it
    # where a terminal has no room for all columns: how many are repeated, and the one to leave out
    repeated: int = 1
    spare: str = ""

    @classmethod
    def of(cls, *heads: str, left: Sequence[str] = TEXT_COLUMNS, title: str = "") -> Sheet:
        """Return an empty table with columns of some names, those of texts on the left."""
        return cls(list(map(_cell, heads)), {name for name in heads if name in left}, title=title)

    def first(self, most: int) -> Sheet:
        """Return the table with its first rows alone."""
        return replace(self, rows=self.rows[:most])

    def add(self, *cells: str) -> None:
        """Add a row, a text for each column; the last ones may be left out."""
        blank = [""] * (len(self.heads) - len(cells))
        self.rows.append([*map(_cell, cells), *blank])


def _cell(text: str) -> str:
    return shortened(escaped(text), CELL)


def aligned(numbers: Sequence[str]) -> list[str]:
    """Pad numbers on the right so that their decimal points stand below each other."""
    tails = [len(number) - number.rfind(".") if "." in number else 0 for number in numbers]
    widest = max(tails, default=0)
    return [number + " " * (widest - tail) for number, tail in zip(numbers, tails, strict=True)]
