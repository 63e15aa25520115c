"""Where chunks of work run: in this process, in worker processes, on a Dask cluster.

All are executors of the standard library's `concurrent.futures`.
"""

from __future__ import annotations

import logging
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import current_process, get_context, parent_process
from multiprocessing.context import BaseContext
from typing import Any, NamedTuple

from valmatch.config import arguments
from valmatch.errors import InputError, RunError, option
from valmatch.execution.interruption import SIGNALS
from valmatch.models.registry import OWN

__all__ = ["EXECUTORS", "LOCAL", "WorkerPool", "check_workers", "open_pool", "process_pool"]

LOCAL, DASK = EXECUTORS = "local", "dask"

CONNECT_SECONDS = 20
"""Seconds to wait for a Dask scheduler to answer."""

UNGUARDED = 86
"""Exit code of a worker process whose script asks for workers while it is imported."""


class WorkerPool(NamedTuple):
    """An executor with what is known of its workers.

    Attributes
    ----------
    executor : Executor
        Takes work.
    slots : callable
        Returns the number of pieces that it can work on at once, now.
    ahead : int
        Pieces to hand out for each of them: one at work, and one waiting where handing out takes
        time.
    finest : int
        Into how many pieces one may be cut where the work ends; few where handing out is slow.
    """

    executor: Executor
    slots: Callable[[], int]
    ahead: int
    finest: int


@contextmanager
def open_pool(executor: str, workers: int, scheduler: str | None = None) -> Iterator[WorkerPool]:
    """Start workers, and dismiss them in the end; what they have not begun is dropped.

    Parameters
    ----------
    executor : str
        One of `EXECUTORS`.
    workers : int
        Worker processes; a single local one is this process itself. Of no meaning with a
        scheduler, which has workers of its own.
    scheduler : str or None
        Address of a Dask scheduler; None starts a Dask cluster on this machine.

    Raises
    ------
    InputError
        If there is no such executor, Dask is not installed, or no scheduler answers.
    """
    arguments.one_of("executor", executor, EXECUTORS)
    check_workers(workers)
    if executor == DASK:
        with _dask_client(workers, scheduler) as client:
            yield WorkerPool(client.get_executor(pure=False), _counting(client), 2, 3)
    elif workers == 1:
        yield WorkerPool(_Serial(), lambda: 1, 1, 1)
    else:
        with process_pool(workers) as pool:
            yield WorkerPool(pool, lambda: workers, 2, 16)


def check_workers(workers: int) -> None:
    """Refuse a number of workers that cannot be; end a worker that asks for workers itself.

    A worker process first imports the script that it works for. Where the script asks for workers
    as soon as it is imported, each of them would do the same.
    """
    arguments.whole("workers", workers)
    if workers > 1 and getattr(current_process(), "_inheriting", False):
        os._exit(UNGUARDED)


class _Serial(Executor):
    """Does a piece of work when it is handed in."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def process_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Start worker processes, which leave signals to this one and end with it."""
    pool = ProcessPoolExecutor(workers, _context(), _stand_by)
    try:
        yield pool
    except (BrokenExecutor, RunError):
        if any(process.exitcode == UNGUARDED for process in (pool._processes or {}).values()):
            raise InputError(
                f"{option('workers')}: worker processes import the script that starts them: put"
                ' what it does below `if __name__ == "__main__":`, so that only the script itself'
                " does it"
            ) from None
        raise
    finally:
        # What is still at work is not wanted, and nobody should wait for it.
        children = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in children:
            process.kill()


def _context() -> BaseContext:
    """Return how processes start: from a server that has imported everything, where there is one.

    Forking this process instead would copy its threads' locks.
    """
    if sys.platform == "win32":
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([model.path.partition(":")[0] for model in OWN.values()])
    return context


def _stand_by() -> None:
    """Prepare a worker process: signals to stop are its parent's business; it ends with it."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    # Killed, it could not tell the pool to end, and this process would wait for work forever.
    os._exit(1)


@contextmanager
def _dask_client(workers: int, scheduler: str | None) -> Iterator[Any]:
    """Connect to a Dask scheduler, or start a cluster on this machine."""
    try:
        dask: Any = import_module("distributed")
    except ImportError:
        raise InputError(
            f"{option('executor=dask')} needs Dask, which the extra `dask` brings: pip install"
            " 'valmatch[dask]'"
        ) from None
    if scheduler is None:
        with _ignoring_interrupts():
            cluster = dask.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=None,
                silence_logs=logging.ERROR,
            )
        with cluster, dask.Client(cluster) as client:
            yield client
        return
    try:
        client = dask.Client(scheduler, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise InputError(
            f"{option('scheduler')} {scheduler}: no Dask scheduler answers: {error}"
        ) from None
    with client:
        yield client


def _counting(client: Any) -> Callable[[], int]:  # noqa: ANN401
    """Return a function that counts the threads of a cluster, asking it once a second at most."""
    known, asked = 0, -math.inf

    def slots() -> int:
        nonlocal known, asked
        if time.monotonic() > asked + 1.0:
            known, asked = sum(client.nthreads().values()), time.monotonic()
        return known

    return slots


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Let processes that start now ignore Ctrl-C, which a terminal sends to them too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
