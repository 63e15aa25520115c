"""Bayesian search for a Pareto front: random weights turn the objectives into one, step by step.

As in ParEGO (Knowles 2006, IEEE Transactions on Evolutionary Computation 10), every step draws
weights and looks where the augmented Chebyshev sum of the objectives is expected to improve most;
unlike there, each objective and each constraint has a Gaussian process of its own.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats
from valmatch.optimization.solvers.bayes import LENGTH, POINTS, SHARPER, SHORTER, Surrogate
from valmatch.optimization.solvers.search import Request, SearchTask, Steps, first_looks

EXPLORED = 0.6  # share of the budget that looks for improvement; the rest sharpens the front
DIRECTIONS = 8  # in which it is sharpened, one after the other
DRAWS = 32  # of the processes by which an improvement is expected
AUGMENTED = 0.05  # share of the plain sum
MARGINS = (1.5, 0.5, 2.5)  # doubts by which the constraints hold at points of the front, in turn


class FrontSearch:
    """The search of one run."""

    def __init__(self, task: SearchTask, objectives: int) -> None:
        self._task, self._m = task, objectives
        self._surrogate = Surrogate(task)

    def steps(self, task: SearchTask) -> Steps:
        """Look where improvement is expected in random directions, then sharpen the front."""
        while task.exact and task.left > 0:  # there is nothing to sharpen
            yield from self._search(task)
        n = max(1, task.replications() // SHORTER, math.ceil(task.budget / POINTS))
        yield from first_looks(task, n)
        while task.spent + n <= EXPLORED * task.budget:
            unit = self._improving()
            if unit is None:
                break
            yield Request(unit, n)
        turn = 0
        while task.left > 0:
            weights = directions(DIRECTIONS, self._m)[turn % DIRECTIONS]
            unit = self._best(weights, MARGINS[turn % len(MARGINS)])
            known = len(task.archive.outcomes(unit))
            yield Request(unit, known + min(SHARPER * n, task.left))
            turn += 1

    def _search(self, task: SearchTask) -> Steps:
        """Search the whole cube, knowing nothing but the start."""
        self._surrogate = Surrogate(task, len(task.archive))
        yield from first_looks(task, 1)
        for _ in range(LENGTH * task.dimensions):
            unit = self._improving()
            if unit is None:
                return
            yield Request(unit, 1)

    def finalists(self, k: int) -> Floats:
        """Return up to `k` distinct points: in each direction the best of those seen for long."""
        known = self._learn()
        counts = self._surrogate.known.counts
        seen = counts >= np.quantile(counts, EXPLORED)
        chosen: list[int] = []
        for turn, weights in enumerate(directions(k, self._m)):
            worth = self._worth(known.T, weights, MARGINS[turn % len(MARGINS)])
            worth[~seen] = np.inf
            worth[chosen] = np.inf
            if np.isfinite(worth).any():
                chosen.append(int(worth.argmin()))
        return self._surrogate.known.units[chosen or [0]]

    def _learn(self) -> Floats:
        """Condition the processes; return their means at the known points, the front first."""
        surrogate = self._surrogate
        surrogate.learn()
        fitted = surrogate.at_known.T
        feasible = (fitted[:, self._m :] <= 0.0).all(axis=1) & surrogate.known.defined
        pool = np.flatnonzero(feasible if feasible.any() else surrogate.known.defined)
        if len(pool) == 0:
            pool = np.arange(len(fitted))
        objectives = fitted[pool, : self._m]
        front = pool[nondominated(objectives)]
        self._low = objectives.min(axis=0)
        self._range = np.maximum(fitted[front, : self._m].max(axis=0) - self._low, 1e-9)
        surrogate.order = self._task.rng.permutation(front)
        return fitted

    def _sum(self, objectives: Floats, weights: Floats) -> Floats:
        """Return the augmented Chebyshev sum; objectives are along the first axis."""
        shape = (-1,) + (1,) * (objectives.ndim - 1)
        away = (objectives - self._low.reshape(shape)) / self._range.reshape(shape)
        parts = weights.reshape(shape) * away
        total: Floats = parts.max(axis=0) + AUGMENTED * parts.sum(axis=0)
        return total

    def _worth(self, mean: Floats, weights: Floats, margin: float) -> Floats:
        """Return what to minimise for a point of the front; infeasible points come last."""
        doubts = margin * self._surrogate.doubt[self._m :, None]
        violation = np.maximum(0.0, mean[self._m :] + doubts).sum(axis=0)
        penalty = np.where(violation > 0.0, 1e6 * (1.0 + violation), 0.0)
        return penalty + self._sum(mean[: self._m], weights)

    def _improving(self) -> Floats | None:
        """Return the new candidate of the greatest expected improvement; None without one."""
        from scipy.special import log_ndtr

        rng, surrogate = self._task.rng, self._surrogate
        known = self._learn().T
        weights = rng.dirichlet(np.ones(self._m))
        candidates = surrogate.candidates()
        mean, deviation = surrogate.predict(candidates)
        score: Floats = log_ndtr(-mean[self._m :] / deviation[self._m :]).sum(axis=0)
        feasible = (known[self._m :] <= 0.0).all(axis=0) & surrogate.known.defined
        if feasible.any():
            best = self._sum(known[: self._m, feasible], weights).min()
            noise = rng.standard_normal((self._m, 1, DRAWS))
            drawn = mean[: self._m, :, None] + deviation[: self._m, :, None] * noise
            gain = np.maximum(0.0, best - self._sum(drawn, weights)).mean(axis=1)
            score += np.log(gain + 1e-300)
        ordered = candidates[np.argsort(-score, kind="stable")]
        return next(self._task.archive.unseen(ordered), None)

    def _best(self, weights: Floats, margin: float) -> Floats:
        """Return the point of the best means in a direction."""
        self._learn()
        front = self._surrogate.known.units[self._surrogate.order]
        candidates = np.vstack([self._surrogate.candidates(), front])
        mean, deviation = self._surrogate.predict(candidates)
        mean[self._m :] += margin * deviation[self._m :]
        chosen: Floats = candidates[self._worth(mean, weights, margin).argmin()]
        return chosen


def directions(k: int, objectives: int) -> NDArray[np.float64]:
    """Return `k` weights spread over all directions, (k, objectives), each of sum 1."""
    if objectives == 2:
        first = (np.arange(k) + 0.5) / k
        return np.column_stack([first, 1.0 - first])
    drawn = np.random.default_rng(0).dirichlet(np.ones(objectives), k)
    return np.asarray(drawn, np.float64)


def nondominated(values: Floats) -> NDArray[np.bool_]:
    """Return which rows no other row dominates: is nowhere worse than and somewhere better."""
    stays = np.ones(len(values), np.bool_)
    for k, row in enumerate(values):
        no_worse = (values <= row).all(axis=1)
        better = (values < row).any(axis=1)
        stays[k] = not (no_worse & better).any()
    return stays
