"""A table as a terminal, a web page and Markdown show it: heads, rows of texts, remarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from valmatch.text.terminal import escaped, shortened

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

    @classmethod
    def of(cls, *heads: str, left: Sequence[str] = TEXT_COLUMNS, title: str = "") -> Sheet:
        """Return an empty table with columns of some names, those of texts on the left."""
        return cls(list(map(_cell, heads)), {name for name in heads if name in left}, title=title)

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
