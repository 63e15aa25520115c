"""Random search over the random solutions of the problem."""

from __future__ import annotations

from valmatch.optimization.solvers.search import Request, SearchTask, Steps


def random_search(task: SearchTask) -> Steps:
    """Evaluate the start and today's rule, then random solutions.

    An infeasible point never beats a feasible one: the choice is left to `PointEstimates.ranking`.
    """
    n = task.replications()
    for unit in task.problem.given.values():
        yield Request(unit, n)
    while True:
        yield Request(task.problem.random_solution(task.rng), n)
