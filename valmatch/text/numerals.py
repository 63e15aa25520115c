"""Numbers in texts: ASCII digits alone, of moderate length."""

from __future__ import annotations

import math
import re

DIGITS = 1000  # most characters of a number; Python itself refuses some thousand

_REAL = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


def whole_number(text: str) -> int | None:
    """Return the whole number >= 0 that a text is; None if it is none."""
    if len(text) <= DIGITS and re.fullmatch("[0-9]+", text):
        return int(text)
    return None


_COUNT = re.compile(r"([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.([0-9]+))?(?:[eE]\+?([0-9]{1,3}))?")


def count(text: str) -> int | None:
    """Return the whole number that a text is, such as 1,000 or 2.5e3; None if it is none."""
    match = _COUNT.fullmatch(text) if len(text) <= DIGITS else None
    if match is None or (match[2] and not match[3]):
        return None
    fraction, exponent = (match[2] or "").rstrip("0"), int(match[3] or 0)
    if len(fraction) > exponent:
        return None
    return int(match[1].replace(",", "") + fraction + "0" * (exponent - len(fraction)))


def real_number(text: str) -> float | None:
    """Return the finite number that a text is; None if it is none."""
    if len(text) > DIGITS or not _REAL.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None
