"""Numbers beyond what a run can be asked for are refused with their range, wherever they stand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.support.command import valmatch
from valmatch.errors import InputError
from valmatch.execution.shards import array_of, shard_of_job
from valmatch.inputs.arguments import LEVEL, RANGES
from valmatch.statistics.estimates import t_quantile
from valmatch.text.numerals import real_number, whole_number

DIGITS = "9" * 5000


def test_the_largest_numbers_run() -> None:
    largest = [text for name in ("seed", "replication") for text in (name, RANGES[name].most)]
    words = [f"--{one}" if isinstance(one, str) else one for one in largest]
    assert valmatch("simulate", "valorant", "--set", "horizon=2", *words).code == 0
    for level in LEVEL:
        assert math.isfinite(t_quantile((1.0 + level) / 2.0, 1))
        assert math.isfinite(t_quantile(1.0 - level, 1))
        options = ["-n", 3, "--set", "horizon=2", "--confidence", repr(level)]
        assert valmatch("replicate", "valorant", *options).code == 0


@pytest.mark.parametrize(
    "shard", [f"1/{DIGITS}", f"{DIGITS}/{DIGITS}0", "1/10000000000", "٣/٤", "1/2/3", "-1/2"]
)
def test_tasks_out_of_range(shard: str) -> None:
    with pytest.raises(InputError, match="but not which of how many"):
        shard_of_job({"SLURM_ARRAY_TASK_ID": shard, "SLURM_ARRAY_TASK_COUNT": DIGITS})


def test_array_specifications() -> None:
    assert array_of([]) == ""
    assert array_of([7]) == "7"
    assert array_of([3, 7, 2, 1]) == "1-3,7"


def test_numbers_of_a_problem_are_moderate(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(
        "model: valorant\n"
        "optimize:\n"
        "  variables: {team_diff: {low: -1e308, high: 1e308, scale: 1e-300}}\n"
        "  objective: {w: {response: avg_team_diff, weight: 1e308}}\n"
    )
    done = valmatch("optimize", config)
    assert done.code == 2
    lines = done.err.splitlines()
    assert [line.split(": ")[1] for line in lines] == [
        "optimize.variables.team_diff.low",
        "optimize.variables.team_diff.high",
        "optimize.variables.team_diff.scale",
        "optimize.objective.w.weight",
    ]
    assert ["1e+100" in line for line in lines] == [True, True, False, True]


def test_numerals() -> None:
    assert (whole_number("007"), whole_number("٣"), whole_number("1_0")) == (7, None, None)
    assert (whole_number(""), whole_number("-1"), whole_number(DIGITS)) == (None, None, None)
    assert (real_number("1e3"), real_number("-.5"), real_number("2.")) == (1000.0, -0.5, 2.0)
    for text in ("", "nan", "inf", "1e400", "1_0", "٣", " 1", "0x1", DIGITS):
        assert real_number(text) is None


def test_more_workers_than_cores_get_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0}, raising=False)
    done = valmatch("replicate", "valorant", "-n", 2, "--set", "horizon=2", "--workers", 2)
    assert (done.code, done.err) == (0, "note: 2 workers on 1 core: no faster than 1\n")


def test_replications_of_macroreps_can_be_simulated() -> None:
    from valmatch.optimization.solver_run import RUN

    assert RANGES["macroreps"].most * RUN <= RANGES["replication"].most
    assert RANGES["budget"].most < RUN
