"""``valmatch replicate``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from valmatch.cli.console import info, of_status, progress, show_result, warn
from valmatch.cli.options import (
    ConfigArgument,
    Json,
    ResponseOptions,
    command,
    name_options,
    watched,
)
from valmatch.errors import RunError
from valmatch.execution.run_options import ReplicateArguments
from valmatch.inputs import options as o

if TYPE_CHECKING:
    from valmatch.experiments.replications import Replications
    from valmatch.experiments.sweep import DesignReplications
    from valmatch.statistics.precision import Precision


@dataclass(frozen=True)
class ReplicateFlags(ResponseOptions, ReplicateArguments):
    """The options of the command line."""

    sweep: Sequence[str] = o.repeated(
        "Replicate at each value, 100,200,400 or 100:400:100; several sweeps span a grid.",
        "KEY=VALUES",
    )


@command()
def replicate(config: ConfigArgument, options: ReplicateFlags, json: Json = False) -> None:
    """Run independent replications and estimate the mean of every response.

    Defaults of the options may stand in the `replicate` section of the config, a design of
    several points in its section `design`. The results depend on config, seed and n alone. Exit
    code 3: a target was missed; 75: the time was up before all replications were made (--resume
    continues).
    """
    from valmatch.config.identity import config_id
    from valmatch.execution.shards import shard_of_job
    from valmatch.experiments.replicate import plan_of, replicate_config
    from valmatch.experiments.sweep import design_of, run_design

    if options.shard is None:
        options = replace(options, shard=shard_of_job(os.environ))
    levels = options.levels(config)
    settings = options.load(config, levels)
    name_options(settings, "replicate", options)
    plan = plan_of(settings, options)
    part, total = plan.shard, len(plan.shard.indices(plan.n))
    if part.count > 1:
        info(f"shard {part}: {total:,} of {plan.n:,} replications")
    design = design_of(settings, list(options.sweep))
    if design is not None:
        points = [options.load(config, [*levels, *design.levels(one)]) for one in design.points]
        total *= len(set(map(config_id, points)))
    with progress("replications", None if plan.targets else total) as bar:

        def looked(found: Sequence[Precision]) -> None:
            bar.note(", ".join(target.shown for target in found))

        options = replace(watched(options, settings.replicate, bar), looked=looked)
        if design is None:
            result = replicate_config(settings, options)
        else:
            swept = run_design(settings, design, points, plan, options)
    if design is not None:
        _show_design(swept, json, options.responses)
        return
    show_result(json, result.summary(), result, options.out, responses=options.responses)
    _exit_unless_complete(result, total, options.out)
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
