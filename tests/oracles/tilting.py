"""The likelihood of a multinomial whose mean is held, by direct constrained optimisation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from valmatch.kernels.arrays import Floats


def largest_likelihood(weights: Sequence[float], mean: float) -> float:
    """Return the greatest sum of w ln q over chances q with a mean, by Newton with halved steps."""
    w = np.array(weights)
    points = np.linspace(0.0, 1.0, len(w))
    held = np.vstack([np.ones(len(w)), points])
    free = np.linalg.svd(held)[2][2:].T
    # Even chances, and enough on one of the ends for the mean.
    end = np.zeros(len(w))
    end[-1 if mean > 0.5 else 0] = 1.0
    share = abs(mean - 0.5) / 0.5
    q: Floats = (1.0 - share) / len(w) + share * end

    def value(chances: Floats) -> float:
        return float(w @ np.log(chances)) if (chances > 0.0).all() else -np.inf

    for _ in range(500):
        gradient = free.T @ (w / q)
        hessian = (free.T * (w / q**2)) @ free
        step = free @ np.linalg.solve(hessian, gradient)
        share = 1.0
        while share > 1e-12 and value(q + share * step) < value(q):
            share *= 0.5
        if share <= 1e-12:
            break
        q = q + share * step
        if np.abs(step).max() < 1e-16:
            break
    return value(q)


def llr(weights: Sequence[float], first: float, second: float) -> float:
    """Return the log likelihood ratio of two means."""
    return largest_likelihood(weights, second) - largest_likelihood(weights, first)
