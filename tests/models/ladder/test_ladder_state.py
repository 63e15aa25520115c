"""What a ladder keeps: heaps of events, waits in room that grows; ratings whose scale moves."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import valmatch
from tests.support.command import sets, success
from valmatch.config.loading import load_config
from valmatch.draws.streams import Streams
from valmatch.execution.chunks import build
from valmatch.models.curves import rank_correlation
from valmatch.models.ladder.loop import EVENT, NONE, Agenda, cancel, schedule
from valmatch.models.ladder.measures import SCALE_MOVES, scale_moves
from valmatch.models.ladder.model import LadderModel

PLAYERS = 60


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sought", [True, False], ids=["places", "no places"])
def test_a_heap_is_a_sorted_list(seed: int, sought: bool) -> None:
    """Times are few, so that many are equal; players come in and out in any order."""
    rng = np.random.default_rng(seed)
    heap = np.zeros(PLAYERS, EVENT)
    places = np.full(PLAYERS if sought else 0, NONE, np.int32)
    agenda = Agenda(np.zeros(1, np.int64), heap, places)
    times: dict[int, float] = {}
    for _ in range(600):
        player = int(rng.integers(PLAYERS))
        if player not in times and rng.random() < 0.7:
            times[player] = float(rng.integers(10))
            schedule(times[player], player, agenda)
        elif player in times and sought:
            cancel(int(places[player]), agenda)
            del times[player]
        elif times:
            cancel(0, agenda)
            del times[min(times, key=lambda one: (times[one], one))]
        if times:
            first = min(times, key=lambda one: (times[one], one))
            assert (heap["key"][0], heap["time"][0]) == (first, times[first])
        assert agenda.size == len(times)
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


def test_room_changes_nothing_and_waits_are_those_of_the_tickets() -> None:
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
    again = dict(model.run(model.draw(Streams(1), 0)).responses)  # with room for all waits
    np.testing.assert_equal(again, exact)


# Runs whose ratings have not found their scale say so.

NAN = math.nan
DUELS = {
    "population.players": 60,
    "population.newcomers_per_day": 2,
    "rule.team_num": 1,
    "rule.team_diff": 1000,
    "rating.system": "elo",
    "rating.K": 32,
    "days": 9,
    "warmup_days": 3,
}


@pytest.mark.parametrize(
    ("stretches", "moves"),
    [
        ([7, 20, 21.001], True),
        ([7, 20, 18.999], True),
        ([1, 2, 20, 20, 21, 21.01], True),
        # The first thirds are the longer ones; means, not last values, are compared.
        ([9, 9, 9, 10, 30, 20, 20], False),
        ([9, 9, 9, 20, 30, 20, 20], True),
        # What is undefined does not count.
        ([7, 7, 20, NAN, NAN, 22], True),
        ([7, 7, 20, 30, NAN, NAN], False),
        ([0, 0, 1], True),
        ([], False),
    ],
)
def test_the_last_third_is_compared_with_the_middle_one(
    stretches: list[float], moves: bool
) -> None:
    assert scale_moves(stretches) is moves


@pytest.mark.slow
def test_a_run_says_so_if_the_days_of_its_table_do() -> None:
    said = []
    for seed in range(12):
        run = valmatch.simulate(valmatch.load_config("ladder", DUELS), seed)
        days = run["days"]["scale_stretch"].tolist()
        before, after = sum(days[5:7]) / 2.0, sum(days[7:9]) / 2.0
        moves = not 0.95 * before <= after <= 1.05 * before
        assert list(run.warnings) == [SCALE_MOVES] * moves
        said.append(moves)
    assert 0 < sum(said) < 12


@pytest.mark.slow
def test_replications_are_counted(tmp_path: Path) -> None:
    config = valmatch.load_config("ladder", DUELS)
    moved = [bool(valmatch.simulate(config, 1, k).warnings) for k in range(6)]
    assert 0 < sum(moved[:4]) < 4
    line = f"{sum(moved[:4])} of 4 replications: {SCALE_MOVES}"
    factors = sets(f"{name}={value}" for name, value in DUELS.items())
    run = ("replicate", "ladder", *factors, "--out", tmp_path)
    assert f"warning: {line}\n" in success(*run, "-n", 4).err
    # A run that goes on speaks of what it makes itself, and repeats what was said.
    done = success(*run, "-n", 6, "--resume")
    further = [f"{sum(moved[4:])} of 2 further replications: {SCALE_MOVES}"] * any(moved[4:])
    remarks = json.loads((tmp_path / "manifest.json").read_text())["remarks"]
    assert [one["text"] for one in remarks] == [line, *further]
    assert all(f"warning: {text}\n" in done.err for text in (line, *further))
