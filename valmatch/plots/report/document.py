"""The contents of a report, whether it becomes a web page or Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from valmatch.plots.report.charts import Chart, Strip
from valmatch.text.sheet import Sheet

MOST_ROWS = 120
"""Rows of a table; a file beside the run has all."""


@dataclass
class Block:
    """A table, charts or paragraphs under a heading.

    Attributes
    ----------
    title : str
        The heading, "" for none.
    paragraphs : sequence of str
        Texts above all else.
    sheet : Sheet or None
        A table.
    strips : sequence of Strip or None
        A small chart beside each row of the table, of its difference around 0; none for no such
        column.
    charts : sequence of Chart
        Charts beside and below each other.
    items : sequence of str
        Texts in a list, below all else.
    code : str
        Text to be copied as it is.
    folded : bool
        Whether a reader has to open it.
    """

    title: str = ""
    paragraphs: Sequence[str] = ()
    sheet: Sheet | None = None
    strips: Sequence[Strip | None] = ()
    charts: Sequence[Chart] = ()
    items: Sequence[str] = ()
    code: str = ""
    folded: bool = False


@dataclass
class FileLink:
    """A file of the run.

    Attributes
    ----------
    name : str
        Its name.
    target : str
        Its path as seen from the report; "" where the report is no file.
    """

    name: str
    target: str = ""


@dataclass
class Chapter:
    """What is said of one run.

    Attributes
    ----------
    title : str
        What the run is.
    missing : str
        What is not there of an unfinished run; "" of one that ended well.
    asked : str
        What was asked, in one sentence.
    found : str
        What came out, in one sentence.
    meant : str
        What the names in it mean; "" where they are known.
    blocks : list of Block
        All else, in order.
    files : sequence of FileLink
        The files of the run.
    """

    title: str
    asked: str
    missing: str = ""
    found: str = ""
    meant: str = ""
    blocks: list[Block] = field(default_factory=list)
    files: Sequence[FileLink] = ()


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
