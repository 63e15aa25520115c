"""The product of two 64-bit words with all its 128 bits, which numba has no type for."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from valmatch.kernels.compilation import replaced


def _compiled(a: Any, b: Any) -> Any:  # noqa: ANN401
    """Return what is compiled for a product."""
    instruction = _instruction()

    def compiled(a: Any, b: Any) -> Any:  # noqa: ANN401
        return instruction(a, b)

    return compiled


@cache
def _instruction() -> Any:  # noqa: ANN401
    """Return numba's name of the product in LLVM's language."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    def emitted(context: Any, builder: Any, signature: Any, factors: Any) -> Any:  # noqa: ANN401
        word, wide = ir.IntType(64), ir.IntType(128)
        a, b = (builder.zext(factor, wide) for factor in factors)
        both = builder.mul(a, b)
        high = builder.trunc(builder.lshr(both, ir.Constant(wide, 64)), word)
        words = high, builder.trunc(both, word)
        return context.make_tuple(builder, signature.return_type, words)

    def typed(typing: Any, a: Any, b: Any) -> Any:  # noqa: ANN401
        words: Any = types.UniTuple
        return words(types.uint64, 2)(types.uint64, types.uint64), emitted

    return intrinsic(typed)


@replaced(_compiled)
def product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the higher and the lower word; compiled, it is one instruction of the processor."""
    both = int(a) * int(b)
    return np.uint64(both >> 64), np.uint64(both % 2**64)
