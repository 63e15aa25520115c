"""Waits of a ladder, of whatever number, in room that grows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build
from valmatch.models.curves import rank_correlation
from valmatch.models.ladder import state
from valmatch.models.ladder.model import LadderModel


@pytest.mark.parametrize("n", [2, 1000])
def test_rank_correlations_are_those_of_scipy(n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=n), rng.integers(0, 1 + n // 5, n) / 2.0 + np.arange(n) % 2
    assert rank_correlation(x, y) == pytest.approx(spearmanr(x, y).statistic, rel=1e-12)
    for nothing in (x[:0], np.ones(n)):
        assert np.isnan(rank_correlation(nothing, y[: nothing.size]))


def test_room_changes_nothing_and_waits_are_those_of_the_tickets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = {"rule.team_num": 1, "rating.system": "elo", "warmup_days": 0, "days": 3}
    few |= {"population.newcomers_per_day": 0, "population.players": 300}
    model = build(load_config("ladder", few))
    assert isinstance(model, LadderModel)
    found = model.record(model.draw(Streams(1), 0))
    exact = dict(found.responses)
    (tickets,) = (table.columns for table in found.tables if table.name == "tickets")
    waits = tickets["wait_minutes"][~np.isnan(tickets["match"])]
    assert len(waits) > 2 * 1024
    assert exact["avg_wait_time"] == pytest.approx(waits.mean(), rel=1e-12)
    wanted = np.percentile(waits, (50, 90, 95, 99))
    assert [exact[f"wait_p{p}"] for p in (50, 90, 95, 99)] == pytest.approx(wanted, rel=1e-12)
    monkeypatch.setattr(state, "LEAST_RING", 1)
    again = dict(model.run(model.draw(Streams(1), 0)).responses)
    np.testing.assert_equal(again, exact)
