"""Choice of the best finalist and certification of its feasibility on fresh replications.

Stage 1 simulates all finalists and picks up to `CANDIDATES` of them: the best of those likely to
pass the test, the best of those very likely to, and so on. Stage 2 simulates these candidates on
replications that nothing was chosen by, and tests each once: a candidate is called feasible if the
upper confidence bound of every constraint's excess is <= 0. Each test has the error probability
alpha / CANDIDATES (Bonferroni), and all constraints of a point must pass (an intersection-union
test), so that an infeasible point is called feasible with probability at most alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from valmatch.optimization.problem import Problem
from valmatch.statistics import t_quantile

__all__ = ["Certificate", "certify"]

Floats = NDArray[np.float64]
Evaluate = Callable[[Floats, int], Floats]
"""(point of the unit cube, n) -> (n, 1 + constraints) outcomes of its first n replications."""

CANDIDATES = 3
PASSING = (0.6, 0.9, 0.99)
"""Least probability of passing with which the candidates are picked, one after the other."""

STAGE_1_SHARE = 0.4
MOST = (2_000, 20_000)
"""Replications of a point in either stage beyond which more would be idle."""


@dataclass(frozen=True)
class Certificate:
    """The recommended point and what fresh replications say about it.

    Attributes
    ----------
    unit : the point in the unit cube
    outcomes : (n, 1 + constraints) of stage 2
    feasible : True, False (every candidate violates a constraint, by its lower confidence bound),
        or None for undecided
    undefined : replications of the point in which a response is undefined
    spent : replications of both stages
    alpha : probability of calling an infeasible point feasible, at most
    """

    unit: Floats
    outcomes: Floats
    feasible: bool | None
    undefined: int
    spent: int
    alpha: float


def certify(
    problem: Problem,
    finalists: Sequence[Floats],
    stages: tuple[Evaluate, Evaluate],
    budget: int,
    alpha: float,
) -> Certificate:
    """Pick the best finalist and test whether it is feasible.

    Parameters
    ----------
    problem : Problem
        What is optimised.
    finalists : sequence of (d,) float64
        Distinct points of the unit cube, best guess first; at least one.
    stages : two functions
        Evaluations on replications of stage 1 and of stage 2, neither of which the search used.
    budget : int
        Replications for both stages, at least 10.
    alpha : float
        Probability of calling an infeasible point feasible, at most.
    """
    finalists = finalists[: max(1, int(STAGE_1_SHARE * budget) // 5)]
    spent = 0
    candidates = list(finalists)
    later = budget // min(CANDIDATES, len(finalists))
    if len(finalists) > 1:
        n = min(MOST[0], int(STAGE_1_SHARE * budget) // len(finalists))
        spent = n * len(finalists)
        later = (budget - spent) // min(CANDIDATES, len(finalists))
        looks = [_Look(point, stages[0](point, n), later, alpha) for point in finalists]
        candidates = _pick(looks)
    n = min(MOST[1], later)
    spent += n * len(candidates)
    finals = [_Look(point, stages[1](point, n), n, alpha) for point in candidates]
    chosen = min(finals, key=lambda look: (not look.passes, look.rank))
    feasible = True if chosen.passes else None
    if all(look.fails for look in finals):
        feasible = False
    return Certificate(chosen.unit, chosen.outcomes, feasible, chosen.undefined, spent, alpha)


class _Look:
    """What some replications of a point say, and how likely it is to pass a test with `later`."""

    def __init__(self, unit: Floats, outcomes: Floats, later: int, alpha: float) -> None:
        self.unit, self.outcomes = unit, outcomes
        self.undefined = int(np.isnan(outcomes).any(axis=1).sum())
        n = len(outcomes)
        if self.undefined:
            self.objective, self.violation, self.chance = math.inf, math.inf, 0.0
            self.passes, self.fails = False, True
            return
        self.objective = float(outcomes[:, 0].mean())
        excess, spread = outcomes[:, 1:].mean(axis=0), outcomes[:, 1:].std(axis=0, ddof=1)
        self.violation = float(excess.max(initial=0.0))
        level = 1.0 - alpha / CANDIDATES
        margin = t_quantile(level, n - 1) * spread / math.sqrt(n)
        self.passes = bool((excess + margin <= 0.0).all())
        self.fails = bool((excess - margin > 0.0).any())
        needed = t_quantile(level, later - 1) * spread / math.sqrt(later)
        error = np.maximum(spread, 1e-300) * math.sqrt(1.0 / n + 1.0 / later)
        scores = -(excess + needed) / error
        self.chance = float(0.5 * math.erfc(-scores.min(initial=40.0) / math.sqrt(2.0)))

    @property
    def rank(self) -> tuple[float, float]:
        """Sort key among points that all pass or all do not: violation, then objective."""
        return (0.0 if self.passes else self.violation), self.objective


def _pick(looks: Sequence[_Look]) -> list[Floats]:
    """Return the candidates for stage 2; at least one, the least violating if all look bad."""
    picked: list[_Look] = []
    for least in PASSING:
        likely = [look for look in looks if look.chance >= least and look not in picked]
        if likely:
            picked.append(min(likely, key=lambda look: look.objective))
    rest = [look for look in looks if look not in picked]
    while rest and len(picked) < CANDIDATES:
        best = max(rest, key=lambda look: (look.chance, -look.violation, -look.objective))
        picked.append(best)
        rest.remove(best)
    return [look.unit for look in picked]
