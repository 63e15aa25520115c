"""Job arrays: the place of a task in one, as the schedulers of clusters put it in variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from valmatch.errors import InputError, option
from valmatch.execution.shards import WHOLE, Shard
from valmatch.inputs.limits import RANGES
from valmatch.text.numerals import whole_number
from valmatch.text.terminal import shortened


@dataclass(frozen=True)
class Scheduler:
    """The variables in which a scheduler gives a task its place in a job array."""

    index: str  # the variable with the number of the task
    count: str = ""  # that with the number of tasks, "" where there is none
    # first, last: those with the numbers of the first and of the last task, "" where there are none
    first: str = ""
    last: str = ""
    step: str = ""  # that with the difference of the numbers of two tasks, "" where it is 1
    begins: int = 0  # the number of the first task where no variable says it
    none: str = ""  # what stands in `index` outside of arrays, besides nothing

    def holds(self, environment: Mapping[str, str]) -> bool:
        """Return whether this process is a task of an array of the scheduler."""
        return environment.get(self.index, "") not in ("", self.none)

    def size(self, environment: Mapping[str, str]) -> int | None:
        """Return the number of tasks; None if the variables do not tell it."""
        if self.count:
            return _number(environment, self.count, None)
        first, last, step = self._span(environment)
        return None if first is None or last is None or not step else (last - first) // step + 1

    def place(self, environment: Mapping[str, str]) -> Shard | None:
        """Return the place of the task; None if the variables do not tell it."""
        task, count = _number(environment, self.index, None), self.size(environment)
        first, _, step = self._span(environment)
        if task is None or count is None or first is None or not step:
            return None
        index, rest = divmod(task - first, step)
        known = not rest and 0 <= index < count <= RANGES["shards"].most
        return Shard(index, count) if known else None

    def _span(self, environment: Mapping[str, str]) -> tuple[int | None, int | None, int | None]:
        """Return the numbers of the first and the last task and the step; None: no number."""
        return (
            _number(environment, self.first, self.begins),
            _number(environment, self.last, None),
            _number(environment, self.step, 1),
        )

    def why_unknown(self, environment: Mapping[str, str]) -> str:
        """Say that the variables do not tell the place of the task."""
        names = (self.index, self.count, self.first, self.last, self.step)
        there = [name for name in names if name in environment]
        shown = ", ".join(f"{name}={shortened(environment[name])}" for name in there)
        size = self.count or self.last
        if size in there:
            return f"{shown}: not the place of a task in an array; give {option('shard')} I/K"
        unset = f" ({size} is not set)" if size else ""
        return (
            f"{shown}: a task of an array, but not of how many{unset}; give"
            f" {option('shard')} I/K, I from 0, or 0/1 for the whole"
        )


SCHEDULERS = (
    Scheduler(
        "SLURM_ARRAY_TASK_ID",
        count="SLURM_ARRAY_TASK_COUNT",
        first="SLURM_ARRAY_TASK_MIN",
        step="SLURM_ARRAY_TASK_STEP",
    ),
    Scheduler("PBS_ARRAY_INDEX"),  # OpenPBS and PBS Professional
    Scheduler("PBS_ARRAYID"),  # Torque
    Scheduler(
        "SGE_TASK_ID",  # also of Univa and Altair Grid Engine
        first="SGE_TASK_FIRST",
        last="SGE_TASK_LAST",
        step="SGE_TASK_STEPSIZE",
        begins=1,
        none="undefined",
    ),
    Scheduler(
        "LSB_JOBINDEX",  # LSF
        last="LSB_JOBINDEX_END",
        step="LSB_JOBINDEX_STEP",
        begins=1,
        none="0",
    ),
    Scheduler("AWS_BATCH_JOB_ARRAY_INDEX", count="AWS_BATCH_JOB_ARRAY_SIZE"),
    Scheduler("PARALLEL_SEQ", begins=1),  # GNU parallel
)
"""All that are known. Arrays of LSF begin where they like; one that does not begin at 1 leaves the
shards before its first task to others, which `combine` says."""


def _number(environment: Mapping[str, str], name: str, otherwise: int | None) -> int | None:
    """Return the whole number that a variable holds, None if none; `otherwise` if it is not set."""
    return whole_number(environment[name]) if name in environment else otherwise


def in_job_array(environment: Mapping[str, str]) -> bool:
    """Return whether this is one of several tasks of a job array, or of who knows how many."""
    found = [scheduler for scheduler in SCHEDULERS if scheduler.holds(environment)]
    return any(scheduler.size(environment) != 1 for scheduler in found)


def shard_of_job(environment: Mapping[str, str]) -> Shard:
    """Return the shard of a task of a job array; everything where there is none."""
    places = {}
    for scheduler in SCHEDULERS:
        if scheduler.holds(environment):
            place = scheduler.place(environment)
            if place is None:
                raise InputError(scheduler.why_unknown(environment))
            places[place] = f"{scheduler.index}={environment[scheduler.index]}"
    if len(places) > 1:
        raise InputError(
            f"{', '.join(places.values())}: places in different arrays; give {option('shard')} I/K"
        )
    return next(iter(places), WHOLE)
