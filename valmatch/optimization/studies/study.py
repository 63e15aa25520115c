"""A study of `optimize`: what it is to make, how that is carried out, what came of it.

Runs of solvers, a sweep and a Pareto front are the kinds of study, which `kinds` lists. Each is a
`StudySpec`, which says what is to be made and what follows from it, and a `StudyResult`: tested
points, with a table of its kind. All are carried out, resumed and combined by the same functions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeAlias, TypeVar

from valmatch.config.config import Config, OptimizeOptions
from valmatch.config.identity import config_id, problem_id
from valmatch.execution.chunks import build
from valmatch.execution.interruption import stop_on_signal
from valmatch.execution.run_options import DEFAULT_SEED, RunOptions, SearchArguments, first_given
from valmatch.execution.shards import WHOLE, Shard
from valmatch.models.model import Model
from valmatch.optimization.evaluation import Execution, Journal
from valmatch.optimization.problem import Problem
from valmatch.optimization.problem_of_config import problem_of
from valmatch.optimization.solver_run import Settings
from valmatch.optimization.studies.journal import JOURNAL, TRUTHS, FileJournal, open_journal
from valmatch.optimization.studies.parallel_runs import Job, open_pools, run_all
from valmatch.storage.contents import MANIFEST
from valmatch.storage.output import write_csv, write_json
from valmatch.storage.result_files import ResultFiles, damaged
from valmatch.storage.results import Result, warnings_entry, warnings_in
from valmatch.storage.run_folder import RunFolder, ShardFolder
from valmatch.storage.store import Place
from valmatch.text.terminal import Notice

DEFAULT_BUDGET = 1000

SUMMARY = "summary.json"

# Tables of which charts are drawn, with their columns of texts that are.
TABLES = {"candidates": ("stage",), "progress": ("solver",)}


class BuiltProblem(NamedTuple):
    """The problem of a study."""

    model: Model[object]  # what is simulated
    problem: Problem  # what is optimised


@dataclass(frozen=True, kw_only=True, repr=False)
class StudyResult(Result):
    """What came of a study; a class for each kind of study."""

    config: Config  # what was optimised
    settings: Settings  # what all runs had in common
    complete: bool = True  # whether all that was asked for was made
    shard: Shard = WHOLE  # the part of the study that was made
    stopped: str = ""  # why the study was stopped, "" if it was not
    folder: Path | None = None
    warnings: Sequence[str] = ()  # what has to be known of what was read

    presented_by = "optimize"
    table: ClassVar[str] = ""  # file of the tested points

    @property
    @abstractmethod
    def certified(self) -> bool:
        """Whether some point is certified as feasible."""

    @property
    @abstractmethod
    def counts(self) -> Mapping[str, int]:
        """What the manifest says of how much was made."""

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the table: tested points, which have the same columns."""
        return []

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the columns of the table."""
        rows = self.rows()
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else [])}

    def write(self, folder: Path) -> None:
        """Write the files of the results, all but ``summary.json``."""
        write_csv(folder / self.table, self.columns())

    @property
    def failures(self) -> Sequence[str]:
        """A line for each solver of a user that did what it may not."""
        return ()

    @property
    def status(self) -> str:
        """The status "complete", or why it is not; "failed" where a solver of a user did."""
        if not self.complete:
            return self.stopped
        return "failed" if self.failures else "complete"

    @property
    def title(self) -> str:
        """What was optimised, in one line."""
        return self.record().title

    def identity(self) -> dict[str, Any]:
        """Return what summaries begin with: the model, the ids and the seed."""
        return {
            "model": self.config.model,
            "config_id": config_id(self.config),
            "problem_id": problem_id(self.config),
            "seed": self.settings.seed,
            **warnings_entry(self.warnings),
        }

    @property
    def shard_entry(self) -> dict[str, str]:
        """What summaries say of the shard, if it is one."""
        return {} if self.shard == WHOLE else {"shard": str(self.shard)}

    def record(self) -> StudyRecord:
        """Return what is shown of the study, as `valmatch.load_result` gives it back."""
        tables = {name: columns for name, columns in self.tables().items() if name in TABLES}
        section = self.config.optimize.model_dump(exclude_none=True)
        return StudyRecord(self.config, section, self.summary(), tables, self.status, self.folder)

    def tables(self) -> Mapping[str, Mapping[str, Sequence[Any]]]:
        """Return what was tried in the searches, by name the columns of each table."""
        return {}


@dataclass(frozen=True, repr=False)
class StudyRecord(Result):
    """What a study found, as its files hold it."""

    presented_by, unchecked = "optimize", SUMMARY

    config: Config  # what was optimised
    section: Mapping[str, Any]  # its section `optimize`
    document: Mapping[str, Any]  # what ``summary.json`` holds
    # what was tried in the searches: the columns of ``candidates.csv`` and ``progress.csv``
    tables: Mapping[str, Mapping[str, Sequence[Any]]]
    status: str = "complete"  # how the study ended
    folder: Path | None = None

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

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return a row for each point of the searches."""
        return self.tables.get("candidates", {})

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the study that a folder holds."""
        document = files.json(SUMMARY)
        with damaged(files.folder / SUMMARY):
            warnings_in(document)
            document |= {"seed": int(document["seed"]), "budget": int(document["budget"])}
        tables: dict[str, dict[str, list[Any]]] = {}
        for kind, texts in TABLES.items():
            file = f"{kind}.csv"
            if files.has(file):
                numbers = [name for name in files.header(file) if name not in ("solver", *texts)]
                table = files.table(file, numbers, ("solver", *dict.fromkeys(texts)), infinite=True)
                columns = {key: column.tolist() for key, column in table.numbers.items()}
                tables[kind] = {**columns, **table.texts}
        with damaged(files.folder / MANIFEST):
            options = OptimizeOptions.model_validate(files.manifest.get("optimize") or {})
            section = options.model_dump(exclude_none=True)
        return cls(files.config, section, document, tables, files.status, files.folder)


S = TypeVar("S", bound=StudyResult)

Runs: TypeAlias = Sequence[tuple[Job, Any]]  # the jobs that were made, each with what came of it


@dataclass(frozen=True, kw_only=True)
class StudySpec(ABC, Generic[S]):
    """What a study is to make; a class for each kind of study."""

    part: ClassVar[str] = "run"  # what is made for each of the parts that shards divide among them

    config: Config  # what is optimised
    settings: Settings  # what all runs have in common
    confidence: float  # level of the intervals
    shard: Shard = WHOLE  # the part of the study to make

    @property
    def size(self) -> int:
        """Number of the parts that shards divide among them."""
        return 1

    @property
    def parts_in_words(self) -> str:
        """What these parts are."""
        return "runs"

    @property
    def solver_names(self) -> Sequence[str]:
        """The solvers by name, none where they are not a matter of choice."""
        return ()

    @property
    def compares(self) -> bool:
        """Whether solvers are compared, by replications that have a file of their own."""
        return False

    @property
    def grows(self) -> Mapping[str, int]:
        """Sizes by name, of which a folder to go on with may have less."""
        return {}

    @property
    def replications(self) -> int:
        """Replications of all runs of the shard."""
        runs = len(self.shard.indices(self.size)) * max(1, len(self.solver_names))
        return self.settings.budget * runs

    def build(self, model: Model[object]) -> Problem:
        """Return the problem that is solved: that of the config, unless the kind changes it."""
        return problem_of(self.config, model)

    @abstractmethod
    def jobs(self, built: BuiltProblem) -> Sequence[Job]:
        """Return the jobs of the shard."""

    @abstractmethod
    def identity(self, built: BuiltProblem) -> Mapping[str, object]:
        """Return what two folders of one study have in common, besides config, problem and seed."""

    @abstractmethod
    def summarise(
        self, built: BuiltProblem, made: Runs, execution: Execution, truths: Journal | None
    ) -> S:
        """Return what came of the jobs that were made."""


def common_fields(config: Config, options: SearchArguments) -> dict[str, Any]:
    """Return the fields that the specs of all kinds have, by options, config and defaults."""
    section = config.optimize
    budget = first_given(options.budget, section.budget, DEFAULT_BUDGET)
    seed = first_given(options.seed, section.seed, DEFAULT_SEED)
    confidence = first_given(options.confidence, section.confidence, 0.95)
    settings = Settings(budget, seed, 1.0 - confidence)
    return {"config": config, "settings": settings, "confidence": confidence}


def built_problem(spec: StudySpec[S], warn: Callable[[str], None]) -> BuiltProblem:
    """Return the problem of a study; warn of what is doubtful in the input."""
    model = build(spec.config, warn=warn)
    return BuiltProblem(model, spec.build(model))


class StudyFiles(NamedTuple):
    """The opened folder of a study and the files that it resumes from, if any."""

    folder: RunFolder | None = None
    journal: FileJournal | None = None  # all replications of the runs
    truths: Journal | None = None  # what comparisons of solvers know of points


def execute(spec: StudySpec[S], options: RunOptions) -> S:
    """Make what a study asks for, and write it if there is a folder."""
    built = built_problem(spec, options.warn)
    jobs = spec.jobs(built)
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signal(options.max_seconds))
        pools = stack.enter_context(open_pools(spec.config, len(jobs), stop, options))
        files = stack.enter_context(open_files(spec, built, options.out, options.resume))
        if files.journal is not None:
            options.resumed(len(files.journal))
        execution = Execution(files.journal, pools.shared, stop.check, options.progress)
        runs = list(run_all(jobs, pools, execution, stop))
        made = list(zip(jobs, runs, strict=False))
        return summarised(spec, built, made, files, execution, lambda: stop.reason)


@contextmanager
def open_files(
    spec: StudySpec[S], built: BuiltProblem, out: Path | None, resume: bool
) -> Iterator[StudyFiles]:
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
        {**identity, **spec.identity(built)},
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
        journal = stack.enter_context(closing(open_journal(home, JOURNAL, built.problem)))
        if spec.compares:
            truths = stack.enter_context(closing(open_journal(home, TRUTHS, built.problem)))
        yield StudyFiles(folder, journal, truths)


def summarised(
    spec: StudySpec[S],
    built: BuiltProblem,
    made: Runs,
    files: StudyFiles,
    execution: Execution,
    stopped: Callable[[], str],
) -> S:
    """Return what the jobs of a study came to, written if there is a folder."""
    study = spec.summarise(built, made, replace(execution, journal=None), files.truths)
    warnings, folder = list(map(Notice.of, built.model.warnings)), files.folder
    path = folder.path if folder else None
    result = replace(study, stopped=stopped(), folder=path, warnings=warnings)
    if folder:
        if result.complete:
            for journal in (files.journal, files.truths):
                if isinstance(journal, FileJournal):
                    journal.trim()
        if spec.shard == WHOLE:
            result.write(folder.path)
            write_json(folder.path / SUMMARY, result.summary())
            if result.complete:
                folder.remove_shards()
        folder.remark_input(built.model.warnings)
        folder.close(result.status, **result.counts)
    return result
