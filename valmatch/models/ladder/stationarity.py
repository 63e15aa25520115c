"""Whether the scale of the ratings has settled when a run ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MOST = 0.05
"""Change of the scale, as a share of it, up to which it counts as settled."""

SCALE_MOVES = (
    "the mean daily scale_stretch of the last third of the measured days differs by more than"
    f" {100 * MOST:g} % from the middle third's: the ratings may have no stationary scale"
)


def scale_moves(stretches: Sequence[float]) -> bool:
    """Return whether the mean of the last third differs too much from the middle third's.

    Parameters
    ----------
    stretches : sequence of float
        scale_stretch at the end of each measured day; NaN where undefined, which does not count.
    """
    _, middle, last = np.array_split(np.array(stretches, np.float64), 3)
    middle, last = middle[~np.isnan(middle)], last[~np.isnan(last)]
    if not middle.size or not last.size:
        return False
    return bool(abs(last.mean() - middle.mean()) > MOST * middle.mean())
