"""The contents of a report, whether it becomes a web page or Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from valmatch.plots.report.charts import Chart, Strip
from valmatch.text.sheet import Sheet

MOST_ROWS = 120  # rows of a table; a file beside the run has all


@dataclass
class Block:
    """A table, charts or paragraphs under a heading."""

    title: str = ""  # the heading, "" for none
    paragraphs: Sequence[str] = ()  # texts above all else
    sheet: Sheet | None = None  # a table
    # a small chart beside each row of the table, of its difference around 0; none for no such
    # column
    strips: Sequence[Strip | None] = ()
    charts: Sequence[Chart] = ()  # charts beside and below each other
    items: Sequence[str] = ()  # texts in a list, below all else
    code: str = ""  # text to be copied as it is
    folded: bool = False  # whether a reader has to open it


@dataclass
class FileLink:
    """A file of the run."""

    name: str  # its name
    target: str = ""  # its path as seen from the report; "" where the report is no file


@dataclass
class Chapter:
    """What is said of one run."""

    title: str  # what the run is
    asked: str  # what was asked, in one sentence
    missing: str = ""  # what is not there of an unfinished run; "" of one that ended well
    found: str = ""  # what came out, in one sentence
    meant: str = ""  # what the names in it mean; "" where they are known
    blocks: list[Block] = field(default_factory=list)  # all else, in order
    files: Sequence[FileLink] = ()  # the files of the run


def shortened_sheet(sheet: Sheet) -> tuple[Sheet, str]:
    """Return a table of at most `MOST_ROWS` rows, and what is said of the others."""
    more = len(sheet.rows) - MOST_ROWS
    if more <= 0:
        return sheet, ""
    kept = Sheet(sheet.heads, sheet.left, sheet.rows[:MOST_ROWS], sheet.title, sheet.notes)
    return kept, f"The first {MOST_ROWS} of {len(sheet.rows):,} rows; the files have all."


def titled(sheet: Sheet, otherwise: str = "", *, folded: bool = False) -> Block:
    """Return a table under its own title, or under another where it has none."""
    title, sheet.title = sheet.title or otherwise, ""
    return Block(title, sheet=sheet, folded=folded)
