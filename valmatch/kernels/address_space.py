"""The limit on a process's address space, below which numerical libraries never finish loading.

OpenBLAS, which numpy and scipy load, asks for a buffer for each of its threads, and where it is
refused one asks again without end, deaf to signals.
"""

from __future__ import annotations

import os

from valmatch.errors import RunError

BASE, THREAD = 620e6, 40e6
"""Bytes that compiling kernels takes; that each thread of OpenBLAS takes."""


def check_address_space() -> None:
    """Refuse to go on where the system's limit leaves no room for what is loaded next."""
    try:
        import resource
    except ImportError:  # a system without such limits
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    needed = BASE + THREAD * _threads()
    if limit != resource.RLIM_INFINITY and limit < needed:
        raise RunError(
            f"the limit on memory is too low: {limit / 1e6:,.0f} MB of address space (ulimit -v),"
            f" where {needed / 1e6:,.0f} MB are needed"
        )


def _threads() -> int:
    """Return how many threads OpenBLAS starts."""
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "")
    cores = os.cpu_count() or 1
    return min(cores, int(threads)) if threads.isdecimal() and int(threads) > 0 else cores
