"""Shards: the part of a run's replications that one job of an array makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from valmatch.errors import InputError, option
from valmatch.inputs.limits import RANGES
from valmatch.text.numerals import whole_number
from valmatch.text.terminal import shortened

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


def in_job_array(environment: Mapping[str, str]) -> bool:
    """Return whether this is one of several tasks of a SLURM job array."""
    several = (whole_number(environment.get(f"{ARRAY}COUNT", "")) or 0) > 1
    return f"{ARRAY}ID" in environment and several


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
    numbers = [number for value in given.values() if (number := whole_number(value)) is not None]
    if len(numbers) == len(given):
        task, count, least, step = numbers
        index, rest = divmod(task - least, max(step, 1))
        if 0 <= index < count <= RANGES["shards"].most and not rest:
            return Shard(index, count)
    shown = ", ".join(f"{ARRAY}{name}={shortened(value)}" for name, value in given.items())
    raise InputError(f"{shown}: not the place of a task in an array; give {option('shard')} I/K")
