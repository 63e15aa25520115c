"""Shards: the part of a run's replications that one job of an array makes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from valmatch.errors import InputError, option
from valmatch.inputs.arguments import RANGES
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

    def file_name(self, name: str) -> str:
        """Return what the shard calls its part of a file, such as ``rows-1-of-3.csv``."""
        stem, _, ending = name.rpartition(".")
        return name if self == WHOLE else f"{stem}-{self.index}-of-{self.count}.{ending}"


WHOLE = Shard(0, 1)


def shard_files(folder: Path, name: str) -> dict[Path, Shard]:
    """Return the files of a folder that hold parts of a file: that of the whole, then of shards."""
    files = {folder / name: WHOLE} if (folder / name).exists() else {}
    stem, _, ending = name.rpartition(".")
    for path in folder.glob(f"{stem}-*-of-*.{ending}"):
        match = re.fullmatch(rf"{stem}-([0-9]{{1,9}})-of-([0-9]{{1,9}})\.{ending}", path.name)
        if match and int(match[1]) < int(match[2]):
            files[path] = Shard(int(match[1]), int(match[2]))
    return dict(sorted(files.items(), key=lambda item: (item[1].count, item[1].index)))


def parse_shard(text: str) -> Shard:
    """Parse ``I/K``, with I from 0 to K - 1."""
    index, count = (whole_number(part) for part in text.partition("/")[::2])
    if index is None or count is None or index >= count:
        what = "allowed is I/K with I from 0 to K - 1, such as 0/4"
    elif count > RANGES["shards"].most:
        what = f"too many shards (allowed: K from 1 to {RANGES['shards'].most})"
    else:
        return Shard(index, count)
    raise InputError(f"{option('shard')} {shortened(text)}: {what}")


def stretches(indices: Sequence[int]) -> list[range]:
    """Return increasing indices as ranges without gaps."""
    ends = [k for k in range(1, len(indices)) if indices[k] != indices[k - 1] + 1]
    borders = [0, *ends, len(indices)] if indices else []
    return [range(indices[a], indices[b - 1] + 1) for a, b in pairwise(borders)]


def array_of(indices: Iterable[int]) -> str:
    """Return tasks of a job array as SLURM takes them, such as ``1-3,7``."""
    parts = stretches(sorted(set(indices)))
    return ",".join(f"{part[0]}" if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


SLURM = "SLURM_ARRAY_TASK_ID"
SLURM_COUNT, SLURM_FIRST, SLURM_STEP = (f"SLURM_ARRAY_TASK_{x}" for x in ("COUNT", "MIN", "STEP"))
INDICES = (SLURM, "PBS_ARRAY_INDEX", "PBS_ARRAYID")
"""Variables with the number of a task: of SLURM, of OpenPBS and PBS Professional, of Torque."""


def in_job_array(environment: Mapping[str, str]) -> bool:
    """Return whether this is one of several tasks of a job array, or of who knows how many."""
    there = [name for name in INDICES if environment.get(name)]
    return bool(there) and (there != [SLURM] or environment.get(SLURM_COUNT) != "1")


def shard_of_job(environment: Mapping[str, str]) -> Shard:
    """Return the shard of a task of a job array; everything where there is none."""
    if not any(environment.get(name) for name in INDICES):
        return WHOLE
    numbers = {SLURM_FIRST: "0", SLURM_STEP: "1", **environment}
    names = (SLURM, SLURM_COUNT, SLURM_FIRST, SLURM_STEP)
    task, count, first, step = (whole_number(numbers.get(name, "")) for name in names)
    if task is not None and count is not None and first is not None and step:
        index, rest = divmod(task - first, step)
        if not rest and 0 <= index < count <= RANGES["shards"].most:
            return Shard(index, count)
    there = [name for name in dict.fromkeys((*INDICES, *names)) if name in environment]
    shown = ", ".join(f"{name}={shortened(environment[name])}" for name in there)
    raise InputError(
        f"{shown}: a task of an array, but not which of how many; give {option('shard')} I/K, I"
        " from 0, or 0/1 for the whole"
    )
