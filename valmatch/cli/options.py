"""The options of `rate` that only systems have which rate a whole log at once."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valmatch.cli.console import detail, set_quiet, set_verbose, warn
from valmatch.errors import InputError, call_options, option
from valmatch.inputs import arguments
from valmatch.inputs.arguments import DEVIATION, LEVEL, RANGES
from valmatch.inputs.csv_reader import SEPARATORS, cells_of, parse_columns, separator_called
from valmatch.ratings.registry import BATCH_NAMES
from valmatch.text.durations import in_unit
from valmatch.text.numerals import count, real_number
from valmatch.text.terminal import Note, shown

if TYPE_CHECKING:
    from valmatch.cli.console import Bar
    from valmatch.config.config import Config, OptimizeOptions, ReplicateOptions
    from valmatch.execution.run_options import Listeners, RunOptions
    from valmatch.execution.shards import Shard
    from valmatch.statistics.precision import Precision


# The arguments and options that several commands have.

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
    from valmatch.execution.shards import in_job_array

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
    from valmatch.execution.run_options import Listeners

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


def _points(text: str) -> float:
    """Parse a standard deviation in points."""
    value, (low, high) = real_number(text), DEVIATION
    if value is None or not low <= value <= high:
        raise typer.BadParameter(f"{shown(text)} (allowed: points from {low:g} to {high:g})")
    return value


Draws = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="whole logs: what a draw is: davidson (a result of its own) or half (half a win)."
        "  [default: davidson where there are draws]",
    ),
]
Home = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="whole logs: fit or none, the advantage of the side at home.  [default: fit where"
        " the log says who is]",
    ),
]
Covariate = Annotated[
    list[str],
    typer.Option(
        metavar="COLUMN",
        help="whole logs: fit points per unit of this column, or of COLUMN_a less COLUMN_b; may"
        " be repeated.",
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="whole logs: as so many games a game counts."),
]
Prior = Annotated[
    float | None,
    typer.Option(
        parser=_points,
        metavar="D",
        help="bradley_terry: ratings scatter with this deviation about a common mean, so that all"
        " can be rated.  [default: nothing is known]",
    ),
]
AnchorFile = Annotated[
    Path | None,
    typer.Option(
        "--anchors",
        parser=path("anchors"),
        metavar="FILE",
        help="bradley_terry: players whose ratings are known: player, rating, optional deviation.",
    ),
]
Interval = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="whole logs: information, sandwich or none.  [default: sandwich with clusters, half"
        " draws or broken weights, else information]",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN[,COLUMN]",
        help="whole logs: games with equal cells depend on each other, as those of a voter.",
    ),
]
ClusterDays = Annotated[
    int | None,
    typer.Option(
        parser=whole("cluster_days"),
        metavar="N",
        help="whole logs: games of N days depend on each other.",
    ),
]
TimeUnit = Annotated[
    str | None,
    typer.Option(
        metavar="UNIT",
        help="whole logs: days or hours, of times that are numbers.  [default: days]",
    ),
]
Level = Annotated[
    float | None,
    typer.Option(parser=level, metavar="P", help="whole logs: of the intervals.  [default: 0.95]"),
]
BootstrapN = Annotated[
    int | None,
    typer.Option(
        "--bootstrap",
        parser=whole("bootstrap"),
        metavar="N",
        help="whole logs: check the intervals by N refits of resampled games.",
    ),
]
Differences = Annotated[
    bool,
    typer.Option(
        "--differences", help="whole logs: write all differences, also of more than 300 players."
    ),
]
Top = Annotated[
    int | None,
    typer.Option(
        parser=whole("top"), metavar="N", help="whole logs: print N players.  [default: 10]"
    ),
]
Markdown = Annotated[bool, typer.Option("--markdown", help="whole logs: print a table to paste.")]


def refuse_for_one_game_at_a_time(given: Mapping[str, Any]) -> None:
    """Refuse options of systems that rate a whole log, where others are asked for."""
    for name, value in given.items():
        if value is not None and value is not False and value != []:
            what = f"goes with {option('system')} {' or '.join(BATCH_NAMES)}"
            raise InputError(f"{option(name)}: {what}")


def refuse_for_batch(system: str, given: Mapping[str, Any]) -> None:
    """Refuse options of systems that go from game to game, where a whole log is rated."""
    for name, value in given.items():
        if value is not None and value is not False and value != "":
            what = f"{system} rates a whole log at once, and goes from no game to the next"
            raise InputError(f"{option(name)}: {what}")


# The options that say how a queue log is read, for all commands that simulate.

Columns = Annotated[
    str,
    typer.Option(
        metavar="MEANING=NAME,...",
        help="Names that the arrivals file has for columns, such as"
        " arrival_hours=joined_at,rating=mmr,player=account; a NAME with a comma in quotes.",
    ),
]


LogSeparator = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="What stands between its cells: comma, semicolon, tab, bar, or the character."
        "  [default: comma]",
    ),
]


SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Leave bad rows of it out and count them.")
]


def _share(text: str) -> float:
    """Parse a share: a number, or a percentage."""
    value = real_number(text.removesuffix("%"))
    share = None if value is None else value / 100.0 if text.endswith("%") else value
    if share is None or not 0.0 <= share <= 1.0:
        raise typer.BadParameter(f"{shown(text)} (allowed: from 0 to 1, or from 0% to 100%)")
    return share


MaxBadRows = Annotated[
    float | None,
    typer.Option(
        parser=_share,
        metavar="SHARE",
        help="Leave bad rows (of a game log: games) out even if they are as large a part of it as"
        " 0.4, or 40%."
        "  [default: 0.05]",
    ),
]


Alias = Annotated[
    Path | None,
    typer.Option(
        parser=path("alias"),
        metavar="FILE",
        help="A CSV file with name, alias: whoever the log calls by an alias goes by the name.",
    ),
]


SortRows = Annotated[bool, typer.Option("--sort-rows", help="Sort its rows by arrival.")]


def log_levels(
    columns: str,
    separator: str | None,
    skip_bad_rows: bool,
    max_bad_rows: float | None,
    sort_rows: bool,
) -> list[tuple[str, str]]:
    """Return what options set in the section `log` of the factors, as `load` takes levels.

    A share of bad rows is one of rows that are left out.
    """
    names = {between: name for name, between in SEPARATORS.items()}
    given = {
        "--columns": ("columns", parse_columns(columns, "rating=mmr") if columns else None),
        "--separator": ("separator", names[separator_called(separator)] if separator else None),
        "--skip-bad-rows": ("skip_bad_rows", skip_bad_rows or max_bad_rows is not None or None),
        "--max-bad-rows": ("max_bad_rows", max_bad_rows),
        "--sort-rows": ("sort", sort_rows or None),
    }
    return [
        (name, f"factors.log.{key}={json.dumps(value)}")
        for name, (key, value) in given.items()
        if value is not None
    ]


# The option that chooses which responses are shown, and has them computed where need be.

Chosen = Annotated[
    str,
    typer.Option(
        "--responses",
        metavar="NAME,...",
        help="Responses to show, such as wait_p95.top_1%; `valmatch responses` lists all.",
    ),
]


def names_of(chosen: str) -> list[str]:
    """Return the names in the option."""
    return cells_of(chosen)


def measure_levels(
    chosen: str, source: str, overrides: Sequence[str], levels: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the levels of a config with what has the chosen responses computed, too."""
    if not chosen:
        return list(levels)
    from valmatch.config.factor_paths import factor_at
    from valmatch.config.loading import load
    from valmatch.experiments.response_list import groups_of

    config = load(source, overrides, levels)
    groups = groups_of(names_of(chosen), config)
    if factor_at(type(config.factors), ["measure"]) is not None:
        groups = list(dict.fromkeys([*getattr(config.factors, "measure", ()), *groups]))
    measured = [("--responses", f"factors.measure=[{', '.join(groups)}]")] if groups else []
    return [*levels, *measured]
