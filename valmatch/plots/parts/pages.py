"""Pages of figures with too many panels: named after the first, with -2, -3 and so on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from matplotlib.figure import Figure

from valmatch.models.model import Response

T = TypeVar("T")

MOST_ROWS = 8  # rows of panels of a figure beyond which a page or a screen shows none of them well


def pages_of(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """Return items in parts of at most so many, of about the same length.

    Examples
    --------
    >>> pages_of("abcdefg", 3)
    ['abc', 'de', 'fg']
    """
    count = math.ceil(len(items) / max(1, most))
    length, longer = divmod(len(items), max(1, count))
    starts = [k * length + min(k, longer) for k in range(count + 1)]
    return [items[a:b] for a, b in pairwise(starts)]


DIVISIONS = {"rating": "bands", "hour": "hours", "weekday": "weekdays"}
"""What figures of parts are called after, by what is divided."""


def named(name: str, division: str) -> str:
    """Return the name of the figure of a division of `by_division`."""
    return f"{name}-{DIVISIONS.get(division, division)}" if division else name


def numbered(name: str, figures: Sequence[Figure]) -> dict[str, Figure]:
    """Return figures by the name of the first: name, name-2, name-3 and so on."""
    return {f"{name}-{k}" if k > 1 else name: figure for k, figure in enumerate(figures, 1)}


def by_division(names: Sequence[str], known: Mapping[str, Response]) -> dict[str, list[str]]:
    """Return names of responses by what they are parts of: "" for none, "rating", "hour"."""
    found: dict[str, list[str]] = {}
    for name in names:
        part = known[name].part if name in known else None
        found.setdefault(part.of if part else "", []).append(name)
    return found
