"""Numbers in words: means with as many digits as their intervals leave them."""

from __future__ import annotations

import math

from valmatch.statistics.estimates import Estimate

DECIMALS = 12  # most decimals of a number; with more it is written with a power of ten


def mean_and_half(estimate: Estimate) -> tuple[str, str]:
    """Return a mean and its half-width with two digits of the half-width."""
    if estimate.mean is None:
        return "undefined", ""
    mean, half = rounded(estimate.mean, estimate.half_width)
    return mean, arms_of(estimate.arms, half) if estimate.asymmetric else half


def rounded(mean: float, half: float | None) -> tuple[str, str]:
    """Return a mean and its half-width; without one, four digits of what is below 1."""
    most = decimals(max(abs(mean), half or 0.0), 4)
    digits = max(4, most) if not half else min(max(6, most), decimals(half, 2))
    if digits > DECIMALS:
        return f"{mean:z.3e}", formatted(half, ".1e")
    return f"{mean:z.{digits}f}", formatted(half, f".{digits}f")


def decimals(value: float, digits: int) -> int:
    """Return after how many decimals a number has so many digits."""
    if not value or not math.isfinite(value):
        return 0
    return max(0, digits - 1 - math.floor(math.log10(abs(value))))


def arms_of(arms: tuple[float, float] | None, half: str) -> str:
    """Return both arms of an interval that limits have cut, with the digits of the longer one."""
    assert arms is not None
    digits = len(half.partition(".")[2])
    below, above = (f"{abs(arm):.{digits}f}" for arm in arms)
    return f"{'-' if float(below) else ''}{below}/{'+' if float(above) else ''}{above}"


def formatted(value: float | None, form: str) -> str:
    """Return a number in a format of `format`; "" for none."""
    return "" if value is None else f"{value:{form}}"
