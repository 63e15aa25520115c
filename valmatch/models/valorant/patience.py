"""Players who give up: when they do, and the responses about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Bools, Floats
from valmatch.models.model import NOT_NEGATIVE, SHARE, Response
from valmatch.models.valorant.arrivals import ArrivingPlayers

PATIENCE = 3
"""Source of randomness: how long players wait before they give up, in units of the mean."""

RESPONSES_OF_DEPARTURES = (
    Response("abandoned", "", "players who gave up", whole=True, limits=NOT_NEGATIVE),
    Response(
        "abandoned_fraction",
        "",
        "share of players who gave up",
        share_of="n_players",
        limits=SHARE,
    ),
    Response(
        "avg_wait_abandoned",
        "minutes",
        "mean wait of players who gave up, until then",
        limits=NOT_NEGATIVE,
    ),
)
"""Responses of a queue in which players give up."""


def impatient(
    chunks: Iterable[ArrivingPlayers], mean: float, streams: Streams, replication: int
) -> Iterator[ArrivingPlayers]:
    """Yield arriving players with the hours at which they give up."""
    players = list(chunks)
    draws = streams.stream(replication, PATIENCE)
    for chunk in players:
        waits = mean / 60.0 * draws.standard_exponential(chunk.times.size)
        yield chunk._replace(departures=chunk.times + waits)


def measure_departures(
    players: ArrivingPlayers, gave_up: Bools, counted: Bools
) -> dict[str, float]:
    """Return the responses about players who gave up, by name; NaN where undefined.

    Shapes: `gave_up`, `counted` (n,).
    """
    waits: Floats = 60.0 * (players.departures - players.times)[gave_up & counted]
    count = int(counted.sum())
    return {
        "abandoned": float(waits.size),
        "abandoned_fraction": waits.size / count if count else np.nan,
        "avg_wait_abandoned": float(waits.mean()) if waits.size else np.nan,
    }
