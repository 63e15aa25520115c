"""``valmatch combine``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from valmatch.cli.console import AGAIN, info, show, show_result, warn
from valmatch.cli.options import Confidence, Json, Quiet, path, whole
from valmatch.cli.replicate import show_run
from valmatch.errors import InputError
from valmatch.text.terminal import shortened


def combine(
    out: Annotated[
        Path, typer.Argument(parser=path("whole"), metavar="OUT", help="Folder of the whole.")
    ],
    folders: Annotated[
        list[Path],
        typer.Argument(
            parser=path("folders"),
            metavar="DIR...",
            help="Folders of `replicate` or `optimize`, such as its shards.",
        ),
    ],
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
    """Merge folders of replications, or of an optimisation, into one, as if one run had made them.

    In any order, exact repetitions dropped; folders of another config or seed, and folders that
    contradict each other, are refused. Exit code 75: replications or runs are missing.
    """
    from valmatch.experiments.combine import combine as merge
    from valmatch.storage.manifest import command_of

    _refuse_shard(out)
    commands = list(map(command_of, folders))
    if "optimize" in commands:
        _refuse_with_optimize(expect=expect, confidence=confidence)
        _combine_optimizations(out, folders, json, check=check)
        return
    if "design" in commands:
        _combine_designs(out, folders, json, expect=expect, check=check, confidence=confidence)
        return
    found = merge(out, folders, expect=expect, check=check, confidence=confidence, warn=warn)
    if check:
        _show_missing(found.missing_by_shard(), found.shortfalls(), found.owed, json)
    show_run(found.replications, found.summary(), out, json)
    _exit_if_missing(found.shortfalls())


def _refuse_shard(out: Path) -> None:
    """Refuse to write the whole into the first of its shards."""
    from valmatch.storage.manifest import Manifest, read_manifest

    shard = None
    with suppress(OSError, InputError):
        shard = read_manifest(out, Manifest).get("shard")
    if shard:
        raise InputError(
            f"OUT is missing: the first argument, {shortened(str(out))}, is itself one of the"
            " shards (usage: valmatch combine OUT DIR...)"
        )


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
    from valmatch.experiments.combine import SHARD

    shards = [parse_shard(name.removeprefix(SHARD)) for name in owed if name.startswith(SHARD)]
    if shards:
        array = array_of(shard.index for shard in shards)
        info(
            f"to run again: --array={array} with --shard $SLURM_ARRAY_TASK_ID/{shards[0].count}"
            " (tasks numbered from 0)"
        )


def _combine_designs(out: Path, folders: list[Path], json: bool, **options: Any) -> None:  # noqa: ANN401
    """Merge the folders of a design."""
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
    """Merge the folders of an optimisation."""
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
