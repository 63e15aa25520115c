"""Arrivals read from a file, such as the log of a real queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from valmatch.errors import InputError
from valmatch.models.csv_rows import Row, read_rows
from valmatch.models.valorant.arrivals import ArrivingPlayers

__all__ = ["Trace", "read_trace"]

VECTOR = ("elo", "kd", "wr")
UNITS = {"arrival_hours": " of hours since the start of the log"}


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
    for row in read_rows(path, lambda header: _columns(path, header)):
        values = {name: row.number(name, UNITS.get(name, "")) for name in row.cells}
        times.append(_arrival(row, values["arrival_hours"], times))
        vector = [values[name] for name in VECTOR if name in values]
        if vector:
            vectors.append(vector)
        ratings.append(
            values["rating"]
            if "rating" in values
            else sum(m * v for m, v in zip(multipliers, vector, strict=True))
        )
    return times, ratings, vectors


def _columns(path: Path, header: list[str]) -> list[str]:
    """Return the columns to read."""
    needed = ["arrival_hours"]
    if "rating" in header:
        needed.append("rating")
    if all(name in header for name in VECTOR):
        needed.extend(VECTOR)
    if "arrival_hours" not in header:
        # Any file might be named here: nothing of it is shown.
        raise InputError(
            f"{path}:1: column arrival_hours is missing (a queue log has the columns arrival_hours,"
            " hours since its start, and rating, or elo, kd and wr)"
        )
    if len(needed) == 1:
        missing, found = "rating, or elo, kd and wr", ", ".join(header)
        raise InputError(f"{path}:1: column {missing} is missing (found: {found})")
    return needed


def _arrival(row: Row, time: float, earlier: list[float]) -> float:
    """Return an arrival time, or say why it cannot be one."""
    if time < 0:
        raise row.wrong("arrival_hours", f"{time!r} is negative (allowed: hours >= 0)")
    if earlier and time < earlier[-1]:
        raise row.wrong(
            "arrival_hours",
            f"{time!r} is before the row above ({earlier[-1]!r}); sort the file by arrival_hours",
        )
    return time
