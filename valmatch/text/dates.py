"""Dates in the files of users, whatever the order of their parts."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

from valmatch.text.durations import date_of_digits, seconds_of, unit_since_1970
from valmatch.text.numerals import real_number

ORDERS = {"dmy": "day.month.year", "mdy": "month/day/year", "ymd": "year-month-day"}
"""Orders of the parts of a date, by the name that an option has for them."""

SINCE = 1800  # the first year that digits are read as

_PARTS = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?:[T ,]+(.+))?", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?(?: ?([ap])m)?", re.ASCII | re.IGNORECASE)


def is_clock(text: str) -> bool:
    """Return whether a text is a time of the day alone."""
    return _CLOCK.fullmatch(text) is not None


def is_moment(text: str) -> bool:
    """Return whether a text is a moment for certain, not any number."""
    number = real_number(text)
    if number is not None:
        return bool(date_of_digits(number, SINCE) or unit_since_1970(number))
    moments = (moment_of(text), moment_by(text, "dmy"), moment_by(text, "mdy"))
    return not all(map(math.isnan, moments))


def moment_of(text: str) -> float:
    """Return the seconds since 1970 of a date-time that begins with the year; or NaN."""
    return moment_by(text, "ymd") if re.match(r"\d{4}[./]", text, re.ASCII) else seconds_of(text)


def moment_by(text: str, order: str) -> float:
    """Return the seconds since 1970 of a date in some order of its parts, or by a pattern."""
    if "%" in order:
        try:
            moment = datetime.strptime(text, order)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
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
