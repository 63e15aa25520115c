"""Workers that make the replications of one point together, where that is faster."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from functools import partial

from valmatch.config.config import Config
from valmatch.execution.chunks import TARGET, Chunks, build, run
from valmatch.execution.interruption import Stop, Stopped
from valmatch.execution.processes import WorkerPool
from valmatch.kernels.arrays import Floats
from valmatch.optimization.problem_of_config import with_factors

LEAST_SECONDS = 0.05
"""Seconds of work from which on an evaluation is shared: long against handing it out."""


class SharedPool:
    """Makes replications of points by several workers; no replication depends on them."""

    def __init__(self, pool: WorkerPool, stop: Stop) -> None:
        self._pool, self._stop = pool, stop
        self._seconds: float | None = None

    def note(self, seconds: float) -> None:
        """Note the time that a replication took here, recent ones counting most."""
        if self._seconds is None:
            self._seconds = 0.0  # the first one may have loaded the compiled code
        else:
            self._seconds = 0.5 * (self._seconds + seconds) if self._seconds else seconds

    def pays(self, n: int) -> bool:
        """Return whether sharing so many replications is faster, by those made here so far."""
        return n > 1 and n * (self._seconds or 0.0) >= LEAST_SECONDS

    def make(
        self,
        config: Config,
        values: Mapping[str, float],
        seed: int,
        columns: Sequence[int],
        todo: range,
    ) -> Generator[Floats]:
        """Yield the rows of a point's replications in order, as they are made."""
        size = max(1, int(TARGET / (self._seconds or TARGET)))
        work = partial(_replications, config, dict(values), seed, list(columns))
        left = len(todo)
        with closing(Chunks(self._pool, work, size).run(todo, self._stop)) as pieces:
            for rows in pieces:
                left -= len(rows)
                yield rows
        if left:
            raise Stopped


def _replications(
    config: Config,
    values: Mapping[str, float],
    seed: int,
    columns: Sequence[int],
    replications: range,
    check: Callable[[], None] = lambda: None,
) -> tuple[Floats, float]:
    """Make replications of a point in a worker; return them and the seconds they took."""
    started = time.perf_counter()
    model = build(config, with_factors(config, values))
    rows = run(model, seed, replications, check=check).responses[:, columns]
    return rows, time.perf_counter() - started
