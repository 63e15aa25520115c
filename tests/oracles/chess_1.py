"""SimOpt's CHESS-1 in plain Python: who arrives meets the longest waiting player close enough."""

from __future__ import annotations

import math
from collections.abc import Sequence


def chess_1(
    times: Sequence[float], ratings: Sequence[float], allowable_diff: float
) -> tuple[float, float]:
    """Return mean difference and mean wait of all (minutes), as SimOpt's later code; hours in."""
    waiting: list[int] = []
    matches, total_diff, total_wait, total_left = 0, 0.0, 0.0, 0.0
    for player, rating in enumerate(ratings):
        for place, other in enumerate(waiting):
            if abs(rating - ratings[other]) <= allowable_diff:
                matches += 1
                total_diff += abs(rating - ratings[other])
                total_wait += 60.0 * (times[player] - times[other])
                del waiting[place]
                break
        else:
            waiting.append(player)
    for player in waiting:
        total_left += 60.0 * (times[-1] - times[player])
    diff = total_diff / matches if matches else math.nan
    return diff, (total_wait + total_left) / len(times)
