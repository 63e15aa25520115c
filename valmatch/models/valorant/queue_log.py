"""Arrivals read from a file, such as the log of a real queue."""

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
from valmatch.models.valorant.arrivals import BLOCKS, ArrivingPlayers, Resample
from valmatch.models.valorant.log_factors import LEFT, LogFactors, is_wanted
from valmatch.statistics.sampling import Resampled, block_days, overlapping_degrees
from valmatch.text.dates import PER_SECOND, date_of_digits, datetime_of, unit_since_1970
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import Note, Notice, shown

DAY, YEAR = 24, 24.0 * 365.25  # hours
HOURS, DATES = "hours since the start of the log", "date-times"
"""What the times of a log may be, besides seconds and milliseconds since 1970."""

ALLOWED = f"{HOURS}, seconds or milliseconds since 1970, or date-times such as 2026-03-07T18:30"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
HOUR = timedelta(hours=1) // MICROSECOND


def check_digits(row: Row, column: str, number: float, allowed: str) -> None:
    """Refuse a number of hours that is the digits of a date, such as 20260301."""
    date = date_of_digits(number)
    if date is not None:
        meant = date.isoformat(" ", "minutes").removesuffix(" 00:00")
        text = f"{shown(row.cells[column].strip())} looks like the date {meant}"
        raise row.wrong(column, f"{text} (allowed: {allowed})", "digits of a date")


def check_serial_days(first: Row, column: str, hours: Floats, allowed: str) -> None:
    """Refuse hours that all look like days of a spreadsheet: 45292.5 is noon of 2024-01-01."""
    # They are of the years 2000 to 2099, and of twenty years at most.
    if hours.min() >= 36_526.0 and hours.max() < 73_050.0 and np.ptp(hours) <= 20 * 365.25:
        moment = datetime(1899, 12, 30) + float(hours[0]) * timedelta(days=1)
        day = moment.isoformat(" ", "minutes")
        text = f"{shown(first.cells[column].strip())} looks like {day}, as spreadsheets count days"
        raise first.wrong(column, f"{text} (allowed: {allowed})")


class LogClock:
    """Reads the times of one log, all of one kind, that of the first."""

    # They are hours, or of moments whole microseconds since 1970, which lose no digit.

    def __init__(self, zone: str | None) -> None:
        self._zone: tzinfo | None = ZoneInfo(zone) if zone else None
        self._kind = ""
        self._first: datetime | None = None
        self._offsets: set[timedelta | None] = set()
        self.dated = False  # whether times are moments, as far as the log has been read
        self.midnight: datetime | None = None  # that before the first row; None of hours
        # whether offsets change, as they do to and from summer time, and no zone says when
        self.moved = False

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
        unit = timedelta(seconds=1 / PER_SECOND.get(kind, 1.0))
        try:
            moment = EPOCH + (number or 0.0) * unit
            moment = self._utc(row, column, date_time) if date_time else moment
        except OverflowError:
            what = f"{shown(text)} (allowed: years 1 to 9999)"
            raise row.wrong(column, what, "no year from 1 to 9999") from None
        self._kind, self.dated = kind, True
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
            self.moved = self._zone is None and len(self._offsets) > 1
        return date_time.astimezone(UTC)

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

    def wrong_order(self, before: float, time: float, column: str, cell: str) -> str:
        """Return what is wrong with a time before that of the row above."""
        sort = option("log.sort=True")
        if not self.dated:
            what = f"{time!r} is before the row above ({before!r}); sort the file by {column}"
            return f"{what}, or {sort} does"
        back = ""
        has_zone = self._first is None or self._first.tzinfo
        if not has_zone and before - time < 2 * HOUR:  # more than a clock goes back
            back = "; if the clock went back (daylight saving), write times with their zone"
        return f"{shown(cell)} is before the row above; {sort} sorts the rows{back}"


LONGEST = 20  # years that a log may span
LONG, LATE = 3, 10  # years from which on a log is long, or begins late
GAP = 30  # days without any arrival that are remarked upon
MISSED = ("party", "group", "premade", "region", "ping", "latency")
"""How names of columns begin that a designer may take to be used."""

STATUS = re.compile("(^|_|-| )(status|state|outcome|result)", re.I)
MOST_STATES = 12
"""Names of columns that may say what became of a player, and how many values they have at most."""

VECTOR = ("elo", "kd", "wr")
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
    """Return values that several players share, far from all others or usual for "none"."""
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


_Remark = tuple[type[Notice], str, str, int]  # class, kind, text, and of how many it is


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

    def read(self) -> QueueLog:
        """Read all of the file."""
        clock, names, path = self._clock, self._names, self._path
        entries = self._without_far(list(self._entries()))
        if len(entries) == 1:
            alone = "1 player (allowed: two or more"
            raise InputError(f"{path}: {alone}{self._bad.seen()})")
        for before, entry in () if self._log.sort else pairwise(entries):
            if entry.time < before.time:
                row, column = self._row(entry)
                wrong = clock.wrong_order(before.time, entry.time, column, entry.cell)
                raise row.wrong(column, wrong)
        hours = clock.hours([*(e.time for e in entries), *(e.left for e in entries)])
        times, departures = np.split(np.array(hours), 2)
        if self._log.sort:
            order = np.argsort(times, kind="stable")
            times, departures = times[order], departures[order]
            entries = [entries[k] for k in order.tolist()]
        if not clock.dated:
            check_serial_days(*self._row(entries[0]), times, ALLOWED)
        unknown = [k for k, entry in enumerate(entries) if entry.rating != entry.rating]
        entries = self._with_known_ratings(entries, unknown)
        ratings = np.array([entry.rating for entry in entries])
        sentinels = sentinels_of(np.delete(ratings, unknown))
        numbers: dict[str, int] = {}
        accounts = np.array([numbers.setdefault(e.player, len(numbers)) for e in entries], np.int64)
        if not 1 < len(numbers) < len(entries):
            accounts = accounts[:0]
        left = departures if LEFT in names else departures[:0]
        vectors = np.array([entry.vector for entry in entries]).reshape(-1, len(VECTOR))
        players = ArrivingPlayers(times, ratings, vectors, left)
        notes = [
            *self._notes_on_times(times),
            *self._notes_on_rows(len(unknown), ratings, sentinels),
        ]
        notes += self._notes_on_leaving(players, accounts)
        remarks = (of(f"{path}: {text}", kind, n) for of, kind, text, n in notes)
        return QueueLog(
            players,
            [entry.player for entry in entries] if "player" in names else [],
            [entry.cell for entry in entries] if clock.dated else [],
            clock.midnight,
            float(times[-1]),
            (*self._bad.remarks(), *remarks),
            accounts,
            names,
            tuple(sentinels),
            self._states,
        )

    def _entries(self) -> Iterator[_Entry]:
        """Yield the good rows that are wanted, of exact duplicates one."""
        names, where, seen = self._names, self._log.where, set[tuple[str, ...]]()
        separator, wrong = SEPARATORS[self._log.separator], self._bad.add
        for row in read_rows(self._path, self._columns, separator, most=MAX_FILE, wrong=wrong):
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
            column, player, left = names["arrival_hours"], "", math.inf
            cell = row.cells[column].strip()
            try:
                time = self._clock.read(row, column)
                rating, vector = self._rating(row)
                if "player" in names:
                    player = row.cells[names["player"]].strip()
                    if not 0 < len(player) <= MAX_ID or "\0" in player:
                        what = f"{shown(player) if player else 'empty'} (allowed: 1 to {MAX_ID}"
                        raise row.wrong(names["player"], f"{what} characters)")
                if until := row.cells[names[LEFT]].strip() if LEFT in names else "":
                    left = self._clock.read(row, names[LEFT])
                    if left < time:
                        what = f"{shown(until)} is before the arrival (allowed: a later time, or"
                        what += " nothing for who played)"
                        raise row.wrong(names[LEFT], what, "before the arrival")
            except RowError as error:
                self._bad.add(error)
                continue
            yield _Entry(row.line, cell, time, rating, vector, player, left)
        for name, counts in list(self._states.items()):
            if not 1 < len(counts) <= MOST_STATES:
                del self._states[name]

    def _row(self, entry: _Entry) -> tuple[Row, str]:
        """Return the row of an entry, with its time, and the column of that."""
        column = self._names["arrival_hours"]
        return Row(self._path, entry.line, {column: entry.cell}), column

    def _without_far(self, entries: Sequence[_Entry]) -> list[_Entry]:
        """Return the rows but those whose times are far from all others, such as 9999-12-31."""
        if not entries:
            n, where = self._unwanted, option("log.where")
            others = f"; {n:,} rows are not as {where} says" if n else ""
            needed = "at least one row is needed below the header"
            raise InputError(f"{self._path}: no players ({needed}{self._bad.seen()}{others})")
        hours = np.array(self._clock.hours([entry.time for entry in entries]))
        longest = LONGEST * YEAR
        far = np.zeros(hours.size, np.bool_)
        if np.ptp(hours) > longest:  # what is left spans no more
            middle = np.partition(hours, (hours.size - 1) // 2)[(hours.size - 1) // 2]
            far = np.abs(hours - middle) > longest / 2.0
        for number in np.flatnonzero(far).tolist():
            what = f"{shown(entries[number].cell)} is more than {LONGEST // 2} years from the"
            what += f" middle row (allowed: a log of {LONGEST} years)"
            row, column = self._row(entries[number])
            self._bad.add(row.wrong(column, what, "far off"))
        self._bad.check(hours.size - int(far.sum()))
        return [entry for entry, is_far in zip(entries, far.tolist(), strict=True) if not is_far]

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

    def _rating(self, row: Row) -> tuple[float, Sequence[float]]:
        """Return the rating of a player, and what it may be made of; NaN where it is not known."""
        names = self._names
        vector = [row.number(names[part]) for part in VECTOR if part in names]
        column, what = names.get("rating", names.get("elo", "")), ""
        rating = written = row.number(column)
        if "rating" not in names:
            what = ", of elo, kd and wr by multiplier_matrix"
            rating = sum(m * v for m, v in zip(self._multipliers, vector, strict=True))
        if written in self._log.missing:
            return math.nan, vector
        if not abs(rating) <= MAX_RATING:
            allowed = "allowed: a rating from -1000000 to 1000000"
            raise row.wrong(column, f"{rating!r}{what} ({allowed})", "out of range")
        return rating, vector

    def _columns(self, header: Sequence[str], position: str) -> list[str]:
        """Return the columns to read; note their names, and those of all others."""
        renamed, columns, where = self._log.columns, option("log.columns"), self._log.where
        known = ("arrival_hours", "rating", "player", LEFT)
        names = {name: name for name in known if name in header}
        if all(name in header or name in renamed for name in VECTOR):
            names |= {name: name for name in VECTOR}
        names |= {key: name for key, name in renamed.items() if key in names or key not in VECTOR}
        says = f"{columns} arrival_hours=NAME,rating=NAME says which columns they are"
        wrong = ""
        if lost := [meaning for meaning, name in renamed.items() if name not in header]:
            name = renamed[lost[0]]
            wrong = f"{columns} {lost[0]}={name}: no column {shown(name)} ({hint(name, header)})"
        elif "arrival_hours" not in names:
            # Any file might be named here: nothing of it is shown.
            wrong = (
                "column arrival_hours is missing (a queue log has the columns arrival_hours, hours"
                f" since its start, or date-times, and rating, or elo, kd and wr; {says})"
            )
        elif not {"rating", *VECTOR} & names.keys():
            there = f"found: {', '.join(header)}; {says}"
            wrong = f"column rating, or elo, kd and wr is missing ({there})"
        other = other_separator(header, SEPARATORS[self._log.separator]) if wrong else ""
        if other:
            cells = "is one cell" if len(header) == 1 else f"has {len(header)} cells"
            reads = f"{option(f'log.separator={other}')} reads it"
            wrong = f"the header {cells} with {other}s in it: {reads}"
        if lost := [name for name in where if name not in header] if not wrong else []:
            text = f"no column {shown(lost[0])} ({hint(lost[0], header)})"
            wrong = f"{option('log.where')}: {text}"
        if wrong:
            raise InputError(f"{position}: {wrong}")
        self._names |= names
        read = list(dict.fromkeys([*names.values(), *where]))
        self._unused = [name for name in header if name and name not in read]
        doubtful = [n for n in self._unused if STATUS.search(n) and header.count(n) == 1]
        self._states = {name: Counter() for name in doubtful}
        return [*read, *doubtful]

    def _notes_on_times(self, times: Floats) -> Iterator[_Remark]:
        if self._clock.midnight is not None:
            since = self._clock.midnight.isoformat(" ", "minutes")
            yield Note, "guessed_midnight", f"hours are counted from {since}", 1
        if self._clock.moved:
            text = "date-times have several offsets from UTC: hours of the day are those of the"
            zone = f"{option('log.zone=Europe/Berlin')}, for example, counts them by the clocks"
            yield Note, "guessed_zone", f"{text} first; {zone} there", 1
        first, last, gaps = float(times[0]), float(times[-1]), np.diff(times)
        doubtful = Notice, "doubtful_times"
        if first > LATE * YEAR:
            text = f"the first arrival is {first / YEAR:,.1f} years after hour 0"
            yield *doubtful, f"{text} (hours are counted from the start of the log)", 1
        if last - first > LONG * YEAR:
            yield *doubtful, f"the log spans {(last - first) / YEAR:,.1f} years", 1
        if many := int((gaps > GAP * DAY).sum()):
            longest = int(gaps.argmax())
            others = f", the longest of {many:,} gaps of more than {GAP} days" if many > 1 else ""
            days, since = gaps[longest] / DAY, f"{times[longest]:,.1f}"
            text = f"nobody arrives for {days:,.1f} days from hour {since} on{others}"
            yield *doubtful, text, 1
        reason = ": this model ignores parties and regions (model tickets has both)"
        missed = [name for name in self._unused if name.lower().startswith(MISSED)]
        others_unused = [name for name in self._unused if name not in missed]
        for kind, columns, why in ("parties", missed, reason), ("columns", others_unused, ""):
            if columns:
                named = f"column{'s' * (len(columns) > 1)} {', '.join(columns)}"
                yield Note, f"ignored_{kind}", f"{named} not used{why}", len(columns)

    def _notes_on_rows(
        self, unknown: int, ratings: Floats, sentinels: Sequence[float]
    ) -> Iterator[_Remark]:
        """Yield how many rows are read otherwise than they stand, and what may not be meant."""
        if n := self._unwanted:
            text = f"{n:,} row{'s' * (n > 1)} skipped by {option('log.where')}"
            yield Note, "rows_not_wanted", text, n
        if unknown:
            text = f"{unknown:,} ratings missing ({option('log.missing')}): each is replaced by"
            text += " that of another row, of the same account where it has one"
            yield Note, "ratings_missing", text, unknown
        n = self._repeated
        if n and "player" in self._names:
            text = f"{n:,} exact duplicate{'s' * (n > 1)} of other rows skipped"
            yield Notice, "duplicate_rows", text, n
        elif n > 0.05 * ratings.size:
            player = f"{option('log.columns')} player=NAME names the column of accounts"
            text = f"{n:,} rows have time and rating of another row ({player}: duplicates are then"
            yield Notice, "doubtful_rows", f"{text} skipped)", n
        for value in sentinels:
            n = int((ratings == value).sum())
            text = f"{n:,} players share the rating {value:g}, unlike all others; if it means that"
            says = f"{option(f'log.missing=[{value:g}]')} says so"
            yield Notice, "doubtful_ratings", f"{text} none is known, {says}", n
        for column, counts in self._states.items():
            values = ", ".join(f"{shown(value)} {n:,}" for value, n in counts.most_common(4))
            first = counts.most_common(1)[0][0]
            reads = f"{option(f'log.where.{column}={first}')} reads those alone"
            text = f"column {shown(column)} may say what became of a row ({values}), and all rows"
            n = counts.total() - counts[first]
            yield Notice, "doubtful_status", f"{text} are read; {reads}", n

    def _notes_on_leaving(self, players: ArrivingPlayers, accounts: Ints) -> Iterator[_Remark]:
        times = players.times
        soon = next_arrivals(accounts, times) - times <= AGAIN if accounts.size else accounts
        if again := int(soon.sum()):
            text = f"accounts queue again within an hour ({again:,} time{'s' * (again > 1)}): where"
            text += " they still wait, they leave their earlier place"
            yield Note, "queued_again", text, again
        if LEFT in self._names:
            gave_up = int(np.isfinite(players.departures).sum())
            text = f"{gave_up:,} of {times.size:,} players have a time in {self._names[LEFT]}, at"
            text += " which they give up unless they play before"
            yield Note, "times_of_leaving", text, gave_up


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


class BlockResampling:
    """Draws resamples of a log, each as long as the log: blocks of it, with replacement."""

    # A moving-block bootstrap (Künsch 1989). A block may be drawn from any day, but stays at its
    # hour, so that resamples have the rush hours of the log; replication 0 is the log itself. Of
    # logs of weeks, blocks have several days: of blocks of a day, mean waits vary too little.

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
