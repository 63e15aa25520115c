"""Date-times in the files of users."""

from __future__ import annotations

import re
from datetime import datetime


def moment_of(text: str) -> datetime | None:
    """Return the moment that a text is by ISO 8601, or the day by PGN; None if it is none."""
    if re.fullmatch(r"\d{4}\.\d\d\.\d\d", text, re.ASCII):
        text = text.replace(".", "-")
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
