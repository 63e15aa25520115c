"""Arrivals read from a file, such as the log of a real queue."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.inputs.csv_reader import (
    SEPARATORS,
    BadRows,
    Row,
    RowError,
    other_separator,
    read_header,
    read_rows,
)
from valmatch.inputs.files import MAX_FILE
from valmatch.kernels.arrays import Floats, Ints
from valmatch.matching.queue import next_arrivals
from valmatch.matching.tickets.columns import spans
from valmatch.models.number_dates import check_digits, check_serial_days
from valmatch.models.valorant.arrivals import BLOCKS, ArrivingPlayers, Resample
from valmatch.models.valorant.log_factors import LEFT, LogFactors, is_wanted
from valmatch.statistics.sampling import Resampled, block_days, overlapping_degrees
from valmatch.text.durations import MILLISECONDS, datetime_of, unit_since_1970
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import Note, Notice, shown

# Times of a queue log: hours, date-times, or seconds or milliseconds since 1970.

DAY, YEAR = 24, 24.0 * 365.25  # hours

HOURS, DATES = "hours since the start of the log", "date-times"
"""What the times of a log may be, besides seconds and milliseconds since 1970."""

ALLOWED = f"{HOURS}, seconds or milliseconds since 1970, or date-times such as 2026-03-07T18:30"

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
HOUR = timedelta(hours=1) // MICROSECOND
SPRING = 2 * HOUR  # more than a clock goes back when daylight saving ends


class LogClock:
    """Reads the times of one log, all of one kind, that of the first."""

    # They are hours, or of moments whole microseconds since 1970, which lose no digit.

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

    def read(self, row: Row, column: str) -> float:
        """Return the time in a cell."""
        text = row.cells[column].strip()
        number = real_number(text)
        date_time = datetime_of(text) if number is None else None
        if number is None and date_time is None:
            what = shown(text) if text else "empty"
            allowed = f"allowed: a finite number of {HOURS}, a date-time such as"
            example = "2026-03-07T18:30:00+01:00, or seconds or milliseconds since 1970"
            raise row.wrong(column, f"{what} ({allowed} {example})")
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
        unit = timedelta(milliseconds=1) if kind == MILLISECONDS else timedelta(seconds=1)
        try:
            moment = (
                self._utc(row, column, date_time) if date_time else EPOCH + (number or 0.0) * unit
            )
        except OverflowError:
            what = f"{shown(text)} (allowed: years 1 to 9999)"
            raise row.wrong(column, what, "no year from 1 to 9999") from None
        self._kind = kind
        return (moment - EPOCH) // MICROSECOND

    def _utc(self, row: Row, column: str, date_time: datetime) -> datetime:
        """Return a date-time in UTC; one without a zone is read in that of the log."""
        # Offsets may differ, as they do in summer and winter: each says which moment it is.
        first = self._first = self._first or date_time
        if self._zone is None and (date_time.tzinfo is None) != (first.tzinfo is None):
            has, others = ("no zone", "have one") if first.tzinfo else ("a zone", "have none")
            what = f"{shown(row.cells[column].strip())} has {has}, the rows above {others}"
            says = f"{option('log.zone=Europe/Berlin')} says which zone those without are in"
            allowed = f"allowed: date-times all with or all without a zone; {says}"
            raise row.wrong(column, f"{what} ({allowed})", has)
        if date_time.tzinfo is None:
            date_time = date_time.replace(tzinfo=self._zone or UTC)
        else:
            self._offsets.add(date_time.utcoffset())
        return date_time.astimezone(UTC)

    def check_order(self, row: Row, column: str, time: float, before: float) -> None:
        """Refuse a time before that of the row above."""
        if time >= before:
            return
        sort = option("log.sort=True")
        if not self.dated:
            what = f"{time!r} is before the row above ({before!r}); sort the file by {column}"
            raise row.wrong(column, f"{what}, or {sort} does")
        back = ""
        if self._first is not None and self._first.tzinfo is None and before - time < SPRING:
            back = "; if the clock went back (daylight saving), write times with their zone"
        cell = shown(row.cells[column].strip())
        raise row.wrong(column, f"{cell} is before the row above; {sort} sorts the rows{back}")

    def hours(self, times: Sequence[float]) -> list[float]:
        """Return times as hours, of moments those from midnight before the first; at least one."""
        if not self.dated:
            return list(times)
        first = EPOCH + min(times) * MICROSECOND
        offset = self._first.utcoffset() if self._first else None
        try:
            local = first.astimezone(self._zone or timezone(offset or timedelta()))
        except OverflowError:  # a midnight of the year 0
            local = first
        self.midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
        start = (self.midnight - EPOCH) // MICROSECOND
        return [(time - start) / HOUR for time in times]

    @property
    def moved(self) -> bool:
        """Whether offsets change, as they do to and from summer time, and no zone says when."""
        return self._zone is None and len(self._offsets) > 1


# The time that a queue log spans: rows far from all others, long gaps, long logs.

LONGEST = 20  # years that a log may span

LONG, LATE = 3, 10
"""Years from which on a log is long, or begins late."""

GAP = 30  # days without any arrival that are remarked upon


def far_rows(hours: Floats) -> list[int]:
    """Return which rows of a log that spans too much are far from its middle one.

    What is left then spans no more than `LONGEST` years.

    Examples
    --------
    >>> far_rows(np.array([0.5, 9e6, 1.0, 1.5]))
    [1]
    """
    if np.ptp(hours) <= LONGEST * YEAR:
        return []
    middle = np.partition(hours, (hours.size - 1) // 2)[(hours.size - 1) // 2]
    return np.flatnonzero(np.abs(hours - middle) > LONGEST * YEAR / 2.0).tolist()


def span_remarks(hours: Floats) -> Iterator[str]:
    """Yield what is unusual about the times of a log, in order of arrival."""
    first, last = float(hours[0]), float(hours[-1])
    if first > LATE * YEAR:
        text = f"the first arrival is {first / YEAR:,.1f} years after hour 0"
        yield f"{text} (hours are counted from the start of the log)"
    if last - first > LONG * YEAR:
        yield f"the log spans {(last - first) / YEAR:,.1f} years"
    gaps = np.diff(hours)
    if many := int((gaps > GAP * DAY).sum()):
        longest = int(gaps.argmax())
        others = f", the longest of {many:,} gaps of more than {GAP} days" if many > 1 else ""
        days, since = gaps[longest] / DAY, hours[longest]
        yield f"nobody arrives for {days:,.1f} days from hour {since:,.1f} on{others}"


VECTOR = ("elo", "kd", "wr")

MISSED = ("party", "group", "premade", "region", "ping", "latency")
"""How names of columns begin that a designer may take to be used."""

STATUS = re.compile("(^|_|-| )(status|state|outcome|result)", re.I)
MOST_STATES = 12
"""Names of columns that may say what became of a player, and how many values they have at most."""

AGAIN = 1.0  # hours within which an account that queues again is counted

MAX_ID = 100  # characters of a player's id: tables hold as many for every player
MAX_RATING = 1e6  # points either way, as for the skills of the ladder


@dataclass(frozen=True)
class QueueLog:
    """The players of a log within the horizon."""

    players: ArrivingPlayers  # the players in order of arrival
    ids: Sequence[str]  # their ids; none where the log has none
    date_times: Sequence[str]  # when they arrived, as the log has it; none where it has hours
    midnight: datetime | None  # what hours are counted from; None where the log has hours
    horizon: float  # end of the run in hours; the last arrival unless it is given
    remarks: tuple[str, ...]  # what to know of how the file was read, one line each
    accounts: Ints  # (n,); whose row each is, by number; (0,) where no account has two
    columns: Mapping[str, str]  # the columns that are read, by meaning
    sentinels: tuple[float, ...]  # ratings that look like "not known"
    states: Mapping[str, Mapping[str, int]]  # rows by value, of columns that say what became of one


def read_queue_log(
    path: Path, log: LogFactors, multipliers: Sequence[float], horizon: float | None
) -> QueueLog:
    """Read a CSV file with columns ``arrival_hours`` and ``rating`` or ``elo,kd,wr``."""
    # A column ``left_hours`` says when players gave up; its cells are empty for those who did
    # not. Rows are in order of arrival. Where both kinds of ratings are given, `rating` holds and
    # elo, kd, wr are kept for the record; so is `player`. A file is read once as long as it stays
    # the same.
    try:
        stamp = path.stat().st_mtime_ns
    except OSError:
        stamp = 0
    read = _read(path, stamp, log.model_dump_json(), tuple(multipliers))
    if horizon is None:
        return read
    arrived = int(np.searchsorted(read.players.times, horizon, side="left"))
    remarks, late = read.remarks, read.players.times.size - arrived
    if late:
        text = f"{late} row{'s' * (late > 1)} at or after the horizon of {horizon:g} hours skipped"
        remarks += (Notice(f"{path}: {text}", "rows_left_out", late),)
    cut = {name: getattr(read, name)[:arrived] for name in ("ids", "date_times", "accounts")}
    times, ratings, vectors, departures = (column[:arrived] for column in read.players[:4])
    players = ArrivingPlayers(times, ratings, vectors, departures)
    return replace(read, players=players, horizon=horizon, remarks=remarks, **cut)


def has_leaving_times(path: Path, log: LogFactors) -> bool:
    """Return whether a log has a column ``left_hours``; no where it cannot be read."""
    try:
        return LEFT in read_header(path, SEPARATORS[log.separator], MAX_FILE)
    except InputError:
        return False


@lru_cache(maxsize=2)
def _read(path: Path, _stamp: int, factors: str, multipliers: tuple[float, ...]) -> QueueLog:
    """Read all of a file; `factors` are `LogFactors` in JSON."""
    return _Reader(path, LogFactors.model_validate_json(factors), multipliers).read()


SENTINELS = (-1.0, 0.0, 999.0, 9999.0, 99999.0)
"""Values that games often write for a rating which is not known."""


def sentinels_of(ratings: Floats) -> list[float]:
    """Return values that several players share, far below or above all others or usual for "none".

    Examples
    --------
    >>> sentinels_of(np.array([-1.0, 1400, 1500, -1, 1450, 1620, 1550]))
    [-1.0]
    """
    if not ratings.size:
        return []
    low, high = np.percentile(ratings, (25, 75)).tolist()
    values, counts = np.unique(ratings, return_counts=True)
    often = counts >= max(3.0, 10.0 * float(np.median(counts)))
    sentinels = {value for value in values[often].tolist() if value in SENTINELS and value != 0.0}
    for side in (slice(None), slice(None, None, -1)):
        ends, rows = values[side], counts[side]
        for k, gap in enumerate(np.abs(np.diff(ends[:4]))):
            usual = [value in SENTINELS for value in ends[: k + 1]]
            shared = rows[: k + 1] >= np.where(usual, 2, 3)
            apart = (0.1 if all(usual) else 0.75) * (high - low)
            if gap > max(apart, 1.0) and shared.all():
                sentinels.update(ends[: k + 1].tolist())
    return sorted(sentinels)


class _Entry(NamedTuple):
    """A good row."""

    line: int
    cell: str  # its time as it stands
    time: float
    rating: float  # NaN where it is not known
    vector: Sequence[float]
    player: str
    left: float  # when the player gave up, infinity for never


class _Reader:
    """Reads one log."""

    def __init__(self, path: Path, log: LogFactors, multipliers: Sequence[float]) -> None:
        self._path, self._log, self._multipliers = path, log, multipliers
        self._clock = LogClock(log.zone)
        self._bad = BadRows(str(path), log.skip_bad_rows, log.max_bad_rows, "log.")
        self._names: dict[str, str] = {}  # the columns by their meaning
        self._unused: list[str] = []  # columns that nothing is read from
        self._states: dict[str, Counter[str]] = {}  # rows by value of columns that may say an end
        self._unwanted = 0  # rows that are not as `log.where` has it
        self._repeated = 0  # rows that are the same as another one
        self._remarks: list[str] = []

    def read(self) -> QueueLog:
        """Read all of the file."""
        clock, names, path = self._clock, self._names, self._path
        entries = self._without_far(list(self._entries()))
        if len(entries) == 1:
            alone = "1 player (allowed: two or more"
            raise InputError(f"{path}: {alone}{self._bad.seen()})")
        column = names["arrival_hours"]
        for before, entry in () if self._log.sort else pairwise(entries):
            clock.check_order(self._row(entry), column, entry.time, before.time)
        hours = clock.hours([*(e.time for e in entries), *(e.left for e in entries)])
        times, departures = np.split(np.array(hours), 2)
        if self._log.sort:
            order = np.argsort(times, kind="stable")
            times, departures = times[order], departures[order]
            entries = [entries[k] for k in order.tolist()]
        if not clock.dated:
            check_serial_days(self._row(entries[0]), column, times, ALLOWED)
        unknown = [k for k, entry in enumerate(entries) if entry.rating != entry.rating]
        entries = self._with_known_ratings(entries, unknown)
        ratings = np.array([entry.rating for entry in entries])
        sentinels = sentinels_of(np.delete(ratings, unknown))
        numbers: dict[str, int] = {}
        accounts = np.array([numbers.setdefault(e.player, len(numbers)) for e in entries], np.int64)
        if not 1 < len(numbers) < len(entries):
            accounts = accounts[:0]
        self._remarks += self._bad.remarks()
        self._remark_on_times(times)
        self._remark_on_rows(len(unknown))
        self._remark_on_values(ratings, sentinels)
        self._remark_on_leaving(times, departures, accounts)
        vectors = np.array([entry.vector for entry in entries]).reshape(-1, len(VECTOR))
        left = departures if LEFT in names else np.empty(0)
        return QueueLog(
            ArrivingPlayers(times, ratings, vectors, left),
            [entry.player for entry in entries] if "player" in names else [],
            [entry.cell for entry in entries] if clock.dated else [],
            clock.midnight,
            float(times[-1]),
            tuple(self._remarks),
            accounts,
            names,
            tuple(sentinels),
            self._states,
        )

    def _entries(self) -> Iterator[_Entry]:
        """Yield the good rows that are wanted, of exact duplicates one."""
        separator = SEPARATORS[self._log.separator]
        names, where = self._names, self._log.where
        seen: set[tuple[str, ...]] = set()
        for row in read_rows(
            self._path, self._columns, separator, most=MAX_FILE, wrong=self._bad.add
        ):
            if where and not all(is_wanted(row.cells[name], where[name]) for name in where):
                self._unwanted += 1
                continue
            key = tuple(row.cells[name] for name in names.values())
            if key in seen:
                self._repeated += 1
                if "player" in names:
                    continue
            seen.add(key)
            for name, counts in self._states.items():
                if len(counts) <= MOST_STATES:
                    counts[row.cells[name].strip()] += 1
            try:
                time = self._clock.read(row, names["arrival_hours"])
                rating, vector = self._rating(row)
                player = _id(row, names["player"]) if "player" in names else ""
                left = self._left(row, names[LEFT], time) if LEFT in names else math.inf
            except RowError as error:
                self._bad.add(error)
                continue
            cell = row.cells[names["arrival_hours"]].strip()
            yield _Entry(row.line, cell, time, rating, vector, player, left)
        for name, counts in list(self._states.items()):
            if not 1 < len(counts) <= MOST_STATES:
                del self._states[name]

    def _row(self, entry: _Entry) -> Row:
        """Return the row of an entry, with its time."""
        return Row(self._path, entry.line, {self._names["arrival_hours"]: entry.cell})

    def _without_far(self, entries: Sequence[_Entry]) -> list[_Entry]:
        """Return the rows but those whose times are far from all others, such as 9999-12-31."""
        if not entries:
            n, where = self._unwanted, option("log.where")
            others = f"; {n:,} rows are not as {where} says" if n else ""
            needed = "at least one row is needed below the header"
            raise InputError(f"{self._path}: no players ({needed}{self._bad.seen()}{others})")
        far = set(far_rows(np.array(self._clock.hours([entry.time for entry in entries]))))
        for entry in (entries[number] for number in sorted(far)):
            what = f"{shown(entry.cell)} is more than {LONGEST // 2} years from the middle row"
            what += f" (allowed: a log of {LONGEST} years)"
            self._bad.add(self._row(entry).wrong(self._names["arrival_hours"], what, "far off"))
        self._bad.check(len(entries) - len(far))
        return [entry for number, entry in enumerate(entries) if number not in far]

    def _with_known_ratings(self, entries: list[_Entry], unknown: Sequence[int]) -> list[_Entry]:
        """Return rows with a rating for those whose rating is not known."""
        # It is the last one of the account, else the next one; of an account without any it is
        # that of the row half a log on, so that nobody has the rating of a neighbour in the queue.
        known = np.delete(np.arange(len(entries)), unknown)
        if not known.size:
            among = f"all are among {option('log.missing')}"
            raise InputError(f"{self._path}: no rating is known ({among})")
        by_account: dict[str, list[int]] = {}
        for k in known.tolist() if unknown else ():
            by_account.setdefault(entries[k].player, []).append(k)
        by_account.pop("", None)
        filled = list(entries)
        for k in unknown:
            if rows := by_account.get(entries[k].player):
                donor = max((row for row in rows if row < k), default=rows[0])
            else:
                donor = known[(np.searchsorted(known, k) + known.size // 2) % known.size]
            rating, vector = entries[donor].rating, entries[donor].vector
            filled[k] = entries[k]._replace(rating=rating, vector=vector)
        return filled

    def _left(self, row: Row, column: str, arrival: float) -> float:
        """Return when a player gave up."""
        cell = row.cells[column].strip()
        left = self._clock.read(row, column) if cell else math.inf
        if left < arrival:
            allowed = "allowed: a later time, or nothing for who played"
            what = f"{shown(cell)} is before the arrival ({allowed})"
            raise row.wrong(column, what, "before the arrival")
        return left

    def _rating(self, row: Row) -> tuple[float, Sequence[float]]:
        """Return the rating of a player, and what it may be made of; NaN where it is not known."""
        names = self._names
        vector = [row.number(names[part]) for part in VECTOR if part in names]
        if "rating" in names:
            column, what = names["rating"], ""
            rating = written = row.number(column)
        else:
            column, what = names["elo"], ", of elo, kd and wr by multiplier_matrix"
            rating = sum(m * v for m, v in zip(self._multipliers, vector, strict=True))
            written = vector[0]
        if written in self._log.missing:
            return math.nan, vector
        if not abs(rating) <= MAX_RATING:
            allowed = "allowed: a rating from -1000000 to 1000000"
            raise row.wrong(column, f"{rating!r}{what} ({allowed})", "out of range")
        return rating, vector

    def _columns(self, header: Sequence[str], position: str) -> list[str]:
        """Return the columns to read; note their names, and those of all others."""
        try:
            self._names |= _names(position, header, self._log.columns)
        except InputError:
            other = other_separator(header, SEPARATORS[self._log.separator])
            if not other:
                raise
            cells = "is one cell" if len(header) == 1 else f"has {len(header)} cells"
            reads = f"{option(f'log.separator={other}')} reads it"
            text = f"{position}: the header {cells} with {other}s in it: {reads}"
            raise InputError(text) from None
        where = self._log.where
        for name in where:
            if name not in header:
                text = f"{option('log.where')}: no column {shown(name)} ({hint(name, header)})"
                raise InputError(f"{position}: {text}")
        read = list(dict.fromkeys([*self._names.values(), *where]))
        self._unused = [name for name in header if name and name not in read]
        doubtful = [n for n in self._unused if STATUS.search(n) and header.count(n) == 1]
        self._states = {name: Counter() for name in doubtful}
        return [*read, *doubtful]

    def _note(self, kind: str, text: str, n: int = 1, of: type[Notice] = Note) -> None:
        """Remark upon the file."""
        self._remarks.append(of(f"{self._path}: {text}", kind, n))

    def _remark_on_times(self, times: Floats) -> None:
        """Say what to know of times, and of columns that nothing is read from."""
        if self._clock.midnight is not None:
            since = self._clock.midnight.isoformat(" ", "minutes")
            self._note("guessed_midnight", f"hours are counted from {since}")
        if self._clock.moved:
            text = "date-times have several offsets from UTC: hours of the day are those of the"
            zone = f"{option('log.zone=Europe/Berlin')}, for example, counts them by the clocks"
            self._note("guessed_zone", f"{text} first; {zone} there")
        for remark in span_remarks(times):
            self._note("doubtful_times", remark, of=Notice)
        reason = ": this model ignores parties and regions (model tickets has both)"
        missed = [name for name in self._unused if name.lower().startswith(MISSED)]
        others = [name for name in self._unused if name not in missed]
        for kind, columns, why in ("parties", missed, reason), ("columns", others, ""):
            if columns:
                named = f"column{'s' * (len(columns) > 1)} {', '.join(columns)}"
                self._note(f"ignored_{kind}", f"{named} not used{why}", len(columns))

    def _remark_on_rows(self, unknown: int) -> None:
        """Say how many rows are read otherwise than they stand, or not at all."""
        if n := self._unwanted:
            text = f"{n:,} row{'s' * (n > 1)} skipped by {option('log.where')}"
            self._note("rows_not_wanted", text, n)
        if unknown:
            text = (
                f"{unknown:,} ratings missing ({option('log.missing')}): each is replaced by that"
            )
            text += " of another row, of the same account where it has one"
            self._note("ratings_missing", text, unknown)
        if (n := self._repeated) and "player" in self._names:
            text = f"{n:,} exact duplicate{'s' * (n > 1)} of other rows skipped"
            self._note("duplicate_rows", text, n, Notice)

    def _remark_on_values(self, ratings: Floats, sentinels: Sequence[float]) -> None:
        """Say what looks as if it were not meant, and which option says so."""
        n = self._repeated
        if n > 0.05 * ratings.size and "player" not in self._names:
            player = f"{option('log.columns')} player=NAME names the column of accounts"
            text = f"{n:,} rows have time and rating of another row ({player}: duplicates are then"
            self._note("doubtful_rows", f"{text} skipped)", n, Notice)
        for value in sentinels:
            n = int((ratings == value).sum())
            text = f"{n:,} players share the rating {value:g}, unlike all others; if it means that"
            says = f"{option(f'log.missing=[{value:g}]')} says so"
            self._note("doubtful_ratings", f"{text} none is known, {says}", n, Notice)
        for column, counts in self._states.items():
            values = ", ".join(f"{shown(value)} {n:,}" for value, n in counts.most_common(4))
            first = counts.most_common(1)[0][0]
            reads = f"{option(f'log.where.{column}={first}')} reads those alone"
            text = f"column {shown(column)} may say what became of a row ({values}), and all rows"
            n = counts.total() - counts[first]
            self._note("doubtful_status", f"{text} are read; {reads}", n, Notice)

    def _remark_on_leaving(self, times: Floats, departures: Floats, accounts: Ints) -> None:
        """Say who leaves the queue without a match."""
        soon = next_arrivals(accounts, times) - times <= AGAIN if accounts.size else accounts
        if again := int(soon.sum()):
            text = f"accounts queue again within an hour ({again:,} time{'s' * (again > 1)}): where"
            self._note(
                "queued_again",
                f"{text} they still wait, they leave their earlier place",
                int(again),
            )
        if LEFT in self._names:
            gave_up = int(np.isfinite(departures).sum())
            text = f"{gave_up:,} of {times.size:,} players have a time in {self._names[LEFT]}, at"
            text += " which they give up unless they play before"
            self._note("times_of_leaving", text, gave_up)


def _names(position: str, header: Sequence[str], renamed: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the columns to read, by meaning."""
    columns = option("log.columns")
    for meaning, name in renamed.items():
        if name not in header:
            text = f"{columns} {meaning}={name}: no column {shown(name)} ({hint(name, header)})"
            raise InputError(f"{position}: {text}")
    names = {name: name for name in ("arrival_hours", "rating", "player", LEFT) if name in header}
    if all(name in header or name in renamed for name in VECTOR):
        names |= {name: name for name in VECTOR}
    names |= {key: name for key, name in renamed.items() if key in names or key not in VECTOR}
    says = f"{columns} arrival_hours=NAME,rating=NAME says which columns they are"
    if "arrival_hours" not in names:
        # Any file might be named here: nothing of it is shown.
        raise InputError(
            f"{position}: column arrival_hours is missing (a queue log has the columns"
            " arrival_hours, hours since its start, or date-times, and rating, or elo, kd and wr;"
            f" {says})"
        )
    if not {"rating", *VECTOR} & names.keys():
        there = f"found: {', '.join(header)}; {says}"
        raise InputError(f"{position}: column rating, or elo, kd and wr is missing ({there})")
    return names


def _id(row: Row, column: str) -> str:
    """Return the id of a player, or say why it cannot be one."""
    player = row.cells[column].strip()
    if not 0 < len(player) <= MAX_ID or "\0" in player:
        what = shown(player) if player else "empty"
        raise row.wrong(column, f"{what} (allowed: 1 to {MAX_ID} characters)")
    return player


# Hours of a dated log as the clocks of its time zone count them.


def wall_hours(midnight: datetime | None, hours: Ints) -> Ints:
    """Return hours since a midnight as clocks on the wall count them."""
    # They differ from the time that has passed where clocks have been put forward or back since
    # then, which only a zone with a name knows.
    if midnight is None or isinstance(midnight.tzinfo, timezone) or not hours.size:
        return hours
    each, number = np.unique(hours, return_inverse=True)
    moved = np.array([_moved(midnight, hour) for hour in each.tolist()])
    return hours + moved[number.reshape(hours.shape)]


@lru_cache(maxsize=1 << 18)
def _moved(midnight: datetime, hour: int) -> int:
    """Return by how many hours, rounded down, clocks have been put forward since a midnight."""
    try:
        there = (midnight.astimezone(UTC) + timedelta(hours=hour)).astimezone(midnight.tzinfo)
    except OverflowError:  # after the year 9999
        return 0
    moved = (there.utcoffset() or timedelta()) - (midnight.utcoffset() or timedelta())
    return moved // timedelta(hours=1)


# Resamples of a queue log: blocks of it, drawn with replacement and put one after the other.
#
# A moving-block bootstrap (Künsch 1989). A block may be drawn from any day, but stays at its hour
# of the day, so that the days of a resample have the rush hours of the log; who arrives together in
# a block stays together. Replication 0 is the log itself. Of logs of weeks, blocks have several
# days unless told otherwise: of blocks of a day, mean waits vary too little.


class BlockResampling:
    """Draws resamples of a log, each as long as the log."""

    def __init__(
        self, log: QueueLog, block_hours: int | None, horizon: float | None, path: Path
    ) -> None:
        self._players = log.players
        times = log.players.times
        begin, end = math.floor(times[0]), math.floor(times[-1]) + 1
        self.horizon = float(end) if horizon is None else horizon  # end of the run
        end = max(end, math.ceil(self.horizon))
        if end - begin > LONGEST * YEAR + DAY:
            text = f"{self.horizon:g} is {(end - begin) / YEAR:,.0f} years after the first arrival"
            allowed = f"allowed with log.resample: {LONGEST} years"
            raise InputError(f"{path}: factors.horizon: {text} ({allowed})")
        days = (end - begin) / DAY
        # what to know of how the log is resampled, one line each
        self.remarks: tuple[str, ...] = ()
        if block_hours is None:
            block_hours = DAY * block_days(days)
            guess = f"{path}: resampled by blocks of {block_hours} hours"
            self.remarks = (Note(guess, "guessed_blocks"),)
        # where blocks begin, their hours, and from where on how many may stand there
        self._starts = np.arange(begin, end, block_hours)
        self._hours = np.minimum(block_hours, end - self._starts)
        self._firsts = begin + (self._starts - begin) % DAY
        self._counts = (end - self._hours - self._firsts) // DAY + 1
        pools = dict(zip((self._starts % DAY).tolist(), self._counts.tolist(), strict=True))
        candidates = [float(size) for size in pools.values()]
        degrees = max(1.0, sum(candidates) - len(candidates))
        if block_hours > DAY:
            # They overlap, and say less than as many that do not.
            candidates = [(end - begin) / block_hours]
            degrees = overlapping_degrees(days, block_hours / DAY)
        if max(candidates) < 2.0:
            raise InputError(
                f"{path}: factors.log.resample: blocks of {block_hours} hours can be put together"
                f" in one way only (the log has {end - begin} hours; allowed: a log of two days or"
                " more, and blocks of half of it or less)"
            )
        # what the replications are samples of
        self.sampling = Resampled(
            candidates=sum(candidates) / len(candidates), degrees=degrees, block_hours=block_hours
        )

    def draw(self, streams: Streams, replication: int) -> ArrivingPlayers:
        """Return the players of a replication; its blocks depend on seed and replication alone."""
        log, origins = self._players, self._starts
        if replication > 0:
            uniforms = streams.stream(replication, BLOCKS).random(origins.size)
            origins = self._firsts + DAY * (uniforms * self._counts).astype(np.int64)
        low, high = np.searchsorted(log.times, (origins, origins + self._hours))
        rows, shifts = spans(low, high - low), origins - self._starts
        times = log.times[rows] - np.repeat(shifts.astype(np.float64), high - low)
        rows, times = rows[times < self.horizon], times[times < self.horizon]
        departures = log.departures
        if departures.size:
            departures = times + (departures - log.times)[rows]
        vectors = log.vectors[rows] if log.vectors.size else log.vectors
        resample = Resample(rows, int(self._starts[0]), int(self._hours[0]), shifts)
        return ArrivingPlayers(times, log.ratings[rows], vectors, departures, resample)
