"""The solvers by name, and those of users."""

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from valmatch.errors import InputError, option
from valmatch.kernels.arrays import Floats
from valmatch.kernels.plugins import Extended
from valmatch.optimization.problem import Problem
from valmatch.optimization.solvers.search import Request, Search, SearchTask, Steps
from valmatch.text.suggestions import correction
from valmatch.text.terminal import one_line, shown

ROUNDING = 1e-9  # by how much a coordinate may step over its bounds, as rounding makes some do

# Share of a whole budget that is kept for simulating the finalists on fresh replications.
CERTIFICATION_SHARE = 0.3

# Entry points by which other packages bring solvers: ``name = "module:factory"``.
GROUP = "valmatch.solvers"

AUTO, BEST = "auto", "bayes"  # the solver that is taken where none is named, and which one that is


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


@dataclass(frozen=True)
class SolverEntry:
    """What is known of a solver without importing its code."""

    summary: str  # what it does, in one line
    path: str = ""  # ``module:function`` of the steps of one of this package
    exact: str = ""  # likewise, of those where evaluations are exact; "" for the same
    package: str = ""  # what it needs besides the installation
    extra: str = ""  # the extra that brings that
    factory: SolverFactory | None = None  # makes the solvers of another package

    @property
    def missing(self) -> bool:
        """Whether what it needs is not installed."""
        return bool(self.package) and importlib.util.find_spec(self.package) is None


def _of_another_package(factory: SolverFactory) -> SolverEntry:
    """Return the entry of what an entry point names."""
    if not callable(factory):
        raise TypeError("it is not callable")
    summary, *_ = (inspect.getdoc(factory) or "no description").splitlines()
    return SolverEntry(summary, factory=factory)


NAMED = {
    "random": SolverEntry("random solutions of the problem", "model_free:random_search"),
    "nelder-mead": SolverEntry(
        "the simplex of Nelder and Mead, with a penalty", "model_free:nelder_mead"
    ),
    "cobyqa": SolverEntry("a trust region, with the constraints as they are", "model_free:cobyqa"),
    "spsa": SolverEntry("gradients from two points each, with a penalty", "model_free:spsa"),
    "cma-es": SolverEntry(
        "an evolution strategy, with a penalty", "model_free:cma_es", package="cmaes", extra="cma"
    ),
    "bayes": SolverEntry(
        "Gaussian processes of objective and constraints", "bayes:bayes", "bayes:exact_search"
    ),
}

# The solvers of this package, and those that installed packages bring under `GROUP`.
SOLVERS = Extended({AUTO: NAMED[BEST], **NAMED}, GROUP, "solver", _of_another_package)


def algorithm(name: str) -> str:
    """Return what a solver is called where it is not asked for as the default."""
    return BEST if name == AUTO else name


def label_of_solver(name: str) -> str:
    """Return the name of a solver; that of the default says which one it is."""
    return f"{name} ({algorithm(name)})" if name != algorithm(name) else name


def listed() -> list[dict[str, str]]:
    """Return a row for each solver: its name, what it does, what it needs and who brings it."""
    rows = []
    for name in SOLVERS:
        try:
            entry = SOLVERS[name]
        except InputError as error:
            entry = SolverEntry(str(error))
        summary = entry.summary if name == algorithm(name) else f"the default: {algorithm(name)}"
        needs = f"extra {entry.extra}{' (missing)' * entry.missing}" if entry.extra else ""
        origin = SOLVERS.distribution(name)
        rows.append({"solver": name, "summary": summary, "needs": needs, "from": origin})
    return rows


def search_budget(total: int) -> int:
    """Return how much of a budget the search may spend; certification needs the rest."""
    return max(1, round((1.0 - CERTIFICATION_SHARE) * total))


def check(solvers: Sequence[str | SolverFactory]) -> dict[str, SolverFactory | None]:
    """Return solvers by name, those that are given as a function with it."""
    named: dict[str, SolverFactory | None] = {}
    for solver in solvers:
        if isinstance(solver, str):
            _check_name(solver)
            named[solver] = None
            continue
        name = str(getattr(solver, "__name__", type(solver).__name__))
        if name in SOLVERS or name in named:
            what = f"a function called {shown(name)}, as is another solver (give it another name)"
            raise InputError(f"{option('solvers')}: {what}")
        named[name] = solver
    return named


def _check_name(name: str) -> None:
    """Refuse the name of no solver, and of one that lacks what it needs."""
    if name not in SOLVERS:
        limits = ", ".join(SOLVERS) + correction(name, SOLVERS)
        raise InputError(f"{option('solvers')}: {shown(name)} is not a solver (allowed: {limits})")
    entry = SOLVERS[name]
    if entry.missing:
        raise InputError(
            f"{option('solvers')}: {name} needs the package {entry.package}, which the extra"
            f" `{entry.extra}` brings: pip install 'valmatch[{entry.extra}]'"
        )


def make(name: str, task: SearchTask, factory: SolverFactory | None = None) -> Search:
    """Return the solver called `name`, ready to be asked."""
    if factory is None:
        _check_name(name)
        factory = SOLVERS[name].factory
    if factory:
        return Search(task, steps_of_user(factory))
    entry = SOLVERS[name]
    module, _, function = ((task.exact and entry.exact) or entry.path).partition(":")
    return Search(task, getattr(importlib.import_module(f"{__package__}.{module}"), function))


class _Failed(Exception):  # noqa: N818 - it ends a search, not the run
    """Says what a solver did that ends its search."""


def steps_of_user(factory: SolverFactory) -> Callable[[SearchTask], Steps]:
    """Return the search that the solvers of a factory make; what one does wrong ends it."""

    def steps(task: SearchTask) -> Steps:
        first_look = task.replications()
        outcomes = yield Request(task.start, first_look)
        points, values = task.start[None], outcomes.mean(axis=0)[None]
        try:
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
        except _Failed as failure:
            task.failure = one_line(str(failure))

    return steps


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
    return np.clip(points, 0.0, 1.0)
