"""The arrivals of a replication, drawn by numpy's own generators."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.streams import Streams
from valmatch.models.valorant.arrivals import (
    CHUNK,
    GAPS,
    VECTORS,
    ArrivalProcess,
    ArrivingPlayers,
    arrival_times,
    skill_vectors,
)


def drawn_by_numpy(
    process: ArrivalProcess, streams: Streams, replication: int, size: int = CHUNK
) -> Iterator[ArrivingPlayers]:
    """Yield what `ArrivalProcess.chunks` must yield, chunk by chunk."""
    gaps = streams.stream(replication, GAPS)
    normals = streams.stream(replication, VECTORS)
    size, left = min(size, process.room), process.count
    clock = np.zeros(2)
    finished = False
    while not finished:
        times = np.empty(size if left is None else min(size, left))
        unit = (
            gaps.poisson(1.0, times.size).astype(np.float64)
            if process.law.whole_gaps
            else gaps.standard_exponential(times.size)
        )
        count, finished = arrival_times(
            unit, clock, process.law.edges, process.law.levels, process.law.rates, times
        )
        yield _players(process, times[:count], normals)
        if left is not None:
            left -= count
            finished = left == 0


def _players(
    process: ArrivalProcess, times: NDArray[np.float64], normals: np.random.Generator
) -> ArrivingPlayers:
    """Give each arrival a skill vector, redrawing whole vectors until all are in range."""
    count, width = times.size, process.law.mean.size
    vectors, ratings = np.empty((count, width)), np.empty(count)
    done = 0
    while done < count:
        draws = normals.standard_normal((count - done, width))
        done = skill_vectors(
            draws,
            process.law.mean,
            process.law.factor,
            process.law.multipliers,
            process.law.elo_max,
            done,
            vectors,
            ratings,
        )
    return ArrivingPlayers(times, ratings, vectors)
