"""Loading kernels from numba's cache without all that numba needs for compiling them.

Before numba looks into its cache, it imports and registers all that it can compile, for which it
also imports scipy's linear algebra: that takes longer than the rest of a short command. A kernel of
the cache needs numba's runtime alone. For one that is not there, the compiler registers all itself.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

__all__ = ["cached"]

REPLACED = ("refresh", "_guard_against_spurious_io_errors", "_load_overload")
"""What numba's method calls in whose place `_load` stands."""


def cached(kernel: Any) -> Any:  # noqa: ANN401 - numba has no types
    """Let numba's runtime alone be started when a kernel is loaded; return the kernel.

    A numba in which that is done in another way is left to do it.
    """
    with suppress(ImportError, AttributeError):
        from numba.core.runtime.nrt import rtsys

        cache = kernel._cache
        if cache.load_overload.__code__.co_names == REPLACED:
            cache.load_overload = partial(_load, cache, rtsys)
    return kernel


def _load(cache: Any, runtime: Any, signature: Any, context: Any) -> Any:  # noqa: ANN401
    """Load the kernel of a signature, if the cache has it."""
    runtime.initialize(context)
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(signature, context)
