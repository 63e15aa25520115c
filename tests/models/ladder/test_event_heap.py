"""Heaps of events: what comes out first, and where players are, by a sorted list."""

from __future__ import annotations

import numpy as np
import pytest

from valmatch.models.ladder.state import EVENT, NONE, cancel, schedule

PLAYERS = 60


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("sought", [True, False], ids=["places", "no places"])
def test_a_heap_is_a_sorted_list(seed: int, sought: bool) -> None:
    """Times are few, so that many are equal; players come in and out in any order."""
    rng = np.random.default_rng(seed)
    heap = np.zeros(PLAYERS, EVENT)
    places = np.full(PLAYERS, NONE, np.int32) if sought else None
    times: dict[int, float] = {}
    for _ in range(600):
        player = int(rng.integers(PLAYERS))
        if player not in times and rng.random() < 0.7:
            times[player] = float(rng.integers(10))
            assert schedule(times[player], player, len(times) - 1, heap, places) == len(times)
        elif player in times and places is not None:
            assert cancel(int(places[player]), len(times), heap, places) == len(times) - 1
            del times[player]
        elif times:
            assert cancel(0, len(times), heap, places) == len(times) - 1
            del times[min(times, key=lambda one: (times[one], one))]
        if times:
            first = min(times, key=lambda one: (times[one], one))
            assert (heap["player"][0], heap["time"][0]) == (first, times[first])
        inside = heap[: len(times)]
        assert dict(zip(inside["player"].tolist(), inside["time"].tolist(), strict=True)) == times
        if places is not None:
            expected = np.full(PLAYERS, NONE)
            expected[inside["player"]] = np.arange(len(times))
            assert np.array_equal(places, expected)
