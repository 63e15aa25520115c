"""The arrivals of a replication, drawn by numpy's own generators."""

from __future__ import annotations

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.models.valorant.arrivals import (
    GAPS,
    VECTORS,
    ArrivalProcess,
    ArrivingPlayers,
    arrival_times,
    skill_vectors,
)


def drawn_by_numpy(process: ArrivalProcess, streams: Streams, replication: int) -> ArrivingPlayers:
    """Return what `ArrivalProcess.players` must return, whole vectors redrawn until in range."""
    gaps = streams.stream(replication, GAPS)
    normals = streams.stream(replication, VECTORS)
    times = np.empty(process.room)
    unit = (
        gaps.poisson(1.0, times.size).astype(np.float64)
        if process.law.whole_gaps
        else gaps.standard_exponential(times.size)
    )
    law = process.law
    count, _ = arrival_times(unit, np.zeros(2), law.edges, law.levels, law.rates, times)
    width = law.mean.size
    vectors, ratings = np.empty((count, width)), np.empty(count)
    done = 0
    while done < count:
        draws = normals.standard_normal((count - done, width))
        done = skill_vectors(
            draws,
            law.mean,
            law.factor,
            law.multipliers,
            law.elo_max,
            done,
            vectors,
            ratings,
        )
    return ArrivingPlayers(times[:count], ratings, vectors)
