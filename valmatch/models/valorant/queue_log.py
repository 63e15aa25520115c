"""Arrivals read from a file, such as the log of a real queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

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
from valmatch.kernels.arrays import Floats
from valmatch.models.valorant.arrivals import ArrivingPlayers
from valmatch.models.valorant.log_clock import LogClock, Time
from valmatch.models.valorant.log_factors import LEFT, LogFactors
from valmatch.models.valorant.log_span import LONGEST, far_rows, span_remarks
from valmatch.text.suggestions import hint
from valmatch.text.terminal import Note, shown

VECTOR = ("elo", "kd", "wr")

MISSED = ("party", "group", "premade", "region", "ping", "latency")
"""How names of columns begin that a designer may take to be used."""

MAX_ID = 100  # characters of a player's id: tables hold as many for every player
MAX_RATING = 1e6  # points either way, as for the skills of the ladder


@dataclass(frozen=True)
class QueueLog:
    """The players of a log within the horizon."""

    players: ArrivingPlayers  # the players in order of arrival
    ids: Sequence[str]  # their ids; none where the log has none
    date_times: Sequence[str]  # when they arrived, as the log has it; none where it has hours
    midnight: datetime | None  # what hours are counted from; None where the log has hours
    horizon: float  # end of the run in hours
    remarks: Sequence[str]  # what to know of how the file was read, one line each


class _Rows(NamedTuple):
    """What the good rows of a file say, in order of arrival; see `QueueLog`."""

    times: Floats
    ratings: Floats
    vectors: Floats
    ids: Sequence[str]
    date_times: Sequence[str]
    departures: Floats
    midnight: datetime | None
    remarks: Sequence[str]


class _Entry(NamedTuple):
    """A good row."""

    line: int
    cell: str
    time: Time
    rating: float
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
    rows = _rows(path, log, multipliers)
    n = len(rows.times)
    arrived = n if horizon is None else int(np.searchsorted(rows.times, horizon, side="left"))
    players = ArrivingPlayers(
        rows.times[:arrived],
        rows.ratings[:arrived],
        rows.vectors[:arrived],
        rows.departures[:arrived],
    )
    end = float(rows.times[-1]) if horizon is None else horizon
    remarks = [*rows.remarks]
    if arrived < n:
        remarks.append(
            f"{path}: {n - arrived} row{'s' * (n - arrived > 1)} at or after the horizon of {end:g}"
            " hours left out"
        )
    date_times = rows.date_times[:arrived]
    return QueueLog(players, rows.ids[:arrived], date_times, rows.midnight, end, remarks)


def has_leaving_times(path: Path, log: LogFactors) -> bool:
    """Return whether a log has a column ``left_hours``; no where it cannot be read."""
    try:
        return LEFT in read_header(path, Dialect(SEPARATORS[log.separator]), MAX_FILE)
    except InputError:
        return False


def last_arrival(path: Path, log: LogFactors, multipliers: Sequence[float]) -> float:
    """Return the hour of the last arrival of a log."""
    return float(_rows(path, log, multipliers).times[-1])


def _rows(path: Path, log: LogFactors, multipliers: Sequence[float]) -> _Rows:
    """Return what a file says; read once as long as it stays the same."""
    try:
        stamp = path.stat().st_mtime_ns
    except OSError:
        stamp = 0
    return _read(path, stamp, log.model_dump_json(), tuple(multipliers))


@lru_cache(maxsize=2)
def _read(path: Path, _stamp: int, how: str, multipliers: tuple[float, ...]) -> _Rows:
    """Read the whole of a file; `how` is a `LogFactors` in JSON."""
    log = LogFactors.model_validate_json(how)
    clock = LogClock(log.zone)
    bad = BadRows(str(path), log.skip_bad_rows, log.max_bad_rows, "log.")
    names: dict[str, str] = {}
    unused: list[str] = []
    entries = list(_entries(path, log, multipliers, clock, bad, names, unused))
    if not entries:
        raise InputError(
            f"{path}: no players (at least one row is needed below the header{bad.seen()})"
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
    remarks = bad.remarks()
    if clock.midnight is not None:
        since = clock.midnight.isoformat(" ", "minutes")
        remarks.append(Note(f"{path}: hours are counted from {since}"))
    if clock.moved:
        remarks.append(
            Note(
                f"{path}: date-times have several offsets from UTC: hours of the day are those of"
                f" the first; {option('log.zone=Europe/Berlin')}, for example, counts them by the"
                " clocks there"
            )
        )
    remarks += [f"{path}: {remark}" for remark in span_remarks(times)]
    missed = [name for name in unused if name.lower().startswith(MISSED)]
    for columns, why in (
        (missed, ": in this model players come alone, wherever they are"),
        ([name for name in unused if name not in missed], ""),
    ):
        if columns:
            named = f"column{'s' * (len(columns) > 1)} {', '.join(columns)}"
            remarks.append(Note(f"{path}: {named} not used{why}"))
    if departures.size:
        gave_up = int(np.isfinite(departures).sum())
        remarks.append(
            Note(
                f"{path}: {gave_up:,} of {len(entries):,} players have a time in {names[LEFT]}, at"
                " which they give up unless they play before"
            )
        )
    return _Rows(
        times,
        np.array([entry.rating for entry in entries], dtype=np.float64),
        np.array([entry.vector for entry in entries], dtype=np.float64).reshape(-1, len(VECTOR)),
        tuple(entry.player for entry in entries) if entries[0].player else (),
        tuple(entry.cell for entry in entries) if clock.dated else (),
        departures,
        clock.midnight,
        tuple(remarks),
    )


def _departures(clock: LogClock, entries: Sequence[_Entry]) -> Floats:
    """Return the hours at which players give up, infinity for those who do not."""
    found = np.full(len(entries), np.inf)
    left = {k: entry.left for k, entry in enumerate(entries) if entry.left is not None}
    # Hours of moments are counted from the midnight before the first, which is an arrival.
    found[[*left]] = clock.hours([entries[0].time, *left.values()])[1:]
    return found


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
    names: dict[str, str],
    unused: list[str],
) -> Iterator[_Entry]:
    """Yield the good rows; fill the names of columns, and of those that nothing is read from."""

    def choose(header: Sequence[str], place: str) -> list[str]:
        names.update(_columns(place, header, log))
        unused.extend(name for name in header if name and name not in names.values())
        return list(names.values())

    dialect = Dialect(SEPARATORS[log.separator])
    for row in read_rows(path, choose, dialect, most=MAX_FILE, wrong=bad.add):
        try:
            time = clock.read(row, names["arrival_hours"])
            rating, vector = _rating(row, names, multipliers)
            player = _id(row, names["player"]) if "player" in names else ""
            left = _left(row, names[LEFT], clock, time) if LEFT in names else None
        except RowError as error:
            bad.add(error)
            continue
        cell = row.cells[names["arrival_hours"]].strip()
        yield _Entry(row.line, cell, time, rating, vector, player, left)


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
    row: Row, names: Mapping[str, str], multipliers: Sequence[float]
) -> tuple[float, Sequence[float]]:
    """Return the rating of a player, and what it may be made of."""
    vector = [row.number(names[dimension]) for dimension in VECTOR if dimension in names]
    if "rating" in names:
        column, what = names["rating"], ""
        rating = row.number(column)
    else:
        column, what = names["elo"], ", of elo, kd and wr by multiplier_matrix"
        rating = sum(m * v for m, v in zip(multipliers, vector, strict=True))
    if not abs(rating) <= MAX_RATING:
        allowed = "allowed: a rating from -1000000 to 1000000"
        raise row.wrong(column, f"{rating!r}{what} ({allowed})", "out of range")
    return rating, vector


def _columns(place: str, header: Sequence[str], log: LogFactors) -> dict[str, str]:
    """Return the names of the columns to read, by meaning."""
    try:
        return _named_columns(place, header, log)
    except InputError:
        other = other_separator(header, SEPARATORS[log.separator])
        if not other:
            raise
        cells = "is one cell" if len(header) == 1 else f"has {len(header)} cells"
        raise InputError(
            f"{place}: the header {cells} with {other}s in it:"
            f" {option(f'log.separator={other}')} reads it"
        ) from None


def _named_columns(place: str, header: Sequence[str], log: LogFactors) -> dict[str, str]:
    for meaning, name in log.columns.items():
        if name not in header:
            raise InputError(
                f"{place}: {option('log.columns')} {meaning}={name}: no column {shown(name)}"
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
            f"{place}: column arrival_hours is missing (a queue log has the columns arrival_hours,"
            f" hours since its start, or date-times, and rating, or elo, kd and wr; {says})"
        )
    if not {"rating", *VECTOR} & names.keys():
        missing, found = "rating, or elo, kd and wr", ", ".join(header)
        raise InputError(f"{place}: column {missing} is missing (found: {found}; {says})")
    return names


def _id(row: Row, column: str) -> str:
    """Return the id of a player, or say why it cannot be one."""
    player = row.cells[column].strip()
    if not 0 < len(player) <= MAX_ID or "\0" in player:
        what = shown(player) if player else "empty"
        raise row.wrong(column, f"{what} (allowed: 1 to {MAX_ID} characters)")
    return player
