"""Arguments of the public functions, each checked where it enters, before anything runs."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Collection, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import NamedTuple, TypeAlias

from valmatch.errors import InputError, option
from valmatch.text.suggestions import correction
from valmatch.text.terminal import shown

# The ranges of what a run can be asked for, by argument; options and configs take the same.


class Range(NamedTuple):
    """The whole numbers that an argument takes."""

    # least, most: both belong to it
    least: int
    most: int

    def __str__(self) -> str:
        return f"a whole number from {self.least} to {self.most}"


_REPLICATIONS = Range(1, 1_000_000_000)
"""The responses of a run are held in memory; an index fits into the counter of its streams."""

_SEED = Range(0, 2**64 - 1)

RANGES = {
    "n": _REPLICATIONS,
    "max_reps": _REPLICATIONS,
    "expect": _REPLICATIONS,
    # Fewer are too few to search and certify.
    "budget": Range(100, _REPLICATIONS.most),
    # Those of a run of `optimize` start at its index times 2**40.
    "macroreps": Range(1, 10_000),
    "replication": Range(0, 10**18),
    "seed": _SEED,
    # Windows cannot wait for more processes at once.
    "workers": Range(1, 61 if sys.platform == "win32" else 1000),
    "shards": Range(1, 1_000_000),
    "burn_in": Range(0, 1_000_000_000),
    "min_games": Range(0, 1_000_000_000),
    "batch": Range(1, 100_000),
    "points": Range(1, 100_000),
    "bootstrap": Range(0, 100_000),
    "cluster_days": Range(1, 1_000_000),
    "players": Range(2, 500),
    "replications": Range(2, 1_000_000),
    "max_games": Range(2, 1_000_000_000),
    "top": Range(1, 1_000_000_000),
}
"""By the name of the argument of the public functions."""

LEVEL = (1e-9, 1.0 - 1e-9)
"""Least and largest confidence level; closer to 1, an interval is only as good as its rounding."""

DEVIATION = (1e-3, 1e6)
"""Least and largest deviation in points; a smaller one says no more than a rating itself does."""

LARGEST = 1e100
"""Largest size of the numbers of a problem or a design: squares and sums of them are finite."""


PathLike: TypeAlias = "str | os.PathLike[str]"  # what a path may be given as

MOST_NAME, MOST_PATH = 255, 4000
"""Most bytes of the name of a file or folder, and of a path, with which systems can work."""


def whole(argument: str, value: object) -> int:
    """Return a whole number in the range of its argument; see `valmatch.inputs.arguments`."""
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
