"""``valmatch optimize``."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from valmatch.cli.console import load_config, progress, show, title_of, warn
from valmatch.cli.log_options import (
    Columns,
    LogSeparator,
    SkipBadRows,
    SortRows,
    log_levels,
)
from valmatch.cli.parameters import (
    DEFAULT_SEED,
    Confidence,
    ConfigArgument,
    Json,
    MaxTime,
    Out,
    Overrides,
    Quiet,
    Resume,
    Seed,
    Verbose,
    Workers,
    check_resume,
    complete_solver,
    first,
    name_options,
    warn_in_job_array,
    whole,
    workers_here,
)
from valmatch.errors import InputError, RunError
from valmatch.printable import shortened

__all__ = ["optimize"]


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
    some replications beyond the budget. Exit code 3: no point was certified as feasible.
    `valmatch solvers` lists the solvers.
    """
    from valmatch.cli.tables import show_front, show_frontier, show_study
    from valmatch.optimization.frontier import parse_sweep, trace_frontier
    from valmatch.optimization.optimize import DEFAULT_BUDGET
    from valmatch.optimization.optimize import optimize as solve
    from valmatch.optimization.pareto import pareto_front
    from valmatch.optimization.solvers.registry import AUTO, labelled

    check_resume(resume, out)
    warn_in_job_array("optimize")
    log = log_levels(columns, separator, skip_bad_rows, sort_rows)
    settings = load_config(config, overrides, log)
    name_options(settings, "optimize", solvers=solver, budget=budget)
    given = settings.optimize
    names = [name.strip() for name in (solver or given.solver or AUTO).split(",")]
    budget = first(budget, given.budget, DEFAULT_BUDGET)
    macroreps = first(macroreps, given.macroreps, 1)
    seed = first(seed, given.seed, DEFAULT_SEED)
    options: dict[str, Any] = {
        "workers": workers_here(None, workers, given.workers),
        "confidence": float(first(confidence, given.confidence, 0.95)),
        "out": out,
        "resume": resume,
        "max_seconds": math.inf if max_time is None else max_time,
        "warn": warn,
    }
    header = f"{title_of(settings)}, seed {seed}, budget {budget:,}"
    header += f"\nsolver: {', '.join(map(labelled, names))}"
    failures: list[str] = []
    if pareto is not None or (given.objectives and sweep is None):
        _refuse_with_pareto(pareto, sweep=sweep, solver=solver, macroreps=macroreps > 1)
        del options["workers"]
        objectives = [] if pareto is None else [name.strip() for name in pareto.split(",")]
        with progress("replications", budget) as advance:
            front = pareto_front(settings, objectives, budget, seed, progress=advance, **options)
        header = f"{title_of(settings)}, seed {seed}, budget {budget:,}"
        show(json, front.summary(), lambda: show_front(header, front), out)
        status, feasible = front.status, bool(front.points)
    elif sweep is not None:
        values = parse_sweep(settings, sweep)
        with progress("replications", budget * len(values.points)) as advance:
            frontier = trace_frontier(
                settings, values, names[0], budget, seed, progress=advance, **options
            )
        show(json, frontier.summary(), lambda: show_frontier(header, frontier), out)
        status, feasible = frontier.status, any(frontier.feasible)
        failures = list(frontier.failures)
    else:
        with progress("replications", budget * macroreps * len(names)) as advance:
            study = solve(
                settings, names, budget, seed, macroreps=macroreps, progress=advance, **options
            )
        show(json, study.summary(), lambda: show_study(header, study), out)
        status, feasible = study.status, bool(study.verdict and study.verdict.feasible)
        failures = study.failures
    if failures:
        raise RunError(*failures)
    if status != "complete":
        warn(f"{status}{'; --resume goes on' if out else ''}")
        raise typer.Exit(130 if status == "interrupted" else 3)
    if not feasible:
        raise typer.Exit(3)


def _refuse_with_pareto(pareto: str | None, **given: object) -> None:
    """Refuse options that have no meaning for a front, whose search is one of its own."""
    for name, value in given.items():
        if value:
            what = f"--pareto {shortened(pareto)}" if pareto else "the section objectives"
            raise InputError(f"--{name}: of no use with {what} (leave one of them out)")
