"""The solvers by name."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Sequence
from dataclasses import dataclass

from valmatch.errors import InputError, option
from valmatch.kernels.plugins import Extended
from valmatch.optimization.solvers.search import Search, SearchTask
from valmatch.optimization.solvers.user_solvers import SolverFactory, steps_of_user
from valmatch.text.suggestions import correction
from valmatch.text.terminal import shown

# Share of a whole budget that is kept for simulating the finalists on fresh replications.
CERTIFICATION_SHARE = 0.3

# Entry points by which other packages bring solvers: ``name = "module:factory"``.
GROUP = "valmatch.solvers"

AUTO, BEST = "auto", "bayes"  # the solver that is taken where none is named, and which one that is


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
        needs = f"extra {entry.extra}{' (missing)' if entry.missing else ''}" if entry.extra else ""
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
