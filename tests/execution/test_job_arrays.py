"""The places of tasks in the job arrays of schedulers, and what is refused of them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.support.command import valmatch
from valmatch.errors import InputError
from valmatch.execution.job_arrays import SCHEDULERS, Scheduler, in_job_array, shard_of_job
from valmatch.execution.shards import WHOLE, Shard

SGE = {"SGE_TASK_ID": "9", "SGE_TASK_FIRST": "3", "SGE_TASK_LAST": "10", "SGE_TASK_STEPSIZE": "2"}
LSF = {"LSB_JOBINDEX": "4", "LSB_JOBINDEX_END": "16", "LSB_JOBINDEX_STEP": "1"}


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "4"}, Shard(3, 4)),
        (SGE, Shard(3, 4)),
        (LSF, Shard(3, 16)),
        (LSF | {"LSB_JOBINDEX": "7", "LSB_JOBINDEX_STEP": "3"}, Shard(2, 6)),
        ({"AWS_BATCH_JOB_ARRAY_INDEX": "0", "AWS_BATCH_JOB_ARRAY_SIZE": "10"}, Shard(0, 10)),
    ],
)
def test_places_in_arrays(environment: Mapping[str, str], place: Shard) -> None:
    assert shard_of_job(environment) == place
    assert in_job_array(environment)


@pytest.mark.parametrize(
    "environment",
    [
        {},
        dict.fromkeys(SGE, "undefined"),
        {"LSB_JOBINDEX": "0", "LSB_JOBINDEX_END": "0"},
        {"PBS_ARRAY_INDEX": ""},
        {"SGE_TASK_ID": "1", "SGE_TASK_LAST": "1"},
    ],
)
def test_no_array_is_the_whole(environment: Mapping[str, str]) -> None:
    assert shard_of_job(environment) == WHOLE
    assert not in_job_array(environment)


@pytest.mark.usefixtures("command_line_words")
@pytest.mark.parametrize("scheduler", SCHEDULERS, ids=lambda scheduler: scheduler.index)
def test_an_index_without_its_count_is_refused(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = scheduler.index
    monkeypatch.setenv(index, "3")
    for command in (["replicate", "valorant"], ["optimize", "valorant-20min", "--macroreps", 2]):
        done = valmatch(*command)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert done.err.startswith(f"{index}=3: a task of an array, but not of how many")
        assert "give --shard I/K, I from 0, or 0/1 for the whole" in done.err
    assert valmatch("replicate", "valorant", "-n", 1, "--shard", "0/1").code == 0
    assert "does the whole work" in valmatch("simulate", "valorant").err


@pytest.mark.usefixtures("command_line_words")
@pytest.mark.parametrize(
    ("environment", "message"),
    [
        (SGE | {"SGE_TASK_ID": "8"}, "SGE_TASK_ID=8, SGE_TASK_FIRST=3.*: not the place of a task"),
        (SGE | {"SGE_TASK_ID": "11"}, "give --shard I/K"),
        (SGE | {"SGE_TASK_STEPSIZE": "0"}, "not the place of a task in an array"),
        (LSF | {"LSB_JOBINDEX": "x"}, "LSB_JOBINDEX=x, .*: not the place of a task in an array"),
        (LSF | SGE, "SGE_TASK_ID=9, LSB_JOBINDEX=4: places in different arrays; give --shard I/K"),
        (SGE | {"PARALLEL_SEQ": "1"}, "PARALLEL_SEQ=1: a task of an array, but not of how many"),
    ],
)
def test_what_is_no_place_is_refused(environment: Mapping[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        shard_of_job(environment)
