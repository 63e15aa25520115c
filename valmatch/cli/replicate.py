"""``valmatch replicate``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from valmatch.cli.console import (
    info,
    of_status,
    progress,
    show_result,
    warn,
)
from valmatch.cli.options import (
    DEFAULT_SEED,
    ConfigArgument,
    Json,
    ResponseOptions,
    RunFlags,
    command,
    confidence,
    first,
    listeners,
    name_options,
    seed,
    shard,
)
from valmatch.errors import RunError
from valmatch.inputs import options as o

if TYPE_CHECKING:
    from valmatch.config.config import Config
    from valmatch.execution.run_options import RunOptions
    from valmatch.experiments.replicate import Plan
    from valmatch.experiments.replications import Replications
    from valmatch.experiments.sweep import Design, DesignReplications
    from valmatch.statistics.precision import Precision


@dataclass(frozen=True)
class ReplicateFlags(ResponseOptions, RunFlags):
    """How many replications are made, and how precise they are to be."""

    n: int | None = o.whole(
        "n",
        None,
        "Number of replications.",
        short="-n",
        default="1000, or 1 where all are the same",
    )
    seed: int | None = seed()
    shard: str | None = shard("replication")
    sweep: Sequence[str] = o.repeated(
        "Replicate at each value, 100,200,400 or 100:400:100; several sweeps span a grid.",
        "KEY=VALUES",
    )
    targets: Sequence[str] = o.repeated(
        "Continue until the half-width of a response is 1% of its mean, or 0.05; may be repeated.",
        "NAME=WIDTH",
    )
    max_reps: int | None = o.whole(
        "max_reps", None, "Give the targets up after this many replications.", default="1000000"
    )
    control_variates: bool = o.flag("Adjust the means by what is known of the arrivals.")
    confidence: float | None = confidence()

    def plan(self, settings: Config) -> Plan:
        """Return what is made; the options outrank the config."""
        from valmatch.execution.shards import parse_shard, shard_of_job
        from valmatch.experiments.replicate import MAX_REPS, Plan, default_n
        from valmatch.statistics.precision import LEAST

        given = settings.replicate
        targets = list(self.targets) or given.target
        # What the config says of n is of its random arrivals.
        configured = None if targets or settings.one_history else given.n
        return Plan(
            first(self.n, configured, LEAST if targets else default_n(settings)),
            first(self.seed, given.seed, DEFAULT_SEED),
            shard_of_job(os.environ) if self.shard is None else parse_shard(self.shard),
            float(first(self.confidence, given.confidence, 0.95)),
            targets,
            first(self.max_reps, given.max_reps, MAX_REPS),
            self.control_variates or bool(given.control_variates),
        )


@command()
def replicate(config: ConfigArgument, options: ReplicateFlags, json: Json = False) -> None:
    """Run independent replications and estimate the mean of every response.

    Defaults of the options may stand in the `replicate` section of the config, a design of
    several points in its section `design`. The results depend on config, seed and n alone. Exit
    code 3: a target was missed; 75: the time was up before all replications were made (--resume
    continues).
    """
    from valmatch.experiments.replicate import replicate_config
    from valmatch.experiments.sweep import design_of

    out, responses, levels = options.out, options.responses, options.levels(config)
    settings = options.load(config, levels)
    name_options(
        settings,
        "replicate",
        targets=options.targets,
        executor=options.executor,
        scheduler=options.scheduler,
        control_variates=options.control_variates,
    )
    plan = options.plan(settings)
    part, total = plan.shard, len(plan.shard.indices(plan.n))
    if part.count > 1:
        info(f"shard {part}: {total:,} of {plan.n:,} replications")
    run_options = options.options(settings.replicate, part)
    design = design_of(settings, list(options.sweep))
    if design is not None:
        points = [options.load(config, [*levels, *design.levels(one)]) for one in design.points]
        made = _run_design(settings, design, points, plan, run_options)
        _show_design(made, json, responses)
        return
    with progress("replications", None if plan.targets else total) as advance:

        def looked(found: Sequence[Precision]) -> None:
            advance.note(", ".join(target.shown for target in found))

        result = replicate_config(settings, plan, run_options, listeners(advance, looked))
    show_result(json, result.summary(), result, out, responses=responses)
    _exit_unless_complete(result, total, out)
    expected, missed = len(settings.replicate.expect), result.missed_expectations()
    if expected:
        info(f"{expected - len(missed)} of {expected} expected means met")
    if missed:
        raise RunError(*missed)


def _run_design(
    settings: Config, design: Design, points: list[Config], plan: Plan, options: RunOptions
) -> DesignReplications:
    """Run the points of a design."""
    from valmatch.config.identity import config_id
    from valmatch.experiments.sweep import run_design

    size = len(plan.shard.indices(plan.n)) * len(set(map(config_id, points)))
    with progress("replications", None if plan.targets else size) as advance:
        return run_design(settings, design, points, plan, options, listeners(advance))


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
