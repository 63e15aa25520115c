"""Date-times in the files of users."""

from __future__ import annotations

import re
from datetime import datetime


def datetime_of(text: str) -> datetime | None:
    """Return the date-time of a text by ISO 8601, or a day of PGN; None if it is neither."""
    if re.fullmatch(r"\d{4}\.\d\d\.\d\d", text, re.ASCII):
        text = text.replace(".", "-")
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
