"""The product of two 64-bit words with all its 128 bits, which numba has no type for."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

__all__ = ["product"]


def product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the higher and the lower word; compiled, it is one instruction of the processor."""
    both = int(a) * int(b)
    return np.uint64(both >> 64), np.uint64(both % 2**64)


def _emitted(context: Any, builder: Any, signature: Any, factors: Any) -> Any:  # noqa: ANN401
    """Emit the product in LLVM's language."""
    word, wide = ir.IntType(64), ir.IntType(128)
    a, b = (builder.zext(factor, wide) for factor in factors)
    both = builder.mul(a, b)
    high = builder.trunc(builder.lshr(both, ir.Constant(wide, 64)), word)
    return context.make_tuple(builder, signature.return_type, (high, builder.trunc(both, word)))


def _typed(typing: Any, a: Any, b: Any) -> Any:  # noqa: ANN401
    words: Any = types.UniTuple
    return words(types.uint64, 2)(types.uint64, types.uint64), _emitted


_intrinsic: Any = intrinsic(_typed)


def _compiled(a: Any, b: Any) -> Any:  # noqa: ANN401
    def compiled(a: Any, b: Any) -> Any:  # noqa: ANN401
        return _intrinsic(a, b)

    return compiled


overload(product, jit_options={"forceinline": True})(_compiled)
