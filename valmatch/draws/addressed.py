"""Random numbers with an address: functions of (seed, replication, source, player, counter).

Whoever knows an address has its number at once, in any order and without a state, so that nothing
that happens in a simulation shifts what is drawn for anybody.

A number is made of the first word of the Philox4x64-10 block whose key is that of the seed, as in
`valmatch.draws.streams`, and whose counter is (counter, player, 2**63 + source, replication + 1).
Two addresses never share a block, as each part of them has a word of its own. Nor does an address
share one with a stream of `Streams`, whose third word is a source below 2**63.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.philox import block_of
from valmatch.kernels.arrays import Ints, Words
from valmatch.kernels.compilation import at, inlined, unallocating

ADDRESSED = 2**63  # added to the number of a source, for the third word of its counters

MARK = np.uint64(ADDRESSED)

DROPPED = np.uint64(12)
"""Bits of a word that are not used: with 53 bits the last number would round to 1."""

SPACING = 2.0**-52


@inlined
def uniform_at(place: Words, source: int, player: int, counter: int) -> float:
    """Return the uniform number of an address, in (0, 1): an odd multiple of 2**-53.

    Shapes: `place` (3,).
    """
    third = MARK | np.uint64(source)
    word, _, _, _ = block_of(
        place[0], place[1], np.uint64(counter), np.uint64(player), third, place[2]
    )
    return (np.int64(word >> DROPPED) + 0.5) * SPACING


@inlined
def exponential_at(place: Words, source: int, player: int, counter: int) -> float:
    """Return the exponential number of mean 1 of an address, > 0 and < 37: -log of the uniform."""
    return -math.log(uniform_at(place, source, player, counter))


@unallocating
def fill_uniforms(place: Words, source: int, counter: int, out: NDArray[np.float64]) -> None:
    """Give the uniform number of every player 0..n-1 to `out`, (n,).

    The other parameters are those of `uniform_at`.
    """
    for player in range(out.size):
        out[player] = uniform_at(place, source, player, counter)


@unallocating
def fill_uniforms_of(
    place: Words, source: int, players: Ints, counters: Ints, out: NDArray[np.float64]
) -> None:
    """Give the uniform number of each of some players, (n,), at its own counter to `out`, (n,).

    The other parameters are those of `uniform_at`.
    """
    for i in range(out.size):
        out[at(i)] = uniform_at(place, source, players[at(i)], counters[at(i)])
