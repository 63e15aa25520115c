"""Independent random streams addressed by (seed, replication, source), also in compiled code."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Ints, Words
from valmatch.kernels.compilation import at, import_numba, kernel, macro, part
from valmatch.kernels.plain_python import interpreted

# The words of the counter-based generator Philox4x64-10, as `numpy.random.Philox` gives them.
#
# A stream is one array of words: the key, the place in the stream, and a store of words that were
# generated ahead. Blocks of four words have the counters (block, 0, source, replication + 1) with
# blocks numbered from 1.
#
# Source: Salmon, Moraes, Dror and Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3".

ROUNDS = 10
MULTIPLIERS = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
KEY_STEPS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
"""From one round to the next the two words of the key grow by these, modulo 2**64."""

# What the words of a stream are, after the two of its key:
BLOCK = 2  # the number of the next block

SOURCE, SLOT = 3, 4
"""The source and replication + 1, which is 0 for the draws that all replications share."""

POSITION = 5  # the place of the next word in the store; `END` if the store is used up

STORE = 8
"""Where the store begins; two words before it are left free, so that it begins a line of memory."""

BLOCKS = 64  # most blocks generated at a time: few enough that they wait in the nearest cache
END = STORE + 4 * BLOCKS  # length of a stream

ZERO, ONE = np.uint64(0), np.uint64(1)


def _product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the higher and the lower word of a product, in plain Python."""
    high, low = divmod(int(a) * int(b), 2**64)
    return np.uint64(high), np.uint64(low)


def _instruction() -> Any:  # noqa: ANN401 - numba has no types
    """Return what is compiled for a product: one instruction of the processor."""
    types = import_numba().types
    from llvmlite import ir
    from numba.extending import intrinsic

    def emitted(context: Any, builder: Any, signature: Any, factors: Any) -> Any:  # noqa: ANN401
        word, wide = ir.IntType(64), ir.IntType(128)
        a, b = (builder.zext(factor, wide) for factor in factors)
        both = builder.mul(a, b)
        high = builder.trunc(builder.lshr(both, ir.Constant(wide, 64)), word)
        words = high, builder.trunc(both, word)
        return context.make_tuple(builder, signature.return_type, words)

    def product(typing: Any, a: Any, b: Any) -> Any:  # noqa: ANN401
        words: Any = types.UniTuple
        return words(types.uint64, 2)(types.uint64, types.uint64), emitted

    return intrinsic(product)


product: Callable[[np.uint64, np.uint64], tuple[np.uint64, np.uint64]] = (
    _product if interpreted() else _instruction()
)


@macro
def rewind(stream: Words, slot: int | np.uint64) -> None:
    """Position a stream at the start of a slot, which is replication + 1."""
    stream[SLOT] = slot
    stream[BLOCK] = 1
    stream[POSITION] = END


@macro
def block_of(
    key_a: np.uint64, key_b: np.uint64, a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return the block of four words that a key gives to the counter (a, b, c, d)."""
    for _ in range(ROUNDS):
        high_a, low_a = product(MULTIPLIERS[0], a)
        high_c, low_c = product(MULTIPLIERS[1], c)
        a, b, c, d = high_c ^ b ^ key_a, low_c, high_a ^ d ^ key_b, low_a
        key_a += KEY_STEPS[0]
        key_b += KEY_STEPS[1]
    return a, b, c, d


@part
def refill(stream: Words, wanted: int) -> np.int64:
    """Generate words for a store that is used up; return the place of the first."""
    start = END - 4 * min((wanted + 3) // 4, BLOCKS)
    block, source, slot = stream[BLOCK], stream[SOURCE], stream[SLOT]
    key_a, key_b = stream[0], stream[1]
    for k in range(start, END, 4):
        a, b, c, d = block_of(key_a, key_b, block, ZERO, source, slot)
        stream[k], stream[k + 1], stream[k + 2], stream[k + 3] = a, b, c, d
        block += ONE
    stream[BLOCK] = block
    return np.int64(start)


@macro
def next_word(stream: Words) -> np.uint64:
    """Take one word, for draws that need more words than one now and then."""
    position = np.int64(stream[POSITION])
    if position == END:
        position = refill(stream, 1)
    stream[POSITION] = position + 1
    return stream[position]


# Random numbers with an address: functions of (seed, replication, source, player, counter).
#
# Whoever knows an address has its number at once, in any order and without a state, so that nothing
# that happens in a simulation shifts what is drawn for anybody.
#
# A number is made of the first word of the block whose key is that of the seed and whose counter is
# (counter, player, 2**63 + source, replication + 1). Two addresses never share a block, nor does an
# address share one with a stream of `Streams`, whose third word is a source below 2**63.

ADDRESSED = 2**63  # added to the number of a source, for the third word of its counters

MARK = np.uint64(ADDRESSED)

DROPPED = np.uint64(12)
"""Bits of a word that are not used: with 53 bits the last number would round to 1."""

SPACING = 2.0**-52


@macro
def uniform_at(rng_key: Words, source: int, player: int, counter: int) -> float:
    """Return the uniform number of an address, in (0, 1): an odd multiple of 2**-53."""
    third = MARK | np.uint64(source)
    word, _, _, _ = block_of(
        rng_key[0], rng_key[1], np.uint64(counter), np.uint64(player), third, rng_key[2]
    )
    return (np.int64(word >> DROPPED) + 0.5) * SPACING


@macro
def exponential_at(rng_key: Words, source: int, player: int, counter: int) -> float:
    """Return the exponential number of mean 1 of an address, > 0 and < 37: -log of the uniform."""
    return -math.log(uniform_at(rng_key, source, player, counter))


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

    Sources from 2**63 on are not given out: theirs are the counters of numbers with an address.

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
            words = self._words[source] = np.zeros(END, np.uint64)
            words[:2], words[SOURCE] = self._key, source
        rewind(words, np.uint64(_slot(replication)))
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
