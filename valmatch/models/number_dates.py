"""Numbers of hours that are dates: their digits, or the days that a spreadsheet counts."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np

from valmatch.inputs.csv_reader import Row
from valmatch.kernels.arrays import Floats
from valmatch.text.durations import date_of_digits
from valmatch.text.terminal import shown

DAY_ZERO = datetime(1899, 12, 30)  # from which on spreadsheets count days
SERIAL_DAYS = (36_526.0, 73_050.0)  # what they call the days from 2000 to 2099
MOST_DAYS = 20 * 365.25  # days that such a log may span


def check_digits(row: Row, column: str, number: float, allowed: str) -> None:
    """Refuse a number that is the digits of a date, such as 20260301."""
    date = date_of_digits(number)
    if date is None:
        return
    meant = date.isoformat(" ", "minutes").removesuffix(" 00:00")
    text = f"{shown(row.cells[column].strip())} looks like the date {meant} (allowed: {allowed})"
    raise row.wrong(column, text, "digits of a date")


def check_serial_days(first: Row, column: str, hours: Floats, allowed: str) -> None:
    """Refuse hours that all look like days of a spreadsheet: 45292.5 is noon of 2024-01-01."""
    low, high = SERIAL_DAYS
    if not ((hours >= low).all() and (hours < high).all() and np.ptp(hours) <= MOST_DAYS):
        return
    day = (DAY_ZERO + float(hours[0]) * timedelta(days=1)).isoformat(" ", "minutes")
    text = f"{shown(first.cells[column].strip())} looks like {day}, as spreadsheets count days"
    raise first.wrong(column, f"{text} (allowed: {allowed})")
