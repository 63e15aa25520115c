"""Arguments of the public functions, each checked where it enters, before anything runs."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import TypeAlias

from valmatch.errors import InputError, option
from valmatch.inputs.limits import DEVIATION, LEVEL, RANGES
from valmatch.text.suggestions import correction
from valmatch.text.terminal import shown

PathLike: TypeAlias = "str | os.PathLike[str]"  # what a path may be given as

MOST_NAME, MOST_PATH = 255, 4000
"""Most bytes of the name of a file or folder, and of a path, with which systems can work."""


def whole(argument: str, value: object) -> int:
    """Return a whole number in the range of its argument; see `valmatch.inputs.limits`."""
    low, high = RANGES[argument]
    if isinstance(value, Integral) and not isinstance(value, bool) and low <= int(value) <= high:
        return int(value)
    raise InputError(f"{option(argument)}: {shown(value)} (allowed: {RANGES[argument]})")


def level(argument: str, value: object) -> float:
    """Return a number between 0 and 1, not next to them, such as a confidence level."""
    low, high = LEVEL
    number = isinstance(value, Real) and not isinstance(value, bool)
    if number and low <= value <= high:  # type: ignore[operator]
        return float(value)  # type: ignore[arg-type]
    raise InputError(
        f"{option(argument)}: {shown(value)} (allowed: a number from {low!r} to {high!r})"
    )


def share(argument: str, value: object) -> float:
    """Return a number from 0 to 1."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if number and 0.0 <= value <= 1.0:  # type: ignore[operator]
        return float(value)  # type: ignore[arg-type]
    raise InputError(f"{option(argument)}: {shown(value)} (allowed: a number from 0 to 1)")


def deviation(argument: str, value: object) -> float:
    """Return a standard deviation in points."""
    low, high = DEVIATION
    number = isinstance(value, Real) and not isinstance(value, bool)
    if number and low <= value <= high:  # type: ignore[operator]
        return float(value)  # type: ignore[arg-type]
    raise InputError(
        f"{option(argument)}: {shown(value)} (allowed: points from {low:g} to {high:g})"
    )


def seconds(argument: str, value: object) -> float:
    """Return a time in seconds, math.inf for no limit."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if number and not math.isnan(value) and value >= 0:  # type: ignore[arg-type, operator]
        return float(value)  # type: ignore[arg-type]
    raise InputError(f"{option(argument)}: {shown(value)} (allowed: a number of seconds >= 0)")


def one_of(argument: str, value: object, allowed: Collection[str]) -> str:
    """Return a name that is one of some."""
    if isinstance(value, str) and value in allowed:
        return value
    meant = correction(value, allowed) if isinstance(value, str) else ""
    raise InputError(f"{option(argument)}: {shown(value)} (allowed: {' or '.join(allowed)}{meant})")


def names(argument: str, value: object) -> tuple[str, ...]:
    """Return names; a single string is one name."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and all(isinstance(name, str) for name in value):
        return tuple(value)
    what = "a string, or several in a list"
    raise InputError(f"{option(argument)}: {shown(value)} (allowed: {what})")


def path(argument: str, value: object) -> Path:
    """Return a path that was given as one or as a string."""
    if not isinstance(value, str | os.PathLike) or not str(value):
        raise InputError(f"{option(argument)}: {shown(value)} (allowed: a path)")
    try:
        encoded = str(value).encode()
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise InputError(f"{option(argument)}: {shown(str(value))} (allowed: a path in UTF-8)")
    if max(map(len, encoded.split(os.sep.encode()))) > MOST_NAME or len(encoded) > MOST_PATH:
        raise InputError(
            f"{option(argument)}: {shown(str(value))}: too long (allowed: names of at most"
            f" {MOST_NAME} bytes, {MOST_PATH} in all)"
        )
    return Path(value)
