"""``valmatch optimize``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from valmatch.cli.console import MISSED, info, of_status, progress, show_result, warn
from valmatch.cli.options import (
    ConfigArgument,
    Json,
    ResponseOptions,
    command,
    complete_solver,
    name_options,
    warn_in_job_array,
    watched,
)
from valmatch.errors import RunError
from valmatch.execution.run_options import OptimizeArguments, first_given
from valmatch.inputs import options as o

if TYPE_CHECKING:
    from valmatch.config.config import Config
    from valmatch.execution.shards import Shard
    from valmatch.optimization.studies.study import StudyRequest


@dataclass(frozen=True)
class OptimizeFlags(ResponseOptions, OptimizeArguments):
    """The options of the command line."""

    solvers: str | None = o.text(
        None, "Solvers, by commas.", "NAME[,NAME]", default="auto", complete=complete_solver
    )
    sweep: str | None = o.text(
        None,
        "Solve for each value of a bound or weight, or NAME=VALUE,...: the frontier.",
        "NAME=FIRST:LAST:STEP",
    )
    pareto: Sequence[str] | None = o.names(
        "Find the rules that no other rule beats in all of these responses.",
        "RESPONSE,RESPONSE",
        None,
    )

    def request(self, settings: Config) -> StudyRequest:
        """Return what is sought; the options outrank the config."""
        from valmatch.optimization.solvers.registry import AUTO
        from valmatch.optimization.studies.study import request_of

        given = settings.optimize
        objectives = None if self.pareto is None else list(self.pareto)
        if objectives is None and self.sweep is None and given.objectives:
            objectives = []
        solvers = given.solver or AUTO if self.solvers is None else self.solvers
        return request_of(
            settings,
            self,
            solvers=[name.strip() for name in solvers.split(",")],
            macroreps=first_given(self.macroreps, given.macroreps, 1),
            sweep=self.sweep,
            pareto=objectives,
            solver=self.solvers,
            shard=None if self.shard is None else str(self.shard),
        )


@command()
def optimize(config: ConfigArgument, options: OptimizeFlags, json: Json = False) -> None:
    """Find the rules that minimise the objective of the `optimize` section of the config.

    The budget covers search and certification: the recommended point is chosen and tested on
    replications that the search did not use; without a feasible one, the point of least violation
    is shown. What is recommended is then compared with the start, in all responses or those of
    --responses, and constraints are priced, on some replications beyond the budget. Exit code 3: no
    point was certified as feasible, which a shard leaves to `combine`; 75: the time was up
    (--resume continues). `valmatch solvers` lists the solvers.
    """
    from valmatch.execution.shards import WHOLE
    from valmatch.optimization.studies.kinds import spec_of
    from valmatch.optimization.studies.study import execute

    out = options.out
    settings = options.load(config)
    name_options(settings, "optimize", options)
    spec = spec_of(settings, options.request(settings))
    spec = replace(spec, shard=_part(options.shard, spec.size, spec.parts_in_words))
    with progress("replications", spec.replications) as bar:
        result = execute(spec, watched(options, settings.optimize, bar))
    show_result(json, result.summary(), result, out, responses=options.responses)
    if result.failures:
        raise RunError(*result.failures)
    if result.status != "complete":
        warn(f"{result.status}{'; --resume goes on' if out else ''}")
        raise typer.Exit(of_status(result.status))
    if not result.certified and result.shard == WHOLE:
        raise typer.Exit(MISSED)


def _part(given: Shard | str | None, of: int, what: str) -> Shard:
    """Return the shard to make; a single run has none of its own accord."""
    from valmatch.execution.shards import WHOLE, shard_of_job

    if given is None and of == 1:
        warn_in_job_array("a single run of optimize")
        return WHOLE
    part = shard_of_job(os.environ) if given is None else given
    assert not isinstance(part, str)
    if part != WHOLE:
        info(f"shard {part}: {len(part.indices(of)):,} of {of:,} {what}")
    return part
