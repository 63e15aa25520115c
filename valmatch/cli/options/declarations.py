"""The arguments and options that several commands have."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valmatch.cli.console import detail, set_quiet, set_verbose, warn
from valmatch.errors import InputError, call_options
from valmatch.inputs import arguments
from valmatch.inputs.limits import LEVEL, RANGES
from valmatch.text.durations import in_unit
from valmatch.text.notes import Note
from valmatch.text.numerals import count, real_number
from valmatch.text.terminal import shown

if TYPE_CHECKING:
    from valmatch.cli.progress import Bar
    from valmatch.config.config import Config
    from valmatch.config.sections import OptimizeOptions, ReplicateOptions
    from valmatch.execution.listeners import Listeners
    from valmatch.execution.run_options import RunOptions
    from valmatch.execution.shards import Shard
    from valmatch.statistics.precision import Precision

DEFAULT_SEED = 1


def whole(argument: str) -> Callable[[str], int]:
    """Return a parser of whole numbers in the range of an argument of the public functions.

    They may be written as 1e6 or 1,000,000.
    """
    low, high = RANGES[argument]

    def parse(text: str) -> int:
        value = count(text)
        if value is None or not low <= value <= high:
            raise typer.BadParameter(f"{shown(text)} (allowed: {RANGES[argument]})")
        return value

    return parse


def level(text: str) -> float:
    """Parse a confidence level."""
    low, high = LEVEL
    value = real_number(text)
    if value is None or not low <= value <= high:
        raise typer.BadParameter(f"{shown(text)} (allowed: a number from {low!r} to {high!r})")
    return value


def share(text: str) -> float:
    """Parse a number from 0 to 1."""
    value = real_number(text)
    if value is None or not 0.0 <= value <= 1.0:
        raise typer.BadParameter(f"{shown(text)} (allowed: a number from 0 to 1)")
    return value


def path(argument: str) -> Callable[[str], Path]:
    """Return a parser of paths for an argument of the public functions."""
    return lambda text: arguments.path(argument, text)


def duration(text: str) -> float:
    """Parse a time: seconds, a number with a unit, or [D-]HH:MM:SS as SLURM writes it."""
    number = re.fullmatch(r"\d+\.?\d*|\.\d+", text, re.ASCII)
    with_unit = in_unit(text, "seconds")
    clock = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)", text, re.ASCII)
    seconds = 0.0
    if number:
        seconds = float(text)
    elif isinstance(with_unit, float):
        seconds = with_unit
    elif clock:
        days, *parts = (float(part or 0) for part in clock.groups())
        seconds = 86400.0 * days + 3600.0 * parts[0] + 60.0 * parts[1] + parts[2]
    if not seconds > 0.0:
        raise typer.BadParameter(
            f"{shown(text)} (allowed: a time > 0, such as 90, 30m, 5min or 01:30:00)"
        )
    return seconds


def complete_config(text: str) -> list[str]:
    """Return shipped configs and YAML files that start with what is typed."""
    from valmatch.config.loading import shipped_configs

    files = [str(path) for path in sorted(Path().glob("*.yaml"))]
    return [name for name in [*shipped_configs(), *files] if name.startswith(text)]


def complete_solver(text: str) -> list[str]:
    """Return lists of solvers that start with what is typed."""
    from valmatch.optimization.solvers.registry import SOLVERS

    done, comma, last = text.rpartition(",")
    return [f"{done}{comma}{name}" for name in SOLVERS if name.startswith(last)]


def complete_model(text: str) -> list[str]:
    """Return models that start with what is typed."""
    from valmatch.models.registry import MODELS

    return [name for name in MODELS if name.startswith(text)]


def complete_system(text: str) -> list[str]:
    """Return rating systems that start with what is typed."""
    from valmatch.ratings.registry import BATCH_NAMES, NAMES

    return [name for name in (*NAMES, *BATCH_NAMES) if name.startswith(text)]


FLAGS = {
    "config": "CONFIG",
    "fixtures": "FIXTURES.csv",
    "folders": "DIR",
    "formats": "--format",
    "games": "GAMES.csv",
    "log.columns": "--columns",
    "log.max_bad_rows": "--max-bad-rows",
    "log.separator": "--separator",
    "log.skip_bad_rows": "--skip-bad-rows",
    "log.sort": "--sort-rows",
    "max_seconds": "--max-time",
    "n": "-n",
    "overrides": "--set",
    "parameters": "--set",
    "source": "DIR",
    "solvers": "--solver",
    "targets": "--target",
    "variants": "--variant",
    "whole": "OUT",
}
"""Options and arguments that are not called as the arguments of the public functions are."""


KEYS = {"solvers": "solver", "targets": "target"}
"""Keys of configs that are not called as the arguments of the public functions are."""


def flag(argument: str) -> str:
    """Return the option of an argument of the public functions, see `valmatch.errors.option`."""
    name, _, value = argument.partition("=")
    if "." in name and name not in FLAGS:
        return f"--set {argument}"
    called = FLAGS.get(name, f"--{name.replace('_', '-')}")
    return called if value in ("", "True") else f"{called} {value}"


def name_options(config: Config, section: str, **given: object) -> None:
    """Let messages call options by their place in a config that gives them."""

    def call(argument: str) -> str:
        name, _, value = argument.partition("=")
        path = f"{section}.{KEYS.get(name, name)}"
        if given.get(name, True) or path not in config.places:
            return flag(argument)
        return config.at(path) if value in ("", "True") else f"{config.at(path)}: {value}"

    call_options(call)


def warn_in_job_array(command: str) -> None:
    """Say in a task of a job array that a command takes no shares."""
    from valmatch.execution.job_arrays import in_job_array

    if in_job_array(os.environ):
        warn(
            f"every task of this job array does the whole work: {command} takes no shares (as"
            " replicate does)"
        )


def first(*values: int | float | None) -> int:
    """Return the first value that is given: the option, then the config, then the default."""
    return next(value for value in values if value is not None)  # type: ignore[return-value]


@dataclass(frozen=True)
class RunArguments:
    """The run options of a command line; what it leaves out, the config may give."""

    # workers, executor, scheduler, out, resume: as of `valmatch.execution.run_options.RunOptions`;
    # None where not given
    workers: int | None
    executor: str | None
    scheduler: str | None
    out: Path | None
    resume: bool
    max_time: float | None  # seconds after which to stop

    def __post_init__(self) -> None:
        if self.resume and self.out is None:
            raise InputError("--resume: needs --out, the folder to go on with")

    def options(
        self, given: ReplicateOptions | OptimizeOptions, shard: Shard | None = None
    ) -> RunOptions:
        """Return the options of a run: those given here outrank those of a config."""
        from valmatch.execution.run_options import RunOptions
        from valmatch.execution.shards import WHOLE

        executor, scheduler = self.executor, self.scheduler
        if scheduler is None and executor in (None, "dask"):
            executor, scheduler = executor or given.executor, given.scheduler
        return RunOptions(
            workers=_workers_here(scheduler, first(self.workers, given.workers, 1)),
            executor=executor,
            scheduler=scheduler,
            shard=shard or WHOLE,
            max_seconds=math.inf if self.max_time is None else self.max_time,
            out=self.out,
            resume=self.resume,
        )


def listeners(
    bar: Bar, looked: Callable[[Sequence[Precision]], None] = lambda found: None
) -> Listeners:
    """Return what a run calls so that the terminal shows it."""
    from valmatch.execution.listeners import Listeners

    return Listeners(bar, looked, warn, detail, bar.found)


def _workers_here(scheduler: str | None, workers: int) -> int:
    """Return a number of workers, with a remark if it is more than cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if cores and workers > cores and scheduler is None:
        more = f"{workers} workers on {cores} core{'s' * (cores > 1)}"
        warn(Note(f"{more}: no faster than {cores}"))
    return workers


ColumnNames = Annotated[
    str,
    typer.Option(
        metavar="MEANING=NAME,...",
        help="Names that the file has for columns, such as game=match_id,home=team1,away=team2.",
    ),
]


SystemParameters = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="NAME=NUMBER",
        help="Set a parameter of the rating system, such as K=24, or elo.K=24 where systems are"
        " compared; may be repeated.  [default: as the ratings were made with, else as published]",
    ),
]


Separator = Annotated[
    str,
    typer.Option(
        metavar="CHAR",
        help="What stands between cells: comma, semicolon, tab, bar, or the character.",
    ),
]


Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", callback=set_quiet, help="Print nothing but errors, and JSON if asked."
    ),
]

Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", callback=set_verbose, help="Also say how the run is made."),
]


ConfigArgument = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG",
        help="A YAML file, the name of a shipped config, or -.",
        autocompletion=complete_config,
    ),
]


Overrides = Annotated[
    list[str],
    typer.Option("--set", metavar="KEY=VALUE", help="Override a value; may be repeated."),
]


Seed = Annotated[
    int | None,
    typer.Option(
        parser=whole("seed"), metavar="N", help="Seed of all random numbers.  [default: 1]"
    ),
]


Workers = Annotated[
    int | None,
    typer.Option(
        parser=whole("workers"), metavar="W", help="Workers of this machine.  [default: 1]"
    ),
]


Executor = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Where replications run: local (threads where the model can use them, else processes),"
        " processes or dask.  [default: dask with --scheduler, else local]",
    ),
]


Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDR",
        help="Dask scheduler, such as tcp://host:8786; without one, dask has W worker processes"
        " here.",
    ),
]


Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with what an earlier run left in --out.")
]


MaxTime = Annotated[
    float | None,
    typer.Option(
        parser=duration,
        metavar="TIME",
        help="Stop after this time with what is finished: 90, 30m, 5min, 01:30:00.",
    ),
]


Confidence = Annotated[
    float | None,
    typer.Option(
        parser=level, metavar="P", help="Confidence level of the intervals.  [default: 0.95]"
    ),
]


Out = Annotated[
    Path | None,
    typer.Option(parser=path("out"), metavar="DIR", help="Write the results to this folder."),
]


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
