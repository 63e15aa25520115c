"""Numbers in texts, of ASCII digits and of moderate length; durations, such as ``12 min``."""

import math
import re

DIGITS = 1000  # most characters of a number; Python itself refuses some thousand

REAL = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_COUNT = re.compile(r"([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.([0-9]+))?(?:[eE]\+?([0-9]{1,3}))?")


def whole_number(text: str) -> int | None:
    """Return the whole number >= 0 that a text is; None if it is none."""
    return int(text) if len(text) <= DIGITS and re.fullmatch("[0-9]+", text) else None


def count(text: str) -> int | None:
    """Return the whole number that a text is, such as 1,000 or 2.5e3; None if it is none."""
    match = _COUNT.fullmatch(text) if len(text) <= DIGITS else None
    if match is None or (match[2] and not match[3]):
        return None
    fraction, exponent = (match[2] or "").rstrip("0"), int(match[3] or 0)
    if len(fraction) > exponent:
        return None
    return int(match[1].replace(",", "") + fraction.ljust(exponent, "0"))


def real_number(text: str) -> float | None:
    """Return the finite number that a text is; None if it is none."""
    value = float(text) if len(text) <= DIGITS and REAL.fullmatch(text) else math.inf
    return value if math.isfinite(value) else None


SECONDS = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86400.0}
"""The units that a duration can be wanted in."""

_SPELLINGS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}

_DURATION = re.compile(r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)) *([a-z]+)")


def in_unit(value: object, unit: str) -> object:
    """Return a duration that is written with a unit as a number of another, all else as it is."""
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or unit not in SECONDS or match[2] not in _SPELLINGS:
        return value
    return float(match[1]) * _SPELLINGS[match[2]] / SECONDS[unit]


def in_words(seconds: float) -> str:
    """Return a duration in its two largest units, such as ``1 h 2 min``."""
    rest, shown = round(seconds), []
    for name, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        shown.append(f"{count} {name}" if count else "")
    first = next((k for k, text in enumerate(shown) if text), 3)
    return " ".join(filter(None, shown[first : first + 2])) or "0 s"
