"""Options of a run, which all public functions that work share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from valmatch.config.config import Config
from valmatch.execution.executors import EXECUTORS, LOCAL, open_pool
from valmatch.execution.listeners import Listeners, listeners_among
from valmatch.execution.shards import WHOLE, Shard, parse_shard
from valmatch.execution.simulator import releases_gil
from valmatch.execution.worker_pool import WorkerPool
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.statistics.precision import Precision


@dataclass(frozen=True)
class RunOptions:
    """Where the work of a run is done, for how long, and where its results go; checked.

    No result depends on workers, executor, scheduler or shards.
    """

    workers: int = 1  # workers, >= 1; without effect where a Dask scheduler is given
    # ``local``: threads of this process where the model's compiled code lets them work at once,
    # else processes of this machine; ``processes``: such processes in any case; ``dask``: the
    # workers of a Dask scheduler. None is ``dask`` where a scheduler is given, else ``local``
    executor: str | None = None
    # address of that scheduler; ``dask`` without one starts one in this process
    scheduler: str | None = None
    shard: Shard = WHOLE  # the part of the work that this run does
    max_seconds: float = math.inf  # time after which to stop
    out: Path | None = None  # folder for the results
    resume: bool = False  # whether to go on from what an earlier run left in `out`

    def __post_init__(self) -> None:
        arguments.whole("workers", self.workers)
        if self.executor is not None:
            arguments.one_of("executor", self.executor, EXECUTORS)
        arguments.seconds("max_seconds", self.max_seconds)

    @property
    def elsewhere(self) -> bool:
        """Whether work may be sent to other processes."""
        return self.workers > 1 or self.executor not in (None, LOCAL) or self.scheduler is not None

    def open_pool(
        self, listeners: Listeners, *configs: Config
    ) -> AbstractContextManager[WorkerPool]:
        """Start workers for the simulation of some configs; see `open_pool`."""
        return open_pool(
            self.executor,
            self.workers,
            self.scheduler,
            listeners.warn,
            listeners.detail,
            threads=releases_gil(*configs),
        )


DEFAULT_OPTIONS = RunOptions()


class RunKeywords(TypedDict, total=False):
    """Keyword arguments of public functions that work; see `RunOptions` and `Listeners`."""

    workers: int
    executor: str | None
    scheduler: str | None
    max_seconds: float
    out: PathLike | None
    resume: bool
    progress: Callable[[int], None]
    warn: Callable[[str], None]
    detail: Callable[[str], None]


class ShardKeywords(RunKeywords, total=False):
    """Those of functions whose work can be divided into shards."""

    shard: Shard | str


class ReplicateKeywords(ShardKeywords, total=False):
    """Those of `valmatch.replicate`, which looks at targets."""

    looked: Callable[[Sequence[Precision]], None]


def split(keywords: Mapping[str, Any], of: type[RunKeywords]) -> tuple[RunOptions, Listeners]:
    """Return the options and the listeners among the keyword arguments of a public function."""
    listeners = listeners_among(keywords, of)
    given = {name: value for name, value in keywords.items() if not hasattr(Listeners, name)}
    if given.get("out") is not None:
        given["out"] = arguments.path("out", given["out"])
    if isinstance(given.get("shard"), str):
        given["shard"] = parse_shard(given["shard"])
    return RunOptions(**given), listeners
