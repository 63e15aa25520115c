"""Replications of tickets in blocks: what is measured is what is measured of all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Words
from valmatch.models.model import Outcome
from valmatch.models.tickets.drawn import Drawn, joined, some_of
from valmatch.models.tickets.factors import TicketsFactors
from valmatch.models.tickets.gathering import (
    CountedPercentile,
    Covered,
    Mean,
    Percentile,
    WorstPercentile,
)
from valmatch.models.tickets.latencies import RoundTrips, round_trips
from valmatch.models.tickets.model import TicketsModel
from valmatch.models.tickets.population import draw_blocks, draw_tickets

SMALL: dict[str, Any] = {
    "hours": 1.5,
    "warmup_minutes": 10,
    "arrivals": {"per_hour": 400, "hourly_profile": [1, 3, *[1] * 22]},
    "parties": {"shares": [0.6, 0.3, 0.1]},
    "patience": {"median_seconds": 90},
    "skill": {"error": 50, "party_std": 30},
    "measure": ["steps", "reasons", "sizes", "regions", "hours"],
}
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "acceptance": {"service": {"acceptance_seconds": 8, "accept_prob": 0.9}},
    "leavers": {"match": {"leave_prob": 0.3, "minutes": 12}},
    "alone": {"parties": {"shares": [1.0]}, "measure": []},
    "texts": {"attributes": {"mode": {"a": 0.7, "b": 0.3}, "level": {"mean": 5, "std": 2}}},
    "few": {"arrivals": {"per_hour": 5}},
    "nobody": {"arrivals": {"per_hour": 0.01}},
}
ALL_AT_ONCE: dict[str, dict[str, Any]] = {
    "deciles": {"measure": ["deciles"]},
    "attributes": {"measure": ["attributes"]},
    "rules": {"measure": ["rules"]},
    "pools": {"measure": ["pools"]},
    "backfill": {"match": {"backfill": "automatic"}, "measure": ["backfill"]},
    "batches": {"service": {"batch_size": 20}},
    "preset": {"rule": {"preset": "faf"}, "measure": [], "parties": {"shares": [1.0]}},
}


def model_of(given: dict[str, Any]) -> TicketsModel:
    return TicketsModel(TicketsFactors.model_validate(SMALL | given))


def counted_blocks(monkeypatch: pytest.MonkeyPatch, block: int) -> list[int]:
    """Let the model draw in small blocks, and note how many tickets there are in each."""
    noted: list[int] = []

    def drawn(factors: TicketsFactors, trips: RoundTrips, place: Words) -> Iterator[Drawn]:
        for tickets in draw_blocks(factors, trips, place, block):
            noted.append(tickets.times.size)
            yield tickets

    monkeypatch.setattr("valmatch.models.tickets.model.draw_blocks", drawn)
    return noted


def same(one: Outcome, other: Outcome) -> None:
    assert isinstance(one.responses, dict)
    assert isinstance(other.responses, dict)
    assert list(one.responses) == list(other.responses)
    for name, value in one.responses.items():
        np.testing.assert_equal(other.responses[name], value, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "tried",
    [{0: (37, 200)}, pytest.param({0: (1,), 1: (5, 60), 2: (99, 150)}, marks=pytest.mark.slow)],
    ids=["few", "many"],
)
def test_blocks_measure_what_the_whole_does(
    tried: dict[int, tuple[int, ...]], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(KINDS[kind])
    for replication, blocks in tried.items():
        whole = model.run(model.draw(Streams(3), replication))
        for block in blocks:
            noted = counted_blocks(monkeypatch, block)
            same(whole, model.replicate(Streams(3), replication))
            assert sum(noted) >= whole.responses["n_tickets"]
            if kind == "plain":
                assert len(noted) > 2


@pytest.mark.parametrize("kind", ALL_AT_ONCE)
def test_what_needs_all_tickets_has_them(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(ALL_AT_ONCE[kind])
    noted = counted_blocks(monkeypatch, 37)
    same(model.run(model.draw(Streams(3), 0)), model.replicate(Streams(3), 0))
    assert not noted


@pytest.mark.parametrize("block", [1, 10, 64, 100000])
def test_blocks_are_drawn_as_the_whole_is(block: int) -> None:
    factors = TicketsFactors.model_validate(SMALL | KINDS["texts"])
    trips, place = round_trips(tuple(factors.regions.shares), None), Streams(8).place(2)
    whole = draw_tickets(factors, trips, place)
    blocks = list(draw_blocks(factors, trips, place, block))
    every = blocks[0]
    for further in blocks[1:]:
        assert further.times[0] > every.times[-1]
        every = joined(every, further)
    same_tickets(every, whole)
    # Some of them, in order, are those that stand there.
    tickets = np.flatnonzero(np.arange(whole.times.size) % 3 == 1)
    part = some_of(whole, tickets)
    np.testing.assert_array_equal(part.numbers, tickets)
    people = np.isin(whole.of, tickets)
    np.testing.assert_array_equal(part.skills, whole.skills[people])
    np.testing.assert_array_equal(part.latencies, whole.latencies[people])


def same_tickets(one: Drawn, other: Drawn) -> None:
    for name, own in one._asdict().items():
        if name != "attributes":
            np.testing.assert_array_equal(own, getattr(other, name), err_msg=name)
    assert list(one.attributes) == list(other.attributes)
    for name, values in one.attributes.items():
        assert str(values) == str(other.attributes[name]), name


def test_who_comes_at_one_moment_is_in_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [np.array([1.0, 2.0, 2.0]), np.array([2.0, 2.0]), np.array([3.0]), np.array([4.0])]
    monkeypatch.setattr("valmatch.models.tickets.arrivals._moments", lambda *_: iter(moments))
    factors = TicketsFactors.model_validate(SMALL)
    trips, place = round_trips(tuple(factors.regions.shares), None), Streams(8).place(2)
    times = [block.times.tolist() for block in draw_blocks(factors, trips, place)]
    assert times == [[1.0], [2.0, 2.0, 2.0, 2.0], [3.0], [4.0]]


PERCENTILES: list[Callable[[Any], Any]] = [
    partial(Percentile.of, percent=90),
    partial(CountedPercentile.of, percent=95),
    partial(CountedPercentile.of, percent=50),
]


@pytest.mark.parametrize("part_of", PERCENTILES)
def test_percentiles_are_those_of_numpy(part_of: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        values = np.rint(rng.lognormal(3.0, 1.0, rng.integers(1, 60)))
        if rng.random() < 0.3:
            values = values + rng.random(values.size)
        values[rng.random(values.size) < 0.1] = np.nan
        part = part_of(values[:0])
        for lot in np.array_split(values, rng.integers(1, 5)):
            part.merge(part_of(lot))
        percent = part.percent
        known = values[~np.isnan(values)]
        expected = np.percentile(known, percent) if known.size else np.nan
        np.testing.assert_equal(part.value(), float(expected))


def test_the_worst_group_is_that_of_enough_values() -> None:
    slow, quick = np.full(30, 40.0), np.full(300, 10.0)
    lots = [(slow, np.zeros((1, 30), np.int64)), (quick, np.ones((1, 300), np.int64))]
    part = WorstPercentile(90, 20, lots[:1])
    part.merge(WorstPercentile(90, 20, lots[1:]))
    assert part.value() == 40.0 / np.percentile(np.concatenate((slow, quick)), 90)
    assert WorstPercentile(90, 31, lots).value() == 1.0
    assert np.isnan(WorstPercentile(90, 301, lots).value())


def test_covered_time_is_that_of_a_fine_grid() -> None:
    rng = np.random.default_rng(9)
    for _ in range(100):
        n = int(rng.integers(0, 12))
        begin = rng.integers(0, 100, n) / 1.0
        end = begin + rng.integers(0, 12, n)
        part = Covered.of(begin[:0], end[:0], (10.0, 90.0), 2.0)
        for lot in np.array_split(np.arange(n), 3):
            part.merge(Covered.of(begin[lot], end[lot], (10.0, 90.0), 2.0))
        seconds = np.arange(10, 90)[:, np.newaxis]
        there = ((begin <= seconds) & (seconds < end)).any(axis=1)
        assert part.value() == there.sum() / 2.0


def test_means_do_not_depend_on_the_order() -> None:
    rng = np.random.default_rng(2)
    values = rng.lognormal(0.0, 9.0, 1000)
    part = Mean.of(values[::-1][:300])
    part.merge(Mean.of(values[:700]))
    assert part.value() == Mean.of(values).value() == pytest.approx(values.mean())
    assert np.isnan(Mean.of(values[:0]).value())
