"""Intervals of whole logs hold what they promise in simulated leagues."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.batch_leagues import (
    CLUSTERED,
    INFORMATION,
    LEAGUES,
    LEVEL,
    MEASURES,
    BatchLeague,
    shares,
)
from valmatch.kernels.arrays import Floats

NAMED = {league.name: league for league in LEAGUES}


def z_of(measured: Floats, measure: str) -> float:
    """Return by how many standard errors the mean of a measure exceeds the level."""
    column = measured[:, MEASURES.index(measure)]
    spread = float(column.std(ddof=1)) / math.sqrt(len(column))
    excess = float(column.mean()) - LEVEL
    return excess / spread if spread else math.copysign(math.inf, excess)  # all or none


@pytest.mark.slow
@pytest.mark.parametrize(
    "league",
    [
        BatchLeague("draws, a side at home", 8, 300, 150.0, draw_weight=0.8, home=60.0),
        BatchLeague("orders", 8, 60, 150.0, sides=4),
        BatchLeague("equals", 12, 400, 0.0),
    ],
    ids=lambda league: league.name,
)
def test_intervals_hold_the_truth(league: BatchLeague) -> None:
    measured = shares(league, 150, 0)[INFORMATION]
    assert len(measured) > 145
    for measure in MEASURES:
        if not np.isnan(measured[:, MEASURES.index(measure)]).any():
            z = z_of(measured, measure)
            assert z > -3.0, measure
            assert z < 3.0 or measure == "ranks together", measure


@pytest.mark.slow
def test_votes_are_held_by_clustered_intervals_and_not_by_plain_ones() -> None:
    measured = shares(NAMED["votes, 20 voters of 100"], 30, 0)
    assert abs(z_of(measured[CLUSTERED], "differences")) < 3.0
    assert z_of(measured[CLUSTERED], "ranks together") > -3.0
    assert z_of(measured[INFORMATION], "differences") < -10.0
