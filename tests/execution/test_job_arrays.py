"""The places of tasks in job arrays, and what is refused of them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.support.command import refusal, valmatch
from valmatch.errors import InputError
from valmatch.execution.shards import INDICES, WHOLE, Shard, in_job_array, shard_of_job

SLURM = {
    "SLURM_ARRAY_TASK_ID": "9",
    "SLURM_ARRAY_TASK_COUNT": "4",
    "SLURM_ARRAY_TASK_MIN": "3",
    "SLURM_ARRAY_TASK_STEP": "2",
}


@pytest.mark.parametrize(
    ("environment", "shard"),
    [
        ({"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "4"}, Shard(3, 4)),
        (SLURM, Shard(3, 4)),
        (SLURM | {"SLURM_ARRAY_TASK_ID": "3"}, Shard(0, 4)),
    ],
)
def test_places_in_arrays(environment: Mapping[str, str], shard: Shard) -> None:
    assert shard_of_job(environment) == shard
    assert in_job_array(environment)


@pytest.mark.parametrize(
    "environment",
    [{}, {"PBS_ARRAY_INDEX": ""}, {"SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_COUNT": "1"}],
)
def test_no_array_is_the_whole(environment: Mapping[str, str]) -> None:
    assert shard_of_job(environment) == WHOLE
    assert not in_job_array(environment)


@pytest.mark.usefixtures("command_line_words")
@pytest.mark.parametrize("index", INDICES)
def test_an_index_without_its_count_is_refused(index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(index, "3")
    for command in (["replicate", "valorant"], ["optimize", "valorant-20min", "--macroreps", 2]):
        line = refusal(*command)
        assert line.startswith(f"{index}=3: a task of an array, but not which of how many")
        assert "give --shard I/K, I from 0, or 0/1 for the whole" in line
    assert valmatch("replicate", "valorant", "-n", 1, "--shard", "0/1").code == 0
    assert "does the whole work" in valmatch("simulate", "valorant").err


@pytest.mark.usefixtures("command_line_words")
@pytest.mark.parametrize(
    ("name", "value"),
    [*(("ID", value) for value in ("8", "11", "x")), ("STEP", "0"), ("COUNT", "1000000000")],
)
def test_what_is_no_place_is_refused(name: str, value: str) -> None:
    with pytest.raises(InputError, match=r"SLURM_ARRAY_TASK_ID=.*: a task of an array, but not"):
        shard_of_job(SLURM | {f"SLURM_ARRAY_TASK_{name}": value})
