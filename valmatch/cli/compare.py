"""``valmatch compare``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valmatch.cli.console import load_config, of_status, progress, show_result, warn
from valmatch.cli.options import (
    DEFAULT_SEED,
    Chosen,
    Columns,
    Confidence,
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
    names_of,
    warn_in_job_array,
    whole,
)
from valmatch.errors import InputError
from valmatch.text.terminal import shortened

if TYPE_CHECKING:
    from valmatch.config.config import Config
    from valmatch.experiments.compare import Comparison

MEASURED = ("log", "measure", "bands")
"""Factors of which two systems that are compared have the same."""

NEXT_KEY = re.compile(r",(?=[^,=\[\]{}\"']+(?:\[\d+\][^,=\[\]{}\"']*)*=)")
"""The comma between two factors of a variant; one inside of a value is followed by no KEY=."""


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A config, or the folder of a run.")],
    b: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[B]...",
            help="Others, each compared with A; without any, A changed by --set or --variant.",
        ),
    ] = None,
    variant: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUE,...",
            help="Compare A with these values, of log.* and arrivals, too; repeated, one more"
            " variant each.",
        ),
    ] = [],  # noqa: B006
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
    """Compare systems under common random numbers: paired differences B - A, also C - A and so on.

    With one config, B is that config changed by --set, but what is read or measured, and how
    (arrivals, skills, log.*, measure, bands), holds for both; with several, or with --variant,
    --set changes all of them. Of several variants the intervals of each response hold together.
    Folders of `replicate` are compared without simulating anything. With --responses, `plot` of
    --out draws those, too, unless told otherwise. Exit code 75: the time was up (--resume goes on).
    """
    from valmatch.experiments.compare import compare_configs
    from valmatch.experiments.replicate import Plan, default_n

    how = RunArguments(workers, executor, scheduler, out, resume, max_time)
    warn_in_job_array("compare")
    others = b or []
    level = 0.95 if confidence is None else confidence
    chosen = names_of(responses)
    if others and not variant and all(Path(source).is_dir() for source in (a, *others)):
        if overrides or out:
            raise InputError("compare: folders are compared as they are, without --set and --out")
        found = _of_folders(a, others, level)
    else:
        log = log_levels(columns, separator, skip_bad_rows, max_bad_rows, sort_rows)
        log = measure_levels(responses, others[0] if others else a, overrides, log)
        sides = _sides(a, others, variant, overrides, log)
        given = sides[0].replicate
        least = default_n(*sides)
        n = first(n, None if least == 1 else given.n, least)
        plan = Plan(n, first(seed, given.seed, DEFAULT_SEED), confidence=level)
        options = how.options(given)
        with progress("replications", len(sides) * n) as advance:
            found = compare_configs(sides, plan, options, listeners(advance), chosen)
    _report(found, chosen, json, out)


def _sides(
    a: str,
    others: Sequence[str],
    variant: Sequence[str],
    overrides: list[str],
    log: list[tuple[str, str]],
) -> list[Config]:
    """Return A and what it is compared with."""
    if not (others or variant):
        reading = [override for override in overrides if _holds_for_both(override)]
        if len(reading) == len(overrides):
            of_both = ": what is read or measured, and how, holds for both" if reading else ""
            what = f"give a second config, --variant, or --set of something else{of_both}"
            raise InputError(f"compare {a}: nothing to compare with; {what}")
        return [load_config(a, reading, log), load_config(a, overrides, log)]
    configs = [load_config(source, overrides, log) for source in (a, *others)]
    return configs + [load_config(a, overrides, [*log, *_levels(changes)]) for changes in variant]


def _holds_for_both(override: str) -> bool:
    """Return whether an override is no rule to be compared.

    It names a file, or says how one is read, or what is measured.
    """
    from valmatch.config.checking import FILES

    key = override.partition("=")[0].strip()
    return key in FILES or key.removeprefix("factors.").partition(".")[0] in MEASURED


def _levels(variant: str) -> list[tuple[str, str]]:
    """Return what a variant sets, as `load` takes levels; a comma before KEY= divides."""
    parts = NEXT_KEY.split(variant)
    return [(f"--variant {shortened(part.partition('=')[0])}", part) for part in parts]


def _of_folders(a: str, others: Sequence[str], level: float) -> Comparison:
    """Compare runs as they are."""
    from valmatch.experiments.combine import read_replications
    from valmatch.experiments.compare import compare_runs

    base, *runs = (read_replications(Path(folder), warn) for folder in (a, *others))
    return compare_runs(base, runs, level)


def _report(found: Comparison, chosen: Sequence[str], json: bool, out: Path | None) -> None:
    """Print what was found, say what has to be said of it, and end as the runs did."""
    show_result(json, found.summary(), found, out, responses=chosen)
    if found.status != "complete":
        warn(f"{found.status}{'; --resume goes on' if out else ''}")
        raise typer.Exit(of_status(found.status))
