"""Arrivals read from a file, such as the log of a real queue."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from valmatch.config.numerals import real_number
from valmatch.errors import InputError
from valmatch.models.valorant.arrivals import ArrivingPlayers
from valmatch.printable import shown

__all__ = ["Trace", "read_trace"]

VECTOR = ("elo", "kd", "wr")


@dataclass(frozen=True)
class Trace:
    """The players of a trace within the horizon.

    Attributes
    ----------
    players : ArrivingPlayers
        The players in order of arrival.
    horizon : float
        End of the day in hours.
    left_out : int
        Rows at or after an explicit horizon.
    """

    players: ArrivingPlayers
    horizon: float
    left_out: int


def read_trace(path: Path, multipliers: Sequence[float], horizon: float | None) -> Trace:
    """Read a CSV file with columns ``arrival_hours`` and ``rating`` or ``elo,kd,wr``.

    Other columns are ignored, rows are in order of arrival. Where both kinds are given, `rating`
    holds and elo, kd, wr are kept for the record.

    Parameters
    ----------
    path : Path
        The file.
    multipliers : sequence of float
        rating = multipliers . (elo, kd, wr) where there is no column `rating`.
    horizon : float or None
        Rows at or after it are left out; None stands for the last arrival, which stays in.

    Raises
    ------
    InputError
        Naming file, row, column and value of the first thing that is wrong.
    """
    times, ratings, vectors = _read(path, multipliers)
    if not times:
        raise InputError(f"{path}: no players (at least one row is needed below the header)")
    kept = len(times) if horizon is None else int(np.searchsorted(times, horizon, side="left"))
    players = ArrivingPlayers(
        np.array(times[:kept], dtype=np.float64),
        np.array(ratings[:kept], dtype=np.float64),
        np.array(vectors[:kept], dtype=np.float64).reshape(-1, len(VECTOR)),
    )
    return Trace(players, times[-1] if horizon is None else horizon, len(times) - kept)


def _read(
    path: Path, multipliers: Sequence[float]
) -> tuple[list[float], list[float], list[list[float]]]:
    """Return arrival times, ratings and, where given, vectors of all rows."""
    times: list[float] = []
    ratings: list[float] = []
    vectors: list[list[float]] = []
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            header = [name.strip() for name in next(reader, [])]
            columns = _columns(path, header)
            for row in reader:
                if not row:
                    continue
                place = f"{path}:{reader.line_num}"
                if len(row) != len(header):
                    raise InputError(f"{place}: {len(row)} cells (the header has {len(header)})")
                values = {name: _number(place, name, row[k]) for name, k in columns.items()}
                times.append(_arrival(place, values["arrival_hours"], times))
                vector = [values[name] for name in VECTOR if name in values]
                if vector:
                    vectors.append(vector)
                ratings.append(
                    values["rating"]
                    if "rating" in values
                    else sum(m * v for m, v in zip(multipliers, vector, strict=True))
                )
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: cannot be read: not a text file in UTF-8") from None
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: cannot be read: {error}") from None
    return times, ratings, vectors


def _columns(path: Path, header: list[str]) -> dict[str, int]:
    """Return the positions of the columns to read."""
    given = {name: k for k, name in enumerate(header)}
    for name in ("arrival_hours", "rating", *VECTOR):
        if header.count(name) > 1:
            raise InputError(f"{path}:1: column {name} appears twice")
    complete = all(name in given for name in VECTOR)
    needed = ["arrival_hours"]
    if "rating" in given:
        needed.append("rating")
    if complete:
        needed.extend(VECTOR)
    if "arrival_hours" not in given:
        # Any file might be named here: nothing of it is shown.
        raise InputError(
            f"{path}:1: column arrival_hours is missing (a queue log has the columns arrival_hours,"
            " hours since its start, and rating, or elo, kd and wr)"
        )
    if len(needed) == 1:
        missing, found = "rating, or elo, kd and wr", ", ".join(header)
        raise InputError(f"{path}:1: column {missing} is missing (found: {found})")
    return {name: given[name] for name in needed}


def _number(place: str, column: str, cell: str) -> float:
    """Return a finite number, or say which cell is not one."""
    value = real_number(cell.strip())
    if value is None:
        what = shown(cell) if cell.strip() else "empty"
        unit = " of hours since the start of the log" if column == "arrival_hours" else ""
        raise InputError(f"{place}: {column}: {what} (allowed: a finite number{unit})")
    return value


def _arrival(place: str, time: float, earlier: list[float]) -> float:
    """Return an arrival time, or say why it cannot be one."""
    if time < 0:
        raise InputError(f"{place}: arrival_hours: {time!r} is negative (allowed: hours >= 0)")
    if earlier and time < earlier[-1]:
        raise InputError(
            f"{place}: arrival_hours: {time!r} is before the row above ({earlier[-1]!r}); sort"
            " the file by arrival_hours"
        )
    return time
