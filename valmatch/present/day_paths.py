"""Ratings by player and day, read from ``days.csv``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.present.source import RunFiles
from valmatch.storage.result_files import damaged

DAYS = "days.csv"
DATES, TIMES = "date (UTC)", "day"
"""What paths are drawn over."""


class DayPath(NamedTuple):
    """The ratings of a player."""

    days: Floats  # (days,) when he played, in days, since 1970 if they are dates
    # ratings, low, high: (days,) ratings and the ends of their intervals; NaN without intervals
    ratings: Floats
    low: Floats
    high: Floats


def read_paths(run: RunFiles, players: Sequence[str]) -> tuple[dict[str, DayPath], str]:
    """Return the ratings of some players, in their order, and over what they are.

    Rows stream through, because there may be many.
    """
    found: dict[str, list[list[float]]] = {name: [] for name in players}
    over = TIMES
    with damaged(run.folder / DAYS):
        for name, day, *cells in run.rows(DAYS, ("player", "day", "rating", "low", "high")):
            if name not in found:
                continue
            if "-" in day[1:]:
                over = DATES
                at = float(np.datetime64(day, "D").astype(np.int64))
            else:
                at = float(day)
            found[name].append([at, *(float(cell) if cell else np.nan for cell in cells)])
    paths = {
        name: DayPath(*np.array(rows, np.float64).reshape(-1, 4).T) for name, rows in found.items()
    }
    return paths, over
