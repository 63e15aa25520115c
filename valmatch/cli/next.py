"""``valmatch next``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from valmatch.cli.console import progress, show_result, warn
from valmatch.cli.options import (
    DEFAULT_SEED,
    Json,
    Out,
    Quiet,
    Seed,
    Verbose,
    first,
    path,
    share,
    warn_in_job_array,
    whole,
)
from valmatch.inputs.csv_reader import cells_of
from valmatch.policies.registry import JOINT, meanings


def next(
    ratings: Annotated[
        Path,
        typer.Argument(
            parser=path("ratings"),
            metavar="RATINGS",
            help="A folder of rate --system bradley_terry --out, in which all are rated.",
        ),
    ],
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"What a pair is worth. {meanings(JOINT)}  [default: knowledge_gradient]",
        ),
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What the knowledge gradient is for: best (name the best), order (name the order"
            " of neighbours) or widest (narrow the widest difference).  [default: best]",
        ),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(parser=whole("batch"), metavar="N", help="How many pairs.  [default: 10]"),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Each player in one pair at most.")] = False,
    allowed: Annotated[
        Path | None,
        typer.Option(
            parser=path("allowed"),
            metavar="FILE",
            help="A CSV file of the pairs that may play: player_a, player_b.  [default: all]",
        ),
    ] = None,
    without: Annotated[
        str, typer.Option(metavar="NAME[,NAME]", help="Players who are not there.")
    ] = "",
    new: Annotated[
        str,
        typer.Option(
            metavar="NAME[,NAME]",
            help="Players who have not played yet; they are known by the prior of RATINGS.",
        ),
    ] = "",
    explore: Annotated[
        float | None,
        typer.Option(
            parser=share,
            metavar="P",
            help="Draw each pair from all that may play with this probability.  [default: 0]",
        ),
    ] = None,
    seed: Seed = None,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Choose which pairs to play next, by ratings and how sure these are together.

    Each pair is chosen as if those before it had been played. The table says what it is worth by
    the policy, the expected score of the first player, the standard error of the difference and
    the games of the pair, those before it included, and with which chance it was chosen. Below it
    stands how unsure the goal is now, and what choosing does to intervals. How many games it takes
    under a policy says plan RATINGS --policy NAME.
    """
    from valmatch.game_logs.next_pairs import POLICY, next_pairs

    warn_in_job_array("next")
    size = first(batch, 10)
    with progress("pairs", size) as advance:
        found = next_pairs(
            ratings,
            POLICY if policy is None else policy,
            goal=goal,
            batch=size,
            once=once,
            allowed=allowed,
            without=cells_of(without),
            new=cells_of(new),
            explore=explore or 0.0,
            seed=first(seed, DEFAULT_SEED),
            out=out,
            warn=warn,
            progress=advance,
        )
    show_result(json, found.document(), found, out)
