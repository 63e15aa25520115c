"""Durations with their unit, such as ``12 min`` or ``0.2 h``."""

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
