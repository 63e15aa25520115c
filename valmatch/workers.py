"""Chunks of replications, run here or in worker processes, handed back in order."""

from __future__ import annotations

import signal
import sys
import time
from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.context import BaseContext

from valmatch.config import Config
from valmatch.errors import RunError
from valmatch.interruption import SIGNALS
from valmatch.models.registry import MODELS
from valmatch.simulator import Batch, Model, build, run

__all__ = ["process_context", "run_chunks", "stand_by"]

TARGET = 0.2
"""Seconds of work in a chunk: long against the cost of sending it, short against patience."""

_model: Model
"""The model of a worker process."""


def run_chunks(
    model: Model, config: Config, seed: int, todo: range, workers: int
) -> Generator[Batch]:
    """Run replications and yield what comes of them in order, chunk by chunk.

    The size of the chunks follows the measured speed and never enters the results.

    Parameters
    ----------
    model : Model
        The model of `config`, for the work done in this process.
    config : Config
        From which each worker process builds a model of its own.
    seed : int
        Seed of all random numbers.
    todo : range
        Indices of the replications.
    workers : int
        Worker processes; 1 works in this process.
    """
    if workers == 1 or len(todo) == 1:
        return _serial(model, seed, todo)
    return _parallel(config, seed, todo, workers)


def _next_size(size: int, seconds: float) -> int:
    """Return the size of the next chunk, given what the last one took."""
    return max(1, min(4 * size, int(size * TARGET / max(seconds, 1e-9))))


def _serial(model: Model, seed: int, todo: range) -> Generator[Batch]:
    size = 1
    while todo:
        started = time.perf_counter()
        yield run(model, seed, todo[:size])
        todo, size = todo[size:], _next_size(size, time.perf_counter() - started)


def _parallel(config: Config, seed: int, todo: range, workers: int) -> Generator[Batch]:
    pool = ProcessPoolExecutor(workers, process_context(), _start_worker, (config,))
    pending: deque[Future[tuple[Batch, float]]] = deque()
    size = 1
    try:
        while todo or pending:
            # Two chunks a worker: one at work, one waiting.
            while todo and len(pending) < 2 * workers:
                pending.append(pool.submit(_work, seed, todo[:size]))
                todo = todo[size:]
            batch, seconds = pending.popleft().result()
            size = _next_size(len(batch.responses), seconds)
            yield batch
    except BrokenProcessPool:
        raise RunError("a worker process died (out of memory, or killed from outside)") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def process_context() -> BaseContext:
    """Return how processes start: from a server that has imported everything, where there is one.

    Forking this process instead would copy its threads' locks.
    """
    if sys.platform == "win32":
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([model.path.partition(":")[0] for model in MODELS.values()])
    return context


def stand_by() -> None:
    """Prepare a worker process: signals to stop are its parent's business."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _start_worker(config: Config) -> None:
    """Prepare a worker process and build its model."""
    global _model
    stand_by()
    _model = build(config)


def _work(seed: int, replications: range) -> tuple[Batch, float]:
    """Run a chunk in a worker process; return what came of it and the seconds it took."""
    started = time.perf_counter()
    batch = run(_model, seed, replications)
    return batch, time.perf_counter() - started
