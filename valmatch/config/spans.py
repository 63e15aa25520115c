"""Evenly spaced values written as FIRST:LAST:STEP."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

__all__ = ["MOST", "span"]

MOST = 10_000
"""Most values of a span."""


def span(text: str) -> list[float] | None:
    """Return the values FIRST, FIRST + STEP, ... up to LAST; None if that is not what `text` says.

    LAST is among them if a step ends there. Steps are taken in decimals, so that 0.1:0.3:0.1
    ends with 0.3.
    """
    try:
        first, last, step = map(Decimal, text.split(":"))
        count = (last - first) / step
        if not 0 <= count < MOST:
            return None
    except (ValueError, InvalidOperation, ZeroDivisionError):
        return None
    return [float(first + k * step) for k in range(int(count) + 1)]
