"""Date-times in the files of users."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime


def datetime_of(text: str) -> datetime | None:
    """Return the date-time of a text by ISO 8601, or a day of PGN; None if it is neither."""
    if re.fullmatch(r"\d{4}\.\d\d\.\d\d", text, re.ASCII):
        text = text.replace(".", "-")
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def seconds_of(text: str) -> float:
    """Return the seconds since 1970 of a date-time, UTC where no zone is given; NaN if it is none.

    In UTC, too, it lies in the years 1 to 9999: ratings write it so.
    """
    found = datetime_of(text)
    if found is None:
        return math.nan
    try:
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC).timestamp()
    except OverflowError:
        return math.nan
