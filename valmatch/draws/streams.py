"""Independent random streams addressed by (seed, replication, source)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.philox import block_of, new_stream, rewind
from valmatch.kernels.arrays import Ints, Words
from valmatch.kernels.compilation import at, kernel, part

# Random numbers with an address: functions of (seed, replication, source, player, counter).
#
# Whoever knows an address has its number at once, in any order and without a state, so that nothing
# that happens in a simulation shifts what is drawn for anybody.
#
# A number is made of the first word of the Philox4x64-10 block whose key is that of the seed, as in
# `valmatch.draws.streams`, and whose counter is (counter, player, 2**63 + source, replication + 1).
# Two addresses never share a block, as each part of them has a word of its own. Nor does an address
# share one with a stream of `Streams`, whose third word is a source below 2**63.

ADDRESSED = 2**63  # added to the number of a source, for the third word of its counters

MARK = np.uint64(ADDRESSED)

DROPPED = np.uint64(12)
"""Bits of a word that are not used: with 53 bits the last number would round to 1."""

SPACING = 2.0**-52


@part(inline=True)
def uniform_at(rng_key: Words, source: int, player: int, counter: int) -> float:
    """Return the uniform number of an address, in (0, 1): an odd multiple of 2**-53."""
    third = MARK | np.uint64(source)
    word, _, _, _ = block_of(
        rng_key[0], rng_key[1], np.uint64(counter), np.uint64(player), third, rng_key[2]
    )
    return (np.int64(word >> DROPPED) + 0.5) * SPACING


@part(inline=True)
def exponential_at(rng_key: Words, source: int, player: int, counter: int) -> float:
    """Return the exponential number of mean 1 of an address, > 0 and < 37: -log of the uniform."""
    return -math.log(uniform_at(rng_key, source, player, counter))


@kernel
def fill_uniforms(rng_key: Words, source: int, counter: int, out: NDArray[np.float64]) -> None:
    """Give the uniform number of every player 0..n-1 to `out`, (n,); see `uniform_at`."""
    for player in range(out.size):
        out[player] = uniform_at(rng_key, source, player, counter)


@kernel
def fill_uniforms_of(
    rng_key: Words, source: int, players: Ints, counters: Ints, out: NDArray[np.float64]
) -> None:
    """Give the uniform numbers of some players at counters of their own to `out`; all are (n,)."""
    for i in range(out.size):
        out[at(i)] = uniform_at(rng_key, source, players[at(i)], counters[at(i)])


class Streams:
    """The random streams of one seed: one for each replication of each source of randomness.

    A stream is the counter-based generator Philox4x64 whose key is derived from the seed and
    whose 256-bit counter starts at (0, 0, source, replication + 1). Streams therefore never
    overlap (each has 2**128 blocks of its own), replication K can be opened without the K before
    it, and what one source draws never shifts another. The slot of replication -1 is left for
    draws that all replications share (``replication=None``).

    Sources from 2**63 on are not given out: theirs are the counters of `valmatch.draws.streams`.

    Parameters
    ----------
    seed : int
        Any integer >= 0; hashed by `numpy.random.SeedSequence`.

    Notes
    -----
    Source: Salmon, Moraes, Dror and Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3".
    """

    def __init__(self, seed: int) -> None:
        if seed < 0:
            raise ValueError(f"seed {seed} is negative; give an integer >= 0")
        self.seed = seed
        self._key = np.random.SeedSequence(seed).generate_state(2, np.uint64).astype(np.uint64)
        self._open: dict[int, tuple[np.random.Philox, np.random.Generator, Any]] = {}
        self._words: dict[int, Words] = {}

    def stream(self, replication: int | None, source: int) -> np.random.Generator:
        """Position the generator of `source` at the start of its stream for `replication`.

        The generator of a source is reused (building one costs ten times a repositioning): it
        is valid until the next call with the same source.

        Parameters
        ----------
        replication : int or None
            Replication index >= 0; None for the stream that all replications share.
        source : int
            Number of the source of randomness, 0 <= source < 2**63; each model numbers its own.
        """
        if source not in self._open:
            _check(source)
            bits = np.random.Philox(key=self._key)
            self._open[source] = bits, np.random.Generator(bits), bits.state
        bits, generator, state = self._open[source]
        counter = state["state"]["counter"]
        counter[2] = source
        counter[3] = _slot(replication)
        bits.state = state
        return generator

    def words(self, replication: int | None, source: int) -> Words:
        """Position the words of the same stream at its start, for the kernels of `valmatch.draws`.

        They draw from it what the generator of `stream` would. The array of a source is reused:
        it is valid until the next call with the same source.
        """
        words = self._words.get(source)
        if words is None:
            _check(source)
            words = self._words[source] = new_stream(self._key, source)
        rewind(words, _slot(replication))
        return words

    def place(self, replication: int | None) -> Words:
        """Return the key of the addressed numbers of a replication, see `uniform_at`."""
        return np.array([*self._key.tolist(), _slot(replication)], np.uint64)


def _check(source: int) -> None:
    """Raise unless a source has streams."""
    if not 0 <= source < ADDRESSED:
        raise ValueError(f"source {source} has no streams; give an integer from 0 to 2**63 - 1")


def _slot(replication: int | None) -> int:
    """Return the last word of the counters of a replication."""
    return 0 if replication is None else replication + 1
