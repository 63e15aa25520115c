"""Executors of chunks of work: here, in threads, in worker processes, on a Dask cluster.

All are executors of the standard library's `concurrent.futures`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from valmatch.config.config import Config
from valmatch.errors import InputError, option
from valmatch.execution.chunks import releases_gil
from valmatch.execution.interruption import begin, leave_signals
from valmatch.execution.processes import WorkerPool, check_workers, process_pool
from valmatch.execution.run_options import DASK, EXECUTORS, LOCAL, RunOptions
from valmatch.inputs import arguments


@contextmanager
def open_pool(
    executor: str | None,
    workers: int,
    scheduler: str | None = None,
    warn: Callable[[str], None] = lambda text: None,
    detail: Callable[[str], None] = lambda text: None,
    *,
    threads: bool = False,
) -> Iterator[WorkerPool]:
    """Start workers, and dismiss them in the end; what they have not begun is dropped."""
    if executor is None:
        executor = LOCAL if scheduler is None else DASK
    arguments.one_of("executor", executor, EXECUTORS)
    check_workers(workers)
    begin()
    if executor == DASK:
        try:
            from valmatch.execution.dask import dask_pool  # takes long to import
        except ImportError:
            raise InputError(
                f"{option('executor=dask')} needs Dask, which the extra `dask` brings: pip install"
                " 'valmatch[dask]'"
            ) from None
        with dask_pool(workers, scheduler, warn, detail) as pool:
            yield pool
        return
    if scheduler is not None:
        raise InputError(
            f"{option('scheduler')}: of no use with {option(f'executor={executor}')} (allowed:"
            f" {option('executor=dask')})"
        )
    detail(f"executor: {executor}, {workers} workers")
    if executor == LOCAL and workers == 1:
        yield WorkerPool(_Serial(), lambda: 1, 1, 1, here=True)
    elif executor == LOCAL and threads:
        pool_of_threads = ThreadPoolExecutor(workers, initializer=leave_signals)
        try:
            yield WorkerPool(pool_of_threads, lambda: workers, 2, 16, here=True)
        finally:
            pool_of_threads.shutdown(cancel_futures=True)  # nothing further is wanted
    else:
        with process_pool(workers) as processes:
            yield WorkerPool(processes, lambda: workers, 2, 16, here=False)


def pool_for(options: RunOptions, *configs: Config) -> AbstractContextManager[WorkerPool]:
    """Start the workers that options of a run ask for; see `open_pool`."""
    how = options.executor, options.workers or 1, options.scheduler
    return open_pool(*how, options.warn, options.detail, threads=releases_gil(*configs))


class _Serial(Executor):
    """Does a piece of work when it is handed in."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
