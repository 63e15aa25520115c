"""The solvers by name."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable

import numpy as np

from valmatch.errors import InputError, option
from valmatch.nearest import correction
from valmatch.optimization.problem import Problem
from valmatch.optimization.solvers.search import Archive, Floats, Search, SearchTask, Solver, Steps
from valmatch.printable import shown

__all__ = ["CERTIFICATION_SHARE", "SOLVERS", "check", "make", "search_budget"]

# Share of a whole budget that is kept for simulating the finalists on fresh replications.
CERTIFICATION_SHARE = 0.4

SOLVERS = {
    "auto": "bayes:bayes",
    "random": "random_search:random_search",
    "nelder-mead": "nelder_mead:nelder_mead",
    "cobyqa": "cobyqa:cobyqa",
    "spsa": "spsa:spsa",
    "cma-es": "cma_es:cma_es",
    "bayes": "bayes:bayes",
}

# What solvers need besides the installation: module, and the extra that brings it.
NEEDS = {"cma-es": ("cmaes", "cma")}


def search_budget(total: int) -> int:
    """Return how much of a budget the search may spend; certification needs the rest."""
    return max(1, round((1.0 - CERTIFICATION_SHARE) * total))


def check(name: str) -> None:
    """Raise InputError if there is no solver called `name`, or if what it needs is missing."""
    if name not in SOLVERS:
        limits = ", ".join(SOLVERS) + correction(name, SOLVERS)
        raise InputError(f"{option('solvers')}: {shown(name)} is not a solver (allowed: {limits})")
    if name in NEEDS:
        module, extra = NEEDS[name]
        if importlib.util.find_spec(module) is None:
            raise InputError(
                f"{option('solvers')}: {name} needs the package {module}, which the extra `{extra}`"
                f" brings: pip install 'valmatch[{extra}]'"
            )


def make(
    name: str, problem: Problem, budget: int, rng: np.random.Generator, start: Floats, test: int
) -> Solver:
    """Return the solver called `name`, ready to be asked.

    Parameters
    ----------
    name : str
        One of `SOLVERS`.
    problem : Problem
        What is optimised.
    budget : int
        Replications that the search may spend, >= 1; certification is not its business.
    rng : numpy.random.Generator
        The source of all its random numbers.
    start : (variables,) ndarray of float64
        First point, in the unit cube.
    test : int
        Replications by which the feasibility of finalists will be tested, >= 1.

    Raises
    ------
    InputError
        If there is no such solver, or if what it needs is missing.
    """
    check(name)
    module, _, function = SOLVERS[name].partition(":")
    steps: Callable[[SearchTask], Steps] = getattr(
        importlib.import_module(f"{__package__}.{module}"), function
    )
    return Search(SearchTask(problem, budget, rng, start, Archive(problem, test)), steps)
