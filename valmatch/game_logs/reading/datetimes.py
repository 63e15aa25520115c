"""Times of games: numbers, or moments in ISO 8601."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from valmatch.game_logs.names import Texts
from valmatch.game_logs.reading.cells import number_of, read_numbers
from valmatch.kernels.arrays import Floats
from valmatch.text.durations import (
    LEAST,
    MILLISECONDS,
    PER_SECOND,
    SINCE_1970,
    date_of_digits,
    moment_of_digits,
    seconds_of,
    unit_since_1970,
)

NUMBERS, DATES, DIGITS = "plain numbers", "date-times", "dates such as 20240131"
"""What times may be, besides seconds and milliseconds since 1970."""

SINCE = 1800  # the first year that digits are read as

_LAST = 253_402_300_800.0  # seconds since 1970 at the end of the year 9999

_PLAIN = np.frombuffer(b"0000-00-00T00:00:00", np.uint8)  # a moment, 0 for any digit


def kind_of_times(cells: Texts) -> str | None:
    """Return what times are, by the first cell that holds any; of numbers by the middle one."""
    for k in range(len(cells.starts)):
        text = cells.text(k)
        if not math.isnan(number_of(text)):
            numbers = np.sort(read_numbers(cells))  # NaN at last
            middle = float(numbers[np.count_nonzero(numbers == numbers) // 2])
            return DIGITS if date_of_digits(middle, SINCE) else unit_since_1970(middle) or NUMBERS
        if not math.isnan(seconds_of(text)):
            return DATES
    return None


def read_times(kind: str | None, cells: Texts) -> Floats:
    """Return times of one kind: plain numbers, or else seconds since 1970; NaN of all others."""
    if kind == DATES:
        return read_moments(cells)
    numbers = read_numbers(cells)
    if kind == DIGITS:
        values, index = np.unique(numbers, return_inverse=True)
        return np.array([moment_of_digits(value, SINCE) for value in values.tolist()])[index]
    if kind is not None and kind in PER_SECOND:
        seconds = numbers / PER_SECOND[kind]
        most = LEAST[MILLISECONDS] if kind == SINCE_1970 else _LAST
        return np.where((numbers >= LEAST[kind]) & (seconds < most), seconds, np.nan)
    return numbers


def read_moments(cells: Texts) -> Floats:
    """Return the seconds since 1970 of ISO 8601 moments, UTC where no zone is given; or NaN."""
    values = np.full(len(cells.starts), np.nan)
    lengths = cells.ends - cells.starts
    in_utc = (lengths == 17) | (lengths == 20)
    in_utc[in_utc] = cells.buffer[cells.ends[in_utc] - 1] == ord("Z")
    for length in (10, 16, 19):  # to the day, the minute, the second
        index = np.flatnonzero(lengths - in_utc == length)
        if len(index):
            windows = np.lib.stride_tricks.sliding_window_view(cells.buffer, length)
            values[index] = _plain_moments(windows[cells.starts[index]])
    for k in np.flatnonzero(np.isnan(values)).tolist():
        values[k] = seconds_of(cells.text(k))
    return values


def _plain_moments(texts: NDArray[np.uint8]) -> Floats:
    """Return the seconds of (moments, characters) texts; NaN of all where one is not plain."""
    n, length = texts.shape
    shape = _PLAIN[:length]
    digits = shape == ord("0")
    between = texts[:, ~digits]
    plain = bool((texts[:, digits] - np.uint8(ord("0")) <= 9).all())  # below 0 it is above 200
    plain &= bool((between[:, :2] == ord("-")).all() and (between[:, 3:] == ord(":")).all())
    plain &= bool(np.isin(between[:, 2:3], (ord("T"), ord(" "))).all())
    if not plain or (texts[:, :4] == ord("0")).all(axis=1).any():  # there is no year 0
        return np.full(n, np.nan)
    try:
        moments = texts.view(f"S{length}").ravel().astype("M8[s]")
    except ValueError:  # no such day or hour
        return np.full(n, np.nan)
    return moments.astype(np.int64).astype(np.float64)
