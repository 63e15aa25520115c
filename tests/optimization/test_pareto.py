"""`valmatch optimize --pareto`: dominance, hypervolume, fronts, bad input."""

from __future__ import annotations

import copy
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valmatch
from results.study import dominated_volume as hypervolume
from tests.support import sectioned_model
from tests.support.case_tables import cases
from tests.support.command import refusal
from tests.support.command import valmatch as command
from valmatch.optimization.solvers.bayes import nondominated

SHOTS: dict[str, Any] = copy.deepcopy(sectioned_model.SHOTS)
del SHOTS["optimize"]["objective"]
SHOTS["optimize"]["constraints"]["far"]["at_most"] = 4.0

OBJECTIVES = ["miss", "far"]


def test_what_no_other_point_dominates() -> None:
    rng = np.random.default_rng(3)
    for m in (1, 2, 3):
        values = rng.integers(0, 6, (40, m)).astype(np.float64)
        expected = [not any((b <= a).all() and (b < a).any() for b in values) for a in values]
        assert nondominated(values).tolist() == expected
    assert nondominated(np.array([[1.0, 2.0], [1.0, 2.0]])).all()  # equal points stay


@pytest.mark.slow
def test_hypervolume_is_that_of_the_union_of_boxes() -> None:
    assert hypervolume(np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([3.0, 3.0])) == 3.0
    assert hypervolume(np.array([[1.0, 2.0], [4.0, 0.0]]), np.array([3.0, 3.0])) == 2.0
    assert hypervolume(np.empty((0, 2)), np.array([3.0, 3.0])) == 0.0
    rng = np.random.default_rng(4)
    for m in (1, 2, 3, 4):
        values = rng.random((7, m))
        inside = rng.random((20_000, m))
        share = np.mean([(values <= one).all(axis=1).any() for one in inside])
        assert hypervolume(values, np.ones(m)) == pytest.approx(share, abs=0.02)


@pytest.mark.slow
@pytest.mark.usefixtures("sectioned")
def test_a_front_is_certified_and_has_no_dominated_point() -> None:
    front = valmatch.pareto_front(SHOTS, OBJECTIVES, 400)
    assert front.status == "complete"
    summary = front.summary()
    assert summary["spent"] <= 400
    assert 3 <= len(front.points) <= summary["tested"]
    means = np.array([[one.objectives[name].mean for name in OBJECTIVES] for one in front.points])
    assert nondominated(means).all()
    assert (np.diff(means[:, 0]) > 0).all()
    assert (np.diff(means[:, 1]) < 0).all()
    for one in front.points:
        assert one.objectives["far"].mean is not None
        assert one.objectives["far"].mean < 4.0
        _, mean = one.constraints["far"]
        assert mean.mean == pytest.approx(one.objectives["far"].mean)
        # The fewer shots, the smaller the farthest; nothing else depends on their number.
        assert one.point["rule.shots"] <= 4
        assert one.objectives["miss"].n >= 20
    again = valmatch.pareto_front(SHOTS, OBJECTIVES, 400)
    assert again.summary() == front.summary()
    assert list(front.to_dict()) == [
        *("rule.aim", "rule.shots", "miss", "miss_low", "miss_high", "far", "far_low", "far_high"),
        *("n", "name"),
    ]


@pytest.mark.usefixtures("sectioned")
def test_a_front_without_a_feasible_point_says_so(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(json.dumps(SHOTS))
    options = ["optimize", config, "--pareto", "miss,far", "--budget", 100, "--set", "far=-9"]
    done = command(*options, "--out", tmp_path / "o")
    assert done.code == 3
    assert "tested points is certified as feasible" in done.out
    assert "nothing to draw" in refusal("plot", tmp_path / "o")
    late = command(*options[:-2], "--max-time", "0.001s", "--out", tmp_path / "late")
    assert (late.code, "out of time; --resume goes on" in late.err) == (75, True)


@pytest.mark.usefixtures("sectioned")
@pytest.mark.parametrize(
    ("words", "message"),
    cases("""
--pareto miss,miss | --pareto: 1 objectives (allowed: two or more, all diff
--pareto miss,fra | --pareto: sectioned has no response 'fra' (did you mean far
--pareto miss,far --sweep far=1:2:1 | --sweep: of no use with --pareto mis
--set 'optimize.objectives={a: {response: miss}, b: {response: x}}' |
  optimize.objectives.b.response: sectioned has no response 'x'
"""),
)
def test_bad_options_are_one_line_and_exit_2(words: str, message: str, tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(json.dumps(SHOTS))
    out = tmp_path / "o"
    assert message in refusal("optimize", config, *shlex.split(words), "--out", out)
    assert not out.exists()
