"""Solvers of users: objects that propose points and observe what they are worth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from valmatch.kernels.arrays import Floats
from valmatch.optimization.problem import Problem
from valmatch.optimization.solvers.search import Request, SearchTask, Steps
from valmatch.text.terminal import one_line, shown

ROUNDING = 1e-9  # by how much a coordinate may step over its bounds, as rounding makes some do


class UserSolver(Protocol):
    """A search for the best point of the unit cube."""

    # It may have an attribute `replications`: how many each proposal of a point gives it from
    # then on; without one, as many as the first looks of the other solvers.

    def propose(self) -> ArrayLike:
        """Return points to be simulated, a row of coordinates from 0 to 1 each; none to end.

        A point that is proposed again gets further replications.
        """

    def observe(self, points: Floats, values: Floats) -> None:
        """Take what the proposed points are worth, by all of their replications so far.

        Shapes: `points` (k, variables); `values` (k, 1 + constraints).
        """


# (problem, replications that the search may spend, source of all random numbers) -> a solver
SolverFactory: TypeAlias = Callable[[Problem, int, np.random.Generator], UserSolver]


class _Failed(Exception):  # noqa: N818 - it ends a search, not the run
    """Says what a solver did that ends its search."""


def steps_of_user(factory: SolverFactory) -> Callable[[SearchTask], Steps]:
    """Return the search that the solvers of a factory make; what one does wrong ends it."""

    def steps(task: SearchTask) -> Steps:
        try:
            yield from _search(factory, task)
        except _Failed as failure:
            task.failure = one_line(str(failure))

    return steps


def _search(factory: SolverFactory, task: SearchTask) -> Steps:
    """Show the start to a new solver, then what it proposes."""
    first_look = task.replications()
    outcomes = yield Request(task.start, first_look)
    points, values = task.start[None], outcomes.mean(axis=0)[None]
    solver = _call("", factory, task.problem, task.left, task.rng)
    while True:
        _call("observe", solver.observe, points.copy(), values)
        points = _points(_call("propose", solver.propose), task)
        if len(points) == 0:
            return
        n = getattr(solver, "replications", first_look)
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
            raise _Failed(f"replications is {shown(n)} (allowed: a whole number >= 1)")
        means = []
        for unit in points:
            known = len(task.archive.outcomes(unit))
            outcomes = yield Request(unit, known + int(n))
            means.append(outcomes.mean(axis=0))
        values = np.array(means)


def _call(name: str, function: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401
    """Call a method of a user."""
    try:
        return function(*arguments)
    except (Exception, SystemExit) as error:
        at = f"{name}: " if name else ""
        raise _Failed(f"{at}{type(error).__name__}: {error}") from error


def _points(proposed: object, task: SearchTask) -> Floats:
    """Return proposed points, rounding undone."""
    d = task.dimensions
    allowed = f"allowed: rows of {d} numbers from 0 to 1, or [] to end the search"
    if proposed is None:
        raise _Failed(f"propose returned nothing ({allowed})")
    try:
        points = np.atleast_2d(np.asarray(proposed, dtype=np.float64))
    except (TypeError, ValueError):
        raise _Failed(f"propose returned {shown(proposed)} ({allowed})") from None
    if points.size == 0:
        return np.empty((0, d))
    if points.ndim != 2 or points.shape[1] != d:
        raise _Failed(f"propose returned an array of shape {points.shape} ({allowed})")
    outside = ~((points >= -ROUNDING) & (points <= 1.0 + ROUNDING))
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise _Failed(
            f"proposed {points[row, column]:.6g} for {task.problem.variables[column].name}"
            " (allowed: from 0 to 1, which stand for its bounds)"
        )
    clipped: Floats = np.clip(points, 0.0, 1.0)
    return clipped
