"""Arguments of the public functions, each checked where it enters, before anything runs."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import TypeAlias

from valmatch.errors import InputError, option
from valmatch.nearest import correction

__all__ = ["PathLike", "level", "names", "one_of", "path", "seconds", "whole"]

PathLike: TypeAlias = "str | os.PathLike[str]"
"""What a path may be given as."""


def whole(argument: str, value: object, least: int) -> int:
    """Return a whole number of at least `least`.

    Raises
    ------
    InputError
        If it is none; a bool is none.
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least:
        return int(value)
    raise InputError(f"{option(argument)}: {value!r} (allowed: a whole number >= {least})")


def level(argument: str, value: object) -> float:
    """Return a number between 0 and 1, such as a confidence level.

    Raises
    ------
    InputError
        If it is none.
    """
    if isinstance(value, Real) and not isinstance(value, bool) and 0.0 < float(value) < 1.0:
        return float(value)
    raise InputError(f"{option(argument)}: {value!r} (allowed: a number > 0 and < 1)")


def seconds(argument: str, value: object) -> float:
    """Return a time in seconds, math.inf for no limit.

    Raises
    ------
    InputError
        If it is no number >= 0.
    """
    number = isinstance(value, Real) and not isinstance(value, bool)
    if number and not math.isnan(value) and value >= 0:  # type: ignore[arg-type, operator]
        return float(value)  # type: ignore[arg-type]
    raise InputError(f"{option(argument)}: {value!r} (allowed: a number of seconds >= 0)")


def one_of(argument: str, value: object, allowed: Collection[str]) -> str:
    """Return a name that is one of some.

    Raises
    ------
    InputError
        If it is not.
    """
    if isinstance(value, str) and value in allowed:
        return value
    meant = correction(value, allowed) if isinstance(value, str) else ""
    raise InputError(f"{option(argument)}: {value!r} (allowed: {' or '.join(allowed)}{meant})")


def names(argument: str, value: object) -> tuple[str, ...]:
    """Return names; a single string is one name.

    Raises
    ------
    InputError
        If it is neither a string nor a sequence of strings.
    """
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and all(isinstance(one, str) for one in value):
        return tuple(value)
    raise InputError(f"{option(argument)}: {value!r} (allowed: a string, or several in a list)")


def path(argument: str, value: object) -> Path:
    """Return a path that was given as one or as a string.

    Raises
    ------
    InputError
        If it is neither, or empty.
    """
    if isinstance(value, str | os.PathLike) and str(value):
        return Path(value)
    raise InputError(f"{option(argument)}: {value!r} (allowed: a path)")
