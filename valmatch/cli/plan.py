"""``valmatch plan``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from valmatch.cli.console import MISSED, is_quiet, progress, show_result, warn
from valmatch.cli.options import Json, command, warn_in_job_array
from valmatch.game_logs.options import PlanOptions
from valmatch.inputs import options as o


@command()
def plan(
    ratings: Annotated[
        Path | None,
        o.path(
            "A folder that `valmatch rank --out` wrote, in which all players are rated; its games"
            " stay. Else --players and --spread.",
            "[RATINGS]",
            argument=True,
        ),
    ],
    options: PlanOptions,
    json: Json,
) -> None:
    """Say how many games it takes to know players as well as is wanted.

    In each simulated league games go on, and the players are rated by bradley_terry at growing
    numbers of games. True strengths are drawn from the belief of RATINGS, or afresh. Exit code 3:
    --max-games does not reach what is wanted.
    """
    from valmatch.game_logs.planning import plan_of

    warn_in_job_array("plan")
    with progress("leagues", None) as bar:
        found = plan_of(ratings, replace(options, progress=bar, warn=warn))
    show_result(json, found.summary(), found, options.out)
    if not found.reached:
        if json or is_quiet():
            warn(found.sentence)
        raise typer.Exit(MISSED)
