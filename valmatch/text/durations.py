"""Durations with their unit, such as ``12 min`` or ``0.2 h``, read and written."""

from __future__ import annotations

import re

SECONDS = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86400.0}
"""The units that a duration can be wanted in."""

_NAMES = {
    "seconds": ("s", "sec", "second", "seconds"),
    "minutes": ("m", "min", "minute", "minutes"),
    "hours": ("h", "hour", "hours"),
    "days": ("d", "day", "days"),
}

_DURATION = re.compile(r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)) *([a-z]+)")


def in_unit(value: object, unit: str) -> object:
    """Return a duration that is written with a unit as a number of another, all else as it is.

    Examples
    --------
    >>> in_unit("12 min", "hours")
    0.2
    >>> in_unit("12", "hours")
    '12'
    """
    found = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or unit not in SECONDS:
        return value
    for own, names in _NAMES.items():
        if found[2] in names:
            return float(found[1]) * SECONDS[own] / SECONDS[unit]
    return value


def in_words(seconds: float) -> str:
    """Return a duration in its two largest units.

    Examples
    --------
    >>> in_words(59.6), in_words(3725.0), in_words(86400.0)
    ('1 min', '1 h 2 min', '1 d')
    """
    whole = round(seconds)
    for larger, of_larger, smaller, of_smaller in (
        ("d", 86400, "h", 3600),
        ("h", 3600, "min", 60),
        ("min", 60, "s", 1),
    ):
        if whole >= of_larger:
            count, rest = divmod(whole, of_larger)
            further = rest // of_smaller
            return f"{count} {larger}" + (f" {further} {smaller}" if further else "")
    return f"{whole} s"
