"""``valmatch compare``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valmatch.cli.console import load_config, of_status, progress, show_result, warn
from valmatch.cli.options import Json, ResponseOptions, command, warn_in_job_array, watched
from valmatch.errors import InputError
from valmatch.execution.run_options import CompareArguments
from valmatch.inputs import options as o
from valmatch.text.terminal import shortened

if TYPE_CHECKING:
    from valmatch.config.config import Config
    from valmatch.experiments.compare import Comparison

MEASURED = ("log", "measure", "bands")
"""Factors of which two systems that are compared have the same."""

NEXT_KEY = re.compile(r",(?=[^,=\[\]{}\"']+(?:\[\d+\][^,=\[\]{}\"']*)*=)")
"""The comma between two factors of a variant; one inside of a value is followed by no KEY=."""


@dataclass(frozen=True)
class CompareFlags(ResponseOptions, CompareArguments):
    """The options of the command line."""

    variant: Sequence[str] = o.repeated(
        "Compare A with these values, of log.* and arrivals, too; repeated, one more variant each.",
        "KEY=VALUE,...",
    )


@command()
def compare(
    a: Annotated[str, o.text(MISSING, "A config, or the folder of a run.", "A", argument=True)],
    b: Annotated[
        tuple[str, ...],
        o.repeated(
            "Others, each compared with A; without any, A changed by --set or --variant.",
            "[B]...",
            argument=True,
        ),
    ],
    options: CompareFlags,
    json: Json = False,
) -> None:
    """Compare systems under common random numbers: paired differences B - A, also C - A and so on.

    With one config, B is that config changed by --set, but what is read or measured, and how
    (arrivals, skills, log.*, measure, bands), holds for both; with several, or with --variant,
    --set changes all of them. Of several variants the intervals of each response hold together.
    Folders of `replicate` are compared without simulating anything. With --responses, `plot` of
    --out draws those, too, unless told otherwise. Exit code 75: the time was up (--resume
    continues).
    """
    from valmatch.experiments.compare import compare_configs, pairs_plan

    warn_in_job_array("compare")
    out, variant, overrides = options.out, options.variant, list(options.overrides)
    if b and not variant and all(Path(source).is_dir() for source in (a, *b)):
        if overrides or out:
            raise InputError("compare: folders are compared as they are, without --set and --out")
        found = _of_folders(a, b, options.confidence)
    else:
        sides = _sides(a, b, variant, overrides, options.levels(b[0] if b else a))
        total = len(sides) * pairs_plan(sides, options).n
        with progress("replications", total) as bar:
            options = watched(options, sides[0].replicate, bar)
            found = compare_configs(sides, options, list(options.responses))
    _report(found, options.responses, json, out)


def _sides(
    a: str,
    others: Sequence[str],
    variant: Sequence[str],
    overrides: list[str],
    log: list[tuple[str, str]],
) -> list[Config]:
    """Return A and what it is compared with."""
    if not (others or variant):
        reading = [override for override in overrides if _holds_for_both(override)]
        if len(reading) == len(overrides):
            of_both = ": what is read or measured, and how, holds for both" if reading else ""
            what = f"give a second config, --variant, or --set of something else{of_both}"
            raise InputError(f"compare {a}: nothing to compare with; {what}")
        return [load_config(a, reading, log), load_config(a, overrides, log)]
    configs = [load_config(source, overrides, log) for source in (a, *others)]
    return configs + [load_config(a, overrides, [*log, *_levels(changes)]) for changes in variant]


def _holds_for_both(override: str) -> bool:
    """Return whether an override is no rule to be compared.

    It names a file, or says how one is read, or what is measured.
    """
    from valmatch.config.checking import FILES

    key = override.partition("=")[0].strip()
    return key in FILES or key.removeprefix("factors.").partition(".")[0] in MEASURED


def _levels(variant: str) -> list[tuple[str, str]]:
    """Return what a variant sets, as `load_config` takes levels; a comma before KEY= divides."""
    parts = NEXT_KEY.split(variant)
    return [(f"--variant {shortened(part.partition('=')[0])}", part) for part in parts]


def _of_folders(a: str, others: Sequence[str], level: float) -> Comparison:
    """Compare runs as they are."""
    from valmatch.experiments.combine import read_replications
    from valmatch.experiments.compare import compare_runs

    base, *runs = (read_replications(Path(folder), warn) for folder in (a, *others))
    return compare_runs(base, runs, level)


def _report(found: Comparison, chosen: Sequence[str], json: bool, out: Path | None) -> None:
    """Print what was found, say what has to be said of it, and end as the runs did."""
    show_result(json, found.summary(), found, out, responses=chosen)
    if found.status != "complete":
        warn(f"{found.status}{'; --resume goes on' if out else ''}")
        raise typer.Exit(of_status(found.status))
