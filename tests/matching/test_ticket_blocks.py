"""Drawn tickets played block by block: what comes of them is what comes of all at once."""

from __future__ import annotations

import numpy as np
import pytest

from tests.matching.test_ticket_columns import random_columns, table
from valmatch.matching.tickets.blocks import play_in_blocks
from valmatch.matching.tickets.building import queue_of
from valmatch.matching.tickets.columns import play_columns
from valmatch.matching.tickets.layout import COMPLETED, Queue, World
from valmatch.rule_sets.worlds import Service

SERVICES = {
    "plain": Service(60.0, 130.0, 1.0),
    "slow": Service(30.0, 130.0, 17.0),
    "quick": Service(60.0, 90.0, 0.25),
    "acceptance": Service(60.0, 130.0, 1.0, acceptance=5.0),
    "late": Service(60.0, 130.0, 3.0, acceptance=100.0),
    "passes": Service(60.0, 130.0, 2.0, passes=1),
    "batches": Service(45.0, 130.0, 2.0, batch_size=7, passes=2),
}


FEW = {0: (1, 13), 1: (2, 40)}
"""Ends of blocks that are tried, by seed."""


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize(
    "tried",
    [FEW, pytest.param(dict.fromkeys(range(12), (1, 2, 13, 40)), marks=pytest.mark.slow)],
    ids=["few", "many"],
)
def test_nothing_depends_on_where_blocks_end(tried: dict[int, tuple[int, ...]], name: str) -> None:
    completed = 0
    for seed, blocks in tried.items():
        world = table(), random_columns(seed), SERVICES[name]
        whole = play_columns(*world, "pass")
        completed += int(np.count_nonzero(whole.statuses == COMPLETED))
        for block in blocks:
            found = play_in_blocks(*world, "pass", block)
            for key, one, other in zip(whole._fields, whole, found, strict=True):
                what = f"{key}, seed {seed}, block {block}"
                np.testing.assert_array_equal(one, other, err_msg=what)
    assert completed > 8 * len(tried)


def test_an_exhaustive_search_goes_on_too() -> None:
    for seed in range(4):
        columns = random_columns(seed, 24)
        world = table(), columns, SERVICES["acceptance"]
        whole, found = play_columns(*world, "exhaustive"), play_in_blocks(*world, "exhaustive", 5)
        np.testing.assert_array_equal(whole.ends, found.ends)
        np.testing.assert_array_equal(whole.tickets, found.tickets)


def test_a_kernel_holds_few_tickets(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []

    def noted(world: World) -> Queue:
        queue = queue_of(world)
        held.append(queue.slots.size)
        return queue

    monkeypatch.setattr("valmatch.matching.tickets.blocks.queue_of", noted)
    columns = random_columns(1, 60)
    play_in_blocks(table(), columns, Service(4.0, 130.0, 1.0), "pass", block=10)
    waiting = max(
        np.count_nonzero((columns.times <= time) & (columns.times > time - 4.0))
        for time in columns.times
    )
    assert len(held) == 6
    assert max(held) <= 10 + waiting
    assert sum(held) > 60
