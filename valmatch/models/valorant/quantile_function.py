"""Ratings of any distribution: a smooth monotone function of a standard normal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats
from valmatch.models.valorant.arrivals import CHUNK, ArrivalProcess, ArrivingPlayers

SHIFT = 64.0  # added to the normals while they are drawn as elo, which must not be negative


class QuantileFunction:
    """Goes through quantiles, as a function of the normal that has the same probability.

    A monotone cubic between them (Fritsch & Carlson 1980), and a straight line beyond the outer
    ones, so that the tails are those of a normal of their own.

    Shapes: `quantiles` (probability, rating).
    """

    def __init__(self, quantiles: Sequence[Sequence[float]]) -> None:
        from scipy.special import ndtri

        probabilities, values = np.array(quantiles, dtype=np.float64).T
        self._at, self._values = ndtri(probabilities), values
        secants = np.diff(values) / np.diff(self._at)
        self._slopes = np.concatenate([secants[:1], _slopes(self._at, secants), secants[-1:]])

    def __call__(self, normals: Floats) -> Floats:
        """Return the ratings of standard normals."""
        at, last = self._at, self._at.size - 2
        piece = np.clip(np.searchsorted(at, normals, side="right") - 1, 0, last)
        width = at[piece + 1] - at[piece]
        t = np.clip((normals - at[piece]) / width, 0.0, 1.0)
        low, high = self._values[piece], self._values[piece + 1]
        first, second = width * self._slopes[piece], width * self._slopes[piece + 1]
        inside = (
            low
            + t * first
            + t * t * (3.0 * (high - low) - 2.0 * first - second)
            + t * t * t * (2.0 * (low - high) + first + second)
        )
        before, after = np.minimum(normals - at[0], 0.0), np.maximum(normals - at[-1], 0.0)
        found: Floats = inside + before * self._slopes[0] + after * self._slopes[-1]
        return found


def _slopes(at: Floats, secants: Floats) -> Floats:
    """Return the slopes at the inner quantiles: weighted harmonic means (Fritsch & Butland)."""
    left, right = np.diff(at)[:-1], np.diff(at)[1:]
    before, after = secants[:-1], secants[1:]
    flat = (before <= 0.0) | (after <= 0.0)
    safe_before, safe_after = np.where(flat, 1.0, before), np.where(flat, 1.0, after)
    left_weight, right_weight = 2.0 * right + left, right + 2.0 * left
    mean = (left_weight + right_weight) / (left_weight / safe_before + right_weight / safe_after)
    return np.where(flat, 0.0, mean)


class QuantileArrivals(ArrivalProcess):
    """Random arrivals whose ratings have a given quantile function."""

    def __init__(
        self,
        rates: Sequence[float],
        horizon: float,
        quantiles: Sequence[Sequence[float]],
        *,
        count: int | None = None,
        whole_gaps: bool = False,
    ) -> None:
        covariance = [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
        mean, multipliers = [SHIFT, 0.0, 0.0], [1.0, 0.0, 0.0]
        super().__init__(
            rates, horizon, mean, covariance, multipliers, count=count, whole_gaps=whole_gaps
        )
        self._rating = QuantileFunction(quantiles)

    def chunks(
        self, streams: Streams, replication: int, size: int = CHUNK
    ) -> Iterator[ArrivingPlayers]:
        """Yield the players of a replication in order of arrival, at most `size` at a time."""
        for chunk in super().chunks(streams, replication, size):
            ratings = self._rating(chunk.ratings - SHIFT)
            yield chunk._replace(ratings=ratings, vectors=chunk.vectors[:0])
