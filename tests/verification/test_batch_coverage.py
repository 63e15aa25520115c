"""Intervals of whole logs hold the truth in 93 to 97 of 100, ranges of ranks in 95 or more."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.batch_leagues import CLUSTERED, LEAGUES, MEASURES, BatchLeague, shares

WORLDS = 1000

HELD = [league for league in LEAGUES if league.prior is None or league.prior == league.spread]


@pytest.mark.parametrize("league", HELD, ids=lambda league: league.name)
def test_coverage(league: BatchLeague) -> None:
    kind = league.kinds[-1]  # plain intervals of votes promise nothing
    found = shares(league, WORLDS, LEAGUES.index(league), seed=2)[kind]
    means = dict(zip(MEASURES, found.mean(axis=0).tolist(), strict=True))
    print(league.name, kind, {name: round(mean, 4) for name, mean in means.items()})
    for name in ("differences", "ratings"):
        assert 0.93 <= means[name] <= 0.97
    error = np.sqrt(0.95 * 0.05 / len(found))
    few = kind == CLUSTERED and league.voters < league.players
    assert few or means["ranks together"] >= 0.95 - 3.0 * error
