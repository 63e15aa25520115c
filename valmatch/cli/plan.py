"""``valmatch plan``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from valmatch.cli.console import MISSED, progress, show_result, warn
from valmatch.cli.options import (
    Json,
    Out,
    Quiet,
    Seed,
    Verbose,
    Workers,
    level,
    path,
    share,
    warn_in_job_array,
    whole,
)
from valmatch.policies.registry import JOINT, meanings
from valmatch.text.numerals import real_number
from valmatch.text.terminal import shown


def _points(text: str) -> float:
    """Parse a number of points."""
    value = real_number(text)
    if value is None:
        raise typer.BadParameter(f"{shown(text)} (allowed: a number of points)")
    return value


def plan(
    ratings: Annotated[
        Path | None,
        typer.Argument(
            parser=path("ratings"),
            metavar="[RATINGS]",
            help="A folder of rate --system bradley_terry --out, in which all are rated; its games"
            " stay. Else --players and --spread.",
        ),
    ] = None,
    half_width: Annotated[
        float | None,
        typer.Option(
            parser=_points,
            metavar="W",
            help="Games until the mean half-width of the differences is W points.",
        ),
    ] = None,
    best: Annotated[
        float | None,
        typer.Option(
            parser=level, metavar="P", help="Games until the leader is the true best in P of all."
        ),
    ] = None,
    shown: Annotated[
        float | None,
        typer.Option(
            parser=level,
            metavar="P",
            help="Games until exactly one is tied for first in P of all.",
        ),
    ] = None,
    players: Annotated[
        int | None,
        typer.Option(parser=whole("players"), metavar="N", help="So many players, from 2 to 500."),
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(
            parser=_points, metavar="S", help="Standard deviation of their strengths in points."
        ),
    ] = None,
    draws: Annotated[
        float | None,
        typer.Option(
            parser=share, metavar="P", help="Share of drawn games between equals.  [default: 0]"
        ),
    ] = None,
    home: Annotated[
        float | None,
        typer.Option(
            parser=_points,
            metavar="H",
            help="Advantage of who is at home in points, which is fitted, too.  [default: 0]",
        ),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="D|none",
            help="Deviation of the prior by which they are rated.  [default: 350]",
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Who plays, by what a pair is worth. {meanings(JOINT)}  [default: uniform]",
        ),
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What the knowledge gradient is for: best, order or widest.  [default: best]",
        ),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(
            parser=whole("batch"),
            metavar="N",
            help="Games that are chosen at once; not for uniform.  [default: 10]",
        ),
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option(
            parser=whole("replications"), metavar="N", help="Simulated leagues.  [default: 200]"
        ),
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(parser=level, metavar="P", help="Of all intervals.  [default: 0.95]"),
    ] = None,
    max_games: Annotated[
        int | None,
        typer.Option(
            parser=whole("max_games"), metavar="N", help="Where to give up.  [default: 1000000]"
        ),
    ] = None,
    seed: Seed = None,
    workers: Workers = None,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Say how many games it takes to know players as well as is wanted.

    In each simulated league games go on, and the players are rated by bradley_terry at growing
    numbers of games. Truths are drawn from the belief of RATINGS, or afresh. Exit code 3:
    --max-games does not reach what is wanted.
    """
    from valmatch.game_logs.planning import plan_games

    warn_in_job_array("plan")
    named = {
        **{"half_width": half_width, "best": best, "shown": shown},
        **{"players": players, "spread": spread, "draws": draws, "home": home},
        **{"policy": policy, "goal": goal, "batch": batch, "replications": replications},
        **{"level": level, "max_games": max_games, "seed": seed, "workers": workers},
    }
    given: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    if prior is not None:
        given["prior"] = None if prior == "none" else _prior(prior)
    with progress("leagues", None) as bar:
        found = plan_games(ratings, **given, out=out, progress=bar, warn=warn)
    show_result(json, found.summary(), found, out)
    if not found.reached:
        if json or quiet:
            warn(found.sentence)
        raise typer.Exit(MISSED)


def _prior(text: str) -> float:
    """Parse the deviation of a prior."""
    from valmatch.errors import InputError, option

    value = real_number(text)
    if value is None:
        raise InputError(f"{option('prior')}: {shown(text)} (allowed: points, or none)")
    return value
