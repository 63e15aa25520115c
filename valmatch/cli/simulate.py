"""``valmatch simulate``."""

from __future__ import annotations

from typing import Annotated

import typer

from valmatch.cli.console import load_config, show_result, warn
from valmatch.cli.options import (
    DEFAULT_SEED,
    Chosen,
    Columns,
    ConfigArgument,
    Json,
    LogSeparator,
    MaxBadRows,
    Out,
    Overrides,
    Quiet,
    Seed,
    SkipBadRows,
    SortRows,
    Verbose,
    first,
    log_levels,
    measure_levels,
    names_of,
    warn_in_job_array,
    whole,
)
from valmatch.kernels.plain_python import interpret


def simulate(
    config: ConfigArgument,
    seed: Seed = None,
    replication: Annotated[
        int | None,
        typer.Option(
            parser=whole("replication"),
            metavar="K",
            help="Index of the replication.  [default: 0]",
        ),
    ] = None,
    overrides: Overrides = [],  # noqa: B006 - typer wants the default itself
    columns: Columns = "",
    separator: LogSeparator = None,
    skip_bad_rows: SkipBadRows = False,
    max_bad_rows: MaxBadRows = None,
    sort_rows: SortRows = False,
    responses: Chosen = "",
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Run one replication and record everything that happens in it.

    Replication K is row K of `valmatch replicate` with the same config and seed.
    """
    warn_in_job_array("simulate")
    log = log_levels(columns, separator, skip_bad_rows, max_bad_rows, sort_rows)
    log = measure_levels(responses, config, overrides, log)
    settings = load_config(config, overrides, log)
    if settings.factors.brief() and not settings.files:
        interpret()
    # Imported now, because kernels are compiled, or left in plain Python, when they are imported.
    from valmatch.experiments.simulate import simulate as run

    seed = first(seed, settings.replicate.seed, DEFAULT_SEED)
    replication = replication or 0
    result = run(settings, seed, replication, out=out, warn=warn)
    show_result(json, result.summary(), result, out, responses=names_of(responses))
