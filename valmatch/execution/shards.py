"""Shards: the part of a run's replications that one job of an array makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from valmatch.errors import InputError, option

__all__ = ["WHOLE", "Shard", "parse_shard", "shard_of_job"]

ARRAY = "SLURM_ARRAY_TASK_"


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
    """Parse ``I/K``, with I from 0 to K - 1.

    Raises
    ------
    InputError
        If it is not of that form.
    """
    index, _, count = text.partition("/")
    if index.isdecimal() and count.isdecimal() and int(index) < int(count):
        return Shard(int(index), int(count))
    raise InputError(
        f"{option('shard')} {text}: allowed is I/K with I from 0 to K - 1, such as 0/4"
    )


def shard_of_job(environment: Mapping[str, str]) -> Shard:
    """Return the shard of a task of a SLURM job array; everything where there is none.

    Raises
    ------
    InputError
        If the tasks of the array are not evenly numbered, so that a task's place is unknown.
    """
    if f"{ARRAY}ID" not in environment or f"{ARRAY}COUNT" not in environment:
        return WHOLE
    names = {"ID": "0", "COUNT": "1", "MIN": "0", "STEP": "1"}
    given = {name: environment.get(ARRAY + name, default) for name, default in names.items()}
    if all(value.isdecimal() for value in given.values()):
        task, count, least, step = (int(value) for value in given.values())
        index, rest = divmod(task - least, max(step, 1))
        if 0 <= index < count and not rest:
            return Shard(index, count)
    shown = ", ".join(f"{ARRAY}{name}={value}" for name, value in given.items())
    raise InputError(f"{shown}: not the place of a task in an array; give {option('shard')} I/K")
