"""The words of the counter-based generator Philox4x64-10, as `numpy.random.Philox` gives them.

A stream is one array of 64-bit words, which kernels take as one argument: the key, the place in the
stream, and a store of words that were generated ahead. Blocks of four words have the counters (block, 0, source, replication + 1) with blocks numbered from 1, as
`valmatch.streams.Streams` positions numpy's generators.

Source: Salmon, Moraes, Dror and Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from valmatch.compilation import inlined, njit

__all__ = [
    "END",
    "POSITION",
    "SLOT",
    "SOURCE",
    "Words",
    "new_stream",
    "next_word",
    "refill",
]

Words = NDArray[np.uint64]

ROUNDS = 10
MULTIPLIERS = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
KEY_STEPS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
"""From one round to the next the two words of the key grow by these, modulo 2**64."""

# What the words of a stream are, after the two of its key:
BLOCK = 2
"""The number of the next block."""

SOURCE, SLOT = 3, 4
"""The source and replication + 1, which is 0 for the draws that all replications share."""

POSITION = 5
"""The place of the next word in the store; `END` if the store is used up."""

STORE = 8
"""Where the store begins; two words before it are left free, so that it begins a line of memory."""

BLOCKS = 64
"""Most blocks generated at a time: more gain no speed, and fewer wait in the nearest cache."""

END = STORE + 4 * BLOCKS
"""Length of a stream."""

ZERO, ONE = np.uint64(0), np.uint64(1)


def new_stream(key: Words) -> Words:
    """Return the stream of source 0 and slot 0 at its beginning, of which others are copies.

    Parameters
    ----------
    key : (2,) ndarray of uint64
        Key of the generator.
    """
    stream = np.zeros(END, np.uint64)
    stream[:2] = key
    stream[BLOCK] = 1
    stream[POSITION] = END
    return stream


def product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the higher and the lower word of a product of 128 bits."""
    both = int(a) * int(b)
    return np.uint64(both >> 64), np.uint64(both % 2**64)


def _emitted(context: Any, builder: Any, signature: Any, factors: Any) -> Any:  # noqa: ANN401
    """Emit the one instruction that processors have for a product of 128 bits."""
    word, wide = ir.IntType(64), ir.IntType(128)
    a, b = (builder.zext(factor, wide) for factor in factors)
    both = builder.mul(a, b)
    high = builder.trunc(builder.lshr(both, ir.Constant(wide, 64)), word)
    return context.make_tuple(builder, signature.return_type, (high, builder.trunc(both, word)))


def _typed(typing: Any, a: Any, b: Any) -> Any:  # noqa: ANN401
    return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), _emitted


_product = intrinsic(_typed)


def _compiled(a: Any, b: Any) -> Any:  # noqa: ANN401
    def compiled(a: Any, b: Any) -> Any:  # noqa: ANN401
        return _product(a, b)

    return compiled


overload(product, jit_options={"forceinline": True})(_compiled)


@njit
def refill(stream: Words, wanted: int) -> int:
    """Generate words for a store that is used up.

    Parameters
    ----------
    stream : (END,) ndarray of uint64
        In and out; its position is left alone.
    wanted : int
        Words that will surely be used, at least 1: little more is generated.

    Returns
    -------
    int
        Place of the first of these words.
    """
    start = END - 4 * min((wanted + 3) // 4, BLOCKS)
    block, source, slot = stream[BLOCK], stream[SOURCE], stream[SLOT]
    first_a, first_b = stream[0], stream[1]
    for at in range(start, END, 4):
        a, b, c, d = block, ZERO, source, slot
        key_a, key_b = first_a, first_b
        for _ in range(ROUNDS):
            high_a, low_a = product(MULTIPLIERS[0], a)
            high_c, low_c = product(MULTIPLIERS[1], c)
            a, b, c, d = high_c ^ b ^ key_a, low_c, high_a ^ d ^ key_b, low_a
            key_a += KEY_STEPS[0]
            key_b += KEY_STEPS[1]
        stream[at], stream[at + 1], stream[at + 2], stream[at + 3] = a, b, c, d
        block += ONE
    stream[BLOCK] = block
    return start


@inlined
def next_word(stream: Words) -> np.uint64:
    """Take one word, for draws that need more words than one now and then."""
    position = np.int64(stream[POSITION])
    if position == END:
        position = refill(stream, 1)
    stream[POSITION] = position + 1
    return stream[position]
