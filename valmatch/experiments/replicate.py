"""Replications of a config: planned, made in chunks, into a folder if wanted, and summarised."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from valmatch.config.config import Config
from valmatch.config.identity import config_id
from valmatch.config.loading import ConfigLike, load_config
from valmatch.errors import MOST, InputError, collecting, in_lines, option
from valmatch.execution.chunks import Chunks, build, replicate_chunk
from valmatch.execution.executors import WorkerPool, pool_for
from valmatch.execution.interruption import Stop, stop_on_signal
from valmatch.execution.run_options import DEFAULT_SEED, ReplicateArguments, RunOptions, first_given
from valmatch.execution.shards import WHOLE, Shard
from valmatch.experiments.response_list import shown_by
from valmatch.inputs.options import takes
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Axes, Batch, Model, Response, Window
from valmatch.models.registry import no_response
from valmatch.statistics.control_variates import Adjusted, adjust
from valmatch.statistics.curves import CurveSums
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.no_interval import (
    doubtful_intervals,
    undefined_in,
    why_no_interval,
    why_not_adjusted,
)
from valmatch.statistics.pairs import PolicyDifference, nested_facts, policy_differences
from valmatch.statistics.precision import LEAST, Precision, Target, looks, parse_target
from valmatch.statistics.sampling import INDEPENDENT, OneHistory, Sampling, sampling_of
from valmatch.storage.manifest import ReplicateManifest, read_manifest
from valmatch.storage.output import write_csv, write_json
from valmatch.storage.results import (
    SUMMARY,
    Result,
    ResultFiles,
    among,
    columns_of,
    damaged,
    warnings_entry,
)
from valmatch.storage.run_folder import RunFolder, ShardFolder
from valmatch.storage.store import (
    CONTROLS,
    ROWS,
    SUMS,
    Store,
    Warn,
    control_format,
    read_sums,
    row_format,
    write_curves,
)
from valmatch.text.suggestions import hint
from valmatch.text.terminal import Notice, counted


@dataclass(frozen=True, repr=False)
class Replications(Result):
    """Replications of a config.

    Attributes
    ----------
    config : Config
        What was simulated.
    seed : int
        Seed of all random numbers.
    requested : int
        Number of replications asked for, in all shards together.
    responses : sequence of Response
        What each replication gives.
    indices : sequence of int
        The replications that are here, in order.
    values : numpy.ndarray
        (n, len(responses)) float64, one row a replication; NaN where undefined.
    confidence : float
        Level of the intervals.
    axes, curves : Axes or None
        What the curves of the model are, and their sums; None where it has none.
    shard : Shard
        The part of the replications asked for that this run makes.
    status : str
        "complete", or why it is not: "interrupted", "out of time", "target missed".
    precision : sequence of Precision
        For each target, how precisely the mean is known.
    controls : (n, q) ndarray of float64
        The control variates; None unless they were asked for.
    expectations : mapping of str to float
        Their expectations by name.
    remarks : sequence of str
        What has to be said of the replications, one line each.
    input_remarks : sequence of str
        What has to be said of what was read, such as rows left out.
    sampling : Sampling
        What they are samples of.
    """

    presented_by = "replicate"

    config: Config
    seed: int
    requested: int
    responses: Sequence[Response]
    indices: Sequence[int]
    values: Floats
    confidence: float
    axes: Axes | None = None
    curves: CurveSums | None = None
    shard: Shard = WHOLE
    status: str = "complete"
    precision: Sequence[Precision] = ()
    controls: Floats | None = None
    expectations: Mapping[str, float] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    input_remarks: Sequence[str] = ()
    folder: Path | None = None
    sampling: Sampling = INDEPENDENT

    @property
    def count(self) -> int:
        """Number of replications that are here."""
        return len(self.indices)

    @property
    def title(self) -> str:
        """What was replicated, in one line."""
        of = f"{self.config.model}, config {config_id(self.config)}, seed {self.seed}"
        return f"{of}, {self.count:,} replications, {self.confidence:.0%} intervals"

    @property
    def warnings_of_runs(self) -> list[Notice]:
        """What has to be known of what was read and of the replications."""
        return list(map(Notice.of, [*self.config.warnings, *self.input_remarks, *self.remarks]))

    @property
    def warnings(self) -> list[Notice]:
        """What has to be known of what was read, of the replications and of their means."""
        counts = {name: mean.undefined for name, mean in self.estimates.items()}
        warnings = [
            *self.warnings_of_runs,
            *undefined_in(counts, self.count, "replications"),
            *self.notes_below(),
        ]
        warnings += [
            Notice(f"target of {target.response} missed: {target.why}", "target_missed")
            for target in self.precision
            if not target.reached
        ]
        return list(dict.fromkeys(warnings))

    def notes_below(self, chosen: Collection[str] = ()) -> list[Notice]:
        """Return what the means lack, and which are doubtful, of the chosen ones if any are."""
        means, adjusted = among(self.estimates, chosen), among(self.adjusted, chosen)
        lacking = {
            "no interval": self.why_no_interval(chosen) if self.count else "",
            "not adjusted": why_not_adjusted(adjusted, means, len(self.expectations)),
        }
        notes = [
            Notice(f"{what}: {why}", what.replace(" ", "_")) for what, why in lacking.items() if why
        ]
        return [*notes, *doubtful_intervals(means.items(), bool(self.sampling.fixed))]

    def why_no_interval(self, chosen: Collection[str] = ()) -> str:
        """Return why some means have no interval, of the chosen ones if any are; "" if all have."""
        reason = self.sampling.no_interval(self.count)
        return why_no_interval(among(self.estimates, chosen), reason)

    @property
    def complete(self) -> bool:
        """Whether all replications asked for are here, or all targets reached."""
        return self.status == "complete"

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """The estimated mean of each response."""
        return {
            response.name: self.sampling.estimate(
                values, self.confidence, self.indices, response.limits
            )
            for response, values in zip(self.responses, self.values.T, strict=True)
        }

    @cached_property
    def adjusted(self) -> dict[str, Adjusted]:
        """The mean of each response adjusted by the control variates; {} without them."""
        if self.controls is None:
            return {}
        known = np.array(list(self.expectations.values()))
        means = adjust(self.values, self.controls, known, self.confidence)
        rows = zip(self.responses, means, strict=True)
        return {response.name: mean.within(response.limits) for response, mean in rows}

    def __getitem__(self, response: str) -> Floats:
        """Return one number a replication; NaN where undefined."""
        names = [response.name for response in self.responses]
        if response not in names:
            raise KeyError(f"{response!r} ({hint(response, names)})")
        return self.values[:, names.index(response)]

    @cached_property
    def differences(self) -> list[PolicyDifference]:
        """The paired differences between policies; [] where the model has no windows of games."""
        windows = [response.window for response in self.responses]
        limits = [response.limits for response in self.responses]
        return policy_differences(windows, self.values, limits, self.confidence)

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``summary.csv``: a row for each response."""
        rows = []
        for response in self.responses:
            name = response.name
            facts = {**self.estimates[name].as_row(), **self._adjusted_facts(name)}
            rows.append({"response": name, "unit": response.unit, **facts})
        return columns_of(rows)

    def _adjusted_facts(self, name: str) -> dict[str, Any]:
        """Return what files say of the adjusted mean of a response."""
        return self.adjusted[name].as_dict() if self.adjusted else {}

    def paired_columns(self) -> dict[str, list[Any]]:
        """Return the columns of ``paired.csv``: a row for each difference between policies."""
        units = {response.window: response.unit for response in self.responses}
        rows, keys = self.differences, ("policy", "other", "measure", "games")
        return {
            **{key: [getattr(row, key) for row in rows] for key in keys},
            "unit": [units[Window(row.policy, row.measure, row.games)] for row in rows],
            **columns_of([row.estimate.as_row() for row in rows]),
        }

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the responses by name, one number a replication, with their indices."""
        columns = zip(self.responses, self.values.T, strict=True)
        return {"replication": np.array(self.indices)} | {r.name: v for r, v in columns}

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        optional = {
            "shard": "" if self.shard == WHOLE else str(self.shard),
            "sampling": dict(self.sampling.facts),
            "controls": dict(self.expectations),
            **warnings_entry(self.warnings),
            "no_interval": self.why_no_interval(),
            "not_adjusted": why_not_adjusted(self.adjusted, self.estimates, len(self.expectations)),
        }
        targets = [target.as_dict() for target in self.precision]
        means = {
            response.window: self.estimates[response.name]
            for response in self.responses
            if response.window
        }
        paired = [(row[:4], row.estimate) for row in self.differences]
        windows = {"windows": nested_facts(means.items()), "paired": nested_facts(paired)}
        return {
            "model": self.config.model,
            "config_id": config_id(self.config),
            "seed": self.seed,
            "replications": self.count,
            "requested": self.requested,
            **{name: value for name, value in optional.items() if value},
            "responses": {
                name: {**mean.as_dict(), **self._adjusted_facts(name)}
                for name, mean in self.estimates.items()
            },
            **({"targets": targets} if targets else {}),
            **(windows if means else {}),
        }

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the replications that a folder holds, as far as its run got."""
        manifest = read_manifest(files.folder, ReplicateManifest)
        config, seed, summary = files.config, manifest.seed, {}
        if files.has(SUMMARY) or files.status == "complete":
            summary = files.json(SUMMARY)
        with damaged(files.folder / SUMMARY):
            sampling = sampling_of(summary.get("sampling", {}), config.one_history)
            controls = {str(k): float(v) for k, v in summary.get("controls", {}).items()}
            precision = [Precision(**target) for target in summary.get("targets", ())]
            summarised = list(summary["responses"]) if "responses" in summary else None
        responses, axes = shown_by(config)
        names = [response.name for response in responses]
        if summarised is not None and summarised != names:
            what = "its responses are those of another version of the model"
            raise InputError(f"{files.folder / SUMMARY}: {what}")
        form = row_format(config, seed, responses)
        rows = form.read([files.folder / ROWS])
        indices, of_controls = sorted(rows), control_format(config, seed, controls)
        known = of_controls.read([files.folder / CONTROLS]) if controls else {}
        sums = read_sums(files.folder / SUMS, axes.shape, lambda text: None)[0] if axes else None
        return cls(
            config,
            seed,
            manifest.requested,
            responses,
            indices,
            form.table(rows, indices),
            manifest.confidence or 0.95,
            axes,
            sums if sums and sums.n else None,
            WHOLE,
            files.status,
            precision,
            of_controls.table(known, indices) if known and known.keys() >= rows.keys() else None,
            controls,
            manifest.notices("remarks"),
            manifest.notices("input_remarks"),
            files.folder,
            sampling,
        )

    def missed_expectations(self) -> list[str]:
        """Return one line for each mean that is not what the config expects."""
        lines = []
        for name, expected in self.config.replicate.expect.items():
            mean = self.estimates[name].mean
            if mean is None or abs(mean - expected.mean) > expected.tolerance:
                want = f"{expected.mean!r} ± {expected.tolerance!r}"
                lines.append(f"{name}: mean {mean!r} (expected {want})")
        return lines


DEFAULT_N = 1000

MAX_REPS = 1_000_000  # replications at which targets are given up, unless told otherwise


def default_n(*configs: Config) -> int:
    """Return how many replications are made unless told otherwise: one where all are the same."""
    return 1 if all(config.one_history for config in configs) else DEFAULT_N


@dataclass(frozen=True)
class Plan:
    """The replications of a config that are to be made, checked."""

    # number of replications, >= 1, in all shards together; with targets the least one
    n: int = DEFAULT_N
    seed: int = DEFAULT_SEED  # seed of all random numbers, >= 0
    shard: Shard = WHOLE  # the part of them that this run makes
    confidence: float = 0.95  # level of the intervals, in (0, 1)
    # ``NAME=1%`` or ``NAME=0.05`` each: go on until the half-width of the interval of the response
    # is that share of its mean, or that number
    targets: Sequence[str] = ()
    max_reps: int = MAX_REPS  # number of replications at which to give the targets up, >= 1
    control_variates: bool = False  # whether to adjust the means by control variates

    def __post_init__(self) -> None:
        if self.targets and self.shard != WHOLE:
            raise InputError(
                f"{option('targets')}: a shard cannot know when all of them together may stop"
            )

    @property
    def requested(self) -> int:
        """Number of replications in all shards together, at most."""
        return self.max_reps if self.targets else self.n

    @property
    def indices(self) -> range:
        """The replications that this run makes, at most."""
        return self.shard.indices(self.requested)

    def store(
        self, config: Config, model: Model[object], folder: RunFolder | None, warn: Warn
    ) -> Store:
        """Return what keeps the replications, with those that an earlier run left."""
        controls = self.control_variates
        return Store(config, self.seed, model, self.indices, folder, warn, controls=controls)


def plan_of(config: Config, options: ReplicateArguments) -> Plan:
    """Return the plan of a run; what is not given, the config gives, or a default."""
    section = config.replicate
    targets = list(options.targets) or section.target
    # What the config says of n is of its random arrivals.
    configured = None if targets or config.one_history else section.n
    shard = options.shard or WHOLE
    assert isinstance(shard, Shard)
    return Plan(
        first_given(options.n, configured, LEAST if targets else default_n(config)),
        first_given(options.seed, section.seed, DEFAULT_SEED),
        shard,
        first_given(options.confidence, section.confidence, 0.95),
        targets,
        first_given(options.max_reps, section.max_reps, MAX_REPS),
        options.control_variates or bool(section.control_variates),
    )


@takes(ReplicateArguments)
def replicate(
    config: ConfigLike,
    n: int | None = None,
    seed: int | None = None,
    **options: Any,  # noqa: ANN401
) -> Replications:
    """Run replications 0..n-1 of a config, or a shard of them.

    What is not given, the section `replicate` of the config may give. SIGINT (Ctrl-C), SIGTERM,
    SIGUSR1, SIGXCPU and the end of the time end the run after the chunks at work, for which a
    signal waits half a second, but for compiled code as long as that takes: what is finished is
    kept, in the files and in the result. No result depends on workers, executor, shards or
    interruptions.

    Parameters
    ----------
    config : Config or what `valmatch.load_config` takes
        What to simulate.
    n : int or None
        Number of replications, >= 1, in all shards together; with targets the least one. None: 1
        where every replication is the same, such as on a queue log, else 1000.
    seed : int or None
        Seed of all random numbers, >= 0; None: 1.
    **options

    Returns
    -------
    Replications
        Their responses, with the estimated mean of each.

    Raises
    ------
    InputError
        If an argument, the input of the model or the folder cannot be used.
    RunError
        If the run fails; what is finished stays in the folder.
    """
    return replicate_config(load_config(config), ReplicateArguments(n=n, seed=seed, **options))


def replicate_config(config: Config, options: ReplicateArguments) -> Replications:
    """Make replications with workers of their own; see `replicate`."""
    plan, options = plan_of(config, options), options.in_config(config.replicate)
    with pool_for(options, config) as pool:
        return run_plan(config, plan, pool, options)


def run_plan(
    config: Config, plan: Plan, pool: WorkerPool, options: RunOptions, until: Stop | None = None
) -> Replications:
    """Make planned replications, alone or as a part of something larger, which says when to end."""
    # The time of a run alone is that of its replications.
    out, resume, warn = options.out, options.resume, options.warn
    model = build(config, warn=warn)
    targets = _targets(config, plan, model)
    with ExitStack() as stack:
        folder = None
        if out:
            folder = stack.enter_context(open_run(out, config, plan, resume))
            if resume and (changed := folder.changed_versions()):
                warn(f"{option('out')} {out}: the run was begun with {changed}; results may differ")
        store = stack.enter_context(plan.store(config, model, folder, warn))
        stop = until or stack.enter_context(stop_on_signal(options.max_seconds))
        options.resumed(store.done)
        options.progress(store.done)
        try:
            work = partial(replicate_chunk, config, plan.seed, plan.control_variates)
            chunks = Chunks(pool, work)
            precision = _advance(plan, store, chunks, targets, stop, options)
        finally:
            if folder:
                folder.note(replications=store.done)
        result = Replications(
            config,
            plan.seed,
            plan.requested,
            model.responses,
            plan.indices[: store.done],
            store.values,
            plan.confidence,
            model.axes,
            store.curves,
            plan.shard,
            _status(store.done, len(plan.indices), precision, stop),
            precision,
            store.controls,
            model.controls if plan.control_variates else {},
            [*(folder.previous_remarks if folder else []), *_remarks(store)],
            model.warnings,
            out,
            model.sampling,
        )
        if folder:
            write_results(folder, result)
    return result


@contextmanager
def open_cases(
    cases: Mapping[str, Config],
    plan: Plan,
    options: RunOptions,
    folder: RunFolder | None,
    below: str = "",
) -> Iterator[tuple[Stop, Callable[[str, Stop], Replications]]]:
    """Open workers and a folder for the runs of some configs, each in a folder of its own there."""
    # Yields what ends the work on all, and a function that replicates one by name until something
    # else ends it. The folder of none of them is refused once any has begun.
    homes = {name: options.out / below / name for name in cases} if options.out else {}
    with ExitStack() as stack:
        pool = stack.enter_context(pool_for(options, *cases.values()))
        if folder:
            for name, home in homes.items():
                of_case = open_run(home, cases[name], plan, options.resume, read=folder.read)
                if options.resume:
                    plan.store(cases[name], build(cases[name]), of_case, lambda text: None)
            stack.enter_context(folder)
        stop = stack.enter_context(stop_on_signal(options.max_seconds))

        def run(name: str, until: Stop) -> Replications:
            inner = replace(options, out=homes.get(name))
            return run_plan(cases[name], plan, pool, inner, until)

        yield stop, run


def _targets(config: Config, plan: Plan, model: Model[object]) -> list[Target]:
    """Return what is to be known how precisely; refuse what the model cannot give."""
    limits = {response.name: response.limits for response in model.responses}
    wrong = [
        f"{config.at(f'replicate.expect.{name}')}:"
        f" {no_response(config.model, config.factors, name, list(limits))}"
        for name in [name for name in config.replicate.expect if name not in limits][:MOST]
    ]
    fixed = OneHistory.fixed if config.one_history else model.sampling.fixed
    if plan.targets and fixed:
        raise InputError(f"{option('targets')}: {fixed}")
    targets = list[Target]()
    for text in plan.targets:
        with collecting(wrong):
            targets.append(parse_target(text, limits))
    if wrong:
        raise InputError(*in_lines(wrong))
    if plan.control_variates and not model.controls:
        what = f"{config.model} has none with these arrivals"
        raise InputError(f"{option('control_variates')}: {what}")
    return targets


def _advance(
    plan: Plan,
    store: Store,
    chunks: Chunks[Batch],
    targets: Sequence[Target],
    stop: Stop,
    options: RunOptions,
) -> list[Precision]:
    """Simulate up to the goal at which all targets are reached; return how precise means are."""
    precision: list[Precision] = []
    for total in looks(plan.n, plan.max_reps) if targets else [plan.n]:
        goal = len(plan.shard.indices(total))
        if goal < store.done:  # what an earlier run went past was not enough for it
            continue
        while (todo := store.missing(goal)) and not stop():
            with closing(chunks.run(todo, stop)) as batches:
                for batch in batches:
                    before = store.done
                    store.add(batch)
                    options.progress(store.done - before)
        values = store.values
        precision = [target.assess(values[:, target.column], plan.confidence) for target in targets]
        if isinstance(options, ReplicateArguments):
            options.looked(precision)
        if stop.reason or (targets and all(target.reached for target in precision)):
            break
    return precision


def _status(done: int, goal: int, precision: Sequence[Precision], stop: Stop) -> str:
    """Return how a run ended."""
    if precision and all(target.reached for target in precision):
        return "complete"
    if done < goal:
        return stop.reason
    return "target missed" if precision else "complete"


def _remarks(store: Store) -> list[Notice]:
    """Say of how many of the replications made by this run something has to be said."""
    of = counted(store.made, f"{'further ' * bool(store.resumed)}replication")
    return [
        Notice(f"{count:,} of {of}: {text}", Notice.of(text).kind, count)
        for text, count in Counter(store.remarks).items()
    ]


def open_run(
    out: Path,
    config: Config,
    plan: Plan,
    resume: bool,
    replications: int | None = None,
    read: Sequence[Path] = (),
) -> RunFolder:
    """Return the folder of a run of `replicate`; of its planned replications or fewer."""
    # The files `read` are those that it is made from, besides its config.
    count = len(plan.indices) if replications is None else replications
    kind = RunFolder if plan.shard == WHOLE else ShardFolder
    return kind(
        out,
        "replicate",
        config,
        {"seed": plan.seed},
        resume=resume,
        at_least={"replications": count} if plan.shard == WHOLE else {},
        facts={"requested": plan.requested},
        read=read,
        shard=plan.shard,
    )


def write_results(folder: RunFolder, result: Replications) -> None:
    """Write all files but that of the rows, none of a shard, and say how the run ended."""
    if result.shard == WHOLE:
        if result.axes and result.curves:
            write_curves(folder.path, result.axes, result.curves)
        write_json(folder.path / SUMMARY, result.summary())
        write_csv(folder.path / "summary.csv", result.columns())
        if result.differences:
            write_csv(folder.path / "paired.csv", result.paired_columns())
        if result.complete:
            folder.remove_shards()
    folder.remark([*result.config.warnings, *result.input_remarks], result.remarks)
    folder.close(result.status, replications=result.count, confidence=result.confidence)
