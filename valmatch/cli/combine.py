"""``valmatch combine``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from valmatch.cli.console import AGAIN, info, show, show_result, warn
from valmatch.cli.options import Confidence, Json, Quiet, path, whole
from valmatch.cli.replicate import show_run
from valmatch.errors import InputError


def combine(
    out: Annotated[
        Path,
        typer.Argument(
            parser=path("out"),
            metavar="DIR",
            help="Folder of the run: its shards are put together, and results are written to it.",
        ),
    ],
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            parser=path("folders"),
            metavar="[OTHER]...",
            help="Further folders of the same run, such as those of other machines.",
        ),
    ] = None,
    expect: Annotated[
        int | None,
        typer.Option(
            parser=whole("expect"),
            metavar="N",
            help="Replications that there should be.  [default: as many as were asked for]",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Print what is missing and nothing else; write nothing.")
    ] = False,
    confidence: Confidence = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Put the shards of a run of `replicate` or `optimize` together, as if one run had made them.

    Other folders may come in any order and hold the same replications. Folders of another config
    or seed, and those that contradict each other, are refused. Exit code 75: replications or runs
    are missing.
    """
    from valmatch.experiments.combine import combine as merge
    from valmatch.experiments.combine import with_whole
    from valmatch.storage.manifest import command_of

    others = folders or []
    commands = list(map(command_of, with_whole(out, others)))
    if "optimize" in commands:
        _refuse_with_optimize(expect=expect, confidence=confidence)
        _combine_optimizations(out, others, json, check=check)
        return
    if "design" in commands:
        _combine_designs(out, others, json, expect=expect, check=check, confidence=confidence)
        return
    found = merge(out, others, expect=expect, check=check, confidence=confidence, warn=warn)
    if check:
        _show_missing(found.missing(), found.shortfalls(), found.owed, json)
    show_run(found.replications, found.summary(), out, json)
    _exit_if_missing(found.shortfalls())


def _show_missing(
    missing: Mapping[str, object], shortfalls: Sequence[str], owed: Iterable[str], json: bool
) -> NoReturn:
    """Print what is missing, if anything is, and nothing else; end the command."""
    show(json, missing, lambda: print("\n".join(shortfalls)) if shortfalls else None)
    _say_what_to_run_again(owed)
    raise typer.Exit(AGAIN if shortfalls else 0)


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


def _combine_designs(out: Path, folders: list[Path], json: bool, **options: Any) -> None:  # noqa: ANN401
    """Put the folders of a design together."""
    from valmatch.experiments.combine import combine_designs

    found = combine_designs(out, folders, warn=warn, **options)
    if options["check"]:
        _show_missing(found.missing, found.shortfalls, found.owed, json)
    whole = found.experiment
    show_result(json, whole.summary(), whole, out)
    _exit_if_missing(found.shortfalls)


def _refuse_with_optimize(**given: object) -> None:
    """Refuse options that change what the runs of an optimisation were to make."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"--{name}: of no use with folders of optimize (leave it out)")


def _combine_optimizations(out: Path, folders: list[Path], json: bool, check: bool) -> None:
    """Put the folders of an optimisation together."""
    from valmatch.optimization.studies.combine import combine_optimizations

    found = combine_optimizations(out, folders, check=check, warn=warn)
    if check:
        _show_missing(found.missing, found.shortfalls(), found.owed, json)
    show_result(json, found.summary(), found.whole, out)
    _exit_if_missing(found.shortfalls())


def _exit_if_missing(shortfalls: Sequence[str]) -> None:
    for line in shortfalls:
        warn(line)
    if shortfalls:
        raise typer.Exit(AGAIN)
