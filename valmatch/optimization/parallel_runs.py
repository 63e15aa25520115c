"""Many runs of solvers, here one after the other, or several at once elsewhere."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from valmatch.config.config import Config
from valmatch.errors import WorkersLostError
from valmatch.execution.chunks import RETRIES, lost, result_of
from valmatch.execution.executors import PROCESSES, open_pool
from valmatch.execution.interruption import Stop
from valmatch.execution.listeners import Listeners
from valmatch.execution.run_options import RunOptions
from valmatch.execution.worker_pool import WorkerPool
from valmatch.kernels.halting import Stopped
from valmatch.optimization.crew import Crew
from valmatch.optimization.evaluation import Journal
from valmatch.optimization.problem import Problem
from valmatch.optimization.run import RUN, RunSpec, Settings, SolverRun, run_solver

POLL_SECONDS = 0.2
"""Seconds between two looks at whether to stop while waiting for a run."""

Job = tuple[Problem, RunSpec]
"""What is solved, and the run to be made."""

Rows = dict[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Workers:
    """Who works for an optimisation.

    Attributes
    ----------
    crew : Crew or None
        Shares the replications of a point with this process; None: there is nobody but this.
    runs : WorkerPool or None
        Where runs go, several at once; None: they are made here, one after the other.
    each : int
        Threads that each of these runs has.
    """

    crew: Crew | None = None
    runs: WorkerPool | None = None
    each: int = 1


@contextmanager
def hire(
    config: Config,
    runs: int,
    stop: Stop,
    options: RunOptions,
    listeners: Listeners,
) -> Iterator[Workers]:
    """Start workers: several runs are made at once, one run has its replications shared.

    Parameters
    ----------
    config : Config
        What is simulated.
    runs : int
        How many runs are to be made.
    stop : Stop
        Says when it is time.
    options : RunOptions
        How to work.
    listeners : Listeners
        What is called with remarks.

    Raises
    ------
    InputError
        If there is no such executor, Dask is not installed, or no scheduler answers.
    """
    workers = options.workers
    with ExitStack() as stack:
        pool = stack.enter_context(options.open_pool(listeners, config))
        crew = None if pool.here and workers == 1 else Crew(pool, stop)
        if crew is None or runs < 2:
            yield Workers(crew)
            return
        each = 1
        if pool.here:  # searching needs the GIL
            each = max(1, workers // runs)
            pool = stack.enter_context(open_pool(PROCESSES, min(workers, runs)))
        yield Workers(crew, pool, each)


def run_all(
    config: Config,
    jobs: Sequence[Job],
    settings: Settings,
    workers: Workers,
    journal: Journal | None,
    progress: Callable[[int], None],
    stop: Stop,
) -> Generator[SolverRun]:
    """Make runs and yield them in the order of the jobs, until it is time to stop.

    Parameters
    ----------
    config : Config
        What is simulated.
    jobs : sequence of Job
        The runs to be made.
    settings : Settings
        What they have in common.
    workers : Workers
        Who works; no result depends on it.
    journal : Journal or None
        Replications made before; new ones are added, those of a run elsewhere when it is done.
    progress : callable
        Called with the number of further replications done.
    stop : Stop
        Says when it is time.
    """
    if workers.runs is not None:
        yield from _at_once(config, jobs, settings, workers, journal, progress, stop)
        return
    with suppress(Stopped):
        for problem, task in jobs:
            yield run_solver(
                config, problem, task, settings, journal, progress, stop.check, workers.crew
            )
            stop.check()


def _at_once(
    config: Config,
    jobs: Sequence[Job],
    settings: Settings,
    workers: Workers,
    journal: Journal | None,
    progress: Callable[[int], None],
    stop: Stop,
) -> Generator[SolverRun]:
    """Make runs elsewhere and yield them in order; what has ended by a stop is noted, too."""
    assert workers.runs is not None
    pool = workers.runs

    def hand_out(job: Job) -> Future[tuple[SolverRun, Rows]]:
        known = _part(journal, job[1])
        return pool.executor.submit(_work, config, job, settings, known, workers.each)

    futures: list[Future[tuple[SolverRun, Rows]]] = []
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
            progress(run.spent)
            yield run
    except WorkersLostError:
        _note_finished(journal, futures)
        raise
    except Stopped:
        _note_finished(journal, futures)
    finally:
        for future in futures:
            future.cancel()


def _note_finished(
    journal: Journal | None, futures: Iterable[Future[tuple[SolverRun, Rows]]]
) -> None:
    """Add to the journal what runs have used that have ended, in whatever order."""
    for future in futures:
        if future.done() and not future.cancelled() and not future.exception():
            _note(journal, future.result()[1])


def _awaited(
    future: Future[tuple[SolverRun, Rows]], pool: WorkerPool, stop: Stop
) -> tuple[SolverRun, Rows] | None:
    """Wait for a run; return it with what it used, None if its worker was lost."""
    stop.check()
    while not wait([future], POLL_SECONDS).done:
        pool.slots()  # says if there is nobody, and raises if there will never be
        stop.check()
    return result_of(future)


def _note(journal: Journal | None, used: Mapping[tuple[float, ...], tuple[float, ...]]) -> None:
    """Add what a run elsewhere has used to the journal."""
    if journal is not None:
        for address, row in used.items():
            if journal.get(address) is None:
                journal[address] = row


def _part(journal: Journal | None, task: RunSpec) -> Rows | None:
    """Return the entries of a journal that a run may need."""
    if journal is None:
        return None
    first = task.macrorep * RUN
    return {a: row for a, row in journal.items() if first <= a[-1] < first + RUN}


def _work(
    config: Config, job: Job, settings: Settings, journal: Rows | None, threads: int
) -> tuple[SolverRun, Rows]:
    """Make one run in a worker process; return it with what it used, in that order."""
    noted = None if journal is None else _Noted(journal)
    problem, task = job
    with ExitStack() as stack:
        crew = None
        if threads > 1:
            pool = stack.enter_context(open_pool(None, threads, threads=True))
            crew = Crew(pool, Stop())
        run = run_solver(config, problem, task, settings, noted, crew=crew)
    return run, {} if noted is None else noted.used


class _Noted(UserDict[tuple[float, ...], tuple[float, ...]]):
    """A journal that notes which of its entries are used, in order."""

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self.data, self.used = rows, Rows()

    def __getitem__(self, address: tuple[float, ...]) -> tuple[float, ...]:
        self.used[address] = self.data[address]
        return self.data[address]

    def __setitem__(self, address: tuple[float, ...], row: tuple[float, ...]) -> None:
        self.used[address] = self.data[address] = row
