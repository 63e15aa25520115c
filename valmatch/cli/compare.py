"""``valmatch compare``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from valmatch.cli.console import detail, load_config, progress, show, warn
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
    Executor,
    Json,
    MaxTime,
    Out,
    Overrides,
    Quiet,
    Resume,
    Scheduler,
    Seed,
    Verbose,
    Workers,
    check_resume,
    first,
    place,
    warn_in_job_array,
    whole,
    workers_here,
)
from valmatch.cli.response_options import Chosen, measure_levels, names_of
from valmatch.errors import InputError

__all__ = ["compare"]


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A config, or the folder of a run.")],
    b: Annotated[
        str | None,
        typer.Argument(metavar="[B]", help="Another; without it, A changed by --set."),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--n",
            parser=whole("n"),
            metavar="N",
            help="Number of replications of each.  [default: 1000, or 1 where all are the same]",
        ),
    ] = None,
    seed: Seed = None,
    workers: Workers = None,
    executor: Executor = None,
    scheduler: Scheduler = None,
    confidence: Confidence = None,
    overrides: Overrides = [],  # noqa: B006
    columns: Columns = "",
    separator: LogSeparator = None,
    skip_bad_rows: SkipBadRows = False,
    sort_rows: SortRows = False,
    responses: Chosen = "",
    out: Out = None,
    resume: Resume = False,
    max_time: MaxTime = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Compare two systems under common random numbers: paired differences B - A.

    With one config, B is that config changed by --set; with two, --set changes both. Two folders
    of `replicate` are compared without simulating anything, and two of `rate`, of one log, by how
    well they predicted the games that both have.
    """
    from valmatch.cli.tables import show_comparison, show_systems
    from valmatch.experiments.compare import compare as run
    from valmatch.experiments.compare import compare_runs
    from valmatch.experiments.plan import default_n

    check_resume(resume, out)
    warn_in_job_array("compare")
    level = 0.95 if confidence is None else confidence
    if b is not None and Path(a).is_dir() and Path(b).is_dir():
        from valmatch.experiments.combine import read_replications
        from valmatch.game_logs.rated_folders import compare_ratings, is_rating

        if overrides or out:
            raise InputError("compare: folders are compared as they are, without --set and --out")
        if is_rating(Path(a)) or is_rating(Path(b)):
            if confidence is not None:
                raise InputError("--confidence: intervals of ratings are at 0.95")
            ratings = compare_ratings(a, b, warn=warn)
            show(json, ratings.summary(), lambda: show_systems(ratings))
            return
        found = compare_runs(
            read_replications(Path(a), warn), read_replications(Path(b), warn), level
        )
    else:
        if b is None and not overrides:
            raise InputError(f"compare {a}: nothing to compare with; give a second config or --set")
        log = log_levels(columns, separator, skip_bad_rows, sort_rows)
        log = measure_levels(responses, a if b is None else b, overrides, log)
        one = load_config(a, [] if b is None else overrides, log)
        other = load_config(a if b is None else b, overrides, log)
        least = default_n(one, other)
        n = first(n, None if least == 1 else one.replicate.n, least)
        executor, scheduler = place(executor, scheduler, one.replicate)
        with progress("replications", 2 * n) as advance:
            found = run(
                one,
                other,
                n,
                first(seed, one.replicate.seed, DEFAULT_SEED),
                workers=workers_here(scheduler, workers, one.replicate.workers),
                executor=executor,
                scheduler=scheduler,
                confidence=level,
                max_seconds=math.inf if max_time is None else max_time,
                out=out,
                resume=resume,
                progress=advance,
                warn=warn,
                detail=detail,
            )
    show(json, found.summary(), lambda: show_comparison(found, names_of(responses)), out)
    for name, compared in found.comparisons.items():
        if undefined := compared.difference.undefined:
            warn(f"{name} is undefined in {undefined} of {found.n} pairs")
    for side, replications in (("a", found.a), ("b", found.b)):
        for remark in replications.remarks:
            warn(f"{side}: {remark}")
    if found.status != "complete":
        warn(f"{found.status}{'; --resume goes on' if out else ''}")
        raise typer.Exit(130 if found.status == "interrupted" else 3)
