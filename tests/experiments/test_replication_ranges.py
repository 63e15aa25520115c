"""Sets of replications as ranges, against sets of their elements."""

from __future__ import annotations

from random import Random

import pytest

from valmatch.execution.shards import Shard
from valmatch.experiments.replication_ranges import ReplicationRanges, common


def drawn(rng: Random) -> range:
    start = rng.randrange(40)
    return range(start, start + rng.randrange(60), rng.randrange(1, 13))


@pytest.mark.parametrize("seed", range(20))
def test_what_ranges_have_in_common(seed: int) -> None:
    rng = Random(seed)
    for _ in range(200):
        one, other = drawn(rng), drawn(rng)
        assert common(one, other) == len(set(one) & set(other)), (one, other)


@pytest.mark.parametrize("seed", range(20))
def test_ranges_are_a_set(seed: int) -> None:
    rng = Random(seed)
    held, plain = ReplicationRanges(), set[int]()
    for _ in range(30):
        part = drawn(rng)
        assert held.common(part) == len(plain & set(part))
        if not plain & set(part):
            held.add(part)
            plain |= set(part)
    assert len(held) == len(plain)
    assert set(held) == plain == {index for index in range(120) if index in held}
    assert {index for part in held.ranges for index in part} == plain
    assert sum(map(len, held.ranges)) == len(plain)


def test_the_shards_of_a_run_are_one_range() -> None:
    held = ReplicationRanges()
    for index in Random(1).sample(range(1000), 1000):
        assert not held.common(Shard(index, 1000).indices(10**9))
        held.add(Shard(index, 1000).indices(10**9))
    assert held.ranges == [range(10**9)]
    assert held.common(range(5, 10**9, 7)) == len(range(5, 10**9, 7))
