"""Sweeps of `optimize`, as the command line makes them."""

from __future__ import annotations

from valmatch.config.config import Config
from valmatch.execution.run_options import OptimizeArguments
from valmatch.optimization.studies.kinds import spec_of
from valmatch.optimization.studies.study import execute
from valmatch.optimization.studies.sweep import Frontier


def swept(config: Config, sweep: str, solver: str, budget: int) -> Frontier:
    """Return what a solver finds for each value of a sweep."""
    options = OptimizeArguments(budget=budget)
    frontier = execute(spec_of(config, options, solver, sweep), options)
    assert isinstance(frontier, Frontier)
    return frontier
