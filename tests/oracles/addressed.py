"""Addressed random numbers with Python's integers, from the definition of Philox4x64-10."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

WORD = 2**64
MULTIPLIERS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
KEY_STEPS = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B

Counter = tuple[int, int, int, int]


def philox(key: tuple[int, int], counter: Counter) -> Counter:
    """Return the block of a counter: ten rounds, the key grows from each to the next."""
    a, b, c, d = counter
    for turn in range(10):
        key_a, key_b = ((key[k] + turn * KEY_STEPS[k]) % WORD for k in (0, 1))
        high_a, low_a = divmod(MULTIPLIERS[0] * a, WORD)
        high_c, low_c = divmod(MULTIPLIERS[1] * c, WORD)
        a, b, c, d = high_c ^ b ^ key_a, low_c, high_a ^ d ^ key_b, low_a
    return a, b, c, d


@dataclass(frozen=True)
class Addressed:
    """The addressed numbers of one replication (None: of those that all share)."""

    seed: int
    replication: int | None

    @cached_property
    def key(self) -> tuple[int, int]:
        a, b = np.random.SeedSequence(self.seed).generate_state(2, np.uint64).tolist()
        return a, b

    def word(self, source: int, player: int, counter: int) -> int:
        slot = 0 if self.replication is None else self.replication + 1
        return philox(self.key, (counter, player, 2**63 + source, slot))[0]

    def uniform(self, source: int, player: int, counter: int) -> float:
        """Middle of one of 2**52 equal parts of (0, 1)."""
        return (2 * (self.word(source, player, counter) // 2**12) + 1) / 2**53

    def exponential(self, source: int, player: int, counter: int) -> float:
        return -math.log(self.uniform(source, player, counter))
