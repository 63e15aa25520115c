"""A study of `optimize`: what it is to make, how that is carried out, what came of it."""

import re
from abc import ABC, abstractmethod
from collections import UserDict
from collections.abc import Callable, Generator, ItemsView, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeAlias

from valmatch.config.config import Config, OptimizeOptions
from valmatch.config.identity import config_id, problem_id
from valmatch.errors import WorkersLostError
from valmatch.execution.chunks import RETRIES, build, lost, result_of
from valmatch.execution.executors import WorkerPool, open_pool, pool_for
from valmatch.execution.interruption import Stop, Stopped, stop_on_signal
from valmatch.execution.run_options import (
    DEFAULT_SEED,
    PROCESSES,
    RunOptions,
    SearchArguments,
    first_given,
)
from valmatch.execution.shards import WHOLE, Shard, shard_files
from valmatch.models.model import Model
from valmatch.optimization.problem import Problem, problem_of
from valmatch.optimization.solver_run import (
    RUN,
    Address,
    Execution,
    Journal,
    Row,
    Rows,
    Settings,
    SharedPool,
)
from valmatch.optimization.verdict import PointResult
from valmatch.storage.output import MANIFEST, cell, numbers, write_bytes, write_csv, write_json
from valmatch.storage.results import (
    SUMMARY,
    Result,
    ResultFiles,
    columns_of,
    damaged,
    warnings_entry,
    warnings_in,
)
from valmatch.storage.run_folder import RunFolder, ShardFolder
from valmatch.storage.store import GrowingFile, LineFormat
from valmatch.text.terminal import Notice

DEFAULT_BUDGET = 1000

# Tables of which charts are drawn, and which of their columns are texts.
TABLES = {"candidates": ("solver", "stage"), "progress": ("solver",)}

Columns: TypeAlias = Mapping[str, Sequence[Any]]  # the columns of a table by name


Known: TypeAlias = Mapping[str, Rows]  # what is known besides, by the file that it belongs to

JOURNAL = "evaluations.csv"  # file of all replications

# File of the objective and the violation of points by many fresh replications.
TRUTHS = "judged.csv"

TRUTH = ("objective", "violation")  # its columns after the point and the number of replications


class _Lines(LineFormat[Address]):
    """The lines of one of the two files: the point, the index, the values."""

    def __init__(self, name: str, problem: Problem) -> None:
        self._stem, self._variables = name.removesuffix(".csv"), len(problem.variables)
        judged = name == TRUTHS
        self.names = TRUTH if judged else problem.responses
        self._columns = [*problem.names, f"replication{'s' * judged}", *self.names]
        self.header = ",".join(self._columns) + "\n"

    def parse(self, line: str) -> tuple[Address, list[float]] | None:
        """Return the address of a line and its numbers, NaN where a cell is empty."""
        cells, key = line.split(","), self._variables + 1
        if len(cells) != len(self._columns) or not re.fullmatch("[0-9]{1,19}", cells[key - 1]):
            return None
        values = numbers(cells)
        return None if values is None else (tuple(values[:key]), values[key:])

    def named(self, key: Address) -> str:
        """Return what messages call an address."""
        return f"{self._stem} at {', '.join(map(cell, key))}"

    def rows(self, paths: Iterable[Path]) -> Rows:
        """Return what files hold."""
        return {address: tuple(values) for address, values in self.read(paths).items()}


def open_journal(home: RunFolder, name: str, problem: Problem, known: Known) -> "FileJournal":
    """Open one of the two files of a run, with the replications that it goes on with."""
    lines = _Lines(name, problem)
    rows = lines.rows(home.parts(name)) | known.get(name, {})
    return FileJournal(home.file(name), lines.header, rows)


def read_journal(folders: Iterable[Path], name: str, problem: Problem) -> Rows:
    """Return what one of the two files holds in several folders, of shards and of the whole."""
    paths = (path for folder in folders for path in shard_files(folder, name))
    return _Lines(name, problem).rows(paths)


class UsedRows(UserDict[Address, Row]):
    """A journal that notes which of its entries are used, in order."""

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self.data, self.used = rows, Rows()

    def __getitem__(self, address: Address) -> Row:
        self.used[address] = self.data[address]
        return self.data[address]

    def __setitem__(self, address: Address, row: Row) -> None:
        self.used[address] = self.data[address] = row

    def items(self) -> ItemsView[Address, Row]:
        """Return all entries, which are not used by that."""
        return self.data.items()


class FileJournal(UsedRows):
    """A journal that appends every new replication to a CSV file."""

    def __init__(self, path: Path, header: str, rows: Rows) -> None:
        super().__init__(rows)
        self._path, self._header = path, header
        self._file = GrowingFile(path, header + _text(rows))

    def __setitem__(self, address: Address, row: Row) -> None:
        super().__setitem__(address, row)
        self._file.append(_text({address: row}), synced=False)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def trim(self) -> None:
        """Leave in the file what this run has used, in that order, as if nothing had been there."""
        if list(self.used) != list(self.data):
            self.close()
            write_bytes(self._path, (self._header + _text(self.used)).encode())


def _text(rows: Rows) -> str:
    """Return the lines of replications."""
    lines = ([*map(cell, key[:-1]), str(int(key[-1])), *map(cell, rows[key])] for key in rows)
    return "".join(",".join(cells) + "\n" for cells in lines)


POLL_SECONDS = 0.2  # seconds between two looks at whether to stop while waiting for a job

# What a job made, with the replications that it has used, in that order.
Used: TypeAlias = tuple[Any, Rows]


@dataclass(frozen=True)
class Job:
    """A part of a study that is made in one piece."""

    index: int  # its place among the parts that shards divide among them
    first: int  # index of the first of the `RUN` replications that it may need
    make: Callable[[Execution], Any]  # makes it; `Stopped` ends that


# What makes the replications of one point together, where jobs go, several at once, and the threads
# that each of these has; None where there is only this process.
Pools: TypeAlias = tuple[SharedPool | None, WorkerPool | None, int]


@contextmanager
def open_pools(config: Config, jobs: int, stop: Stop, options: RunOptions) -> Iterator[Pools]:
    """Start workers: several jobs are made at once, a single one has its replications shared."""
    workers = options.workers or 1
    with ExitStack() as stack:
        pool = stack.enter_context(pool_for(options, config))
        shared = None if pool.here and workers == 1 else SharedPool(pool, stop)
        if shared is None or jobs < 2:
            yield shared, None, 1
            return
        threads = 1
        if pool.here:  # searching needs the GIL
            threads = max(1, workers // jobs)
            pool = stack.enter_context(open_pool(PROCESSES, min(workers, jobs)))
        yield shared, pool, threads


def run_all(jobs: Sequence[Job], pools: Pools, execution: Execution, stop: Stop) -> Generator[Any]:
    """Make jobs and yield what they made, in their order, until it is time to stop."""
    # Of those made elsewhere, what has ended by a stop is noted, too.
    (_, pool, threads), journal = pools, execution.journal
    if pool is None:
        with suppress(Stopped):
            for job in jobs:
                yield job.make(execution)
                stop.check()
        return

    def hand_out(job: Job) -> Future[Used]:
        assert pool
        rows = None  # those that it may need
        if journal is not None:
            needed = range(job.first, job.first + RUN)
            rows = {a: row for a, row in journal.items() if int(a[-1]) in needed}
        return pool.executor.submit(_work, job, rows, threads)

    futures: list[Future[Used]] = []
    try:
        futures += map(hand_out, jobs)
        for number, job in enumerate(jobs):
            losses = 0
            while (made := _awaited(futures[number], pool, stop)) is None:
                losses += 1
                if losses == RETRIES:
                    raise lost(f"run {number}")
                futures[number] = hand_out(job)
            run, used = made
            _note(journal, used)
            execution.progress(run.spent)
            yield run
    except (Stopped, WorkersLostError) as end:
        for future in futures:  # in whatever order they have ended
            if future.done() and not future.cancelled() and not future.exception():
                _note(journal, future.result()[1])
        if isinstance(end, WorkersLostError):
            futures.clear()  # those of a broken pool end with it; it fails at cancelled ones
            raise
    finally:
        for future in futures:
            future.cancel()


def _awaited(future: Future[Used], pool: WorkerPool, stop: Stop) -> Used | None:
    """Wait for a job; return what it made with what it used, None if its worker was lost."""
    stop.check()
    while not wait([future], POLL_SECONDS).done:
        pool.slots()  # says if there is nobody, and raises if there will never be
        stop.check()
    return result_of(future)


def _note(journal: Journal | None, used: Rows) -> None:
    """Add what a job elsewhere has used to the journal."""
    if journal is not None:
        for address, row in used.items():
            if journal.get(address) is None:
                journal[address] = row


def _work(job: Job, journal: Rows | None, threads: int) -> Used:
    """Make a job in a worker process; return what it made with what it used, in that order."""
    noted = None if journal is None else UsedRows(journal)
    with ExitStack() as stack:
        shared = None
        if threads > 1:
            shared = SharedPool(stack.enter_context(open_pool(None, threads, threads=True)), Stop())
        made = job.make(Execution(noted, shared))
    return made, {} if noted is None else noted.used


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
        return columns_of(rows)

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
                tables[kind] = files.table(file, numbers, texts, infinite=True)
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
    searches: int = 1  # how many solvers make each of them
    compares: bool = False  # whether solvers are compared, by replications in a file of their own
    # sizes by name, of which a folder to go on with may have less
    grows: Mapping[str, int] = field(default_factory=dict)
    table: str = ""  # file of the points, "" where there is none

    @property
    def replications(self) -> int:
        """Replications of all runs of the shard."""
        return self.settings.budget * len(self.shard.indices(self.size)) * self.searches

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
    journal: Journal | None = None  # all replications of the runs
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
        execution = Execution(files.journal, pools[0], *calls)
        made = list(zip(jobs, list(run_all(jobs, pools, execution, stop)), strict=False))
        return summarised(spec, made, files, execution, lambda: stop.reason)


@contextmanager
def open_files(
    spec: StudySpec,
    out: Path | None,
    resume: bool,
    known: Known = MappingProxyType({}),
    read: Sequence[Path] = (),
) -> Iterator[StudyFiles]:
    """Open a folder for a study and its files in it; none where `out` is None."""
    if out is None:
        yield StudyFiles(None, known.get(JOURNAL), known.get(TRUTHS))
        return
    config, kind = spec.config, RunFolder if spec.shard == WHOLE else ShardFolder
    folder = kind(
        out,
        "optimize",
        config,
        {"problem_id": problem_id(config), "seed": spec.settings.seed, **spec.identity()},
        resume=resume,
        at_least=spec.grows,  # an earlier run may have left less of what grows
        facts={
            **spec.grows,
            "confidence": spec.confidence,
            "wanted": replace(spec, shard=WHOLE).replications,
            "optimize": config.optimize.model_dump(exclude_none=True),
        },
        read=read,
        shard=spec.shard,
    )
    truths = None
    with ExitStack() as stack:
        stack.enter_context(folder)
        journal = stack.enter_context(closing(open_journal(folder, JOURNAL, spec.problem, known)))
        if spec.compares:
            truths = stack.enter_context(closing(open_journal(folder, TRUTHS, spec.problem, known)))
        yield StudyFiles(folder, journal, truths)


def summarised(
    spec: StudySpec, made: Runs, files: StudyFiles, execution: Execution, stopped: Callable[[], str]
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
        folder.remark(spec.model.warnings)
        folder.close(study.status, **outcome.counts)
    return study
