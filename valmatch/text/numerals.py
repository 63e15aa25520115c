"""Numbers in texts: ASCII digits alone, of moderate length."""

from __future__ import annotations

import math
import re

DIGITS = 1000
"""Most characters of a number; Python itself refuses some thousand."""

_REAL = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


def whole_number(text: str) -> int | None:
    """Return the whole number >= 0 that a text is; None if it is none."""
    if len(text) <= DIGITS and re.fullmatch("[0-9]+", text):
        return int(text)
    return None


def real_number(text: str) -> float | None:
    """Return the finite number that a text is; None if it is none."""
    if len(text) > DIGITS or not _REAL.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None
