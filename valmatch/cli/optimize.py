"""``valmatch optimize``."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from valmatch.cli.console import info, load_config, progress, show, title_of, warn
from valmatch.cli.log_options import (
    Columns,
    LogSeparator,
    MaxBadRows,
    SkipBadRows,
    SortRows,
    log_levels,
)
from valmatch.cli.parameters import (
    DEFAULT_SEED,
    Confidence,
    ConfigArgument,
    Executor,
    Json,
    MaxTime,
    Out,
    Overrides,
    Quiet,
    Resume,
    RunArguments,
    Scheduler,
    Seed,
    Verbose,
    Workers,
    complete_solver,
    first,
    listeners,
    name_options,
    warn_in_job_array,
    whole,
)
from valmatch.errors import InputError, RunError
from valmatch.text.terminal import shortened

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
            "  [default: the place of a SLURM array task]",
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
    is shown. What is recommended is then compared with the start, and constraints are priced, on
    some replications beyond the budget. Exit code 3: no point was certified as feasible, which a
    shard leaves to `combine`, or the time was up. `valmatch solvers` lists the solvers.
    """
    from valmatch.cli.tables.optimization import searched, show_front, show_frontier, show_study
    from valmatch.execution.shards import WHOLE
    from valmatch.optimization.frontier import parse_sweep, trace_frontier
    from valmatch.optimization.optimize import DEFAULT_BUDGET, optimize_config
    from valmatch.optimization.pareto import find_front
    from valmatch.optimization.problem_of_config import found_scales
    from valmatch.optimization.solvers.registry import AUTO, labelled

    how = RunArguments(workers, executor, scheduler, out, resume, max_time)
    log = log_levels(columns, separator, skip_bad_rows, max_bad_rows, sort_rows)
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
    names = [name.strip() for name in (solver or given.solver or AUTO).split(",")]
    budget = first(budget, given.budget, DEFAULT_BUDGET)
    macroreps = first(macroreps, given.macroreps, 1)
    seed = first(seed, given.seed, DEFAULT_SEED)
    options = how.options(given)
    level = float(first(confidence, given.confidence, 0.95))
    header = f"{title_of(settings)}, seed {seed}, budget {budget:,}"
    header += f"\nsolver: {', '.join(map(labelled, names))}"
    scales = searched(found_scales(settings))
    header += scales
    failures: list[str] = []
    if pareto is not None or (given.objectives and sweep is None):
        _refuse_with_pareto(
            pareto, sweep=sweep, solver=solver, macroreps=macroreps > 1, shard=shard
        )
        warn_in_job_array("optimize")
        objectives = [] if pareto is None else [name.strip() for name in pareto.split(",")]
        with progress("replications", budget) as advance:
            front = find_front(
                settings, objectives, budget, seed, level, options, listeners(advance)
            )
        header = f"{title_of(settings)}, seed {seed}, budget {budget:,}{scales}"
        show(json, front.summary(), lambda: show_front(header, front), out)
        status, feasible = front.status, bool(front.points)
    elif sweep is not None:
        values = parse_sweep(settings, sweep)
        part, total = _part(shard, len(values.points), f"values of {values.name}")
        options = replace(options, shard=part)
        with progress("replications", budget * total) as advance:
            frontier = trace_frontier(
                settings, values, names[0], budget, seed, level, options, listeners(advance)
            )
        show(json, frontier.summary(), lambda: show_frontier(header, frontier), out)
        status, feasible = frontier.status, any(frontier.feasible) or part != WHOLE
        failures = list(frontier.failures)
    else:
        part, total = _part(shard, macroreps, "runs of each solver")
        options = replace(options, shard=part)
        with progress("replications", budget * total * len(names)) as advance:
            study = optimize_config(
                settings, names, budget, seed, macroreps, level, options, listeners(advance)
            )
        show(json, study.summary(), lambda: show_study(header, study), out)
        status = study.status
        feasible = bool(study.verdict and study.verdict.feasible) or part != WHOLE
        failures = study.failures
    if failures:
        raise RunError(*failures)
    if status != "complete":
        warn(f"{status}{'; --resume goes on' if out else ''}")
        raise typer.Exit(130 if status == "interrupted" else 3)
    if not feasible:
        raise typer.Exit(3)


def _part(given: str | None, of: int, what: str) -> tuple[Shard, int]:
    """Return the shard to make and how much that is; a single run has none of its own accord."""
    from valmatch.execution.shards import WHOLE, parse_shard, shard_of_job

    if given is None and of == 1:
        warn_in_job_array("a single run of optimize")
        return WHOLE, 1
    part = shard_of_job(os.environ) if given is None else parse_shard(given)
    own = len(part.indices(of))
    if part != WHOLE:
        info(f"shard {part}: {own:,} of {of:,} {what}")
    return part, own


def _refuse_with_pareto(pareto: str | None, **given: object) -> None:
    """Refuse options that have no meaning for a front, whose search is one of its own."""
    for name, value in given.items():
        if value:
            what = f"--pareto {shortened(pareto)}" if pareto else "the section objectives"
            raise InputError(f"--{name}: of no use with {what} (leave one of them out)")
