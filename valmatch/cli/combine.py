"""``valmatch combine``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valmatch.cli.console import AGAIN, info, show, show_result, warn
from valmatch.cli.options import Json, command
from valmatch.errors import InputError
from valmatch.inputs import arguments
from valmatch.inputs import options as o

if TYPE_CHECKING:
    from valmatch.experiments.combine import Combined


@command(speaks=["quiet"])
def combine(
    out: Annotated[
        Path,
        o.path(
            "Folder of the run: its shards are put together, and results are written to it.",
            "DIR",
            argument=True,
            value=MISSING,
        ),
    ],
    folders: Annotated[
        tuple[Path, ...],
        o.folders(
            "Further folders of the same run, such as those of other machines.", "[OTHER]...", ()
        ),
    ],
    expect: Annotated[
        int | None,
        o.whole(
            "expect", None, "Expected number of replications.", default="as many as were asked for"
        ),
    ],
    check: Annotated[bool, o.flag("Print what is missing and nothing else; write nothing.")],
    confidence: Annotated[
        float | None,
        o.number(arguments.level, None, "Confidence level of the intervals.", "P", default="0.95"),
    ],
    json: Json,
) -> None:
    """Put the shards of a run of `replicate` or `optimize` together, as if one run had made them.

    Other folders may come in any order and hold the same replications. Folders of another config
    or seed, and those that contradict each other, are refused. Exit code 75: replications or runs
    are missing.
    """
    from valmatch.experiments.combine import with_whole

    parts = with_whole(out, list(folders))
    found = _merge(parts)(out, parts, check=check, warn=warn, **_options(parts, expect, confidence))
    if check:
        show(
            json,
            found.missing,
            lambda: sys.stdout.writelines(f"{line}\n" for line in found.shortfalls),
        )
        _say_what_to_run_again(found.owed)
    else:
        show_result(json, found.summary(), found.whole, out)
        for line in found.shortfalls:
            warn(line)
    if found.shortfalls:
        raise typer.Exit(AGAIN)


def _merge(parts: Sequence[Path]) -> Callable[..., Combined[Any]]:
    """Return what puts folders of their command together."""
    from valmatch.experiments import combine as experiments
    from valmatch.storage.manifest import command_of

    commands = set(map(command_of, parts))
    if "optimize" in commands:
        from valmatch.optimization.studies.combine import combine_optimizations

        return combine_optimizations
    return experiments.combine_designs if "design" in commands else experiments.combine


def _options(parts: Sequence[Path], expect: int | None, confidence: float | None) -> dict[str, Any]:
    """Return the options that folders of their command take."""
    from valmatch.storage.manifest import command_of

    options = {"expect": expect, "confidence": confidence}
    if "optimize" not in map(command_of, parts):
        return options
    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name}: of no use with folders of optimize (leave it out)")
    return {}


def _say_what_to_run_again(owed: Iterable[str]) -> None:
    """Say which tasks of a job array make what shards owe."""
    from valmatch.execution.shards import array_of, parse_shard

    shards = [parse_shard(name.split()[1]) for name in owed if name.startswith("shard ")]
    if shards:
        array = array_of(shard.index for shard in shards)
        info(
            f"to run again: --array={array} with --shard $SLURM_ARRAY_TASK_ID/{shards[0].count}"
            " (tasks numbered from 0)"
        )
