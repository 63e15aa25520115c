"""The ranges of what a run can be asked for, by argument; options and configs take the same."""

from __future__ import annotations

import sys
from typing import NamedTuple


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
