"""``valmatch simulate``."""

from __future__ import annotations

from dataclasses import dataclass

from valmatch.cli.console import show_result, warn
from valmatch.cli.options import (
    DEFAULT_SEED,
    ConfigArgument,
    Json,
    ResponseOptions,
    command,
    first,
    seed,
    warn_in_job_array,
)
from valmatch.inputs import options as o
from valmatch.kernels.plain_python import interpret


@dataclass(frozen=True)
class SimulateOptions(ResponseOptions, o.OutOptions):
    """Which replication is made."""

    seed: int | None = seed()
    replication: int = o.whole("replication", 0, "Index of the replication.", "K", default="0")


@command()
def simulate(config: ConfigArgument, options: SimulateOptions, json: Json = False) -> None:
    """Run one replication and record everything that happens in it.

    Replication K is row K of `valmatch replicate` with the same config and seed.
    """
    warn_in_job_array("simulate")
    settings = options.load(config)
    if settings.factors.brief() and not settings.files:
        interpret()
    # Imported now, because kernels are compiled, or left in plain Python, when they are imported.
    from valmatch.experiments.simulate import simulate as run

    out, replication = options.out, options.replication
    seed = first(options.seed, settings.replicate.seed, DEFAULT_SEED)
    result = run(settings, seed, replication, out=out, warn=warn)
    show_result(json, result.summary(), result, out, responses=options.responses)
