"""Waits of a ladder in bounded memory against all of them, and the memory of a large ladder."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import rankdata

from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build
from valmatch.models.ladder import measures, state
from valmatch.models.ladder import measures as waits
from valmatch.models.ladder.measures import ERROR, PERCENTILES, Waits, WaitSummary
from valmatch.models.ladder.model import LadderModel
from valmatch.models.ladder.state import PLAYER


def told(hours: NDArray[np.float64], kept: Waits) -> WaitSummary:
    """Hand waits over as the loop does, and return what is said of them."""
    kept.clear()
    n = place = 0
    while place < hours.size:
        if n == kept.room.size:
            n = kept.make_room(n)
        more = min(kept.room.size - n, hours.size - place)
        kept.room[n : n + more] = hours[place : place + more]
        n, place = n + more, place + more
    return kept.summary(n)


def drawn(n: int) -> NDArray[np.float64]:
    """Return waits over ten orders of magnitude, a tenth of them none."""
    rng = np.random.default_rng(n)
    return np.exp(rng.normal(-6.0, 4.0, n)) * (rng.random(n) > 0.1)


@pytest.mark.parametrize("n", [1, 2, 1000, 1025, 5000])
def test_few_waits_are_summed_up_exactly(n: int) -> None:
    hours = drawn(n)
    found = told(hours, Waits())
    assert found.n == n
    assert found.mean == 60.0 * hours.mean()
    assert found.percentiles == tuple(np.percentile(60.0 * hours, PERCENTILES))


def test_no_waits_have_no_mean_and_no_percentiles() -> None:
    found = Waits().summary(0)
    assert found.n == 0
    assert all(map(math.isnan, (found.mean, *found.percentiles)))


@pytest.mark.parametrize("n", [400, 1024, 4097, 30000])
def test_many_waits_are_counted_in_bins(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "KEPT", 300)
    hours = drawn(n)
    kept = Waits()
    found = told(hours, kept)
    assert found.n == n
    assert found.mean == pytest.approx(60.0 * math.fsum(hours) / n, rel=1e-15)
    exact = np.percentile(60.0 * hours, PERCENTILES)
    assert found.percentiles == pytest.approx(exact, rel=ERROR)
    assert not np.array_equal(found.percentiles, exact)
    # By now there is more room, so that waits are handed over at other moments.
    assert told(hours, kept) == found
    assert kept.room.size <= 4096


def test_waits_of_nothing_are_nothing_in_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "KEPT", 300)
    found = told(np.zeros(2000), Waits())
    assert found == WaitSummary(2000, 0.0, (0.0,) * len(PERCENTILES))


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_ranks_are_those_of_scipy(n: int) -> None:
    rng = np.random.default_rng(n)
    for values in (rng.normal(size=n), rng.integers(0, 1 + n // 5, n) / 2.0):
        assert np.array_equal(measures.ranks(values), rankdata(values))


@pytest.mark.parametrize("n", [1, 8192, 8193, 100_000])
def test_means_of_players_are_those_of_their_records(n: int) -> None:
    players = np.zeros(n, PLAYER)
    players["mean"] = np.random.default_rng(n).normal(1500.0, 300.0, n)
    players["finished"] = 1
    assert measures.mean_rating(players) == players["mean"].mean()


def duels(players: int, days: float) -> LadderModel:
    """Return a ladder of one against one, measured from the first hour on."""
    few = [
        "rule.team_num=1",
        "rating.system=elo",
        "warmup_days=0",
        "population.newcomers_per_day=0",
    ]
    model = build(load_config("ladder", [*few, f"population.players={players}", f"days={days}"]))
    assert isinstance(model, LadderModel)
    return model


def test_room_changes_no_more_than_percentiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def played() -> dict[str, float]:
        model = duels(300, 3)
        found = dict(model.run(model.draw(Streams(1), 0)).responses)
        return {name: value for name, value in found.items() if not math.isnan(value)}

    exact = played()
    monkeypatch.setattr(state, "LEAST_RING", 1)
    assert played() == exact
    monkeypatch.setattr(waits, "KEPT", 50)
    found = played()
    assert found["n_tickets"] > 2 * 1024
    differ = {name for name in exact if found[name] != exact[name]}
    assert differ - {"avg_wait_time"} == {f"wait_p{percent}" for percent in PERCENTILES}
    for name in differ:
        assert found[name] == pytest.approx(exact[name], rel=ERROR)
    assert found["avg_wait_time"] == pytest.approx(exact["avg_wait_time"], rel=1e-13)


def test_memory_does_not_grow_with_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "KEPT", 1000)
    peaks = []
    for days in (2, 8):
        model = duels(5000, days)
        tracemalloc.start()
        try:
            model.run(model.draw(Streams(1), 0))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    # Six days more have 100,000 tickets; what is left is room for those who play at once.
    assert peaks[1] - peaks[0] < 20 * 5000
