"""``valmatch replicate``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valmatch.cli.console import (
    info,
    load_config,
    of_status,
    progress,
    show_result,
    warn,
)
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
    first,
    listeners,
    log_levels,
    measure_levels,
    name_options,
    names_of,
    whole,
)
from valmatch.errors import RunError

if TYPE_CHECKING:
    from valmatch.experiments.replications import Replications
    from valmatch.experiments.sweep import DesignReplications
    from valmatch.statistics.precision import Precision


def replicate(
    config: ConfigArgument,
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--n",
            parser=whole("n"),
            metavar="N",
            help="Number of replications.  [default: 1000, or 1 where all are the same]",
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
            help="Make every K-th replication from I on (I from 0).  [default: the place of a"
            " task in a job array of SLURM]",
        ),
    ] = None,
    sweep: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUES",
            help="Replicate at each value, 100,200,400 or 100:400:100; several sweeps span a grid.",
        ),
    ] = [],  # noqa: B006
    target: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=WIDTH",
            help="Go on until the half-width of a response is 1% of its mean, or 0.05; may be"
            " repeated.",
        ),
    ] = [],  # noqa: B006
    max_reps: Annotated[
        int | None,
        typer.Option(
            parser=whole("max_reps"),
            metavar="N",
            help="Give the targets up after so many replications.  [default: 1000000]",
        ),
    ] = None,
    control_variates: Annotated[
        bool,
        typer.Option(
            "--control-variates", help="Adjust the means by what is known of the arrivals."
        ),
    ] = False,
    confidence: Confidence = None,
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
    """Run independent replications and estimate the mean of every response.

    Defaults of the options may stand in the `replicate` section of the config, a design of
    several points in its section `design`. The results depend on config, seed and n alone. Exit
    code 3: a target was missed; 75: the time was up before all replications were made (--resume
    goes on).
    """
    from valmatch.execution.shards import parse_shard, shard_of_job
    from valmatch.experiments.replicate import MAX_REPS, Plan, default_n, replicate_config
    from valmatch.experiments.sweep import design_of
    from valmatch.statistics.precision import LEAST

    how = RunArguments(workers, executor, scheduler, out, resume, max_time)
    log = log_levels(columns, separator, skip_bad_rows, max_bad_rows, sort_rows)
    log = measure_levels(responses, config, overrides, log)
    settings = load_config(config, overrides, log)
    name_options(
        settings,
        "replicate",
        targets=target,
        executor=executor,
        scheduler=scheduler,
        control_variates=control_variates,
    )
    given = settings.replicate
    targets = target or given.target
    # What the config says of n is of its random arrivals.
    configured = None if targets or settings.one_history else given.n
    n = first(n, configured, LEAST if targets else default_n(settings))
    seed = first(seed, given.seed, DEFAULT_SEED)
    part = shard_of_job(os.environ) if shard is None else parse_shard(shard)
    total = len(part.indices(n))
    if part.count > 1:
        info(f"shard {part}: {total:,} of {n:,} replications")
    options = how.options(given, part)
    plan = Plan(
        n,
        seed,
        part,
        float(first(confidence, given.confidence, 0.95)),
        targets,
        first(max_reps, given.max_reps, MAX_REPS),
        control_variates or bool(given.control_variates),
    )
    design = design_of(settings, sweep)
    if design is not None:
        from valmatch.config.identity import config_id
        from valmatch.experiments.sweep import run_design

        levels = [design.levels(point) for point in design.points]
        configs = [load_config(config, overrides, [*log, *point]) for point in levels]
        points = len(set(map(config_id, configs)))
        known = None if targets else total * points
        with progress("replications", known) as advance:
            made = run_design(settings, design, configs, plan, options, listeners(advance))
        _show_design(made, json, names_of(responses))
        return
    with progress("replications", None if targets else total) as advance:

        def looked(found: Sequence[Precision]) -> None:
            advance.note(", ".join(target.shown for target in found))

        result = replicate_config(settings, plan, options, listeners(advance, looked))
    show_result(json, result.summary(), result, out, responses=names_of(responses))
    _exit_unless_complete(result, total, out)
    expected, missed = len(settings.replicate.expect), result.missed_expectations()
    if expected:
        info(f"{expected - len(missed)} of {expected} expected means met")
    if missed:
        raise RunError(*missed)


def _exit_unless_complete(result: Replications, total: int, out: Path | None) -> None:
    """Leave with the exit code of what stopped a run."""
    if not result.complete:
        further = "; --resume goes on" if out else ""
        done = result.count
        of = "" if result.precision else f" of {total}"
        warn(f"{result.status} after {done}{of} replications{further}")
        raise typer.Exit(of_status(result.status))


def _show_design(found: DesignReplications, json: bool, chosen: Sequence[str]) -> None:
    """Print the replications at every point of a design; leave with the code of what stopped it."""
    show_result(json, found.summary(), found, found.folder, responses=chosen)
    if found.status != "complete":
        further = "; --resume goes on" if found.folder else ""
        done = sum(result.complete for result in found.results)
        warn(f"{found.status} after {done} of {len(found.design.points)} points{further}")
        raise typer.Exit(of_status(found.status))
