"""The drift that makes a log most likely: Laplace's approximation of its evidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from valmatch.kernels.threads import one_thread
from valmatch.ratings.bradley_terry.connections import Levels, Linked
from valmatch.ratings.bradley_terry.contests import Contests
from valmatch.ratings.bradley_terry.estimating import Estimate, estimate
from valmatch.ratings.bradley_terry.fit import POINTS
from valmatch.ratings.whole_history.fronts import Fronts, fronts_of, in_time, log_determinant
from valmatch.ratings.whole_history.rating import LEAST_DRIFT, PathModel

GRID = (0.0, *(0.1 * 2.0**k for k in range(13)))
"""Drifts that are tried first, in points a square-root day: none, then .1 to 410."""

CLOSE = 1e-4  # how close the logarithm of the drift is searched for
MOST_WORK = 3e11  # multiplications for one drift: about half a minute; some thirty are tried


class TooLarge(Exception):  # noqa: N818 - it is no failure of the program
    """Too many players are active at once for the evidence of a log."""


def log_evidence(model: PathModel, found: Estimate) -> float:
    """Return the logarithm of the evidence of a drift, but for what is the same for all drifts.

    That is the greatest log density plus half the log ratio of the determinants of the prior's
    second derivatives and of all: what the games leave of the width of the prior. In points, and
    ln nu; coefficients have a flat prior of density 1.
    """
    prior, problem, size = model.prior, found.problem, found.fit.information.size
    moments = model.days.days if model.drift >= LEAST_DRIFT else model.days.players[:0]
    order = in_time(moments, size)
    steps: Fronts = fronts_of(found.fit.information.whole(), order)
    if steps.work > MOST_WORK:
        raise TooLarge
    with one_thread():  # for products that are small, and many
        whole = log_determinant(steps)
    n = problem.n_players
    more = size - n
    odds = n + len(found.coefficients)  # so many are in log odds
    whole += 2.0 * odds * math.log(POINTS)
    before = prior.log_determinant + 2.0 * n * math.log(POINTS)
    density = found.fit.log_likelihood - prior.penalty(found.fit.place[:n])
    return density + 0.5 * (before - whole) + 0.5 * more * math.log(2.0 * math.pi)


class Tuned(NamedTuple):
    """The best drift."""

    drift: float  # points a square-root day
    evidence: float  # logarithm of its evidence
    unmoved: float  # that of no drift


def tuned_drift(
    model: PathModel,
    contests: Contests,
    levels: Levels,
    linked: Linked,
    told: Callable[[], None] = lambda: None,
) -> Tuned:
    """Return the drift of the greatest evidence.

    It is looked for among those of `GRID`, then between the neighbours of the best one by Brent's
    method in its logarithm.
    """
    known: dict[float, float] = {}
    before: Estimate | None = None
    design = model.design(contests)

    def evidence(drift: float) -> float:
        nonlocal before
        told()
        own = replace(model, drift=drift)
        if drift < LEAST_DRIFT:
            found = estimate(own.design(contests), levels, own, linked, contests.weights)
        else:
            found = estimate(design, levels, own, linked, contests.weights, before)
            before = found
        known[drift] = log_evidence(own, found)
        return known[drift]

    for drift in GRID:
        evidence(drift)
    best = max(GRID, key=known.__getitem__)
    if best > 0.0:
        from scipy.optimize import minimize_scalar

        low, high = math.log(0.5 * best), math.log(min(2.0 * best, GRID[-1]))
        minimize_scalar(
            lambda log: -evidence(math.exp(log)),
            bounds=(low, high),
            method="bounded",
            options={"xatol": CLOSE},
        )
        best = max(known, key=known.__getitem__)
    return Tuned(best, known[best], known[0.0])
