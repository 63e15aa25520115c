"""Jobs of a study, here or by several workers, and the files of what they have simulated."""

from __future__ import annotations

import re
from collections import UserDict
from collections.abc import Callable, Generator, ItemsView, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from valmatch.config.config import Config
from valmatch.errors import WorkersLostError
from valmatch.execution.chunks import RETRIES, lost, result_of
from valmatch.execution.executors import WorkerPool, open_pool, pool_for
from valmatch.execution.interruption import Stop, Stopped
from valmatch.execution.run_options import PROCESSES, RunOptions
from valmatch.execution.shards import shard_files
from valmatch.optimization.problem import Problem
from valmatch.optimization.solver_run import RUN, Address, Execution, Journal, Row, Rows, SharedPool
from valmatch.storage.output import cell, numbers, write_bytes
from valmatch.storage.store import GrowingFile, LineFormat, Place

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
        return {address: tuple(values) for address, (_, values) in self.read(paths).items()}


def open_journal(home: Place, name: str, problem: Problem) -> FileJournal:
    """Open one of the two files of a run, with the replications that it goes on with."""
    path, lines = home.file(name), _Lines(name, problem)
    assert path
    return FileJournal(path, lines.header, lines.rows(home.parts(name)))


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

    def absorb(self, rows: Rows) -> None:
        """Add what others have made, which is not used by that."""
        new = {address: row for address, row in rows.items() if address not in self.data}
        self.data |= new
        self._file.append(_text(new), synced=False)

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


class Pools(NamedTuple):
    """The workers of a study."""

    # makes the replications of one point together; None: there is only this process
    shared: SharedPool | None = None
    # where jobs go, several at once; None: they are made here, one after the other
    jobs: WorkerPool | None = None
    threads: int = 1  # threads that each of these jobs has


@contextmanager
def open_pools(config: Config, jobs: int, stop: Stop, options: RunOptions) -> Iterator[Pools]:
    """Start workers: several jobs are made at once, a single one has its replications shared."""
    workers = options.workers or 1
    with ExitStack() as stack:
        pool = stack.enter_context(pool_for(options, config))
        shared = None if pool.here and workers == 1 else SharedPool(pool, stop)
        if shared is None or jobs < 2:
            yield Pools(shared)
            return
        threads = 1
        if pool.here:  # searching needs the GIL
            threads = max(1, workers // jobs)
            pool = stack.enter_context(open_pool(PROCESSES, min(workers, jobs)))
        yield Pools(shared, pool, threads)


def run_all(jobs: Sequence[Job], pools: Pools, execution: Execution, stop: Stop) -> Generator[Any]:
    """Make jobs and yield what they made, in their order, until it is time to stop."""
    if pools.jobs is not None:
        yield from _run_by_workers(jobs, pools.jobs, pools.threads, execution, stop)
        return
    with suppress(Stopped):
        for job in jobs:
            yield job.make(execution)
            stop.check()


def _run_by_workers(
    jobs: Sequence[Job], pool: WorkerPool, threads: int, execution: Execution, stop: Stop
) -> Generator[Any]:
    """Make jobs elsewhere and yield in order; what has ended by a stop is noted, too."""
    journal = execution.journal

    def hand_out(job: Job) -> Future[Used]:
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
            pool = stack.enter_context(open_pool(None, threads, threads=True))
            shared = SharedPool(pool, Stop())
        made = job.make(Execution(noted, shared))
    return made, {} if noted is None else noted.used
