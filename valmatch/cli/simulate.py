"""``valmatch simulate``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from valmatch.cli.console import show_result, warn
from valmatch.cli.options import ConfigArgument, Json, ResponseOptions, command, warn_in_job_array
from valmatch.execution.run_options import SimulateArguments
from valmatch.kernels.plain_python import interpret


@dataclass(frozen=True)
class SimulateOptions(ResponseOptions, SimulateArguments):
    """The options of the command line."""


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
    from valmatch.experiments.simulate import simulate_config

    result = simulate_config(settings, replace(options, warn=warn))
    show_result(json, result.summary(), result, options.out, responses=options.responses)
