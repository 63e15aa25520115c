"""``valmatch optimize``."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from valmatch.cli.console import MISSED, info, load_config, of_status, progress, show_result, warn
from valmatch.cli.options import (
    DEFAULT_SEED,
    Chosen,
    Columns,
    Confidence,
    ConfigArgument,
    Executor,
    Json,
    LogSeparator,
    MaxBadRows,
    MaxTime,
    Out,
    Overrides,
    Quiet,
    Resume,
    RunArguments,
    Scheduler,
    Seed,
    SkipBadRows,
    SortRows,
    Verbose,
    Workers,
    complete_solver,
    first,
    listeners,
    log_levels,
    measure_levels,
    name_options,
    names_of,
    warn_in_job_array,
    whole,
)
from valmatch.errors import RunError

if TYPE_CHECKING:
    from valmatch.execution.shards import Shard


def optimize(
    config: ConfigArgument,
    solver: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[,NAME]",
            help="Solvers, by commas.  [default: auto]",
            autocompletion=complete_solver,
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            parser=whole("budget"), metavar="N", help="Replications of a run.  [default: 1000]"
        ),
    ] = None,
    macroreps: Annotated[
        int | None,
        typer.Option(
            parser=whole("macroreps"), metavar="M", help="Runs of each solver.  [default: 1]"
        ),
    ] = None,
    seed: Seed = None,
    workers: Workers = None,
    executor: Executor = None,
    scheduler: Scheduler = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/K",
            help="Make every K-th run of each solver, or value of a sweep, from I on (I from 0)."
            "  [default: the place of a task in a job array of SLURM]",
        ),
    ] = None,
    confidence: Confidence = None,
    sweep: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=FIRST:LAST:STEP",
            help="Solve for each value of a bound or weight, or NAME=VALUE,...: the frontier.",
        ),
    ] = None,
    pareto: Annotated[
        str | None,
        typer.Option(
            metavar="RESPONSE,RESPONSE",
            help="Find the rules of which no other is better in all of these responses.",
        ),
    ] = None,
    overrides: Overrides = [],  # noqa: B006
    columns: Columns = "",
    separator: LogSeparator = None,
    skip_bad_rows: SkipBadRows = False,
    max_bad_rows: MaxBadRows = None,
    sort_rows: SortRows = False,
    responses: Chosen = "",
    out: Out = None,
    resume: Resume = False,
    max_time: MaxTime = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Find the rules that minimise the objective of the `optimize` section of the config.

    The budget covers search and certification: the recommended point is chosen and tested on
    replications that the search did not use; without a feasible one, the point of least violation
    is shown. What is recommended is then compared with the start, in all responses or those of
    --responses, and constraints are priced, on some replications beyond the budget. Exit code 3: no
    point was certified as feasible, which a shard leaves to `combine`; 75: the time was up
    (--resume goes on). `valmatch solvers` lists the solvers.
    """
    from valmatch.execution.shards import WHOLE
    from valmatch.optimization.solvers.registry import AUTO
    from valmatch.optimization.studies.kinds import spec_of
    from valmatch.optimization.studies.study import DEFAULT_BUDGET, StudyRequest, execute

    how = RunArguments(workers, executor, scheduler, out, resume, max_time)
    log = log_levels(columns, separator, skip_bad_rows, max_bad_rows, sort_rows)
    log = measure_levels(responses, config, overrides, log)
    settings = load_config(config, overrides, log)
    name_options(
        settings,
        "optimize",
        solvers=solver,
        budget=budget,
        executor=executor,
        scheduler=scheduler,
    )
    given = settings.optimize
    objectives = None if pareto is None else [name.strip() for name in pareto.split(",")]
    if objectives is None and sweep is None and given.objectives:
        objectives = []
    request = StudyRequest(
        solvers=[
            name.strip() for name in (given.solver or AUTO if solver is None else solver).split(",")
        ],
        budget=first(budget, given.budget, DEFAULT_BUDGET),
        seed=first(seed, given.seed, DEFAULT_SEED),
        macroreps=first(macroreps, given.macroreps, 1),
        confidence=float(first(confidence, given.confidence, 0.95)),
        sweep=sweep,
        pareto=objectives,
        solver=solver,
        shard=shard,
    )
    options = how.options(given)
    spec = spec_of(settings, request)
    spec = replace(spec, shard=_part(shard, spec.size, spec.parts_in_words))
    with progress("replications", spec.replications) as advance:
        result = execute(spec, options, listeners(advance))
    chosen = names_of(responses)
    show_result(json, result.summary(), result, out, responses=chosen)
    if result.failures:
        raise RunError(*result.failures)
    if result.status != "complete":
        warn(f"{result.status}{'; --resume goes on' if out else ''}")
        raise typer.Exit(of_status(result.status))
    if not result.certified and result.shard == WHOLE:
        raise typer.Exit(MISSED)


def _part(given: str | None, of: int, what: str) -> Shard:
    """Return the shard to make; a single run has none of its own accord."""
    from valmatch.execution.shards import WHOLE, parse_shard, shard_of_job

    if given is None and of == 1:
        warn_in_job_array("a single run of optimize")
        return WHOLE
    part = shard_of_job(os.environ) if given is None else parse_shard(given)
    if part != WHOLE:
        info(f"shard {part}: {len(part.indices(of)):,} of {of:,} {what}")
    return part
