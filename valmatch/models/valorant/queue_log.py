"""Arrivals read from a file, such as the log of a real queue."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.inputs.csv_reader import (
    SEPARATORS,
    BadRows,
    Dialect,
    Row,
    RowError,
    other_separator,
    read_header,
    read_rows,
)
from valmatch.inputs.files import MAX_FILE
from valmatch.kernels.arrays import Floats, Ints
from valmatch.matching.queue import next_arrivals
from valmatch.models.number_dates import check_digits, check_serial_days
from valmatch.models.valorant.arrivals import BLOCKS, ArrivingPlayers, Moved
from valmatch.models.valorant.log_factors import LEFT, LogFactors, is_wanted
from valmatch.statistics.sampling import Resampled, block_days, overlapping_degrees
from valmatch.text.durations import MILLISECONDS, datetime_of, unit_since_1970
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint
from valmatch.text.terminal import Note, Notice, shown

# Times of a queue log: hours, date-times, or seconds or milliseconds since 1970.

DAY, YEAR = 24, 24.0 * 365.25  # hours

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
            moment = (
                self._utc(row, column, date_time) if date_time else _since_1970(number or 0.0, kind)
            )
        except OverflowError:
            what = f"{shown(text)} (allowed: years 1 to 9999)"
            raise row.wrong(column, what, "no year from 1 to 9999") from None
        self._kind = kind
        return moment

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
    return [int(row) for row in np.flatnonzero(np.abs(hours - middle) > LONGEST * YEAR / 2.0)]


def span_remarks(hours: Floats) -> Iterator[str]:
    """Yield what is unusual about the times of a log, in order of arrival.

    Shapes: `hours` (n,).
    """
    first, last = float(hours[0]), float(hours[-1])
    if first > LATE * YEAR:
        yield (
            f"the first arrival is {first / YEAR:,.1f} years after hour 0 (hours are counted from"
            " the start of the log)"
        )
    if last - first > LONG * YEAR:
        yield f"the log spans {(last - first) / YEAR:,.1f} years"
    gaps = np.diff(hours)
    if gaps.size and gaps.max() > GAP * DAY:
        longest = int(gaps.argmax())
        many = int((gaps > GAP * DAY).sum())
        others = f", the longest of {many:,} gaps of more than {GAP} days" if many > 1 else ""
        yield (
            f"nobody arrives for {gaps[longest] / DAY:,.1f} days from hour {hours[longest]:,.1f} on"
            f"{others}"
        )


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


@dataclass
class _Beside:
    """What is learned of a log beside its good rows."""

    names: dict[str, str] = field(default_factory=dict)  # of columns, by meaning
    unused: list[str] = field(default_factory=list)  # columns that nothing is read from
    states: dict[str, Counter[str]] = field(default_factory=dict)  # rows by value of such columns
    unwanted: int = 0  # rows that are not as `log.where` has it
    repeated: int = 0  # rows that are the same as another one


class _Entry(NamedTuple):
    """A good row."""

    line: int
    cell: str
    time: Time
    rating: float  # NaN where it is not known
    vector: Sequence[float]
    player: str
    left: Time | None


def read_queue_log(
    path: Path, log: LogFactors, multipliers: Sequence[float], horizon: float | None
) -> QueueLog:
    """Read a CSV file with columns ``arrival_hours`` and ``rating`` or ``elo,kd,wr``.

    A column ``left_hours`` says when players gave up; its cells are empty for those who did not.
    Rows are in order of arrival. Where both kinds of ratings are given, `rating` holds and elo, kd,
    wr are kept for the record; so is `player`.
    """
    whole = _whole_log(path, log, multipliers)
    if horizon is None:
        return whole
    n = whole.players.times.size
    arrived = int(np.searchsorted(whole.players.times, horizon, side="left"))
    remarks = whole.remarks
    if arrived < n:
        late = f"{n - arrived} row{'s' * (n - arrived > 1)} at or after the horizon"
        text = f"{path}: {late} of {horizon:g} hours left out"
        remarks += (Notice(text, "rows_left_out", n - arrived),)
    times, ratings, vectors, departures, _ = whole.players
    players = ArrivingPlayers(
        times[:arrived], ratings[:arrived], vectors[:arrived], departures[:arrived]
    )
    return replace(
        whole,
        players=players,
        ids=whole.ids[:arrived],
        date_times=whole.date_times[:arrived],
        horizon=horizon,
        remarks=remarks,
        accounts=whole.accounts[:arrived],
    )


def has_leaving_times(path: Path, log: LogFactors) -> bool:
    """Return whether a log has a column ``left_hours``; no where it cannot be read."""
    try:
        return LEFT in read_header(path, Dialect(SEPARATORS[log.separator]), MAX_FILE)
    except InputError:
        return False


def last_arrival(path: Path, log: LogFactors, multipliers: Sequence[float]) -> float:
    """Return the hour of the last arrival of a log."""
    return _whole_log(path, log, multipliers).horizon


def _whole_log(path: Path, log: LogFactors, multipliers: Sequence[float]) -> QueueLog:
    """Return a log to its last arrival; read once as long as the file stays the same."""
    try:
        stamp = path.stat().st_mtime_ns
    except OSError:
        stamp = 0
    return _read(path, stamp, log.model_dump_json(), tuple(multipliers))


@lru_cache(maxsize=2)
def _read(path: Path, _stamp: int, how: str, multipliers: tuple[float, ...]) -> QueueLog:
    """Read the whole of a file; `how` is a `LogFactors` in JSON."""
    log = LogFactors.model_validate_json(how)
    clock = LogClock(log.zone)
    bad = BadRows(str(path), log.skip_bad_rows, log.max_bad_rows, "log.")
    beside = _Beside()
    names = beside.names
    entries = list(_entries(path, log, multipliers, clock, bad, beside))
    if not entries:
        where = option("log.where")
        others = f"; {beside.unwanted:,} rows are not as {where} says" if beside.unwanted else ""
        raise InputError(
            f"{path}: no players (at least one row is needed below the header{bad.seen()}{others})"
        )
    column = names["arrival_hours"]
    entries = _near(path, column, clock, entries, bad)
    bad.check(len(entries))
    if len(entries) == 1:
        raise InputError(
            f"{path}: 1 player (allowed: two or more: who is alone meets nobody{bad.seen()})"
        )
    if not log.sort:
        for before, entry in pairwise(entries):
            clock.check_order(_time_cell(path, column, entry), column, entry.time, before.time)
    hours = clock.hours([entry.time for entry in entries])
    if log.sort:
        order = sorted(range(len(hours)), key=hours.__getitem__)
        hours, entries = [hours[k] for k in order], [entries[k] for k in order]
    departures = _departures(clock, entries) if LEFT in names else np.empty(0)
    times = np.array(hours, dtype=np.float64)
    clock.check_hours(_time_cell(path, column, entries[0]), column, times)
    remarks = [*bad.remarks(), *_remarks(path, clock, times, beside.unused)]
    unknown = [k for k, entry in enumerate(entries) if entry.rating != entry.rating]
    entries = _with_known_ratings(path, entries, unknown)
    ratings = np.array([entry.rating for entry in entries], dtype=np.float64)
    sentinels = tuple(sentinels_of(np.delete(ratings, unknown)))
    accounts = _accounts_of([entry.player for entry in entries])
    remarks += _remarks_on_rows(path, beside, len(unknown))
    remarks += _remarks_on_values(path, beside, ratings, sentinels)
    again = int((next_arrivals(accounts, times) - times <= AGAIN).sum()) if accounts.size else 0
    if again:
        times_again = f"{again:,} time{'s' * (again > 1)}"
        text = (
            f"{path}: accounts queue again within an hour ({times_again}): where they still wait,"
            " they leave their earlier place"
        )
        remarks.append(Note(text, "queued_again", again))
    if departures.size:
        gave_up = int(np.isfinite(departures).sum())
        remarks.append(
            Note(
                f"{path}: {gave_up:,} of {len(entries):,} players have a time in {names[LEFT]}, at"
                " which they give up unless they play before",
                "times_of_leaving",
                gave_up,
            )
        )
    players = ArrivingPlayers(
        times,
        ratings,
        np.array([entry.vector for entry in entries], dtype=np.float64).reshape(-1, len(VECTOR)),
        departures,
    )
    ids = [entry.player for entry in entries] if entries[0].player else []
    date_times = [entry.cell for entry in entries] if clock.dated else []
    return QueueLog(
        players,
        ids,
        date_times,
        clock.midnight,
        float(times[-1]),
        tuple(remarks),
        accounts,
        names,
        sentinels,
        beside.states,
    )


def _with_known_ratings(path: Path, entries: list[_Entry], unknown: Sequence[int]) -> list[_Entry]:
    """Return rows with a rating for those whose rating is not known.

    It is the last one of the account, else the next one; of an account without any it is that of
    the row half a log on, so that nobody has the rating of a neighbour in the queue.
    """
    known = np.delete(np.arange(len(entries)), unknown)
    if not known.size:
        raise InputError(f"{path}: no rating is known (all are among {option('log.missing')})")
    by_account: dict[str, list[int]] = {}
    for k in known.tolist() if unknown else ():
        by_account.setdefault(entries[k].player, []).append(k)
    by_account.pop("", None)
    filled = list(entries)
    for k in unknown:
        rows = by_account.get(entries[k].player)
        if rows:
            donor = max((row for row in rows if row < k), default=rows[0])
        else:
            donor = known[(np.searchsorted(known, k) + known.size // 2) % known.size]
        filled[k] = entries[k]._replace(rating=entries[donor].rating, vector=entries[donor].vector)
    return filled


def _accounts_of(ids: Sequence[str]) -> Ints:
    """Return numbers of accounts, none where each has one row."""
    numbers: dict[str, int] = {}
    accounts = np.array([numbers.setdefault(name, len(numbers)) for name in ids], np.int64)
    return accounts if 1 < len(numbers) < len(ids) else accounts[:0]


SENTINELS = (-1.0, 0.0, 999.0, 9999.0, 99999.0)
"""Values that games often write for a rating which is not known."""


def sentinels_of(ratings: Floats) -> list[float]:
    """Return values that several players share and that are far below or above all others.

    Examples
    --------
    >>> sentinels_of(np.array([-1.0, 1400, 1500, -1, 1450, 1620, 1550]))
    [-1.0]
    """
    if not ratings.size:
        return []
    low, high = np.percentile(ratings, (25, 75)).tolist()
    values, counts = np.unique(ratings, return_counts=True)
    found: list[float] = []
    for side in (slice(None), slice(None, None, -1)):
        ends, rows = values[side], counts[side]
        gaps = np.abs(np.diff(ends[:4]))
        for k in range(len(gaps)):
            usual = [value in SENTINELS for value in ends[: k + 1]]
            often = rows[: k + 1] >= np.where(usual, 2, 3)
            if gaps[k] > max(0.75 * (high - low), 1.0) and often.all():
                found += [float(value) for value in ends[: k + 1] if value not in found]
    return found


def _remarks_on_rows(path: Path, beside: _Beside, unknown: int) -> Iterator[str]:
    """Yield how many rows are read otherwise than they stand, or not at all."""
    if beside.unwanted:
        text = f"rows that are not as {option('log.where')} says are left out ({beside.unwanted:,})"
        yield Note(f"{path}: {text}", "rows_not_wanted", beside.unwanted)
    if unknown:
        yield Note(
            f"{path}: {unknown:,} ratings are not known ({option('log.missing')}): they have the"
            " rating of another row, of the same account where it has one",
            "ratings_missing",
            unknown,
        )
    if beside.repeated and "player" in beside.names:
        n, s = beside.repeated, "s" * (beside.repeated > 1)
        text = f"{n:,} exact duplicate{s} of other rows left out"
        yield Notice(f"{path}: {text}", "duplicate_rows", beside.repeated)


def _remarks_on_values(
    path: Path, beside: _Beside, ratings: Floats, sentinels: Sequence[float]
) -> Iterator[str]:
    """Yield what looks as if it were not meant, and which option says so."""
    if beside.repeated > 0.05 * ratings.size and "player" not in beside.names:
        player = option("log.columns")
        yield Notice(
            f"{path}: {beside.repeated:,} rows have time and rating of another row ({player}"
            " player=NAME names the column of accounts: duplicates are then left out)",
            "doubtful_rows",
            beside.repeated,
        )
    for value in sentinels:
        rows = int((ratings == value).sum())
        yield Notice(
            f"{path}: {rows:,} players share the rating {value:g}, far from all others; if it means"
            f" that none is known, {option(f'log.missing=[{value:g}]')} says so",
            "doubtful_ratings",
            rows,
        )
    for column, counts in beside.states.items():
        values = ", ".join(f"{shown(value)} {n:,}" for value, n in counts.most_common(4))
        first = next(iter(counts.most_common(1)))[0]
        example = option(f"log.where.{column}={first}")
        yield Notice(
            f"{path}: column {shown(column)} may say what became of a row ({values}), and all rows"
            f" are read; {example} reads those alone",
            "doubtful_status",
            counts.total() - counts[first],
        )


def _remarks(path: Path, clock: LogClock, times: Floats, unused: Sequence[str]) -> Iterator[str]:
    """Yield what to know of times, and of columns that nothing is read from."""
    if clock.midnight is not None:
        since = clock.midnight.isoformat(" ", "minutes")
        yield Note(f"{path}: hours are counted from {since}", "guessed_midnight")
    if clock.moved:
        yield Note(
            f"{path}: date-times have several offsets from UTC: hours of the day are those of the"
            f" first; {option('log.zone=Europe/Berlin')}, for example, counts them by the clocks"
            " there",
            "guessed_zone",
        )
    for remark in span_remarks(times):
        yield Notice(f"{path}: {remark}", "doubtful_times")
    missed = [name for name in unused if name.lower().startswith(MISSED)]
    for kind, columns, why in (
        ("ignored_parties", missed, ": in this model players come alone, wherever they are"),
        ("ignored_columns", [name for name in unused if name not in missed], ""),
    ):
        if columns:
            named = f"column{'s' * (len(columns) > 1)} {', '.join(columns)}"
            yield Note(f"{path}: {named} not used{why}", kind, len(columns))


def _departures(clock: LogClock, entries: Sequence[_Entry]) -> Floats:
    """Return the hours at which players give up, infinity for those who do not."""
    departures = np.full(len(entries), np.inf)
    left = {k: entry.left for k, entry in enumerate(entries) if entry.left is not None}
    # Hours of moments are counted from the midnight before the first, which is an arrival.
    departures[[*left]] = clock.hours([entries[0].time, *left.values()])[1:]
    return departures


def _near(
    path: Path, column: str, clock: LogClock, entries: Sequence[_Entry], bad: BadRows
) -> list[_Entry]:
    """Return the rows without those whose times are far from all others, such as 9999-12-31."""
    far = set(far_rows(clock.since_any([entry.time for entry in entries])))
    for row in sorted(far):
        cell = _time_cell(path, column, entries[row])
        what = f"{shown(entries[row].cell)} is more than {LONGEST // 2} years from the middle row"
        bad.add(cell.wrong(column, f"{what} (allowed: a log of {LONGEST} years)", "far off"))
    return [entry for row, entry in enumerate(entries) if row not in far]


def _time_cell(path: Path, column: str, entry: _Entry) -> Row:
    """Return the row of an entry, with its time."""
    return Row(path, entry.line, {column: entry.cell})


def _entries(
    path: Path,
    log: LogFactors,
    multipliers: Sequence[float],
    clock: LogClock,
    bad: BadRows,
    beside: _Beside,
) -> Iterator[_Entry]:
    """Yield the good rows that are wanted, of exact duplicates one."""
    names, unused, states = beside.names, beside.unused, beside.states

    def choose(header: Sequence[str], position: str) -> list[str]:
        names.update(_columns(position, header, log))
        for name in log.where:
            if name not in header:
                hints = hint(name, header)
                raise InputError(
                    f"{position}: {option('log.where')}: no column {shown(name)} ({hints})"
                )
        read = [*names.values(), *(name for name in log.where if name not in names.values())]
        unused.extend(name for name in header if name and name not in read)
        doubtful = [name for name in unused if STATUS.search(name) and header.count(name) == 1]
        states.update({name: Counter() for name in doubtful})
        return [*read, *doubtful]

    dialect, seen = Dialect(SEPARATORS[log.separator]), set[tuple[str, ...]]()
    for row in read_rows(path, choose, dialect, most=MAX_FILE, wrong=bad.add):
        if log.where and not all(is_wanted(row.cells[name], log.where[name]) for name in log.where):
            beside.unwanted += 1
            continue
        key = tuple(row.cells[name] for name in names.values())
        if key in seen:
            beside.repeated += 1
            if "player" in names:
                continue
        seen.add(key)
        for name, counts in states.items():
            if len(counts) <= MOST_STATES:
                counts[row.cells[name].strip()] += 1
        try:
            time = clock.read(row, names["arrival_hours"])
            rating, vector = _rating(row, names, multipliers, log.missing)
            player = _id(row, names["player"]) if "player" in names else ""
            left = _left(row, names[LEFT], clock, time) if LEFT in names else None
        except RowError as error:
            bad.add(error)
            continue
        cell = row.cells[names["arrival_hours"]].strip()
        yield _Entry(row.line, cell, time, rating, vector, player, left)
    for name, counts in list(states.items()):
        if not 1 < len(counts) <= MOST_STATES:
            del states[name]


def _left(row: Row, column: str, clock: LogClock, arrival: Time) -> Time | None:
    """Return when a player gave up, None for one who did not."""
    if not row.cells[column].strip():
        return None
    left = clock.read(row, column)
    if left < arrival:  # type: ignore[operator]
        cell = shown(row.cells[column].strip())
        raise row.wrong(
            column,
            f"{cell} is before the arrival (allowed: a later time, or nothing for who played)",
            "before the arrival",
        )
    return left


def _rating(
    row: Row, names: Mapping[str, str], multipliers: Sequence[float], missing: Sequence[float]
) -> tuple[float, Sequence[float]]:
    """Return the rating of a player, and what it may be made of; NaN where it is not known."""
    vector = [row.number(names[dimension]) for dimension in VECTOR if dimension in names]
    if "rating" in names:
        column, what = names["rating"], ""
        rating = row.number(column)
    else:
        column, what = names["elo"], ", of elo, kd and wr by multiplier_matrix"
        rating = sum(m * v for m, v in zip(multipliers, vector, strict=True))
    if (rating if "rating" in names else vector[0]) in missing:
        return math.nan, vector
    if not abs(rating) <= MAX_RATING:
        allowed = "allowed: a rating from -1000000 to 1000000"
        raise row.wrong(column, f"{rating!r}{what} ({allowed})", "out of range")
    return rating, vector


def _columns(position: str, header: Sequence[str], log: LogFactors) -> dict[str, str]:
    """Return the names of the columns to read, by meaning."""
    try:
        return _named_columns(position, header, log)
    except InputError:
        other = other_separator(header, SEPARATORS[log.separator])
        if not other:
            raise
        cells = "is one cell" if len(header) == 1 else f"has {len(header)} cells"
        raise InputError(
            f"{position}: the header {cells} with {other}s in it:"
            f" {option(f'log.separator={other}')} reads it"
        ) from None


def _named_columns(position: str, header: Sequence[str], log: LogFactors) -> dict[str, str]:
    for meaning, name in log.columns.items():
        if name not in header:
            raise InputError(
                f"{position}: {option('log.columns')} {meaning}={name}: no column {shown(name)}"
                f" ({hint(name, header)})"
            )
    names: dict[str, str] = {
        name: name for name in ("arrival_hours", "rating", "player", LEFT) if name in header
    }
    if all(name in header or name in log.columns for name in VECTOR):
        names |= {name: name for name in VECTOR}
    names |= {
        column: log.columns[column]
        for column in log.columns
        if column in names or column not in VECTOR
    }
    says = f"{option('log.columns')} arrival_hours=NAME,rating=NAME says which columns they are"
    if "arrival_hours" not in names:
        # Any file might be named here: nothing of it is shown.
        raise InputError(
            f"{position}: column arrival_hours is missing (a queue log has the columns"
            " arrival_hours, hours since its start, or date-times, and rating, or elo, kd and wr;"
            f" {says})"
        )
    if not {"rating", *VECTOR} & names.keys():
        missing, found = "rating, or elo, kd and wr", ", ".join(header)
        raise InputError(f"{position}: column {missing} is missing (found: {found}; {says})")
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
    """Return hours since a midnight as clocks on the wall count them.

    They differ from the time that has passed where clocks have been put forward or back since
    then, which only a zone with a name knows.
    """
    if midnight is None or isinstance(midnight.tzinfo, timezone) or not hours.size:
        return hours
    begin = midnight.astimezone(UTC)

    def offset(hour: int) -> int:
        """Return by how many seconds clocks have been put forward since the midnight."""
        try:
            there = (begin + timedelta(hours=hour)).astimezone(midnight.tzinfo)
        except OverflowError:  # after the year 9999
            return 0
        moved = (there.utcoffset() or timedelta()) - (midnight.utcoffset() or timedelta())
        return round(moved.total_seconds())

    days, day = np.unique(hours // DAY, return_inverse=True)
    at = {d: offset(DAY * d) for first in days.tolist() for d in (first, first + 1)}
    seconds = np.array([at[d] for d in days.tolist()])[day.reshape(hours.shape)]
    for number, d in enumerate(days.tolist()):
        if at[d] != at[d + 1]:
            changing = day.reshape(hours.shape) == number
            seconds[changing] = [offset(hour) for hour in hours[changing].tolist()]
    return hours + seconds // 3600


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
            raise InputError(
                f"{path}: factors.horizon: {self.horizon:g} is {(end - begin) / YEAR:,.0f} years"
                f" after the first arrival (allowed with log.resample: {LONGEST} years)"
            )
        days = (end - begin) / DAY
        # what to know of how the log is resampled, one line each
        self.remarks: tuple[str, ...] = ()
        if block_hours is None:
            block_hours = DAY * block_days(days)
            guess = f"{path}: resampled by blocks of {block_hours} hours"
            self.remarks = (Note(guess, "guessed_blocks"),)
        # where a block begins, its hours, and where blocks of the log begin that may stand there
        self._slots: list[tuple[int, int, range]] = []
        for start in range(begin, end, block_hours):
            hours = min(block_hours, end - start)
            origins = range(begin + (start - begin) % DAY, end - hours + 1, DAY)
            self._slots.append((start, hours, origins))
        pools = {start % DAY: len(origins) for start, _, origins in self._slots}
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

    def draw(self, streams: Streams, replication: int) -> tuple[ArrivingPlayers, Ints]:
        """Return the players of a replication, and which players of the log they are.

        The blocks depend on seed and replication alone.
        """
        log, moved = self._players, None
        times, rows = log.times, np.arange(log.times.size)
        if replication > 0:
            times, rows, moved = self._resampled(streams, replication)
        inside = times < self.horizon
        times, rows = times[inside], rows[inside]
        waits = (log.departures - log.times)[rows] if log.departures.size else None
        departures = log.departures if waits is None else times + waits
        vectors = log.vectors[rows] if log.vectors.size else log.vectors
        return ArrivingPlayers(times, log.ratings[rows], vectors, departures, moved), rows

    def _resampled(self, streams: Streams, replication: int) -> tuple[Floats, Ints, Moved]:
        """Return the arrivals of a resample, which players of the log they are, and its blocks."""
        uniforms = streams.stream(replication, BLOCKS).random(len(self._slots))
        times, rows, shifts = [], [], []
        for (start, hours, origins), uniform in zip(self._slots, uniforms.tolist(), strict=True):
            origin = origins[int(uniform * len(origins))]
            low, high = np.searchsorted(self._players.times, (origin, origin + hours))
            times.append(self._players.times[low:high] + float(start - origin))
            rows.append(np.arange(low, high))
            shifts.append(origin - start)
        begin, length, _ = self._slots[0]
        moved = Moved(begin, length, np.array(shifts, np.int64))
        return np.concatenate(times), np.concatenate(rows), moved
