"""Plans of a run: the replications to be made, or the precision that their means are to have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from valmatch.config.config import Config
from valmatch.errors import InputError, option
from valmatch.execution.shards import WHOLE, Shard
from valmatch.inputs import arguments
from valmatch.statistics.precision import looks

DEFAULT_N = 1000

DEFAULT_SEED = 1

MAX_REPS = 1_000_000  # replications at which targets are given up, unless told otherwise


def default_n(*configs: Config) -> int:
    """Return how many replications are made unless told otherwise: one where all are the same."""
    return 1 if all(config.one_history for config in configs) else DEFAULT_N


@dataclass(frozen=True)
class Plan:
    """The replications of a config that are to be made, checked."""

    # number of replications, >= 1, in all shards together; with targets the least one
    n: int = DEFAULT_N
    seed: int = DEFAULT_SEED  # seed of all random numbers, >= 0
    shard: Shard = WHOLE  # the part of them that this run makes
    confidence: float = 0.95  # level of the intervals, in (0, 1)
    # ``NAME=1%`` or ``NAME=0.05`` each: go on until the half-width of the interval of the response
    # is that share of its mean, or that number
    targets: Sequence[str] = field(default=())
    max_reps: int = MAX_REPS  # number of replications at which to give the targets up, >= 1
    control_variates: bool = False  # whether to adjust the means by control variates

    def __post_init__(self) -> None:
        arguments.whole("n", self.n)
        arguments.whole("seed", self.seed)
        arguments.whole("max_reps", self.max_reps)
        arguments.level("confidence", self.confidence)
        object.__setattr__(self, "targets", arguments.names("targets", self.targets))
        if self.targets and self.shard != WHOLE:
            raise InputError(
                f"{option('targets')}: a shard cannot know when all of them together may stop"
            )

    @property
    def requested(self) -> int:
        """Number of replications in all shards together, at most."""
        return self.max_reps if self.targets else self.n

    @property
    def indices(self) -> range:
        """The replications that this run makes, at most."""
        return self.shard.indices(self.requested)

    def goals(self) -> Iterator[int]:
        """Yield the numbers of replications of this run at which it may stop."""
        for goal in looks(self.n, self.max_reps) if self.targets else [self.n]:
            yield len(self.shard.indices(goal))
