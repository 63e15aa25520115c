"""Job arrays: the place of a task in one, as SLURM tells it; PBS tells a task its number alone."""

from __future__ import annotations

from collections.abc import Mapping

from valmatch.errors import InputError, option
from valmatch.execution.shards import WHOLE, Shard
from valmatch.inputs.limits import RANGES
from valmatch.text.numerals import whole_number
from valmatch.text.terminal import shortened

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
