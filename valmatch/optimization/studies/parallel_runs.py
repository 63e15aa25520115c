"""Jobs of a study, made here one after the other, or several at once elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from valmatch.config.config import Config
from valmatch.errors import WorkersLostError
from valmatch.execution.chunks import RETRIES, lost, result_of
from valmatch.execution.executors import WorkerPool, open_pool, pool_for
from valmatch.execution.interruption import Stop, Stopped
from valmatch.execution.run_options import PROCESSES, RunOptions
from valmatch.optimization.evaluation import Execution, Journal, Rows, SharedPool
from valmatch.optimization.solver_run import RUN
from valmatch.optimization.studies.journal import UsedRows

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
        return pool.executor.submit(_work, job, _part(journal, job), threads)

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
    except WorkersLostError:
        _note_finished(journal, futures)
        futures.clear()  # those of a pool that is broken end with it; it fails at cancelled ones
        raise
    except Stopped:
        _note_finished(journal, futures)
    finally:
        for future in futures:
            future.cancel()


def _note_finished(journal: Journal | None, futures: Iterable[Future[Used]]) -> None:
    """Add to the journal what jobs have used that have ended, in whatever order."""
    for future in futures:
        if future.done() and not future.cancelled() and not future.exception():
            _note(journal, future.result()[1])


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


def _part(journal: Journal | None, job: Job) -> Rows | None:
    """Return the entries of a journal that a job may need."""
    if journal is None:
        return None
    return {a: row for a, row in journal.items() if job.first <= a[-1] < job.first + RUN}


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
