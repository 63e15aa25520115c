"""The switch between compiled kernels and kernels in plain Python, which give the same results."""

import os
import sys
import warnings

_interpreted = os.environ.get("NUMBA_DISABLE_JIT", "") not in ("", "0")


def interpreted() -> bool:
    """Return whether kernels are left in plain Python, by numba's own switch or by `interpret`."""
    return _interpreted


def interpret() -> None:
    """Leave the kernels that are imported from now on in plain Python, if numba is not imported."""
    global _interpreted
    if "numba" not in sys.modules:
        _interpreted = True
        _ignore_overflows()


def _ignore_overflows() -> None:
    """Let no arithmetic of kernels warn, as none does where it is compiled; in no thread."""
    warnings.filterwarnings("ignore", ".* encountered in .*", RuntimeWarning, r"valmatch\.")


if _interpreted:
    _ignore_overflows()
