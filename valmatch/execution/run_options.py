"""Options of a run, which all public functions that work share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from valmatch.config.config import Config
from valmatch.errors import InputError, option
from valmatch.execution.chunks import releases_gil
from valmatch.execution.executors import EXECUTORS, LOCAL, open_pool
from valmatch.execution.processes import WorkerPool
from valmatch.execution.shards import WHOLE, Shard, parse_shard
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.statistics.precision import Precision
from valmatch.text.terminal import shown

if TYPE_CHECKING:
    from valmatch.statistics.precision import Precision


# Functions that a run calls with what is to be known of it while it goes on.


def _ignore(said: object) -> None:
    """Do nothing with what is said."""


@dataclass(frozen=True)
class Listeners:
    """Functions that a run calls with what is to be known of it while it goes on."""

    # called with the number of further replications done, or of further bytes of a log read
    progress: Callable[[int], None] = _ignore
    # called with what is known of the targets whenever it is looked at
    looked: Callable[[Sequence[Precision]], None] = _ignore
    warn: Callable[[str], None] = _ignore  # called with each remark on the input
    # called with the number of workers, and again when that changes
    detail: Callable[[str], None] = _ignore
    # called with the number of replications that an earlier run left, before `progress` is
    found: Callable[[int], None] = _ignore

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not callable(value):
                raise InputError(f"{option(field.name)}: {shown(value)} (allowed: a function)")


NO_LISTENERS = Listeners()


def listeners_among(keywords: Mapping[str, Any], kind: type) -> Listeners:
    """Return the listeners among the keyword arguments of a public function."""
    for name in keywords:
        if name not in kind.__annotations__:
            raise TypeError(f"got an unexpected keyword argument {name!r}")
    telling = {field.name for field in fields(Listeners)}
    return Listeners(**{name: value for name, value in keywords.items() if name in telling})


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
    def uses_workers(self) -> bool:
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
