"""``valmatch next``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from valmatch.cli.console import progress, show, warn
from valmatch.cli.options.declarations import (
    DEFAULT_SEED,
    Json,
    Out,
    Quiet,
    RawNames,
    Seed,
    Verbose,
    first,
    path,
    share,
    warn_in_job_array,
    whole,
)
from valmatch.errors import InputError
from valmatch.inputs.csv_columns import cells_of
from valmatch.policies.registry import JOINT, meanings

GAMES, REPLICATIONS = 1_000, 100


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
            help=f"What a pair is worth. {meanings(JOINT)} With --simulate one or several,"
            " NAME,NAME.  [default: knowledge_gradient; with --simulate all]",
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
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate",
            help="Simulate what the next games would bring under each policy, in worlds that"
            " RATINGS leave possible.",
        ),
    ] = False,
    games: Annotated[
        int | None,
        typer.Option(
            parser=whole("simulated_games"),
            metavar="N",
            help="With --simulate: how many games, rated anew after each --batch.  [default: 1000]",
        ),
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option(
            parser=whole("replications"),
            metavar="N",
            help="With --simulate: how many worlds.  [default: 100]",
        ),
    ] = None,
    seed: Seed = None,
    raw_names: RawNames = False,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Choose which pairs to play next, by ratings and how sure these are together.

    Each pair is chosen as if those before it had been played. The table says what it is worth by
    the policy, the expected score of the first player, the standard error of the difference and
    the games of the pair, those before it included, and with which chance it was chosen. Below it
    stands how unsure the goal is now, and what choosing does to intervals. With --simulate the
    table says instead how well the goal would be known after further games under each policy, and
    plot draws that.
    """
    from valmatch.cli.tables.next_pairs import show_next, show_simulated
    from valmatch.game_logs.next_pairs.choosing import next_pairs
    from valmatch.game_logs.next_pairs.options import POLICY
    from valmatch.game_logs.next_pairs.simulating import simulate_next_pairs

    warn_in_job_array("next")
    given: dict[str, Any] = {
        "goal": goal,
        "batch": first(batch, 10),
        "once": once,
        "allowed": allowed,
        "without": cells_of(without),
        "new": cells_of(new),
        "explore": explore or 0.0,
        "seed": first(seed, DEFAULT_SEED),
        "out": out,
        "warn": warn,
    }
    if not simulate:
        for name, value in (("games", games), ("replications", replications)):
            if value is not None:
                raise InputError(f"--{name}: goes with --simulate")
        with progress("pairs", given["batch"], None, out) as advance:
            found = next_pairs(
                ratings,
                POLICY if policy is None else policy,
                raw_names=raw_names,
                progress=advance,
                **given,
            )
        show(json, found.document(), lambda: show_next(found), out)
        return
    worlds = first(replications, REPLICATIONS)
    with progress("worlds", worlds, None, out) as advance:
        played = simulate_next_pairs(
            ratings,
            () if policy is None else cells_of(policy) or ("",),
            games=first(games, GAMES),
            replications=worlds,
            progress=advance,
            **given,
        )
    show(json, played.document(), lambda: show_simulated(played), out)
