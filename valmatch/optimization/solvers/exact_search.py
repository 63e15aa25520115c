"""Bayesian optimisation where evaluations are exact, as on one log, and the best one is the answer.

Outcomes of one history are rough: a small move lets other players meet, which shifts a percentile
of waits by a per cent or more. For the Gaussian processes this roughness is noise, and searches end
in different places: a large budget makes several of them, one after the other, and looks around the
best points of all with what is left. There roughness is no error, since what was evaluated is so:
improvement is expected over the best value seen, roughness included.
"""

from __future__ import annotations

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.optimization.solvers.bayes import CENTRES, Surrogate, log_improvement, scattered
from valmatch.optimization.solvers.penalty import latin_hypercube
from valmatch.optimization.solvers.search import PointEstimates, Request, SearchTask, Steps

# Points of one search, for each variable; then the next one starts.
LENGTH = 40
# Share of the budget, about, that goes to searches over the whole cube.
WIDE = 0.7
# Points around a good one that the processes are conditioned on in the end.
AROUND = 150
# Points that are proposed at once in the end, each the best of so many candidates.
AT_ONCE, CANDIDATES = 5, 40
# Sizes of moves around the best points: powers of ten.
SIZES = -3.0, -0.8
# Random points of which one may be new, before all are taken to be known.
DRAWN = 1000


def exact_search(task: SearchTask) -> Steps:
    """Search several times, then around the best points, until nothing is left or new."""
    for unit in task.problem.given.values():
        yield Request(unit, 1)
    length = LENGTH * task.dimensions
    before = 0
    while before < task.spent and task.spent + length / 2 <= WIDE * task.budget:
        before = task.spent
        yield from _search(task, length)
    around = _Around(task)
    while units := around.proposed() or _anywhere(task):
        for unit in units:
            yield Request(unit, 1)


def _search(task: SearchTask, length: int) -> Steps:
    """Search over the whole cube, knowing nothing but the start."""
    first, end = len(task.archive), task.spent + length
    for unit in latin_hypercube(task.rng, 2 * task.dimensions + 1, task.dimensions):
        yield Request(unit, 1)
    model = Since(task, first)
    while task.spent < end and (unit := model.improving()) is not None:
        yield Request(unit, 1)


def _anywhere(task: SearchTask) -> list[Floats]:
    """Return a point that is new, as all around the best ones are known; none without one."""
    units = task.rng.random((DRAWN, task.dimensions))
    return [unit for unit in units if len(task.archive.outcomes(unit)) == 0][:1]


class Since(Surrogate):
    """What the start and the points of one search say of all others."""

    def __init__(self, task: SearchTask, first: int) -> None:
        super().__init__(task)
        self._first = first

    def points(self) -> tuple[PointEstimates, Floats]:
        """Return the start and the points since the first one."""
        known, parts = super().points()
        places = [0, *range(max(1, self._first), len(known.units))]
        return known.take(places), parts[places]


class _Around(Surrogate):
    """What the points around one of the best say of others near it, roughness included."""

    def points(self) -> tuple[PointEstimates, Floats]:
        """Return the points around one of the best, another one each time."""
        known, parts = super().points()
        best = known.ranking()[:CENTRES]
        self._centre = known.units[best[self._task.rng.integers(len(best))]]
        distances = ((known.units - self._centre) ** 2).sum(axis=1)
        places = np.argsort(distances, kind="stable")[:AROUND]
        return known.take(places.tolist()), parts[places]

    def proposed(self) -> list[Floats]:
        """Return new points of great expected feasible improvement; none without one."""
        self.learn()
        new = {}
        for _ in range(AT_ONCE):
            units = self._near()
            if len(units) > 0:
                unit = units[self._scores(units).argmax()]
                new[tuple(self._task.problem.point(unit).values())] = unit
        return [*new.values()]

    def _near(self) -> Floats:
        """Return points near the good one that are not known."""
        units = scattered(self._task.rng, np.tile(self._centre, (CANDIDATES, 1)), SIZES)
        new: Floats = units[[len(self._task.archive.outcomes(unit)) == 0 for unit in units]]
        return new

    def _scores(self, units: Floats) -> Floats:
        """Return the logarithm of the improvement over the best value that is expected."""
        from scipy.special import log_ndtr

        mean, deviation = self.predict(units)
        deviation = np.hypot(deviation, self.roughness()[:, None])
        score: Floats = log_ndtr(-mean[1:] / deviation[1:]).sum(axis=0)
        known = self._task.archive.estimates()
        feasible = known.violation() == 0.0
        if feasible.any():
            best = known.means[feasible, 0].min() / self.scale[0]
            score += log_improvement((best - mean[0]) / deviation[0]) + np.log(deviation[0])
        return score
