"""Commands that simulate, and those on the folders of runs."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Collection, Sequence
from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import valmatch
from valmatch.cli.console import (
    AGAIN,
    INTERRUPTED,
    MISSED,
    info,
    load_config,
    print_columns,
    progress,
    show,
    show_result,
    warn,
)
from valmatch.cli.options import (
    ConfigArgument,
    ConfigOptions,
    Folders,
    Json,
    ResponseOptions,
    command,
    complete_solver,
    name_options,
    needed,
    warn_in_job_array,
    watched,
)
from valmatch.errors import InputError, RunError, option
from valmatch.execution import run_options as r
from valmatch.execution.shards import WHOLE, Shard, array_of, parse_shard, shard_of_job
from valmatch.inputs import arguments
from valmatch.inputs import options as o
from valmatch.kernels.plain_python import interpret
from valmatch.present.plotting import PlotFileOptions, plot_files
from valmatch.text.terminal import escaped, shortened

if TYPE_CHECKING:
    from valmatch.config.config import Config
    from valmatch.kernels.arrays import Bools, Ints
    from valmatch.models.valorant.fitting import Days
    from valmatch.models.valorant.queue_log import QueueLog
    from valmatch.optimization.studies.study import StudySpec
    from valmatch.statistics.precision import Precision


def _exit(status: str, out: Path | None, done: str = "") -> None:
    """Leave with the exit code of what stopped a run; go on if it is complete."""
    if status != "complete":
        warn(f"{status}{done}{'; --resume goes on' if out else ''}")
        codes = {"interrupted": INTERRUPTED, "target missed": MISSED}
        raise typer.Exit(codes.get(status, AGAIN))


@dataclass(frozen=True)
class SimulateOptions(ResponseOptions, r.SimulateArguments):
    """The options of `simulate`."""


@command()
def simulate(config: ConfigArgument, options: SimulateOptions, json: Json) -> None:
    """Run one replication and record everything that happens in it.

    Replication K is row K of `valmatch replicate` with the same config and seed.
    """
    warn_in_job_array("simulate")
    settings = options.load(config)
    if settings.factors.brief() and not settings.files:
        interpret()
    # Imported now, because kernels are compiled, or left in plain Python, when they are imported.
    from valmatch.experiments.simulate import simulate_config

    result = simulate_config(settings, replace(options, warn=warn))
    show_result(json, result, options.out, responses=options.responses)


@dataclass(frozen=True)
class ReplicateOptions(ResponseOptions, r.ReplicateArguments):
    """The options of `replicate`."""

    sweep: Sequence[str] = o.repeated(
        "Replicate at each value, 100,200,400 or 100:400:100; several sweeps span a grid.",
        "KEY=VALUES",
    )


@command()
def replicate(config: ConfigArgument, options: ReplicateOptions, json: Json) -> None:
    """Run independent replications and estimate the mean of every response.

    Defaults of the options may stand in the `replicate` section of the config, a design of
    several points in its section `design`. The results depend on config, seed and n alone. Exit
    code 3: a target was missed; 75: the time was up before all replications were made (--resume
    continues).
    """
    from valmatch.config.identity import config_id
    from valmatch.experiments.replicate import plan_of, replicate_config
    from valmatch.experiments.sweep import design_of, run_design

    if options.shard is None:
        options = replace(options, shard=shard_of_job(os.environ))
    levels = options.levels(config)
    settings = options.load(config, levels)
    name_options(settings, "replicate", options)
    plan = plan_of(settings, options)
    total = len(plan.shard.indices(plan.n))
    if plan.shard.count > 1:
        info(f"shard {plan.shard}: {total:,} of {plan.n:,} replications")
    design, points = design_of(settings, list(options.sweep)), list["Config"]()
    if design is not None:
        points = [options.load(config, [*levels, *design.levels(point)]) for point in design.points]
        total *= len(set(map(config_id, points)))
    out, responses = options.out, options.responses
    with progress("replications", None if plan.targets else total) as bar:

        def looked(targets: Sequence[Precision]) -> None:
            bar.note(", ".join(target.shown for target in targets))

        options = replace(watched(options, settings.replicate, bar), looked=looked)
        if design is None:
            result = replicate_config(settings, options)
        else:
            swept = run_design(settings, design, points, plan, options)
    if design is not None:
        show_result(json, swept, out, responses=responses)
        done = sum(run.complete for run in swept.results)
        _exit(swept.status, out, f" after {done} of {len(design.points)} points")
        return
    show_result(json, result, out, responses=responses)
    of = "" if result.precision else f" of {total}"
    _exit(result.status, out, f" after {result.count}{of} replications")
    expected, missed = len(settings.replicate.expect), result.missed_expectations()
    if expected:
        info(f"{expected - len(missed)} of {expected} expected means met")
    if missed:
        raise RunError(*missed)


@dataclass(frozen=True)
class ExploreOptions(ResponseOptions, r.ExploreArguments):
    """The options of `explore`."""


@command()
def explore(config: ConfigArgument, options: ExploreOptions) -> None:
    """Replicate at every point of a grid and write a web page with a slider for each factor.

    All points meet the same random numbers. The page shows means with intervals, and paired
    differences to the config as it is; it is one file and loads nothing. With --out `report` makes
    it again. Exit code 75: the time was up before all replications were made (--resume continues).
    """
    from valmatch.config.identity import config_id
    from valmatch.present.exploring import grid_of, run_grid

    if options.shard is None:
        options = replace(options, shard=shard_of_job(os.environ))
    if options.page is None and options.shard == WHOLE:
        raise InputError("-o: is missing (such as -o page.html)")
    levels = options.levels(config)
    settings = options.load(config, levels)
    name_options(settings, "replicate", options)
    grid = grid_of(settings, options, lambda level: options.load(config, [*levels, *level]))
    _, points, plan = grid
    total = len(set(map(config_id, points))) * len(plan.shard.indices(plan.n))
    with progress("replications", None if plan.targets else total) as bar:
        result, page = run_grid(settings, grid, watched(options, settings.replicate, bar))
    for warning in result.warned:
        warn(warning)
    if page:
        print(escaped(str(options.page)))
    _exit(result.status, options.out)


MEASURED = ("log", "measure", "bands")  # factors that two systems that are compared share

NEXT_KEY = re.compile(r",(?=[^,=\[\]{}\"']+(?:\[\d+\][^,=\[\]{}\"']*)*=)")
"""The comma between two factors of a variant; one inside of a value is followed by no KEY=."""


@dataclass(frozen=True)
class CompareOptions(ResponseOptions, r.CompareArguments):
    """The options of `compare`."""

    variant: Sequence[str] = o.repeated(
        "Compare A with these values, of log.* and arrivals, too; repeated, one more variant each.",
        "KEY=VALUE,...",
    )
    unchanged: bool = o.flag("List responses without a clear change, too.")


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
    options: CompareOptions,
    json: Json,
) -> None:
    """Compare systems under common random numbers: paired differences B - A, also C - A and so on.

    With one config, B is that config changed by --set, but what is read or measured, and how
    (arrivals, skills, log.*, measure, bands), holds for both; with several, or with --variant,
    --set changes all of them. Of several variants the intervals of each response hold together.
    Folders of `replicate` are compared without simulating anything. With --responses, `plot` of
    --out draws those, too, unless told otherwise. Exit code 75: the time was up (--resume
    continues).
    """
    from valmatch.experiments.combine import gather
    from valmatch.experiments.compare import compare_configs, compare_runs, pairs_plan

    warn_in_job_array("compare")
    out = options.out
    if b and not options.variant and all(map(os.path.isdir, (a, *b))):  # no name is too long for it
        if options.overrides or out:
            raise InputError("compare: folders are compared as they are, without --set and --out")
        base, *runs = (gather([Path(folder)], warn=warn).result for folder in (a, *b))
        result = compare_runs(base, runs, options.confidence)
    else:
        sides = _sides(a, b, options, options.levels(b[0] if b else a))
        total = len(sides) * pairs_plan(sides, options).n
        with progress("replications", total) as bar:
            options = watched(options, sides[0].replicate, bar)
            result = compare_configs(sides, options, list(options.responses))
    show_result(json, result, out, responses=options.responses, changed=not options.unchanged)
    _exit(result.status, out)


def _sides(
    a: str, others: Sequence[str], options: CompareOptions, levels: list[tuple[str, str]]
) -> list[Config]:
    """Return A and what it is compared with."""
    overrides = list(options.overrides)
    if not (others or options.variant):
        from valmatch.config.loading import FILES

        common = [
            override
            for override in overrides
            if (key := override.partition("=")[0].strip()) in FILES
            or key.removeprefix("factors.").partition(".")[0] in MEASURED
        ]
        if len(common) == len(overrides):
            why = ": what is read or measured, and how, holds for both" if common else ""
            what = f"give a second config, --variant, or --set of something else{why}"
            raise InputError(f"compare {a}: nothing to compare with; {what}")
        return [load_config(a, common, levels), load_config(a, overrides, levels)]
    configs = [load_config(source, overrides, levels) for source in (a, *others)]
    for variant in options.variant:
        parts = NEXT_KEY.split(variant)
        changes = [(f"--variant {shortened(part.partition('=')[0])}", part) for part in parts]
        configs.append(load_config(a, overrides, [*levels, *changes]))
    return configs


@dataclass(frozen=True)
class OptimizeOptions(ResponseOptions, r.OptimizeArguments):
    """The options of `optimize`."""

    solvers: str | None = o.text(
        None, "Solvers, by commas.", "NAME[,NAME]", default="auto", complete=complete_solver
    )
    sweep: str | None = o.text(
        None,
        "Solve for each value of a bound or weight, or NAME=VALUE,...: the frontier.",
        "NAME=FIRST:LAST:STEP",
    )
    pareto: Sequence[str] | None = o.names(
        "Find the rules that no other rule beats in all of these responses.",
        "RESPONSE,RESPONSE",
        None,
    )

    def study(self, config: Config) -> StudySpec:
        """Return what is sought; the options outrank the config."""
        from valmatch.optimization.studies.combine import spec_of

        objectives = None if self.pareto is None else list(self.pareto)
        if objectives is None and self.sweep is None and config.optimize.objectives:
            objectives = []
        return spec_of(config, self, self.solvers, self.sweep, objectives)


@command()
def optimize(config: ConfigArgument, options: OptimizeOptions, json: Json) -> None:
    """Find the rules that minimise the objective of the `optimize` section of the config.

    The budget covers search and certification: the recommended point is chosen and tested on
    replications that the search did not use; without a feasible one, the point of least violation
    is shown. What is recommended is then compared with the start, in all responses or those of
    --responses, and constraints are priced, on some replications beyond the budget. Exit code 3: no
    point was certified as feasible, which a shard leaves to `combine`; 75: the time was up
    (--resume continues). `valmatch solvers` lists the solvers.
    """
    from valmatch.optimization.studies.study import execute

    out = options.out
    settings = options.load(config)
    name_options(settings, "optimize", options)
    spec = options.study(settings)
    spec = replace(spec, shard=_part(options.shard, spec.size, spec.parts_in_words))
    with progress("replications", spec.replications) as bar:
        options = replace(watched(options, settings.optimize, bar), found=bar.note)
        result = execute(spec, options)
    show_result(json, result, out, responses=options.responses)
    if result.failures:
        raise RunError(*result.failures)
    _exit(result.status, out)
    if not result.certified and spec.shard == WHOLE:
        raise typer.Exit(MISSED)


def _part(shard: Shard | str | None, of: int, what: str) -> Shard:
    """Return the shard to make; a single run has none of its own accord."""
    if shard is None and of == 1:
        warn_in_job_array("a single run of optimize")
        return WHOLE
    part = shard_of_job(os.environ) if shard is None else shard
    assert not isinstance(part, str)
    if part != WHOLE:
        info(f"shard {part}: {len(part.indices(of)):,} of {of:,} {what}")
    return part


SECTIONS = ("replicate", "optimize", "design")  # go from the config of a log into the fitted one


@dataclass(frozen=True)
class FitOptions(ConfigOptions):
    """Which days a config is fitted to."""

    days: str | None = o.one_of(
        ("weekdays", "weekends"),
        None,
        "Fit to weekdays alone (Mondays to Fridays), or to weekends.",
    )


@command(speaks=())
def fit(
    log: Annotated[
        Path,
        needed(
            "A queue log, or a config that names one: its rule and its problem are kept.",
            "LOG.csv|CONFIG.yaml",
        ),
    ],
    options: FitOptions,
) -> None:
    """Print a config whose random arrivals are like those of a queue log.

    Hourly rates by maximum likelihood, ratings by a smooth quantile function; factors that are
    --set stay in it. Other than the log, days of it differ, so that intervals speak of more than
    one history. Where a log is no such process, with a trend or with days that differ more, that
    is said.
    """
    from valmatch.config.writing import document
    from valmatch.models.valorant.factors import ValorantFactors
    from valmatch.models.valorant.fitting import days_of, fit_arrivals, hourly_counts, remarks_on
    from valmatch.models.valorant.queue_log import DAY, read_queue_log

    overrides = list(options.overrides)
    config = _config(log, overrides, options.levels(str(log)))
    factors, log = config.factors, config.files["arrivals"].path
    assert isinstance(factors, ValorantFactors)
    queue_log = read_queue_log(log, factors.log, factors.multiplier_matrix, None)
    players, midnight = queue_log.players, queue_log.midnight
    for remark in queue_log.remarks:
        warn(remark)
    if players.departures.size and factors.patience_minutes is None:
        warn(
            f"{log}: how long players wait before they give up is not fitted: in the printed config"
            " nobody does (--set patience_minutes=30 keeps a mean of your own)"
        )
    days = _days(queue_log, options.days, log)
    for remark in remarks_on(hourly_counts(players.times, days, midnight)):
        warn(f"{log}: {remark}")
    arrivals = fit_arrivals(players, days, midnight)
    of = f" of its {options.days}" if options.days else ""
    count = int(days(days_of(players.times, midnight)).sum())
    head = f"Fitted to {log.name}: {count:,} players in {arrivals.hours:,} hours{of}."
    # A day that begins with the queue of the day before.
    days_long = 2 if len(arrivals.rates) == DAY else 1
    fitted: dict[str, Any] = {
        "poisson_rate": arrivals.rates * days_long,
        "horizon": len(arrivals.rates) * days_long,
        "warm_up": len(arrivals.rates) * (days_long - 1),
        "rating_quantiles": arrivals.quantiles,
    }
    kept = _kept_factors(config, fitted.keys(), overrides)
    sys.stdout.write(document(head, "valorant", {**fitted, **kept}, **_sections(config)))


def _config(source: Path, overrides: list[str], levels: list[tuple[str, str]]) -> Config:
    """Return the config that names the log, or that a log is put into."""
    from valmatch.config.loading import load_config, shipped_configs

    name = str(source)
    is_file = source.is_file() or name not in shipped_configs()
    if source.suffix not in (".yaml", ".yml") and is_file:
        arrivals = f"arrivals={json.dumps(name)}"
        return load_config({"model": "valorant"}, [arrivals, *overrides], levels)
    config = load_config(name, overrides, levels)
    if config.model != "valorant" or "arrivals" not in config.files:
        raise InputError(
            f"{source}: names no queue log (allowed: a config of the model valorant with arrivals,"
            " or a log)"
        )
    return config


def _days(log: QueueLog, kind: str | None, path: Path) -> Days:
    """Return which days of a log to fit to, of which there is one."""
    from valmatch.models.valorant.fitting import all_days, days_of

    if kind is None:
        return all_days
    if log.midnight is None:
        raise InputError(
            f"{path}: {option('days')}: the log has hours, which are of no weekday (allowed: with"
            " date-times, or seconds since 1970, as arrival_hours)"
        )
    first = log.midnight.weekday()

    def of_kind(days: Ints) -> Bools:
        weekend: Bools = (days + first) % 7 >= 5
        return weekend if kind == "weekends" else ~weekend

    if not of_kind(days_of(log.players.times, log.midnight)).any():
        raise InputError(f"{path}: {option('days')}: nobody arrives at {kind}")
    return of_kind


def _kept_factors(config: Config, fitted: Collection[str], overrides: list[str]) -> dict[str, Any]:
    """Return the factors that stay: those of the rule, and all that are overridden."""
    from valmatch.config.factor_paths import parts
    from valmatch.models.valorant.model import ValorantModel

    keys = [override.partition("=")[0].removeprefix("factors.") for override in overrides]
    overridden = {str(parts(key)[0]) for key in keys if key}
    of_arrivals = ValorantModel.drawn_by | {"multiplier_matrix"}
    out = {*fitted, "log"} | (of_arrivals - {"patience_minutes", *overridden})
    values = config.factors.model_dump(mode="json", exclude_unset=True, exclude=out)
    if "measure" in values:  # fitted days are of no week
        values["measure"] = [group for group in values["measure"] if group != "weekdays"]
    return values


def _sections(config: Config) -> dict[str, Any]:
    """Return the sections of options that the config has, but those that speak of weekdays."""
    from valmatch.models.valorant.measures import WEEKDAYS
    from valmatch.statistics.no_interval import listed

    sections, gone = {}, [response.name for response in WEEKDAYS]
    for name in SECTIONS:
        values = getattr(config, name).model_dump(mode="json", exclude_none=True)
        values = {key: value for key, value in values.items() if value not in ({}, [])}
        text = json.dumps(values)
        if lost := [response for response in gone if f'"{response}' in text]:
            why = f"it asks for {listed(lost)}, and fitted days are of no week"
            warn(f"section {name} left out: {why}")
        elif values:
            sections[name] = values
    return sections


@command(speaks=["quiet"])
def combine(
    out: Annotated[
        Path,
        needed(
            "Folder of the run: its shards are put together, and results are written to it.", "DIR"
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
    from valmatch.experiments import combine as experiments
    from valmatch.storage.manifest import command_of

    commands = set(map(command_of, [*folders, out]))
    options: dict[str, Any] = {"expect": expect, "confidence": confidence}
    if "optimize" in commands:
        from valmatch.optimization.studies.combine import combine_optimizations as merge

        for name, value in options.items():
            o.refuse(name, value is not None, "of no use with folders of optimize (leave it out)")
        combined: experiments.Combined[Any] = merge(out, folders, check=check, warn=warn)
    else:
        designs = "design" in commands
        put_together = experiments.combine_designs if designs else experiments.combine
        combined = put_together(out, folders, check=check, warn=warn, **options)
    lines = combined.shortfalls
    if check:
        show(json, combined.missing, lambda: sys.stdout.writelines(f"{line}\n" for line in lines))
        shards = [parse_shard(name.split()[1]) for name in combined.owed if name != "the run"]
        if shards:
            array = array_of(shard.index for shard in shards)
            task = f"--shard $SLURM_ARRAY_TASK_ID/{shards[0].count} (tasks numbered from 0)"
            info(f"to run again: --array={array} with {task}")
    else:
        show_result(json, combined.result, out, combined.summary())
        for line in lines:
            warn(line)
    if lines:
        raise typer.Exit(AGAIN)


FOLDER = 40  # most characters of a folder in the table
SHOWN = 8  # missing shards that are named


@command(speaks=["quiet"])
def status(folders: Folders, json: Json) -> None:
    """Show the progress of runs and of their shards, and name the shards that no folder holds.

    Nothing is written. A run that has not ended is at work, or was killed. Exit code 0, whatever
    the runs did.
    """
    from valmatch.experiments.combine import missing_shards, status_of

    runs = [run for folder in folders for run in status_of(folder)]
    missing = list(map(str, missing_shards(runs)))
    document = {"runs": [run.as_dict() for run in runs], "missing_shards": missing}
    columns = {
        "folder": [shortened(str(run.folder), FOLDER) for run in runs],
        "command": [run.command for run in runs],
        "shard": [str(run.shard) if run.shard.count > 1 else "" for run in runs],
        "state": [run.state for run in runs],
        "done": ["" if run.done is None else f"{run.done:,}" for run in runs],
        "of": ["" if run.wanted is None else f"{run.wanted:,}" for run in runs],
    }
    if not any(columns["shard"]):
        del columns["shard"]
    show(json, document, lambda: print_columns(columns))
    if missing:
        shown = ", ".join(missing[:SHOWN]) + (", ..." if len(missing) > SHOWN else "")
        info(f"in none of these folders: shard{'s' * (len(missing) > 1)} {shown}")


@command(speaks=())
def plot(
    source: Annotated[Path, needed("The folder of a run.", "DIR")], options: PlotFileOptions
) -> None:
    """Draw figures of a results folder.

    Needs matplotlib, which the extra `plot` brings.
    """
    for file in plot_files(source, options):
        print(escaped(str(file)))


@command(speaks=())
def report(
    folders: Folders,
    out: Annotated[
        Path | None, o.path("The page, such as study.html; - for standard output.", short="-o")
    ],
    markdown: Annotated[
        bool, o.flag("Write Markdown for a pull request, without charts; printed without a FILE.")
    ],
) -> None:
    """Write what runs found as one page to be sent: findings, tables, charts, how they were made.

    The page loads nothing and needs no scripts. An earlier report is replaced, no other file is.
    """
    if out is None and not markdown:
        raise InputError("--out: is missing (such as -o study.html, or - for standard output)")
    if out is None or out == Path("-"):
        sys.stdout.write(valmatch.report(list(folders), markdown=markdown))
    else:
        valmatch.report(list(folders), out, markdown=markdown)
        print(escaped(str(out)))
