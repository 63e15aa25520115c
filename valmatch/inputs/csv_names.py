"""Names in CSV files that a spreadsheet must not take for formulas: marked by an apostrophe."""

from __future__ import annotations

import json
import re
from pathlib import Path

MARKED_NAMES = "marked_names"
"""What a manifest calls the files of its folder in which names are marked."""

_MARK = "'"

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_MARKED = re.compile(r"'+[=+\-@\t\r]")

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)

_MOST = 1 << 26  # bytes of a manifest


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


def are_marked(path: Path) -> bool:
    """Return whether the names in a file are marked, by the manifest of the run that wrote it."""
    manifest = path.parent / "manifest.json"
    try:
        if not manifest.is_file() or manifest.stat().st_size > _MOST:
            return False
        content = json.loads(manifest.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    files = content.get(MARKED_NAMES) if isinstance(content, dict) else None
    return isinstance(files, list) and path.name in files
