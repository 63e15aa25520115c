"""Options of the commands that simulate, which Python and the command line share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from valmatch.errors import InputError, option
from valmatch.execution.shards import Shard, parse_shard
from valmatch.inputs import arguments
from valmatch.inputs import options as o

if TYPE_CHECKING:
    from valmatch.config.config import OptimizeOptions, ReplicateOptions
    from valmatch.statistics.precision import Precision

LOCAL, PROCESSES, DASK = EXECUTORS = "local", "processes", "dask"

DEFAULT_SEED = 1

T = TypeVar("T")


def first_given(*values: T | None) -> T:
    """Return the first value that is given: the option, then the config, then the default."""
    return next(value for value in values if value is not None)


def seed_option() -> Any:  # noqa: ANN401
    """Declare a seed that a config may have."""
    return o.whole("seed", None, "Seed of all random numbers.", default=str(DEFAULT_SEED))


def confidence_option(help: str = "Confidence level of the intervals.") -> Any:  # noqa: ANN401
    """Declare a confidence level that a config may have."""
    return o.number(arguments.level, None, help, "P", default="0.95")


def shard_option(what: str) -> Any:  # noqa: ANN401
    """Declare the part of the work that is done."""

    def check(name: str, shard: object) -> Shard:
        return shard if isinstance(shard, Shard) else parse_shard(arguments.text(name, shard))

    default = "all; on the command line the place of a task in a job array of SLURM"
    help = f"Make every K-th {what} from I on (I from 0)."
    return o.declare(None, help, "I/K", check=check, default=default)


@dataclass(frozen=True)
class SimulateArguments(o.OutOptions):
    """Which replication is made."""

    seed: int | None = seed_option()
    replication: int = o.whole("replication", 0, "Index of the replication.", "K")
    warn: Callable[[str], None] = o.listener("Called with each remark on the input.")


@dataclass(frozen=True)
class RunOptions(o.OutOptions):
    """Where the work of a run is done, on which no result depends; the config may say it, too."""

    workers: int | None = o.whole("workers", None, "Workers on this machine.", "W", default="1")
    executor: str | None = o.one_of(
        EXECUTORS,
        None,
        "Where replications run: local (threads where the model can use them, else processes),"
        " processes or dask.",
        default="dask with {scheduler}, else local",
    )
    scheduler: str | None = o.text(
        None,
        "Dask scheduler, such as tcp://host:8786; without one, dask has W worker processes here.",
        "ADDR",
    )
    resume: bool = o.flag("Continue what an earlier run left in {out}.")
    max_seconds: float = o.duration(
        "Stop after this time and keep what is finished: 90, 30m, 5min, 01:30:00.",
        value=math.inf,
        default="no limit",
    )
    progress: Callable[[int], None] = o.listener(
        "Called with the number of further replications done."
    )
    warn: Callable[[str], None] = o.listener("Called with each remark on the input.")
    detail: Callable[[str], None] = o.listener(
        "Called with the number of workers, and again when that changes."
    )
    resumed: Callable[[int], None] = o.listener(
        "Called with the number of replications that an earlier run left."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.resume and self.out is None:
            raise InputError(f"{option('resume')}: needs {option('out')}, the folder to continue")

    @property
    def uses_workers(self) -> bool:
        """Whether work may be sent to other processes."""
        others = self.executor not in (None, LOCAL) or self.scheduler is not None
        return others or (self.workers or 1) > 1

    def in_config(self, section: ReplicateOptions | OptimizeOptions) -> Self:
        """Return the options with those of a config where these are left open."""
        how: dict[str, Any] = {"workers": section.workers} if self.workers is None else {}
        if self.scheduler is None and self.executor in (None, DASK):
            how |= {"executor": self.executor or section.executor, "scheduler": section.scheduler}
        return replace(self, **how)


def n_option(help: str) -> Any:  # noqa: ANN401
    """Declare a number of replications."""
    return o.whole("n", None, help, short="-n", default="1000, or 1 where all are the same")


@dataclass(frozen=True)
class ReplicateArguments(RunOptions):
    """How many replications are made, and how precise they are to be."""

    n: int | None = n_option(
        "Number of replications, in all shards together; with {targets} the least one."
    )
    seed: int | None = seed_option()
    shard: Shard | str | None = shard_option("replication")
    targets: Sequence[str] = o.repeated(
        "Continue until the half-width of a response is 1% of its mean, or 0.05; may be repeated.",
        "NAME=WIDTH",
    )
    max_reps: int | None = o.whole(
        "max_reps", None, "Give the targets up after this many replications.", default="1000000"
    )
    control_variates: bool = o.flag("Adjust the means by what is known of the arrivals.")
    confidence: float | None = confidence_option()
    looked: Callable[[Sequence[Precision]], None] = o.listener(
        "Called with what is known of the targets whenever it is looked at."
    )


EXPLORED = 200  # replications of a point of a page with sliders, unless told otherwise


@dataclass(frozen=True)
class ExploreArguments(ReplicateArguments):
    """What is varied, and what the page shows."""

    over: Sequence[str] = o.repeated(
        "A slider: 100,200,400 or 100:400:100, also 3,6,12min; repeated, one more slider each.",
        "KEY=VALUES",
    )
    page: Path | None = o.path("The page, such as page.html.", short="-o")
    n: int | None = o.whole(
        "n", None, "Number of replications of each point.", short="-n", default=str(EXPLORED)
    )
    responses: Sequence[str] = o.names("Responses of the page.", "NAME,...")


@dataclass(frozen=True)
class CompareArguments(RunOptions):
    """On how many replications systems are compared."""

    n: int | None = n_option("Number of replications of each.")
    seed: int | None = seed_option()
    confidence: float = o.number(
        arguments.level, 0.95, "Confidence level of the intervals, for all variants together.", "P"
    )


@dataclass(frozen=True)
class SearchArguments(RunOptions):
    """How long rules are searched for."""

    budget: int | None = o.whole("budget", None, "Replications of a run.", default="1000")
    seed: int | None = seed_option()
    confidence: float | None = confidence_option(
        "Probability with which a point called feasible is so; level of the intervals."
    )
    found: Callable[[str], None] = o.listener("Called with the best point so far, in words.")


@dataclass(frozen=True)
class OptimizeArguments(SearchArguments):
    """Also how often."""

    macroreps: int | None = o.whole("macroreps", None, "Runs of each solver.", "M", default="1")
    shard: Shard | str | None = shard_option("run of each solver, or value of a sweep,")


REQUEST_TIMEOUT = "The request timeout of the matchmaker: no ticket lives for later steps."


@dataclass(frozen=True)
class ReplayOptions(o.OutOptions):
    """Which tickets are played, and how."""

    tickets: Path | None = o.path(
        "With a rule set: tickets in order of time, a JSON object a line, with id, time and players"
        " as in a world; a CSV file of single players with columns id, time, attributes that are"
        " numbers or strings, latency.REGION; or a game's own log of FlexMatch events, one a line."
    )
    players: Path | None = o.path(
        "With a log of events: what it does not say of its players, a JSON object a line, with id,"
        " attributes and latency as in a world; or a CSV file with columns id, attributes,"
        " latency.REGION."
    )
    search: str | None = o.text(
        None,
        "Search method: pass, or exhaustive for small pools.",
        "NAME",
        default="as the world says, else pass",
    )
    latency_of: str | None = o.text(
        None,
        "Whose latency a latency rule looks at: that of a ticket, one number by partyAggregation,"
        " or of each player.",
        "NAME",
        default="as the world says, else ticket",
    )
    timeout: float | None = o.duration(REQUEST_TIMEOUT)
    review: float | None = o.duration("With a rule set: time between reviews.", default="1 s")
    explain: bool = o.flag(
        "Also write explain.jsonl: of each ticket that ended without a match, what rules explain"
        " says of it."
    )
