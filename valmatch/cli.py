"""The command line: parse, call, print, exit code."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valmatch.errors import InputError, RunError

if TYPE_CHECKING:
    from valmatch.config import Config
    from valmatch.design import Design
    from valmatch.experiment import Experiment
    from valmatch.replication import Replications

__all__ = ["app", "main"]

DEFAULT_SEED = 1
DEFAULT_N = 1000
DEFAULT_BUDGET = 1000

app = typer.Typer(
    name="valmatch",
    help="Simulate matchmaking systems, replicate them with honest statistics, optimise their"
    " rules.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _whole(least: int) -> Callable[[str], int]:
    """Return a parser of whole numbers from `least` on, which names the value it refuses."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and int(text) >= least):
            raise typer.BadParameter(f"{text!r} (allowed: a whole number >= {least})")
        return int(text)

    return parse


def _level(text: str) -> float:
    """Parse a confidence level."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1.0:
        raise typer.BadParameter(f"{text!r} (allowed: a number > 0 and < 1)")
    return value


_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def _duration(text: str) -> float:
    """Parse a time: seconds, a number with a unit, or [D-]HH:MM:SS as SLURM writes it."""
    number = re.fullmatch(r"(\d+\.?\d*|\.\d+)([smhd]?)", text)
    clock = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)", text)
    seconds = 0.0
    if number:
        seconds = float(number[1]) * _UNITS[number[2]]
    elif clock:
        days, *parts = (float(part or 0) for part in clock.groups())
        seconds = 86400.0 * days + 3600.0 * parts[0] + 60.0 * parts[1] + parts[2]
    if not seconds > 0.0:
        raise typer.BadParameter(f"{text!r} (allowed: a time > 0, such as 90, 30m or 01:30:00)")
    return seconds


ConfigArgument = Annotated[
    str,
    typer.Argument(metavar="CONFIG", help="A YAML file, the name of a shipped config, or -."),
]
Overrides = Annotated[
    list[str],
    typer.Option("--set", metavar="KEY=VALUE", help="Override a value; may be repeated."),
]
Seed = Annotated[
    int | None,
    typer.Option(parser=_whole(0), metavar="N", help="Seed of all random numbers.  [default: 1]"),
]
Workers = Annotated[
    int | None,
    typer.Option(parser=_whole(1), metavar="W", help="Worker processes.  [default: 1]"),
]
Executor = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Where replications run: local (processes) or dask.  [default: local]",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDR",
        help="Dask scheduler, such as tcp://host:8786; without one, a cluster of W workers is"
        " started here.",
    ),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with what an earlier run left in --out.")
]
MaxTime = Annotated[
    float | None,
    typer.Option(
        parser=_duration,
        metavar="TIME",
        help="Stop after this time with what is finished: 90, 30m, 01:30:00.",
    ),
]
Confidence = Annotated[
    float | None,
    typer.Option(
        parser=_level, metavar="P", help="Confidence level of the intervals.  [default: 0.95]"
    ),
]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Write the results to this folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"valmatch {version('valmatch')}")
        raise typer.Exit


@app.callback()
def _app(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
def simulate(
    config: ConfigArgument,
    seed: Seed = None,
    replication: Annotated[
        int | None,
        typer.Option(parser=_whole(0), metavar="K", help="Index of the replication.  [default: 0]"),
    ] = None,
    overrides: Overrides = [],  # noqa: B006 - typer wants the default itself
    out: Out = None,
    json: Json = False,
) -> None:
    """Run one replication and record everything that happens in it.

    Replication K is row K of `valmatch replicate` with the same config and seed.
    """
    from valmatch import recording

    settings = _load(config, overrides)
    seed = _first(seed, settings.replicate.get("seed"), DEFAULT_SEED)
    replication = replication or 0
    result = recording.simulate(settings, seed, replication, out=out, warn=_warn)
    if json:
        _print_json(result.summary())
        return
    from valmatch.report import show_responses

    header = f"{_title(settings)}, seed {seed}, replication {replication}"
    show_responses(header, result.responses, result.values.tolist())
    _say_where(out)


@app.command()
def replicate(
    config: ConfigArgument,
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--n",
            parser=_whole(1),
            metavar="N",
            help="Number of replications.  [default: 1000]",
        ),
    ] = None,
    seed: Seed = None,
    workers: Workers = None,
    executor: Executor = None,
    scheduler: Scheduler = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/K",
            help="Make every K-th replication from I on (I from 0).  [default: the place of a"
            " SLURM array task]",
        ),
    ] = None,
    sweep: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUES",
            help="Replicate at each value, 100,200,400 or 100:400:100; several sweeps span a grid.",
        ),
    ] = [],  # noqa: B006
    target: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=WIDTH",
            help="Go on until the half-width of a response is 1% of its mean, or 0.05; may be"
            " repeated.",
        ),
    ] = [],  # noqa: B006
    max_reps: Annotated[
        int | None,
        typer.Option(
            parser=_whole(1),
            metavar="N",
            help="Give the targets up after so many replications.  [default: 1000000]",
        ),
    ] = None,
    control_variates: Annotated[
        bool,
        typer.Option(
            "--control-variates", help="Adjust the means by what is known of the arrivals."
        ),
    ] = False,
    confidence: Confidence = None,
    overrides: Overrides = [],  # noqa: B006
    out: Out = None,
    resume: Resume = False,
    max_time: MaxTime = None,
    json: Json = False,
) -> None:
    """Run independent replications and estimate the mean of every response.

    Defaults of the options may stand in the `replicate` section of the config, a design of
    several points in its section `design`. The results depend on config, seed and n alone. Exit
    code 3: the time was up before all replications were made, or a target was missed.
    """
    from valmatch.design import design_of
    from valmatch.precision import LEAST
    from valmatch.replication import MAX_REPS
    from valmatch.replication import replicate as run
    from valmatch.report import progress_bar
    from valmatch.shards import parse_shard, shard_of_job

    settings = _load(config, overrides)
    given = settings.replicate
    targets = target or given.get("target") or []
    n = _first(n, None if targets else given.get("n"), LEAST if targets else DEFAULT_N)
    seed = _first(seed, given.get("seed"), DEFAULT_SEED)
    part = shard_of_job(os.environ) if shard is None else parse_shard(shard)
    total = len(part.indices(n))
    if part.count > 1:
        _say(f"shard {part}: {total:,} of {n:,} replications")
    options: dict[str, Any] = {
        "workers": _first(workers, given.get("workers"), 1),
        "executor": _executor(executor or given.get("executor")),
        "scheduler": scheduler or given.get("scheduler"),
        "shard": part,
        "confidence": float(_first(confidence, given.get("confidence"), 0.95)),
        "targets": targets,
        "max_reps": _first(max_reps, given.get("max_reps"), MAX_REPS),
        "control_variates": control_variates or bool(given.get("control_variates")),
        "max_seconds": math.inf if max_time is None else max_time,
        "out": out,
        "resume": resume,
        "warn": _warn,
    }
    design = design_of(settings, sweep)
    if design is not None:
        levels = [design.levels(point) for point in design.points]
        configs = [_load(config, overrides, point) for point in levels]
        _replicate_design(settings, design, configs, n, seed, total, options, json)
        return
    with progress_bar("replications", None if targets else total) as progress:
        result = run(settings, n, seed, progress=progress, **options)
    _show_replications(result, out, json)
    _exit_unless_complete(result, total, out)
    missed = result.missed_expectations()
    if missed:
        raise RunError("\n".join(missed))


def _show_replications(result: Replications, out: Path | None, json: bool) -> None:
    """Print the replications of a config, and what is undefined in them."""
    if json:
        _print_json(result.summary())
    else:
        from valmatch.report import show_replications

        done = len(result.values)
        title = f"{_title(result.config)}, seed {result.seed}"
        show_replications(f"{title}, {done:,} replication{'s' * (done != 1)}", result)
        _say_where(out)
    for name, one in result.estimates.items():
        if one.undefined:
            _warn(f"{name} is undefined in {one.undefined} of {len(result.values)} replications")


def _exit_unless_complete(result: Replications, total: int, out: Path | None) -> None:
    """Leave with the exit code of what stopped a run."""
    for one in result.precision:
        if not one.reached:
            _warn(f"target of {one.response} missed: {one.why}")
    if not result.complete:
        further = "; --resume goes on" if out else ""
        done = len(result.values)
        of = "" if result.precision else f" of {total}"
        _warn(f"{result.status} after {done}{of} replications{further}")
        raise typer.Exit(130 if result.status == "interrupted" else 3)


def _replicate_design(
    settings: Config,
    design: Design,
    configs: list[Config],
    n: int,
    seed: int,
    total: int,
    options: dict[str, Any],
    json: bool,
) -> None:
    """Run the replications of every point of a design and print them."""
    from valmatch.config import config_id
    from valmatch.experiment import run_design
    from valmatch.report import progress_bar, show_experiment_points

    points = len(set(map(config_id, configs)))
    known = None if options["targets"] else total * points
    with progress_bar("replications", known) as progress:
        found = run_design(settings, design, configs, n, seed, progress=progress, **options)
    if json:
        _print_json(found.summary())
    else:
        title = f"{settings.model} ({Path(settings.source).stem}), seed {seed}"
        show_experiment_points(f"{title}, {_replications_each(found)}", found)
        _say_where(options["out"])
    if found.status != "complete":
        further = "; --resume goes on" if options["out"] else ""
        done = sum(one.complete for one in found.results)
        _warn(f"{found.status} after {done} of {len(configs)} points{further}")
        raise typer.Exit(130 if found.status == "interrupted" else 3)


@app.command()
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A config, or the folder of a run.")],
    b: Annotated[
        str | None,
        typer.Argument(metavar="[B]", help="Another; without it, A changed by --set."),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--n",
            parser=_whole(1),
            metavar="N",
            help="Number of replications of each.  [default: 1000]",
        ),
    ] = None,
    seed: Seed = None,
    workers: Workers = None,
    executor: Executor = None,
    scheduler: Scheduler = None,
    confidence: Confidence = None,
    overrides: Overrides = [],  # noqa: B006
    out: Out = None,
    resume: Resume = False,
    max_time: MaxTime = None,
    json: Json = False,
) -> None:
    """Compare two systems under common random numbers: paired differences B - A.

    With one config, B is that config changed by --set; with two, --set changes both. Two folders
    of `replicate` are compared without simulating anything.
    """
    from valmatch.comparison import compare as run
    from valmatch.comparison import compare_runs
    from valmatch.report import progress_bar, show_comparison

    level = float(_first(confidence, None, 0.95))
    if b is not None and Path(a).is_dir() and Path(b).is_dir():
        from valmatch.combine import read_run

        found = compare_runs(read_run(Path(a), _warn), read_run(Path(b), _warn), level)
    else:
        if b is None and not overrides:
            raise InputError(f"compare {a}: nothing to compare with; give a second config or --set")
        first = _load(a, [] if b is None else overrides)
        second = _load(a if b is None else b, overrides)
        n = _first(n, first.replicate.get("n"), DEFAULT_N)
        with progress_bar("replications", 2 * n) as progress:
            found = run(
                first,
                second,
                n,
                _first(seed, first.replicate.get("seed"), DEFAULT_SEED),
                workers=_first(workers, first.replicate.get("workers"), 1),
                executor=_executor(executor),
                scheduler=scheduler,
                confidence=level,
                max_seconds=math.inf if max_time is None else max_time,
                out=out,
                resume=resume,
                progress=progress,
                warn=_warn,
            )
    if json:
        _print_json(found.summary())
    else:
        show_comparison(found)
        _say_where(out)
    for name, one in found.comparisons.items():
        if one.difference.undefined:
            _warn(f"{name} is undefined in {one.difference.undefined} of {found.n} pairs")
    if found.status != "complete":
        _warn(f"{found.status}{'; --resume goes on' if out else ''}")
        raise typer.Exit(130 if found.status == "interrupted" else 3)


@app.command()
def optimize(
    config: ConfigArgument,
    solver: Annotated[
        str | None,
        typer.Option(metavar="NAME[,NAME]", help="Solvers, by commas.  [default: auto]"),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(parser=_whole(1), metavar="N", help="Replications of a run.  [default: 1000]"),
    ] = None,
    macroreps: Annotated[
        int | None,
        typer.Option(parser=_whole(1), metavar="M", help="Runs of each solver.  [default: 1]"),
    ] = None,
    seed: Seed = None,
    workers: Workers = None,
    confidence: Confidence = None,
    sweep: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=FIRST:LAST:STEP",
            help="Solve for each value of a bound or weight: the frontier.",
        ),
    ] = None,
    overrides: Overrides = [],  # noqa: B006
    out: Out = None,
    resume: Resume = False,
    json: Json = False,
) -> None:
    """Find the rules that minimise the objective of the `optimize` section of the config.

    The budget covers search and certification: the recommended point is chosen and tested on
    replications that the search did not use. Exit code 3: no point was certified as feasible.
    """
    from valmatch.optimization.frontier import parse_sweep, trace_frontier
    from valmatch.optimization.study import optimize as solve
    from valmatch.report import progress_bar, show_frontier, show_study

    settings = _load(config, overrides)
    given = settings.optimize
    names = [name.strip() for name in (solver or given.get("solver") or "auto").split(",")]
    budget = _first(budget, given.get("budget"), DEFAULT_BUDGET)
    macroreps = _first(macroreps, given.get("macroreps"), 1)
    seed = _first(seed, given.get("seed"), DEFAULT_SEED)
    options: dict[str, Any] = {
        "workers": _first(workers, given.get("workers"), 1),
        "confidence": float(_first(confidence, given.get("confidence"), 0.95)),
        "out": out,
        "resume": resume,
        "warn": _warn,
    }
    if sweep is not None:
        values = parse_sweep(settings, sweep)
        with progress_bar("replications", budget * len(values.points)) as progress:
            frontier = trace_frontier(
                settings, values, names[0], budget, seed, progress=progress, **options
            )
        shown, missed = frontier.summary(), not any(frontier.feasible)
    else:
        with progress_bar("replications", budget * macroreps * len(names)) as progress:
            study = solve(
                settings, names, budget, seed, macroreps=macroreps, progress=progress, **options
            )
        shown, missed = study.summary(), not (study.verdict and study.verdict.feasible)
    if json:
        _print_json(shown)
    else:
        title = f"{_title(settings)}, seed {seed}, budget {budget:,}"
        if sweep is not None:
            show_frontier(title, frontier)
        else:
            show_study(title, study)
        _say_where(out)
    if not (frontier.complete if sweep is not None else study.complete):
        _warn("interrupted; --resume goes on")
        raise typer.Exit(130)
    if missed:
        raise typer.Exit(3)


@app.command()
def combine(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder of the whole.")],
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folders of `replicate`, such as its shards."),
    ],
    expect: Annotated[
        int | None,
        typer.Option(
            parser=_whole(1),
            metavar="N",
            help="Replications that there should be.  [default: as many as were asked for]",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only say what is missing; write nothing.")
    ] = False,
    confidence: Confidence = None,
    json: Json = False,
) -> None:
    """Merge folders of replications into one, as if one run had made them.

    In any order, exact repetitions dropped; folders of another config or seed, and folders that
    contradict each other, are refused. Exit code 3: replications are missing.
    """
    from valmatch.combine import combine as merge
    from valmatch.combine_designs import is_design

    if any(map(is_design, folders)):
        _combine_designs(out, folders, json, expect=expect, check=check, confidence=confidence)
        return
    found = merge(out, folders, expect=expect, check=check, confidence=confidence, warn=_warn)
    if json:
        _print_json(found.summary())
    else:
        _show_replications(found.replications, None if check else out, json=False)
    _exit_if_missing(found.reproaches())


def _combine_designs(out: Path, folders: list[Path], json: bool, **options: Any) -> None:  # noqa: ANN401
    """Merge the folders of a design."""
    from valmatch.combine_designs import combine_designs
    from valmatch.report import show_experiment_points

    found = combine_designs(out, folders, warn=_warn, **options)
    if json:
        _print_json(found.experiment.summary())
    else:
        config = found.experiment.config
        title = f"{config.model} ({Path(config.source).stem})"
        each = _replications_each(found.experiment)
        show_experiment_points(f"{title}, {each}", found.experiment)
        _say_where(None if options["check"] else out)
    _exit_if_missing(found.reproaches)


def _replications_each(experiment: Experiment) -> str:
    numbers = [len(result.values) for result in experiment.results] or [0]
    least, most = min(numbers), max(numbers)
    shown = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return f"{shown} replications at each point"


def _exit_if_missing(reproaches: Sequence[str]) -> None:
    for line in reproaches:
        _warn(line)
    if reproaches:
        raise typer.Exit(3)


@app.command()
def rate(
    games: Annotated[
        Path,
        typer.Argument(metavar="GAMES.csv", help="A CSV file with a header, or - for stdin."),
    ],
    system: Annotated[
        str,
        typer.Option(metavar="NAME", help="zonestats, elo, trueskill or openskill."),
    ] = "zonestats",
    ratings: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Go on from an earlier ratings.csv."),
    ] = None,
    columns: Annotated[
        str,
        typer.Option(
            metavar="MEANING=NAME,...",
            help="Names that the file has for columns, such as game=match_id,winner=winning_team.",
        ),
    ] = "",
    overrides: Annotated[
        list[str],
        typer.Option("--set", metavar="NAME=NUMBER", help="Set a parameter; may be repeated."),
    ] = [],  # noqa: B006
    tune: Annotated[
        str,
        typer.Option(
            metavar="NAME[,NAME]",
            help="Fit these parameters to the log loss of the first part of the log.",
        ),
    ] = "",
    train: Annotated[
        float | None,
        typer.Option(
            parser=_level, metavar="P", help="Share of the games in that part.  [default: 0.5]"
        ),
    ] = None,
    burn_in: Annotated[
        int | None,
        typer.Option(
            parser=_whole(0),
            metavar="N",
            help="Games that all players of a game must have behind them for its prediction to"
            " count as one after the burn-in.  [default: 10]",
        ),
    ] = None,
    skip_bad_games: Annotated[
        bool, typer.Option("--skip-bad-games", help="Leave bad games out and count them.")
    ] = False,
    out: Out = None,
    json: Json = False,
) -> None:
    """Rate the players of a game log, predicting each game before it is rated.

    Long format, a row for each player of a game: game, player, score, optional team, minutes,
    enabled, time. Results format, a row for each game: winner, loser, optional game,
    winner_score, loser_score, draw, minutes, time.
    """
    from valmatch.rate import BURN_IN, parse_columns, parse_parameters
    from valmatch.rate import rate as rate_games
    from valmatch.report import progress_bar, show_rating

    size = games.stat().st_size if games.is_file() else 0
    with progress_bar("bytes", size) as progress:
        result = rate_games(
            games,
            system,
            parameters=parse_parameters(overrides),
            ratings=ratings,
            out=out,
            columns=parse_columns(columns),
            tune=[name.strip() for name in tune.split(",")] if tune else [],
            train=0.5 if train is None else train,
            burn_in=BURN_IN if burn_in is None else burn_in,
            skip_bad_games=skip_bad_games,
            progress=progress,
            warn=_warn,
        )
    if json:
        _print_json(result.summary())
        return
    show_rating(f"{result.system}, {result.games:,} games, {result.rows:,} rows", result)
    _say_where(out)


# ---- to here ----


@app.command()
def plot(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="The folder of a run, or of runs to draw side by side."),
    ],
) -> None:
    """Draw the results in a folder, as PNG and SVG files in it.

    Needs matplotlib, which the extra `plot` brings.
    """
    from valmatch import plots

    for file in plots.plot(folder):
        print(file)


@app.command()
def factors(
    model: Annotated[str, typer.Argument(help="Name of the model.")] = "valorant",
) -> None:
    """Print a YAML config with every factor of a model, documented."""
    from valmatch.template import template

    sys.stdout.write(template(model))


def _load(source: str, overrides: list[str], levels: Sequence[str] = ()) -> Config:
    """Read a config and pass its warnings on."""
    from valmatch.config import load

    config = load(source, overrides, levels)
    for warning in config.warnings:
        _warn(warning)
    return config


def _first(*values: int | float | None) -> int:
    """Return the first value that is given: the option, then the config, then the default."""
    return next(value for value in values if value is not None)  # type: ignore[return-value]


def _title(config: Config) -> str:
    from valmatch.config import config_id

    return f"{config.model} ({Path(config.source).stem}), config {config_id(config)}"


def _warn(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr)


def _executor(name: str | None) -> str:
    from valmatch.executors import EXECUTORS

    name = name or EXECUTORS[0]
    if name not in EXECUTORS:
        raise InputError(f"--executor {name}: allowed are {' and '.join(EXECUTORS)}")
    return name


def _print_json(document: object) -> None:
    from valmatch.output import to_json

    sys.stdout.write(to_json(document))


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _say_where(out: Path | None) -> None:
    if out:
        _say(f"results in {out}")


def main() -> None:
    """Run the command line; every failure is plain lines on stderr and an exit code."""
    click_exception = typer.BadParameter.__mro__[2]
    try:
        code = app(prog_name="valmatch", standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        code = _fail(str(error), 2)
    except RunError as error:
        code = _fail(str(error), 1)
    except KeyboardInterrupt:
        code = _fail("interrupted", 130)
    except typer.Abort:
        code = _fail("aborted", 130)
    except BrokenPipeError:
        # The reader, such as `head`, has left; what is still buffered has no place to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except MemoryError:
        code = _fail("out of memory", 1)
    except Exception as error:
        if not isinstance(error, click_exception):
            if os.environ.get("VALMATCH_TRACEBACK"):
                raise
            code = _fail(
                f"internal error: {type(error).__name__}: {error} (VALMATCH_TRACEBACK=1 shows"
                " where)",
                1,
            )
        else:
            code = _usage(error)
    sys.exit(code)


def _usage(error: Exception) -> int:
    """Report wrong usage in one line."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "valmatch"
    text = " ".join(error.format_message().split())  # type: ignore[attr-defined]
    return _fail(f"{text} (see {command} --help)" if text else f"see {command} --help", 2)


def _fail(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code
