"""Durations with their unit, such as ``12 min`` or ``0.2 h``, read and written."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

SECONDS = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86400.0}
"""The units that a duration can be wanted in."""

_SPELLINGS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}

_DURATION = re.compile(r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)) *([a-z]+)")


def in_unit(value: object, unit: str) -> object:
    """Return a duration that is written with a unit as a number of another, all else as it is."""
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or unit not in SECONDS or match[2] not in _SPELLINGS:
        return value
    return float(match[1]) * _SPELLINGS[match[2]] / SECONDS[unit]


def in_words(seconds: float) -> str:
    """Return a duration in its two largest units, such as ``1 h 2 min``."""
    rest, shown = round(seconds), []
    for name, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        shown.append(f"{count} {name}" if count else "")
    first = next((k for k, text in enumerate(shown) if text), 3)
    return " ".join(filter(None, shown[first : first + 2])) or "0 s"


# Date-times in the files of users.

SINCE_1970, MILLISECONDS = "seconds since 1970", "milliseconds since 1970"
"""What a large number of a file of users counts."""

LEAST = {MILLISECONDS: 1e11, SINCE_1970: 1e8}  # the year 1973; as hours, ten thousand years

PER_SECOND = {MILLISECONDS: 1e3, SINCE_1970: 1.0}

_DIGITS = {8: "%Y%m%d", 10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
"""Date-times that are written as one number, by its digits."""


def unit_since_1970(number: float) -> str | None:
    """Return what a number counts since 1970, by its size; None if it is too small for a moment."""
    return next((unit for unit, least in LEAST.items() if number >= least), None)


def date_of_digits(number: float, since: int = 1970) -> datetime | None:
    """Return the date-time whose digits a number is, of a year from `since` to 2099; else None."""
    digits = str(int(number)) if number.is_integer() else ""
    try:
        moment = datetime.strptime(digits, _DIGITS.get(len(digits), "%"))
    except ValueError:
        return None
    # Ten digits are also seconds since 1970, of the years from 2033 on.
    return moment if (2000 if len(digits) == 10 else since) <= moment.year < 2100 else None


def moment_of_digits(number: float, since: int) -> float:
    """Return the seconds since 1970, in UTC, of the date-time whose digits a number is; or NaN."""
    moment = date_of_digits(number, since)
    return math.nan if moment is None else moment.replace(tzinfo=UTC).timestamp()


def datetime_of(text: str) -> datetime | None:
    """Return the date-time of a text by ISO 8601, or a day of PGN; None if it is neither."""
    if re.fullmatch(r"\d{4}\.\d\d\.\d\d", text, re.ASCII):
        text = text.replace(".", "-")
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def seconds_of(text: str) -> float:
    """Return the seconds since 1970 of a date-time, UTC if no zone is given; NaN if it is none."""
    moment = datetime_of(text)
    if moment is None:
        return math.nan
    try:
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return zoned.astimezone(UTC).timestamp()
    except OverflowError:  # outside the years 1 to 9999, as which ratings write it
        return math.nan
