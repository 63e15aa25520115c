"""Names in CSV files that a spreadsheet must not take for formulas: marked by an apostrophe."""

from __future__ import annotations

import re

_MARK = "'"

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_MARKED = re.compile(r"'+[=+\-@\t\r]")

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def mark(name: str) -> str:
    """Return a name as it is written: with one apostrophe more where a formula might begin.

    A spreadsheet takes for a formula what begins with ``=``, ``+``, ``-`` or ``@``, or with a tab
    or a carriage return before it; numbers are none. Names with apostrophes before such a character
    get one more, too, so that every name reads back as it was.
    """
    return _MARK + name if _FORMULA.match(name) and not _NUMBER.fullmatch(name) else name


def unmark(cell: str) -> str:
    """Return the name that `mark` wrote as a cell."""
    return cell[1:] if _MARKED.match(cell) else cell
