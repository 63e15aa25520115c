"""Choice of the best finalist and certification of its feasibility on fresh replications.

Stage 1 simulates all finalists and picks up to three of them: the best of those as likely as not to
pass the test, of those likely to, and of those nearly certain to. What the search knows of them
counts as well. Stage 2 simulates these candidates on replications that nothing was chosen by, and
tests them one after the other, the safest first: a candidate is called feasible if the upper
confidence bound of every constraint's excess is <= 0, and the first that is not ends the tests.
Each test has the full error probability alpha (a fixed-sequence procedure: Maurer, Hothorn &
Lehmacher 1995), and all constraints of a point must pass (an intersection-union test): calling any
infeasible point feasible takes passing the test of the first infeasible one, which happens with
probability at most alpha.

The bounds are Student's, widened for skewed outcomes as in Johnson (1978), "Modified t tests and
confidence intervals for asymmetrical populations", JASA 73: the waits of a day are skewed to the
right, and uncorrected bounds fail on up to 6 % of samples instead of 5 %. `RESERVE` covers what
that leaves on small samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from valmatch.optimization.solvers.search import PointEstimates
from valmatch.statistics.estimates import t_quantile

__all__ = ["Certificate", "FeasibilityTest", "certify", "replications_of_test"]

Floats = NDArray[np.float64]
Evaluate = Callable[[Floats, int], Floats]
"""(point of the unit cube, n) -> (n, 1 + constraints) outcomes of its first n replications."""

PASSING = (0.5, 0.9, 0.995)
"""Least probability of passing with which the candidates are picked, one after the other."""

STAGE_1_SHARE = 0.4
LEAST = 5
"""Replications of a finalist in stage 1, at least."""

RESERVE = 0.7
"""Share of alpha at which the bounds are taken."""

MOST = (2_000, 20_000)
"""Replications of a point in either stage beyond which more would be idle."""


@dataclass(frozen=True)
class Certificate:
    """The point that a run came to and what fresh replications say about it.

    Attributes
    ----------
    unit : numpy.ndarray
        The point in the unit cube.
    outcomes : numpy.ndarray
        (n, 1 + constraints): of stage 2.
    feasible : bool or None
        True, False (every candidate violates a constraint, by its lower confidence bound), or None
        for undecided.
    undefined : int
        Replications of the point in which a response is undefined.
    spent : int
        Replications of both stages.
    alpha : float
        Probability of calling an infeasible point feasible, at most.
    """

    unit: Floats
    outcomes: Floats
    feasible: bool | None
    undefined: int
    spent: int
    alpha: float


def replications_of_test(budget: int) -> int:
    """Return the replications that stage 2 gives a candidate, of a budget for both stages."""
    return max(1, min(MOST[1], (budget - int(STAGE_1_SHARE * budget)) // len(PASSING)))


def certify(
    finalists: PointEstimates, stages: tuple[Evaluate, Evaluate], budget: int, alpha: float
) -> Certificate:
    """Pick the best finalist and test whether it is feasible.

    Parameters
    ----------
    finalists : PointEstimates
        Distinct points, best guess first, with what the search knows of them; at least one.
    stages : tuple of callable
        Evaluations on replications of stage 1 and of stage 2, neither of which the
        search used.
    budget : int
        Replications for both stages, at least 10.
    alpha : float
        Probability of calling an infeasible point feasible, at most.
    """
    count = min(len(finalists.units), max(1, int(STAGE_1_SHARE * budget) // LEAST))
    spent, n = 0, min(MOST[1], budget)
    candidates = [finalists.units[0]]
    if count > 1:
        first = min(MOST[0], int(STAGE_1_SHARE * budget) // count)
        spent = first * count
        n = min(MOST[1], (budget - spent) // len(PASSING))
        looks = [
            _Look(finalists.take([k]), stages[0](finalists.units[k], first), n, alpha)
            for k in range(count)
        ]
        candidates = _pick(looks)
    tests = [FeasibilityTest(unit, stages[1](unit, n), alpha) for unit in candidates]
    passed = []
    for test in tests:
        if not test.passes:
            break
        passed.append(test)
    chosen = min(passed or tests, key=lambda test: (test.violation, test.objective))
    feasible = True if passed else None
    if all(test.fails for test in tests):
        feasible = False
    spent += n * len(tests)
    return Certificate(chosen.unit, chosen.outcomes, feasible, chosen.undefined, spent, alpha)


class FeasibilityTest:
    """The test of a candidate on its outcomes in stage 2."""

    def __init__(self, unit: Floats, outcomes: Floats, alpha: float) -> None:
        self.unit, self.outcomes = unit, outcomes
        self.undefined = int(np.isnan(outcomes).any(axis=1).sum())
        self.objective, self.violation = math.inf, math.inf
        self.passes, self.fails = False, True
        if self.undefined:
            return
        mean = outcomes.mean(axis=0)
        excess, (below, above) = mean[1:], _margins(outcomes[:, 1:], len(outcomes), alpha)
        self.objective, self.violation = float(mean[0]), float(excess.max(initial=0.0))
        self.passes = bool((excess + above <= 0.0).all())
        self.fails = bool((excess - below > 0.0).any())


class _Look:
    """A finalist after stage 1, and how likely it is to pass a test with `later` replications."""

    def __init__(self, known: PointEstimates, outcomes: Floats, later: int, alpha: float) -> None:
        self.unit = known.units[0]
        self.objective, self.violation, self.chance = math.inf, math.inf, 0.0
        if np.isnan(outcomes).any():
            return
        mean, deviation = outcomes.mean(axis=0), outcomes.std(axis=0, ddof=1)
        variance = deviation**2 / len(outcomes)
        # Weighted with what the search found; an error of 0 says that it knows of none.
        before = known.errors[0] ** 2
        weight = np.where(before > 0.0, before / np.maximum(before + variance, 1e-300), 1.0)
        mean = weight * mean + (1.0 - weight) * known.means[0]
        self.objective, self.violation = float(mean[0]), float(mean[1:].max(initial=0.0))
        needed = mean[1:] + _margins(outcomes[:, 1:], later, alpha)[1]
        error = np.sqrt(weight * variance + deviation**2 / later)[1:]
        scores = -needed / np.maximum(error, 1e-300)
        self.chance = float(0.5 * math.erfc(-scores.min(initial=40.0) / math.sqrt(2.0)))


def _margins(outcomes: Floats, n: int, alpha: float) -> tuple[Floats, Floats]:
    """Return how far one-sided confidence bounds lie below and above the mean of `n` outcomes.

    Their spread and skewness are those of `outcomes`, which may be fewer.
    """
    centred = outcomes - outcomes.mean(axis=0)
    deviation = outcomes.std(axis=0, ddof=1)
    skewness = (centred**3).mean(axis=0) / np.maximum(deviation, 1e-100) ** 3
    quantile = t_quantile(1.0 - RESERVE * alpha, n - 1)
    shift = skewness * (1.0 + 2.0 * quantile**2) / (6.0 * math.sqrt(n))
    error = deviation / math.sqrt(n)
    below, above = (error * (quantile + np.maximum(side, 0.0)) for side in (-shift, shift))
    return below, above


def _pick(looks: Sequence[_Look]) -> list[Floats]:
    """Return the candidates for stage 2, the safest first; the least violating if all look bad."""
    picked: list[_Look] = []
    for least in PASSING:
        likely = [look for look in looks if look.chance >= least and look not in picked]
        if likely:
            picked.append(min(likely, key=lambda look: look.objective))
    rest = [look for look in looks if look not in picked]
    while rest and len(picked) < len(PASSING):
        best = max(rest, key=lambda look: (look.chance, -look.violation, -look.objective))
        picked.append(best)
        rest.remove(best)
    return [look.unit for look in sorted(picked, key=lambda look: -look.chance)]
