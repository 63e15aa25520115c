"""The running sums of a replication, as every matching kernel keeps them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import at, inlined

__all__ = ["SUMS", "add_match", "add_player", "add_unmatched"]

Floats = NDArray[np.float64]
Struct = Any
"""One row of a structured array; the kernels see it as a C struct."""

SUMS = [
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
"""Fields of a kernel's state record that hold the sums of a replication."""


@inlined
def add_match(team_diff: float, player_diff: float, sums: Struct) -> None:
    """Count a match: difference of its team means; sum of its teams' rating ranges."""
    sums["matches"] += 1
    sums["team_diff"] += team_diff
    sums["player_diff"] += player_diff


@inlined
def add_player(wait: float, prioritized: bool, sums: Struct, waits: Floats) -> None:
    """Count a matched player who waited `wait` hours; `waits` keeps the minutes of each."""
    minutes = 60.0 * wait
    waits[at(sums["matched"])] = minutes
    sums["matched"] += 1
    sums["prioritized"] += int(prioritized)
    sums["wait"] += minutes
    sums["longest_wait"] = max(sums["longest_wait"], minutes)


@inlined
def add_unmatched(wait: float, prioritized: bool, sums: Struct) -> None:
    """Count a player who had waited `wait` hours when the day ended."""
    sums["unmatched"] += 1
    sums["prioritized"] += int(prioritized)
    sums["unmatched_wait"] += 60.0 * wait
