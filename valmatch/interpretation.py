"""Whether kernels are compiled or left in plain Python, which gives the same results."""

from __future__ import annotations

import os
import sys

__all__ = ["interpret", "interpreted"]

_interpreted = os.environ.get("NUMBA_DISABLE_JIT", "") not in ("", "0")


def interpreted() -> bool:
    """Return whether kernels are left in plain Python, by numba's own switch or by `interpret`."""
    return _interpreted


def interpret() -> None:
    """Leave the kernels that are imported from now on in plain Python.

    For a process that has less to do than importing numba takes; in vain where that is done.
    """
    global _interpreted
    if "numba" not in sys.modules:
        import numpy as np

        np.seterr(all="ignore")  # as compiled arithmetic does
        _interpreted = True
