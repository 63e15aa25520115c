"""``valmatch combine``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from valmatch.cli.console import show, warn
from valmatch.cli.parameters import Confidence, Json, Quiet, path, whole
from valmatch.cli.replicate import each, show_run

__all__ = ["combine"]


def combine(
    out: Annotated[
        Path, typer.Argument(parser=path("whole"), metavar="OUT", help="Folder of the whole.")
    ],
    folders: Annotated[
        list[Path],
        typer.Argument(
            parser=path("folders"),
            metavar="DIR...",
            help="Folders of `replicate`, such as its shards.",
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
        bool, typer.Option("--check", help="Only say what is missing; write nothing.")
    ] = False,
    confidence: Confidence = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Merge folders of replications into one, as if one run had made them.

    In any order, exact repetitions dropped; folders of another config or seed, and folders that
    contradict each other, are refused. Exit code 3: replications are missing.
    """
    from valmatch.experiments.combine import combine as merge
    from valmatch.experiments.combine_designs import is_design

    if any(map(is_design, folders)):
        _combine_designs(out, folders, json, expect=expect, check=check, confidence=confidence)
        return
    found = merge(out, folders, expect=expect, check=check, confidence=confidence, warn=warn)
    show_run(found.replications, found.summary(), None if check else out, json)
    _exit_if_missing(found.shortfalls())


def _combine_designs(out: Path, folders: list[Path], json: bool, **options: Any) -> None:  # noqa: ANN401
    """Merge the folders of a design."""
    from valmatch.cli.tables import show_experiment_points
    from valmatch.experiments.combine_designs import combine_designs

    found = combine_designs(out, folders, warn=warn, **options)
    whole = found.experiment
    header = f"{whole.config.model} ({Path(whole.config.source).stem}), {each(whole)}"
    show(
        json,
        whole.summary(),
        lambda: show_experiment_points(header, whole),
        None if options["check"] else out,
    )
    _exit_if_missing(found.shortfalls)


def _exit_if_missing(shortfalls: Sequence[str]) -> None:
    for line in shortfalls:
        warn(line)
    if shortfalls:
        raise typer.Exit(3)
