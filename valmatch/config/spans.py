"""Evenly spaced values written as FIRST:LAST:STEP."""

from __future__ import annotations

from decimal import Decimal

from valmatch.inputs.limits import LARGEST
from valmatch.text.numerals import real_number

MOST = 10_000
"""Most values of a span."""


def span(text: str) -> list[float] | None:
    """Return the values FIRST, FIRST + STEP, ... up to LAST; None if that is not what `text` says.

    LAST is among them if a step ends there. Steps are taken in decimals, so that 0.1:0.3:0.1
    ends with 0.3.
    """
    parts = [part.strip() for part in text.split(":")]
    if not all(map(_moderate, parts)):
        return None
    try:
        first, last, step = map(Decimal, parts)
        count = (last - first) / step
    except (ValueError, ArithmeticError):
        return None
    if not 0 <= count < MOST:
        return None
    return [float(first + k * step) for k in range(int(count) + 1)]


def _moderate(text: str) -> bool:
    """Return whether a text is a number whose size is not absurd."""
    number = real_number(text)
    return number is not None and abs(number) <= LARGEST
