"""Sweeps of `optimize`, as the command line makes them."""

from __future__ import annotations

from valmatch.config.config import Config
from valmatch.execution.run_options import RunOptions
from valmatch.optimization.studies.kinds import spec_of
from valmatch.optimization.studies.study import StudyRequest, execute
from valmatch.optimization.studies.sweep import Frontier


def swept(config: Config, sweep: str, solver: str, budget: int) -> Frontier:
    """Return what a solver finds for each value of a sweep."""
    spec = spec_of(config, StudyRequest([solver], budget, sweep=sweep))
    found = execute(spec, RunOptions())
    assert isinstance(found, Frontier)
    return found
