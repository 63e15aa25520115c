"""Resamples of a queue log: blocks of it, drawn with replacement and put one after the other.

A moving-block bootstrap (Künsch 1989). A block may be drawn from any day, but stays at its hour of
the day, so that the days of a resample have the rush hours of the log; who arrives together in a
block stays together. Replication 0 is the log itself. Of logs of weeks, blocks have several days
unless told otherwise: of blocks of a day, mean waits vary too little.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.kernels.arrays import Floats, Ints
from valmatch.models.valorant.arrivals import ArrivingPlayers, Moved
from valmatch.models.valorant.log_span import LONGEST, YEAR
from valmatch.models.valorant.queue_log import QueueLog
from valmatch.statistics.sampling import Resampled, block_days, overlapping_degrees
from valmatch.text.terminal import Note

BLOCKS = 2  # source of randomness: which blocks are drawn

DAY = 24


class _Place(NamedTuple):
    """A place of a block in a resample."""

    # start, hours: where it begins, and how long it is
    start: int
    hours: int
    origins: range  # where the blocks of the log begin that may stand there


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
            self.remarks = (Note(f"{path}: resampled by blocks of {block_hours} hours"),)
        self._places = [
            _place(start, min(block_hours, end - start), begin, end)
            for start in range(begin, end, block_hours)
        ]
        pools = {place.start % DAY: len(place.origins) for place in self._places}
        apart = [float(size) for size in pools.values()]
        degrees = max(1.0, sum(apart) - len(apart))
        if block_hours > DAY:
            # They overlap, and say less than as many that do not.
            apart = [(end - begin) / block_hours]
            degrees = overlapping_degrees(days, block_hours / DAY)
        if max(apart) < 2.0:
            raise InputError(
                f"{path}: factors.log.resample: blocks of {block_hours} hours can be put together"
                f" in one way only (the log has {end - begin} hours; allowed: a log of two days or"
                " more, and blocks of half of it or less)"
            )
        # what the replications are samples of
        self.sampling = Resampled(
            candidates=sum(apart) / len(apart), degrees=degrees, block_hours=block_hours
        )

    def draw(self, streams: Streams, replication: int) -> tuple[ArrivingPlayers, Ints]:
        """Return the players of a replication, and which players of the log they are.

        The blocks depend on seed and replication alone.
        """
        moved = None
        if replication == 0:
            found, which = self._players.times, np.arange(self._players.times.size)
        else:
            found, which, moved = self._resampled(streams, replication)
        inside = found < self.horizon
        found, which = found[inside], which[inside]
        of, departures = self._players, self._players.departures
        if departures.size:
            departures = found + (departures - of.times)[which]
        vectors = of.vectors[which] if of.vectors.size else of.vectors
        return ArrivingPlayers(found, of.ratings[which], vectors, departures, moved), which

    def _resampled(self, streams: Streams, replication: int) -> tuple[Floats, Ints, Moved]:
        """Return the arrivals of a resample, which players of the log they are, and its blocks."""
        uniforms = streams.stream(replication, BLOCKS).random(len(self._places))
        times, rows, shifts = [], [], []
        for place, uniform in zip(self._places, uniforms.tolist(), strict=True):
            origin = place.origins[int(uniform * len(place.origins))]
            low, high = np.searchsorted(self._players.times, (origin, origin + place.hours))
            times.append(self._players.times[low:high] + float(place.start - origin))
            rows.append(np.arange(low, high))
            shifts.append(origin - place.start)
        first = self._places[0]
        moved = Moved(first.start, first.hours, np.array(shifts, np.int64))
        return np.concatenate(times), np.concatenate(rows), moved


def _place(start: int, hours: int, begin: int, end: int) -> _Place:
    """Return a place with the beginnings of all blocks at the same hour of some day of the log."""
    first = begin + (start - begin) % DAY
    return _Place(start, hours, range(first, end - hours + 1, DAY))
