"""Shards: the part of a run's replications that one job of an array makes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from valmatch.errors import InputError, option
from valmatch.inputs.limits import RANGES
from valmatch.text.numerals import whole_number
from valmatch.text.terminal import shortened


@dataclass(frozen=True)
class Shard:
    """Every `count`-th replication from `index` on, so that who owns one never depends on n."""

    index: int
    count: int

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def indices(self, n: int) -> range:
        """Return the replications of the first n that belong to the shard."""
        return range(self.index, n, self.count)


WHOLE = Shard(0, 1)


def parse_shard(text: str) -> Shard:
    """Parse ``I/K``, with I from 0 to K - 1."""
    left, _, right = text.partition("/")
    index, count = whole_number(left), whole_number(right)
    if index is None or count is None or index >= count:
        raise InputError(
            f"{option('shard')} {shortened(text)}: allowed is I/K with I from 0 to K - 1, such as"
            " 0/4"
        )
    if count > RANGES["shards"].most:
        raise InputError(
            f"{option('shard')} {shortened(text)}: too many shards (allowed: K from 1 to"
            f" {RANGES['shards'].most})"
        )
    return Shard(index, count)


def array_of(indices: Iterable[int]) -> str:
    """Return tasks of a job array as SLURM takes them, such as ``1-3,7``."""
    stretches: list[list[int]] = []
    for index in sorted(set(indices)):
        if stretches and stretches[-1][-1] == index - 1:
            stretches[-1].append(index)
        else:
            stretches.append([index])
    ends = ((stretch[0], stretch[-1]) for stretch in stretches)
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ends)
