"""What a ladder keeps: heaps of events, waits in room that grows, tables written in parts."""

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
from valmatch.models.ladder.state import EVENT, NONE, cancel, schedule

PLAYERS = 60


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sought", [True, False], ids=["places", "no places"])
def test_a_heap_is_a_sorted_list(seed: int, sought: bool) -> None:
    """Times are few, so that many are equal; players come in and out in any order."""
    rng = np.random.default_rng(seed)
    heap = np.zeros(PLAYERS, EVENT)
    places = np.full(PLAYERS if sought else 0, NONE, np.int32)
    times: dict[int, float] = {}
    for _ in range(600):
        player = int(rng.integers(PLAYERS))
        if player not in times and rng.random() < 0.7:
            times[player] = float(rng.integers(10))
            assert schedule(times[player], player, len(times) - 1, heap, places) == len(times)
        elif player in times and sought:
            assert cancel(int(places[player]), len(times), heap, places) == len(times) - 1
            del times[player]
        elif times:
            assert cancel(0, len(times), heap, places) == len(times) - 1
            del times[min(times, key=lambda one: (times[one], one))]
        if times:
            first = min(times, key=lambda one: (times[one], one))
            assert (heap["key"][0], heap["time"][0]) == (first, times[first])
        inside = heap[: len(times)]
        assert dict(zip(inside["key"].tolist(), inside["time"].tolist(), strict=True)) == times
        if sought:
            expected = np.full(PLAYERS, NONE)
            expected[inside["key"]] = np.arange(len(times))
            assert np.array_equal(places, expected)


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
