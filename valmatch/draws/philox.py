"""The words of the counter-based generator Philox4x64-10, as `numpy.random.Philox` gives them.

A stream is one array of 64-bit words, which kernels take as one argument: the key, the place in the
stream, and a store of words that were generated ahead. Blocks of four words have the counters
(block, 0, source, replication + 1) with blocks numbered from 1, as `valmatch.draws.streams.Streams`
positions numpy's generators.

Source: Salmon, Moraes, Dror and Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from valmatch.kernels.arrays import Words
from valmatch.kernels.compilation import import_numba, macro, part
from valmatch.kernels.plain_python import interpreted

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

BLOCKS = 64  # blocks generated at a time: few enough that they wait in the nearest cache
END = STORE + 4 * BLOCKS  # length of a stream

ZERO, ONE = np.uint64(0), np.uint64(1)


def new_stream(key: Words, source: int) -> Words:
    """Return a stream of a source by a key, (2,), to be positioned by `rewind`."""
    stream = np.zeros(END, np.uint64)
    stream[:2] = key
    stream[SOURCE] = source
    return stream


# ---- the product of two words with all its 128 bits, which numba has no type for ----


def _product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the higher and the lower word, in plain Python."""
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


# ---- words ----


@macro
def rewind(stream: Words, slot: int) -> None:
    """Position a stream at the start of a slot, which is replication + 1."""
    stream[SLOT] = slot
    stream[BLOCK] = 1
    stream[POSITION] = END


@part(inline=True)
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
def refill(stream: Words) -> None:
    """Generate the words of a store that is used up."""
    block, source, slot = stream[BLOCK], stream[SOURCE], stream[SLOT]
    key_a, key_b = stream[0], stream[1]
    for at in range(STORE, END, 4):
        a, b, c, d = block_of(key_a, key_b, block, ZERO, source, slot)
        stream[at], stream[at + 1], stream[at + 2], stream[at + 3] = a, b, c, d
        block += ONE
    stream[BLOCK], stream[POSITION] = block, STORE


@part(inline=True)
def next_word(stream: Words) -> np.uint64:
    """Take one word."""
    if stream[POSITION] == END:
        refill(stream)
    position = stream[POSITION]
    stream[POSITION] = position + ONE
    return stream[position]
