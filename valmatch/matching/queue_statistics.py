"""The sums that are kept of a queue while it runs, whatever its rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import at, inlined, shared

Floats = NDArray[np.float64]
Records = NDArray[np.void]
Struct = Any
"""One row of a structured array; the kernels see it as a C struct."""

STATISTICS = np.dtype(
    [
        ("matches", "i8"),
        ("matched", "i8"),  # players
        ("unmatched", "i8"),
        ("prioritized", "i8"),  # players who became so, matched or not
        ("wait", "f8"),  # minutes, of matched players
        ("longest_wait", "f8"),  # minutes, of a matched player
        ("unmatched_wait", "f8"),  # minutes up to the horizon
        ("team_diff", "f8"),  # Elo points, differences of team means
        ("player_diff", "f8"),  # Elo points, rating ranges of matched teams
    ]
)


@shared
def clear(statistics: Records) -> None:
    """Set all sums to 0 for the next replication."""
    statistics.view(np.uint8)[:] = 0


@inlined
def add_match(team_diff: float, player_diff: float, statistics: Struct) -> None:
    """Count a match: difference of its team means; sum of its teams' rating ranges."""
    statistics["matches"] += 1
    statistics["team_diff"] += team_diff
    statistics["player_diff"] += player_diff


@inlined
def add_player(wait: float, prioritized: bool, statistics: Struct, waits: Floats) -> None:
    """Count a matched player who waited `wait` hours; `waits` keeps the minutes of each."""
    minutes = 60.0 * wait
    waits[at(statistics["matched"])] = minutes
    statistics["matched"] += 1
    statistics["prioritized"] += int(prioritized)
    statistics["wait"] += minutes
    statistics["longest_wait"] = max(statistics["longest_wait"], minutes)


@inlined
def add_unmatched(wait: float, prioritized: bool, statistics: Struct) -> None:
    """Count a player who had waited `wait` hours when the day ended."""
    statistics["unmatched"] += 1
    statistics["prioritized"] += int(prioritized)
    statistics["unmatched_wait"] += 60.0 * wait
