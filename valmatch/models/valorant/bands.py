"""Bands of players by rating, and what is measured of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.models.model import NOT_NEGATIVE, SHARE, Part, Response

MEASURES = (
    Response("matched_fraction", "", "share of its players who were matched", limits=SHARE),
    Response("avg_wait_time", "minutes", "mean wait of its matched players", limits=NOT_NEGATIVE),
    Response("wait_p50", "minutes", "median wait of its matched players", limits=NOT_NEGATIVE),
    Response(
        "wait_p95",
        "minutes",
        "95th percentile of the wait of its matched players",
        limits=NOT_NEGATIVE,
    ),
    Response(
        "avg_team_diff",
        "Elo points",
        "mean over its matched players of |mean - mean| of the match",
        limits=NOT_NEGATIVE,
    ),
)
"""What is measured of a band."""


def band_names(edges: Sequence[float]) -> list[str]:
    """Return what bands between quantiles are called.

    Examples
    --------
    >>> band_names((0.0, 0.1, 0.99, 1.0))
    ['bottom_10%', '10-99%', 'top_1%']
    """

    def percent(share: float) -> str:
        return f"{100.0 * share:.10g}"

    names = []
    for low, high in pairwise(edges):
        name = f"{percent(low)}-{percent(high)}%"
        if low == 0.0:
            name = f"bottom_{percent(high)}%" if high < 1.0 else "all"
        elif high == 1.0:
            name = f"top_{percent(1.0 - low)}%"
        names.append(name)
    return names


def band_responses(edges: Sequence[float]) -> list[Response]:
    """Return the responses of all bands, such as ``wait_p95.top_1%``."""
    return [
        Response(
            f"{measure.name}.{band}",
            measure.unit,
            f"{measure.meaning}; by rating: {band}",
            part=Part(measure.name, "rating", band),
            limits=measure.limits,
        )
        for band in band_names(edges)
        for measure in MEASURES
    ]


def bands_of(ratings: Floats, edges: Sequence[float]) -> Ints:
    """Return the number of each player's band.

    A band holds the ratings from its lower quantile on, those of the replication, interpolated
    linearly, up to below its upper one; the last band holds the greatest too.
    """
    inner = np.quantile(ratings, edges[1:-1]) if ratings.size else np.empty(0)
    return np.searchsorted(inner, ratings, side="right").astype(np.int64)


def measure_bands(
    ratings: Floats, waits: Floats, differences: Floats, edges: Sequence[float]
) -> dict[str, float]:
    """Return the responses of `band_responses`; NaN where undefined.

    Shapes: `ratings`, `waits`, `differences` (n,).
    """
    bands, matched = bands_of(ratings, edges), ~np.isnan(waits)
    found = {}
    for number, name in enumerate(band_names(edges)):
        own = bands == number
        served = own & matched
        some, wait = bool(served.any()), waits[served]
        values = (
            float(matched[own].mean()) if own.any() else math.nan,
            float(wait.mean()) if some else math.nan,
            float(np.quantile(wait, 0.5)) if some else math.nan,
            float(np.quantile(wait, 0.95)) if some else math.nan,
            float(differences[served].mean()) if some else math.nan,
        )
        measured = zip(MEASURES, values, strict=True)
        found.update({f"{response.name}.{name}": value for response, value in measured})
    return found


def empty_bands(ratings: Floats, edges: Sequence[float]) -> list[str]:
    """Return the names of the bands that hold nobody."""
    held = set(bands_of(ratings, edges).tolist())
    return [name for number, name in enumerate(band_names(edges)) if number not in held]
