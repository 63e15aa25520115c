"""Times of a queue log: hours, date-times, or seconds or milliseconds since 1970."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import TypeAlias
from zoneinfo import ZoneInfo

import numpy as np

from valmatch.errors import option
from valmatch.inputs.csv_reader import Row
from valmatch.kernels.arrays import Floats
from valmatch.models.number_dates import check_digits, check_serial_days
from valmatch.text.durations import MILLISECONDS, datetime_of, unit_since_1970
from valmatch.text.numerals import real_number
from valmatch.text.terminal import shown

Time: TypeAlias = float | datetime  # hours, or a moment in UTC

HOURS, DATES = "hours since the start of the log", "date-times"
"""What the times of a log may be, besides seconds and milliseconds since 1970."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

HOUR = timedelta(hours=1)

ALLOWED = f"{HOURS}, seconds or milliseconds since 1970, or date-times such as 2026-03-07T18:30"

SPRING = timedelta(hours=2)  # more than a clock goes back when daylight saving ends


class LogClock:
    """Reads the times of one log, all of one kind, that of the first."""

    def __init__(self, zone: str | None) -> None:
        self._zone: tzinfo | None = ZoneInfo(zone) if zone else None
        self._kind = ""
        self._first: datetime | None = None
        self._offsets: set[timedelta | None] = set()
        # what hours are counted from: the midnight before the first row. None where the log has
        # hours itself
        self.midnight: datetime | None = None

    @property
    def dated(self) -> bool:
        """Whether times are moments, as far as the log has been read."""
        return self._kind not in ("", HOURS)

    def read(self, row: Row, column: str) -> Time:
        """Return the time in a cell."""
        text = row.cells[column].strip()
        number = real_number(text)
        date_time = datetime_of(text) if number is None else None
        if number is None and date_time is None:
            what = shown(text) if text else "empty"
            raise row.wrong(
                column,
                f"{what} (allowed: a finite number of {HOURS}, a date-time such as"
                " 2026-03-07T18:30:00+01:00, or seconds or milliseconds since 1970)",
            )
        kind = DATES if number is None else unit_since_1970(number) or HOURS
        if number is not None and (kind == HOURS or not self._kind):
            check_digits(row, column, number, ALLOWED)
        if kind != (self._kind or kind):
            what = f"{shown(text)} (allowed: {self._kind}, as in the rows above)"
            raise row.wrong(column, what, f"not {self._kind}")
        if number is not None and kind == HOURS:
            if number < 0:
                what = f"{number!r} is negative (allowed: hours >= 0)"
                raise row.wrong(column, what, "negative")
            self._kind = kind
            return number
        try:
            found = (
                self._utc(row, column, date_time) if date_time else _since_1970(number or 0.0, kind)
            )
        except OverflowError:
            what = f"{shown(text)} (allowed: years 1 to 9999)"
            raise row.wrong(column, what, "no year from 1 to 9999") from None
        self._kind = kind
        return found

    def _utc(self, row: Row, column: str, date_time: datetime) -> datetime:
        """Return a date-time in UTC; one without a zone is read in that of the log.

        Offsets may differ, as they do in summer and winter: each says which moment it is.
        """
        first = self._first = self._first or date_time
        if self._zone is None and (date_time.tzinfo is None) != (first.tzinfo is None):
            has, others = ("no zone", "have one") if first.tzinfo else ("a zone", "have none")
            raise row.wrong(
                column,
                f"{shown(row.cells[column].strip())} has {has}, the rows above {others} (allowed:"
                f" date-times all with or all without a zone; {option('log.zone=Europe/Berlin')}"
                " says which zone those without are in)",
                has,
            )
        if date_time.tzinfo is None:
            date_time = date_time.replace(tzinfo=self._zone or UTC)
        else:
            self._offsets.add(date_time.utcoffset())
        return date_time.astimezone(UTC)

    def check_order(self, row: Row, column: str, time: Time, before: Time) -> None:
        """Refuse a time before that of the row above."""
        if time >= before:  # type: ignore[operator]
            return
        cell = row.cells[column].strip()
        sort = option("log.sort=True")
        if isinstance(time, float):
            raise row.wrong(
                column,
                f"{time!r} is before the row above ({before!r}); sort the file by {column}, or"
                f" {sort} does",
            )
        back = ""
        if self._first is not None and self._first.tzinfo is None and before - time < SPRING:  # type: ignore[operator]
            back = "; if the clock went back (daylight saving), write times with their zone"
        raise row.wrong(
            column,
            f"{shown(cell)} is before the row above; {sort} sorts the rows{back}",
        )

    def since_any(self, times: Sequence[Time]) -> Floats:
        """Return times as hours from whenever; at least one."""
        if not self.dated:
            return np.array(times, dtype=np.float64)
        return np.array([(time - EPOCH) / HOUR for time in times])  # type: ignore[operator]

    def hours(self, times: Sequence[Time]) -> list[float]:
        """Return times as hours, of moments those from midnight before the first; at least one."""
        if not self.dated:
            return [float(time) for time in times]  # type: ignore[arg-type]
        date_times = [time for time in times if isinstance(time, datetime)]
        try:
            local = min(date_times).astimezone(self._zone or self._offset())
        except OverflowError:  # a midnight of the year 0
            local = min(date_times)
        self.midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
        start = self.midnight.astimezone(UTC)
        return [(date_time - start) / HOUR for date_time in date_times]

    def check_hours(self, first: Row, column: str, hours: Floats) -> None:
        """Refuse a log whose hours look like the days of a spreadsheet."""
        if not self.dated:
            check_serial_days(first, column, hours, ALLOWED)

    @property
    def moved(self) -> bool:
        """Whether offsets change, as they do to and from summer time, and no zone says when."""
        return self._zone is None and len(self._offsets) > 1

    def _offset(self) -> tzinfo:
        offset = self._first.utcoffset() if self._first else None
        return timezone(offset) if offset is not None else UTC


def _since_1970(number: float, kind: str) -> datetime:
    unit = timedelta(milliseconds=1) if kind == MILLISECONDS else timedelta(seconds=1)
    return EPOCH + number * unit
