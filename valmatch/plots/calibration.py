"""Calibration of predictions, as the ``summary.json`` of ratings has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Z = 1.96


class CalibrationPoint(NamedTuple):
    """Predictions of about the same expected score of the favourite, as ``summary.json`` has them.

    Attributes
    ----------
    low, high : float
        Limits of the expected score.
    games : float
        How many.
    predicted, observed : float
        Mean expected score, mean score.
    """

    low: float
    high: float
    games: float
    predicted: float
    observed: float

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval of the mean score."""
        n, share = self.games, self.observed
        centre = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
        half = Z / (1 + Z * Z / n) * np.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
        return centre - half, centre + half


def bins_of(found: Sequence[Mapping[str, Any]]) -> list[CalibrationPoint]:
    """Return bins as ``summary.json`` has them."""
    return [CalibrationPoint(**{name: float(x) for name, x in one.items()}) for one in found]
