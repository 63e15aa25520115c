"""Balance of measurements adapted from a procedure of ranking and selection for a target.

The procedure is BOLD (Balancing Optimal Large Deviations, by Chen and Ryzhov). It balances by the
conditions of Glynn and Juneja (2004) on the shares of measurements that are optimal as their number
grows, and seeks the largest value. What is here is derived from it for the least distance from a
target; that its shares are optimal, too, is not shown. An alternative seems nearer than the nearest
one if their difference, or their sum, seen from the target, changes its sign. Both have the same
variance, and the likelier one has to bridge the difference of the two distances, which takes the
place of that of values.
"""

from __future__ import annotations

import math

from valmatch.kernels.compilation import expanded
from valmatch.policies.target.aim import Aim
from valmatch.policies.target.simple import choose_nearest


@expanded
def choose(aim: Aim) -> int:
    """Return the nearest alternative or the one likeliest to be mistaken for it, in balance.

    Measurements are counted by precisions, so that the prior counts as those it is worth. The
    nearest is measured while its squared count is below the sum of those of all others.
    """
    nearest = choose_nearest(aim)
    others = 0.0
    for j in range(aim.means.size):
        if j != nearest:
            others += 1.0 / (aim.variances[j] * aim.variances[j])
    own = aim.variances[nearest]
    if 1.0 / (own * own) < others or aim.means.size == 1:
        return nearest
    chosen, least = nearest, math.inf
    for j in range(aim.means.size):
        if j != nearest:
            gap = abs(aim.means[j] - aim.target) - abs(aim.means[nearest] - aim.target)
            rate = gap * gap / (own + aim.variances[j])
            if rate < least:
                chosen, least = j, rate
    return chosen
