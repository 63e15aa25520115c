"""The plain day that speeds are held to is a day of the model."""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks import plain_day
from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build, run
from valmatch.models.valorant.arrivals import joined

DAYS = 400


@pytest.mark.slow
@pytest.mark.parametrize("wait_thresh", [0.0, 0.2, 0.5])
def test_on_the_same_players_it_does_the_same(wait_thresh: float) -> None:
    model = build(load_config("valorant", [f"wait_thresh={wait_thresh}"]))
    _, rules = plain_day.default_day()
    expected = run(model, 3, range(60)).responses
    for day, row in enumerate(expected):
        players = joined(list(model.draw(Streams(3), day)))  # type: ignore[call-overload]
        own = rules._replace(wait_thresh=wait_thresh)
        found = plain_day.play(players.times, players.ratings, own)
        np.testing.assert_allclose(found, row, rtol=1e-9)


@pytest.mark.slow
def test_its_own_players_are_of_the_same_law() -> None:
    found = plain_day.drawn(*plain_day.default_day(), np.random.default_rng(5), DAYS)
    expected = run(build(load_config("valorant")), 4, range(DAYS)).responses
    gap = found.mean(axis=0) - expected.mean(axis=0)
    errors = np.hypot(found.std(axis=0, ddof=1), expected.std(axis=0, ddof=1)) / np.sqrt(DAYS)
    assert (np.abs(gap) < 4.5 * errors).all(), gap / errors
