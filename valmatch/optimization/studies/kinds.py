"""The kinds of studies: which one is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from valmatch.config.config import Config
from valmatch.errors import InputError, option
from valmatch.execution.run_options import OptimizeArguments
from valmatch.optimization.studies.pareto import front_spec
from valmatch.optimization.studies.solver_study import named_solvers, study_spec
from valmatch.optimization.studies.study import StudySpec
from valmatch.optimization.studies.sweep import sweep_spec
from valmatch.text.terminal import shortened


def spec_of(
    config: Config,
    options: OptimizeArguments,
    solvers: str | None = None,
    sweep: str | None = None,
    pareto: Sequence[str] | None = None,
) -> StudySpec:
    """Return the study of a config that is asked for."""
    # `pareto` names the responses of a front, () for the objectives of the config; None for no
    # front.
    if pareto is None:
        names = named_solvers(config, solvers)
        if sweep is None:
            return study_spec(config, options, names)
        return sweep_spec(config, options, names, sweep)
    front = front_spec(config, options, pareto)
    several = (options.macroreps or config.optimize.macroreps or 1) > 1
    used = {"sweep": sweep, "solver": solvers, "macroreps": several, "shard": options.shard}
    for name, value in used.items():  # its search is one of its own, and is one run
        if value:
            of = f"--pareto {shortened(','.join(pareto))}" if pareto else "the section objectives"
            raise InputError(f"{option(name)}: of no use with {of} (leave one of them out)")
    return front
