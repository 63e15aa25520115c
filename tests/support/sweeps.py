"""Sweeps of `optimize`, as the command line makes them."""

from __future__ import annotations

from valmatch.config.config import Config
from valmatch.execution.run_options import OptimizeArguments
from valmatch.optimization.studies.combine import spec_of
from valmatch.optimization.studies.study import Study, execute


def swept(config: Config, sweep: str, solver: str, budget: int) -> Study:
    """Return what a solver finds for each value of a sweep."""
    options = OptimizeArguments(budget=budget)
    return execute(spec_of(config, options, solver, sweep), options)
