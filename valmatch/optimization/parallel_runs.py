"""Many runs of solvers, here or in worker processes."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, Future, wait
from contextlib import suppress

from valmatch.config.config import Config
from valmatch.errors import RunError
from valmatch.execution.executors import process_pool
from valmatch.execution.interruption import Stop, Stopped
from valmatch.optimization.evaluation import Journal
from valmatch.optimization.problem import Problem
from valmatch.optimization.run import RUN, RunSpec, Settings, SolverRun, run_solver

__all__ = ["run_all"]

POLL_SECONDS = 0.2
"""Seconds between two looks at whether to stop while waiting for a run."""


def run_all(
    config: Config,
    problem: Problem,
    tasks: Sequence[RunSpec],
    settings: Settings,
    workers: int,
    journal: Journal | None,
    progress: Callable[[int], None],
    stop: Stop,
) -> Generator[SolverRun]:
    """Make runs and yield them in the order of the tasks, until it is time to stop.

    Parameters
    ----------
    config : Config
        What is simulated.
    problem : Problem
        What is optimised.
    tasks : sequence of RunSpec
        The runs to be made.
    settings : Settings
        What they have in common.
    workers : int
        Worker processes; 1 works in this process. No result depends on it.
    journal : Journal or None
        Replications made before; new ones are added, those of a worker when its run is done.
    progress : callable
        Called with the number of further replications done.
    stop : Stop
        Says when it is time.
    """
    if workers == 1 or len(tasks) == 1:
        with suppress(Stopped):
            for task in tasks:
                yield run_solver(config, problem, task, settings, journal, progress, stop.check)
                stop.check()
        return
    try:
        with process_pool(workers) as pool:
            futures: list[Future[tuple[SolverRun, dict[tuple[float, ...], tuple[float, ...]]]]] = [
                pool.submit(_work, config, problem, task, settings, _part(journal, task))
                for task in tasks
            ]
            for future in futures:
                while not wait([future], POLL_SECONDS).done:
                    if stop():
                        return
                run, used = future.result()
                if journal is not None:
                    for address, row in used.items():
                        if journal.get(address) is None:
                            journal[address] = row
                progress(run.spent)
                yield run
                if stop():
                    return
    except BrokenExecutor:
        raise RunError("a worker process died (out of memory, or killed from outside)") from None


def _part(
    journal: Journal | None, task: RunSpec
) -> dict[tuple[float, ...], tuple[float, ...]] | None:
    """Return the entries of a journal that a run may need."""
    if journal is None:
        return None
    first = task.macrorep * RUN
    return {a: row for a, row in journal.items() if first <= a[-1] < first + RUN}


def _work(
    config: Config,
    problem: Problem,
    task: RunSpec,
    settings: Settings,
    journal: dict[tuple[float, ...], tuple[float, ...]] | None,
) -> tuple[SolverRun, dict[tuple[float, ...], tuple[float, ...]]]:
    """Make one run in a worker process; return it with what it used, in that order."""
    noted = None if journal is None else _Noted(journal)
    run = run_solver(config, problem, task, settings, noted)
    return run, {} if noted is None else noted.used


class _Noted(UserDict[tuple[float, ...], tuple[float, ...]]):
    """A journal that notes which of its entries are used, in order."""

    def __init__(self, rows: dict[tuple[float, ...], tuple[float, ...]]) -> None:
        super().__init__()
        self.data, self.used = rows, dict[tuple[float, ...], tuple[float, ...]]()

    def __getitem__(self, address: tuple[float, ...]) -> tuple[float, ...]:
        self.used[address] = self.data[address]
        return self.data[address]

    def __setitem__(self, address: tuple[float, ...], row: tuple[float, ...]) -> None:
        self.used[address] = self.data[address] = row
