"""The executor `dask`: the workers of a scheduler that is named, or of one in this process."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

from valmatch.execution.dask_scheduler import SchedulerWorkers, connection
from valmatch.execution.interruption import held_signals
from valmatch.execution.processes import process_pool
from valmatch.execution.worker_pool import WorkerPool

dask: Any = import_module("dask")
distributed: Any = import_module("distributed")

LOGGERS = ("distributed", "distributed.client", "tornado.application", "asyncio")


@contextmanager
def dask_pool(
    workers: int,
    scheduler: str | None,
    warn: Callable[[str], None],
    detail: Callable[[str], None],
) -> Iterator[WorkerPool]:
    """Work with Dask; see `valmatch.execution.executors.open_pool`."""
    with _silence():
        if scheduler is None:
            detail(f"executor: dask, {workers} workers")
            with _own_cluster(workers) as client:
                yield WorkerPool(client.get_executor(pure=False), lambda: workers, 2, 3, here=False)
        else:
            with connection(scheduler) as client:
                slots = SchedulerWorkers(client, scheduler, warn, detail).slots
                yield WorkerPool(client.get_executor(pure=False), slots, 2, 3, here=False)


@contextmanager
def _silence() -> Iterator[None]:
    """Keep off the terminal what Dask logs there: what matters is said by us."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def _own_cluster(workers: int) -> Iterator[Any]:
    """Start a cluster and yield its client.

    Whoever reaches a scheduler runs code as its user, so this one cannot be reached: it and its one
    worker live in this process and open no port, and processes do the work. Their folder, from
    which Python imports, is not the common one either, which somebody else may have made.
    """
    quiet = {"start_http_server": lambda *_, **__: None}
    parts = {
        name: type(name, (getattr(distributed, name),), quiet) for name in ("Scheduler", "Worker")
    }
    open_ = distributed.Security(require_encryption=False)
    with TemporaryDirectory() as folder, process_pool(workers) as pool:
        common = {"protocol": "inproc://", "security": open_, "dashboard": False}
        work = {"nthreads": workers, "executor": pool, "memory_limit": None}
        with dask.config.set({"temporary-directory": folder}):
            cluster = distributed.SpecCluster(
                scheduler={"cls": parts["Scheduler"], "options": common},
                workers={0: {"cls": parts["Worker"], "options": common | work}},
                security=open_,
            )
        with (
            _closed_whole(cluster),
            _closed_whole(distributed.Client(cluster, set_as_default=False)) as client,
        ):
            yield client


@contextmanager
def _closed_whole(opened: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield a cluster or a client; close it at the end, and let signals wait for that.

    An interrupt would leave it half closed, and Python's own end would wait ten seconds for the
    other half.
    """
    try:
        yield opened
    finally:
        with held_signals():
            opened.close()
