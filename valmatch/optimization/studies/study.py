"""A study of `optimize`: what it is to make, how that is carried out, what came of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

from valmatch.config.config import Config, OptimizeOptions
from valmatch.config.identity import config_id, problem_id
from valmatch.execution.chunks import build
from valmatch.execution.interruption import stop_on_signal
from valmatch.execution.run_options import DEFAULT_SEED, SearchArguments, first_given
from valmatch.execution.shards import WHOLE, Shard
from valmatch.models.model import Model
from valmatch.optimization.problem import Problem, problem_of
from valmatch.optimization.solver_run import Execution, Journal, Settings
from valmatch.optimization.studies.parallel_runs import (
    JOURNAL,
    TRUTHS,
    FileJournal,
    Job,
    open_journal,
    open_pools,
    run_all,
)
from valmatch.optimization.verdict import PointResult
from valmatch.storage.contents import MANIFEST
from valmatch.storage.output import write_csv, write_json
from valmatch.storage.result_files import ResultFiles, damaged
from valmatch.storage.results import Result, warnings_entry, warnings_in
from valmatch.storage.run_folder import RunFolder, ShardFolder
from valmatch.storage.store import Place
from valmatch.text.terminal import Notice

DEFAULT_BUDGET = 1000

SUMMARY = "summary.json"

# Tables of which charts are drawn, and which of their columns are texts.
TABLES = {"candidates": ("solver", "stage"), "progress": ("solver",)}

Columns: TypeAlias = Mapping[str, Sequence[Any]]  # the columns of a table by name


@dataclass(frozen=True, repr=False)
class Study(Result):
    """What an optimisation came to: runs of solvers, a sweep of a bound, or a Pareto front.

    Attributes
    ----------
    config : Config
        What was optimised.
    document : mapping
        What ``summary.json`` holds.
    tables : mapping of str to mapping
        What was tried in the searches of solvers: the columns of ``candidates.csv`` and, where
        solvers are compared, of ``progress.csv``.
    status : str
        "complete", or how the study ended: "interrupted", "out of time", "failed" where a solver of
        a user did what it may not.
    failures : sequence of str
        A line for each such solver, where the study was made here.
    folder : Path or None
        Where its files are.
    """

    presented_by, unchecked = "optimize", SUMMARY

    config: Config
    document: Mapping[str, Any]
    tables: Mapping[str, Columns]
    status: str = "complete"
    failures: Sequence[str] = ()
    folder: Path | None = None

    @property
    def points(self) -> list[PointResult]:
        """The tested points that it came to, each with its `point`, `objectives`, `constraints`.

        Of runs of solvers the best one, of a sweep one for each `value`, of a front all of it.
        """
        if "front" in self.document:
            return [PointResult.read(entry) for entry in self.document["front"]]
        swept = self.document.get("sweep", "")
        entries = self.document["frontier"] if swept else [self.document]
        points = (PointResult.read_verdict(entry, swept) for entry in entries)
        return [point for point in points if point]

    @property
    def verdict(self) -> PointResult | None:
        """The recommended point, or that of least violation; the first one of several."""
        return next(iter(self.points), None)

    @property
    def certified(self) -> bool:
        """Whether some point is certified as feasible."""
        return any(point.feasible is True for point in self.points)

    @property
    def title(self) -> str:
        """What was optimised, in one line."""
        of = f"{self.config.model}, config {self.document['config_id']}"
        return f"{of}, seed {self.document['seed']}, budget {self.document['budget']:,}"

    @property
    def warnings(self) -> Sequence[str]:
        """What has to be known of the study."""
        return warnings_in(self.document)

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return dict(self.document)

    def columns(self) -> Columns:
        """Return a row for each point, or the numbers of the only one."""
        swept, rows = self.document.get("sweep"), []
        for point in self.points:
            row = point.row()
            if "front" in self.document:
                rows.append({**row, "n": point.objective.n, "name": point.name})
            elif swept:
                feasible = "undecided" if point.feasible is None else point.feasible
                head = {f"sweep.{swept}": point.value, "feasible": feasible}
                remarks = "; ".join(point.remarks)
                rows.append({**head, **row, "n": point.objective.n, "remarks": remarks})
            else:
                ends = {name: (mean.ci_low, mean.ci_high) for name, mean in point.means.items()}
                for name in (*point.point, *ends):
                    low, high = ends.get(name, (None, None))
                    rows.append({"name": name, "value": row[name], "ci_low": low, "ci_high": high})
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else [])}

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the study that a folder holds."""
        document = files.json(SUMMARY)
        with damaged(files.folder / SUMMARY):
            warnings_in(document)
            document |= {"seed": int(document["seed"]), "budget": int(document["budget"])}
        tables: dict[str, Columns] = {}
        for kind, texts in TABLES.items():
            file = f"{kind}.csv"
            if files.has(file):
                header = files.header(file)
                numbers = [name for name in header if name not in texts]
                table = files.table(file, numbers, texts, infinite=True)
                columns = {key: column.tolist() for key, column in table.numbers.items()}
                tables[kind] = {**columns, **table.texts}
        with damaged(files.folder / MANIFEST):
            section = OptimizeOptions.model_validate(files.manifest.get("optimize") or {})
        config = replace(files.config, optimize=section)
        return cls(config, document, tables, files.status, folder=files.folder)


class Outcome(NamedTuple):
    """What the jobs of a study came to."""

    document: Mapping[str, Any]  # what ``summary.json`` holds, but for what all kinds have
    complete: bool  # whether all that was asked for was made
    counts: Mapping[str, int]  # what the manifest says of how much was made
    tables: Mapping[str, Columns] = {}  # tables of the searches, and of comparisons, by file
    failures: Sequence[str] = ()  # a line for each solver of a user that did what it may not


Runs: TypeAlias = Sequence[tuple[Job, Any]]  # the jobs that were made, each with what came of it


@dataclass(frozen=True, kw_only=True)
class StudySpec(ABC):
    """What a study is to make; a class for each kind of study."""

    config: Config  # what is optimised
    settings: Settings  # what all runs have in common
    confidence: float  # level of the intervals
    shard: Shard = WHOLE  # the part of the study to make
    size: int = 1  # number of the parts that shards divide among them
    part: str = "run"  # what is made for each of these
    parts_in_words: str = "runs"  # what they are
    solver_names: Sequence[str] = ()  # the solvers, none where they are not a matter of choice
    compares: bool = False  # whether solvers are compared, by replications in a file of their own
    # sizes by name, of which a folder to go on with may have less
    grows: Mapping[str, int] = field(default_factory=dict)
    table: str = ""  # file of the points, "" where there is none

    @property
    def replications(self) -> int:
        """Replications of all runs of the shard."""
        runs = len(self.shard.indices(self.size)) * max(1, len(self.solver_names))
        return self.settings.budget * runs

    @property
    def shard_entry(self) -> dict[str, str]:
        """What summaries say of the shard, if it is one."""
        return {} if self.shard == WHOLE else {"shard": str(self.shard)}

    @cached_property
    def model(self) -> Model[object]:
        """What is simulated."""
        return build(self.config)

    @cached_property
    def problem(self) -> Problem:
        """What is optimised: the problem of the config, unless the kind changes it."""
        return problem_of(self.config, self.model)

    @abstractmethod
    def jobs(self) -> Sequence[Job]:
        """Return the jobs of the shard."""

    @abstractmethod
    def identity(self) -> Mapping[str, object]:
        """Return what two folders of one study have in common, besides config, problem and seed."""

    @abstractmethod
    def summarise(self, made: Runs, execution: Execution, truths: Journal | None) -> Outcome:
        """Return what came of the jobs that were made."""

    def write(self, study: Study, folder: Path) -> None:
        """Write the files of the results that are of this kind."""
        write_csv(folder / self.table, study.columns())


def common_fields(config: Config, options: SearchArguments) -> dict[str, Any]:
    """Return the fields that the specs of all kinds have, by options, config and defaults."""
    section = config.optimize
    budget = first_given(options.budget, section.budget, DEFAULT_BUDGET)
    seed = first_given(options.seed, section.seed, DEFAULT_SEED)
    confidence = first_given(options.confidence, section.confidence, 0.95)
    settings = Settings(budget, seed, 1.0 - confidence)
    return {"config": config, "settings": settings, "confidence": confidence}


class StudyFiles(NamedTuple):
    """The opened folder of a study and the files that it resumes from, if any."""

    folder: RunFolder | None = None
    journal: FileJournal | None = None  # all replications of the runs
    truths: Journal | None = None  # what comparisons of solvers know of points


def execute(spec: StudySpec, options: SearchArguments) -> Study:
    """Make what a study asks for, and write it if there is a folder."""
    for warning in spec.model.warnings:
        options.warn(warning)
    jobs = spec.jobs()
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signal(options.max_seconds))
        pools = stack.enter_context(open_pools(spec.config, len(jobs), stop, options))
        files = stack.enter_context(open_files(spec, options.out, options.resume))
        if files.journal is not None:
            options.resumed(len(files.journal))
        calls = stop.check, options.progress, options.found
        execution = Execution(files.journal, pools.shared, *calls)
        runs = list(run_all(jobs, pools, execution, stop))
        made = list(zip(jobs, runs, strict=False))
        return summarised(spec, made, files, execution, lambda: stop.reason)


@contextmanager
def open_files(spec: StudySpec, out: Path | None, resume: bool) -> Iterator[StudyFiles]:
    """Open a folder for a study and its files in it; none where `out` is None."""
    if out is None:
        yield StudyFiles()
        return
    config, kind = spec.config, RunFolder if spec.shard == WHOLE else ShardFolder
    identity = {"problem_id": problem_id(config), "seed": spec.settings.seed}
    folder = kind(
        out,
        "optimize",
        config,
        {**identity, **spec.identity()},
        resume=resume,
        at_least=spec.grows,  # an earlier run may have left less of what grows
        facts={
            **spec.grows,
            "confidence": spec.confidence,
            "wanted": replace(spec, shard=WHOLE).replications,
            "optimize": config.optimize.model_dump(exclude_none=True),
        },
        shard=spec.shard,
    )
    truths, home = None, Place(out, spec.shard, resume)
    with ExitStack() as stack:
        stack.enter_context(folder)
        journal = stack.enter_context(closing(open_journal(home, JOURNAL, spec.problem)))
        if spec.compares:
            truths = stack.enter_context(closing(open_journal(home, TRUTHS, spec.problem)))
        yield StudyFiles(folder, journal, truths)


def summarised(
    spec: StudySpec,
    made: Runs,
    files: StudyFiles,
    execution: Execution,
    stopped: Callable[[], str],
) -> Study:
    """Return what the jobs of a study came to, written if there is a folder."""
    outcome = spec.summarise(made, replace(execution, journal=None), files.truths)
    folder, config = files.folder, spec.config
    status = "failed" if outcome.failures else "complete"
    document = {
        "model": config.model,
        "config_id": config_id(config),
        "problem_id": problem_id(config),
        "seed": spec.settings.seed,
        **warnings_entry(map(Notice.of, spec.model.warnings)),
        **outcome.document,
    }
    study = Study(
        config,
        document,
        {name: outcome.tables[name] for name in TABLES if name in outcome.tables},
        status if outcome.complete else stopped(),
        outcome.failures,
        folder.path if folder else None,
    )
    if folder:
        if outcome.complete:
            for journal in (files.journal, files.truths):
                if isinstance(journal, FileJournal):
                    journal.trim()
        if spec.shard == WHOLE:
            spec.write(study, folder.path)
            for name, columns in outcome.tables.items():
                write_csv(folder.path / f"{name}.csv", columns)
            write_json(folder.path / SUMMARY, study.summary())
            if outcome.complete:
                folder.remove_shards()
        folder.remark_input(spec.model.warnings)
        folder.close(study.status, **outcome.counts)
    return study
