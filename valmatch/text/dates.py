"""Dates in the files of users, whatever the order of their parts, and numbers that are dates."""

import math
import re
from contextlib import suppress
from datetime import UTC, datetime

from valmatch.text.numerals import real_number

ORDERS = {"dmy": "day.month.year", "mdy": "month/day/year", "ymd": "year-month-day"}
"""Orders of the parts of a date, by the name that an option has for them."""

SINCE_1970, MILLISECONDS = "seconds since 1970", "milliseconds since 1970"
"""What a large number of a file of users counts."""

LEAST = {MILLISECONDS: 1e11, SINCE_1970: 1e8}  # the year 1973; as hours, ten thousand years
PER_SECOND = {MILLISECONDS: 1e3, SINCE_1970: 1.0}
SINCE = 1800  # the first year that digits are read as

_DIGITS = {8: "%Y%m%d", 10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
"""Date-times that are written as one number, by its digits."""

_PARTS = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?:[T ,]+(.+))?", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?(?: ?([ap])m)?", re.ASCII | re.IGNORECASE)


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


def moment_of_digits(number: float) -> float:
    """Return the seconds since 1970, in UTC, of the date-time whose digits a number is; or NaN."""
    return _seconds_since_1970(date_of_digits(number, SINCE))


def datetime_of(text: str) -> datetime | None:
    """Return the date-time of a text by ISO 8601, or a day of PGN; None if it is neither."""
    if re.fullmatch(r"\d{4}\.\d\d\.\d\d", text, re.ASCII):
        text = text.replace(".", "-")
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    return None


def seconds_of(text: str) -> float:
    """Return the seconds since 1970 of a date-time, UTC if no zone is given; NaN if it is none."""
    return _seconds_since_1970(datetime_of(text))


def _seconds_since_1970(moment: datetime | None) -> float:
    """Return the seconds of a moment, UTC if it has no zone; NaN of none, or of no year in UTC."""
    if moment is None:
        return math.nan
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).timestamp()
    except OverflowError:  # outside the years 1 to 9999, as which ratings write it
        return math.nan


def moment_of_number(number: float) -> float:
    """Return the seconds since 1970 that a number counts, or of its digits as a date; or NaN."""
    moment, unit = moment_of_digits(number), unit_since_1970(number)
    return number / PER_SECOND[unit] if unit and math.isnan(moment) else moment


def is_clock(text: str) -> bool:
    """Return whether a text is a time of the day alone."""
    return _CLOCK.fullmatch(text) is not None


def is_moment(text: str) -> bool:
    """Return whether a text is a moment for certain, not any number."""
    number = real_number(text)
    if number is not None:
        return not math.isnan(moment_of_number(number))
    moments = (moment_of(text), moment_by(text, "dmy"), moment_by(text, "mdy"))
    return not all(map(math.isnan, moments))


def moment_of(text: str) -> float:
    """Return the seconds since 1970 of a date-time that begins with the year; or NaN."""
    return moment_by(text, "ymd") if re.match(r"\d{4}[./]", text, re.ASCII) else seconds_of(text)


def moment_by(text: str, order: str) -> float:
    """Return the seconds since 1970 of a date in some order of its parts, or by a pattern."""
    if "%" in order:
        with suppress(ValueError, OverflowError):
            return _seconds_since_1970(datetime.strptime(text, order))
        return math.nan
    parts = _PARTS.fullmatch(text)
    if parts is None:
        return math.nan
    numbers = dict(zip(order, (parts[1], parts[3], parts[4]), strict=True))
    year = int(numbers["y"])
    if len(numbers["y"]) == 2:  # those from 69 on are of the last century, as in `strptime`
        year += 1900 if year >= 69 else 2000
    elif len(numbers["y"]) != 4:
        return math.nan
    day = f"{year:04}-{int(numbers['m']):02}-{int(numbers['d']):02}"
    clock = _CLOCK.fullmatch(parts[5] or "0:00")
    if clock is None:
        return seconds_of(f"{day}T{parts[5]}")
    hour = int(clock[1])
    if clock[4]:
        hour = hour % 12 + 12 * (clock[4] in "pP")
    return seconds_of(f"{day}T{hour:02}:{clock[2]}:{clock[3] or '00'}")
