"""Chunks of replications, sized by measured time, handed back in order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future, wait
from contextlib import suppress
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from valmatch.config.config import Config
from valmatch.config.identity import config_id
from valmatch.draws.streams import Streams
from valmatch.errors import InputError, RunError, WorkersLostError
from valmatch.execution.executors import WorkerPool, died
from valmatch.execution.interruption import Stop, Stopped
from valmatch.inputs.fields import Factors
from valmatch.kernels.arrays import Floats
from valmatch.kernels.first_run import compiling
from valmatch.models.model import Batch, Inputs, Model, Responses, Table, row_of
from valmatch.models.registry import load_model

# ``simulate``, ``replicate`` and ``optimize`` reach models through this module alone, so that a
# replication is the same whichever command asks for it.


class Recorded(NamedTuple):
    """One replication in full."""

    responses: Floats  # (len(model.responses),) float64; NaN where undefined
    tables: Sequence[Table]  # what happened, one table for each kind of event
    remarks: Sequence[str]  # what has to be said of it


def build(
    config: Config, factors: Factors | None = None, warn: Callable[[str], None] = lambda text: None
) -> Model[object]:
    """Return the model of a config, ready to run."""
    files = {name: file.path for name, file in config.files.items()}
    model = load_model(config.model)(factors or config.factors, files)
    if not isinstance(model.responses, Responses):
        raise RunError(f"{type(model).__name__}: its responses are no valmatch.Responses(...)")
    for remark in model.warnings:
        warn(remark)
    return model


def run(
    model: Model[Inputs],
    seed: int,
    replications: Iterable[int],
    controls: bool = False,
    check: Callable[[], None] = lambda: None,
) -> Batch:
    """Run replications of a model."""
    return model.run_many(Streams(seed), list(replications), controls, check)


def record(model: Model[Inputs], seed: int, replication: int) -> Recorded:
    """Run one replication and keep everything that happened in it."""
    outcome = model.record(model.draw(Streams(seed), replication))
    return Recorded(row_of(model, outcome.responses), outcome.tables, outcome.remarks)


TARGET = 0.2  # seconds of work in a chunk: long against the cost of sending it, short to wait for
POLL_SECONDS = 0.1  # seconds between two looks at whether to stop while waiting for a chunk
RETRIES = 3  # times that workers may be lost with a chunk

_of_thread = threading.local()  # the model of this thread: models are for one at a time

Made = TypeVar("Made")
Piece = tuple[range, "Future[tuple[Made, float]]"]
Check = Callable[[], None]
# (replications, check) -> what came of them, and the seconds; other processes get no check
Work = Callable[..., tuple[Made, float]]


class Chunks(Generic[Made]):
    """Runs replications in chunks, whose size follows the speed and never enters the results."""

    def __init__(self, pool: WorkerPool, work: Work[Made], size: int = 1) -> None:
        self._pool, self._work, self._size = pool, work, size

    def run(self, todo: range, stop: Stop) -> Generator[Made]:
        """Yield what comes of replications in order; after a stop, of those at work till urgent."""
        pending: deque[Piece[Made]] = deque()
        closed = threading.Event()

        def check() -> None:
            if closed.is_set() or stop.urgent():
                raise Stopped

        try:
            with suppress(Stopped):
                yield from self._advance(todo, pending, stop, check)
        except WorkersLostError:
            pending.clear()  # those of a broken pool end with it; it fails at cancelled ones
            raise
        finally:
            closed.set()
            for _, future in pending:
                future.cancel()

    def _advance(
        self, todo: range, pending: deque[Piece[Made]], stop: Stop, check: Check
    ) -> Generator[Made]:
        """Hand out chunks and yield their results; `check` ends work in this process."""
        losses, shared = 0, (check,) if self._pool.here else ()
        submit = partial(self._pool.executor.submit, self._work)
        while todo or pending:
            slots = self._pool.slots()
            if stop():
                todo = todo[:0]
                while len(pending) > slots:
                    pending.pop()[1].cancel()
            # A cluster may be about to start its first worker.
            while todo and len(pending) < self._pool.ahead * max(1, slots):
                # Smaller towards the end, so that all hands end together.
                share = len(todo) // (2 * max(1, slots))
                size = max(1, self._size // self._pool.finest, min(self._size, share))
                chunk, todo = todo[:size], todo[size:]
                pending.append((chunk, submit(chunk, *shared)))
            if not pending:
                return
            chunk, future = pending[0]
            if not wait([future], POLL_SECONDS).done:
                if stop.urgent():
                    return
                continue
            result = result_of(future)
            if result is None:
                losses += 1
                if losses == RETRIES:
                    raise lost(f"replications {chunk.start} to {chunk[-1]}")
                pending[0] = chunk, submit(chunk, *shared)
                continue
            pending.popleft()
            losses = 0
            made, seconds = result
            done = len(chunk)
            self._size = max(1, min(4 * done, int(done * TARGET / max(seconds, 1e-9))))
            yield made


def result_of(future: Future[Made]) -> Made | None:
    """Return the result of a piece of work, None if the workers that had it were lost."""
    try:
        return future.result()
    except (InputError, RunError, Stopped):
        raise
    except BrokenExecutor:
        raise died() from None
    except CancelledError:
        return None
    except Exception as error:
        # Dask gives a task up once it has lost several workers with it.
        if type(error).__name__ == "KilledWorker":
            return None
        raise RunError(f"a worker failed: {type(error).__name__}: {error}") from error


def lost(work: str) -> WorkersLostError:
    """Return what is said where workers were lost with the same piece of work again and again."""
    return WorkersLostError(
        f"{RETRIES} times the workers were lost with {work} (out of memory, or killed from outside)"
    )


def replicate_chunk(
    config: Config, seed: int, controls: bool, replications: range, check: Check = lambda: None
) -> tuple[Batch, float]:
    """Run a chunk by the model of a worker; return what came of it and the seconds it took."""
    key = config_id(config)
    if getattr(_of_thread, "key", None) != key:
        _of_thread.model, _of_thread.key = build(config), key
    started = compiling.clock()
    batch = run(_of_thread.model, seed, replications, controls, check)
    return batch, compiling.clock() - started
