"""Arguments of the public functions, each checked where it enters, before anything runs."""

import math
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from valmatch.errors import InputError, option
from valmatch.text.dates import ORDERS
from valmatch.text.suggestions import correction
from valmatch.text.terminal import shown


class Range(NamedTuple):
    """The whole numbers that an argument takes, its ends included."""

    least: int
    most: int


# The responses of a run are held in memory; an index fits into the counter of its streams.
_REPLICATIONS = Range(1, 1_000_000_000)

# By the name of the argument of the public functions.
RANGES = {
    "n": _REPLICATIONS,
    "max_reps": _REPLICATIONS,
    "expect": _REPLICATIONS,
    # Fewer are too few to search and certify.
    "budget": Range(100, _REPLICATIONS.most),
    # Those of a run of `optimize` start at its index times 2**40.
    "macroreps": Range(1, 10_000),
    "replication": Range(0, 10**18),
    "seed": Range(0, 2**64 - 1),
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
    "sides": Range(2, 500),
    "team": Range(1, 250),
    "variants": Range(2, 1_000_000),
    "replications": Range(2, 1_000_000),
    "max_games": Range(2, 1_000_000_000),
    "top": Range(1, 1_000_000_000),
}

# Least and largest confidence level; closer to 1, an interval is only as good as its rounding.
LEVEL = (1e-9, 1.0 - 1e-9)
# Least and largest deviation in points; a smaller one says no more than a rating itself does.
DEVIATION = (1e-3, 1e6)
# Largest size of the numbers of a problem or a design: squares and sums of them are finite.
LARGEST = 1e100
T = TypeVar("T")
PathLike: TypeAlias = "str | os.PathLike[str]"  # what a path may be given as
# Most bytes of the name of a file or folder, and of a path, with which systems can work.
MOST_NAME, MOST_PATH = 255, 4000


def whole(argument: str, value: object, range_of: str = "") -> int:
    """Return a whole number in the range of its argument, or of another one."""
    low, high = RANGES[range_of or argument]
    if isinstance(value, Integral) and not isinstance(value, bool) and low <= int(value) <= high:
        return int(value)
    raise _refused(argument, value, f"a whole number from {low} to {high}")


def real(argument: str, value: object, low: float, high: float, allowed: str) -> float:
    """Return a number that is neither too small nor too large."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and low <= value <= high:  # type: ignore[operator]
        return float(value)  # type: ignore[arg-type]
    raise _refused(argument, value, allowed)


def _within(low: float, high: float, allowed: str) -> Callable[[str, object], float]:
    """Return what takes numbers of a range, named in words."""
    return lambda argument, value: real(argument, value, low, high, allowed)


level = _within(*LEVEL, f"a number from {LEVEL[0]!r} to {LEVEL[1]!r}")
number = _within(-math.inf, math.inf, "a number")
share = _within(0.0, 1.0, "a number from 0 to 1")
deviation = _within(*DEVIATION, f"points from {DEVIATION[0]:g} to {DEVIATION[1]:g}")
seconds = _within(0.0, math.inf, "a number of seconds >= 0")


def _instance(kind: type[T], allowed: str) -> Callable[[str, object], T]:
    """Return what takes values of a type, named in words."""

    def check(argument: str, value: object) -> T:
        if isinstance(value, kind):
            return value
        raise _refused(argument, value, allowed)

    return check


text = _instance(str, "a string")
flag = _instance(bool, "True or False")
function: Callable[[str, object], Callable[..., Any]] = _instance(Callable, "a function")  # type: ignore[arg-type]


def mapping(argument: str, value: object) -> dict[str, Any]:
    """Return a mapping by names."""
    if isinstance(value, Mapping):
        return dict(value)
    raise _refused(argument, value, "a mapping")


def _refused(argument: str, value: object, allowed: str) -> InputError:
    return InputError(f"{option(argument)}: {shown(value)} (allowed: {allowed})")


def one_of(argument: str, value: object, allowed: Collection[str]) -> str:
    """Return a name that is one of some."""
    if isinstance(value, str) and value in allowed:
        return value
    meant = correction(value, allowed) if isinstance(value, str) else ""
    raise _refused(argument, value, f"{' or '.join(allowed)}{meant}")


def names(argument: str, value: object) -> tuple[str, ...]:
    """Return names; a single string is one name."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and all(isinstance(name, str) for name in value):
        return tuple(value)
    raise _refused(argument, value, "a string, or several in a list")


def path(argument: str, value: object) -> Path:
    """Return a path that was given as one or as a string."""
    if not isinstance(value, str | os.PathLike) or not str(value):
        raise _refused(argument, value, "a path")
    try:
        encoded = str(value).encode()
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise _refused(argument, str(value), "a path in UTF-8")
    if max(map(len, encoded.split(os.sep.encode()))) > MOST_NAME or len(encoded) > MOST_PATH:
        raise InputError(
            f"{option(argument)}: {shown(str(value))}: too long (allowed: names of at most"
            f" {MOST_NAME} bytes, {MOST_PATH} in all)"
        )
    return Path(value)


def date_format(name: str, value: object) -> str:
    """Return the name of an order of dates, or a pattern of `datetime.strptime`."""
    form = text(name, value)
    if form == "numbers" or form in ORDERS:
        return form
    with suppress(ValueError):
        if "%" in form and datetime.strptime(datetime(2001, 12, 31).strftime(form), form):
            return form
    allowed = f"{', '.join(ORDERS)}, numbers, or a pattern such as '%d %b %Y'"
    raise InputError(f"{option(name)}: {shown(form)} (allowed: {allowed})")
