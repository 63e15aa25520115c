"""Any config's problem in SimOpt: as posed, penalised, copied, solved by SimOpt's own solvers."""

from __future__ import annotations

import pickle
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from valmatch.config.loading import load_config
from valmatch.errors import InputError

pytest.importorskip("simopt", reason="needs the extra `simopt`")

from simopt.experiment import multiple
from simopt.plot_type import PlotType
from simopt.plots.progress_curve import plot_progress_curves
from simopt.solvers.neldmd import NelderMead
from simopt.solvers.randomsearch import RandomSearch

from tests.support.simopt_points import ours, simulated, stream
from valmatch.simopt import ValorantAvgDifference, problem

pytestmark = [
    pytest.mark.usefixtures("sectioned"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:simopt"),
]

SHOTS = """\
model: sectioned
optimize:
  variables:
    rule.aim: {low: -5, high: 10}
    rule.shots: {low: 2, high: 10}
  objective: {miss: {response: miss, weight: 2}}
  constraints:
    far: {response: far, at_most: 4}
    near: {response: far, at_least: 1}
  budget: 150
"""


@pytest.fixture
def shots(tmp_path: Path) -> Path:
    path = tmp_path / "shots.yaml"
    path.write_text(SHOTS)
    return path


def test_a_config_is_a_problem_as_it_is_posed(shots: Path) -> None:
    posed = problem(shots)
    assert (posed.dim, posed.n_stochastic_constraints, posed.name) == (2, 2, "SHOTS")
    assert (posed.lower_bounds, posed.upper_bounds) == ((-5.0, 2.0), (10.0, 10.0))
    assert posed.factors == {"initial_solution": (5.0, 10.0), "budget": 150}
    assert posed.compatibility == "SSMN"  # rule.shots is a whole number
    assert posed.vector_to_factor_dict((1.5, 3.2)) == {"rule.aim": 1.5, "rule.shots": 3.0}
    assert posed.factor_dict_to_vector({"rule.aim": 1.5, "rule.shots": 3.0}) == (1.5, 3.0)
    assert set(posed.specifications) == {"initial_solution", "budget"}
    assert set(posed.model.specifications) == {"rule.aim", "rule.shots"}
    solution = simulated(posed, (2.0, 6.0))
    expected = ours(load_config(shots, ["rule.aim=2", "rule.shots=6"]), 5)
    assert solution.objectives[:, 0].tolist() == [2 * miss for miss in expected["miss"]]
    far = np.array(expected["far"])
    assert solution.stoch_constraints.tolist() == np.column_stack([far - 4, 1 - far]).tolist()


def test_a_penalty_stands_for_the_constraints_on_the_unit_cube(shots: Path) -> None:
    posed = problem(shots)
    for penalty, costs in ((10.0, (10.0, 10.0)), ({"near": 3.0, "far": 0.5}, (0.5, 3.0))):
        penalised = problem(shots, penalty=penalty)
        assert penalised.compatibility == "SBCN"
        assert (penalised.lower_bounds, penalised.upper_bounds) == ((0.0, 0.0), (1.0, 1.0))
        unit = (0.6, 0.5)
        factors = penalised.vector_to_factor_dict(unit)
        assert factors == {"rule.aim": 4.0, "rule.shots": 6.0}
        assert penalised.factor_dict_to_vector(factors) == pytest.approx(unit)
        there = simulated(posed, (4.0, 6.0), 20)
        excess = np.maximum(0.0, there.stoch_constraints)
        assert np.count_nonzero(excess)
        here = simulated(penalised, unit, 20)
        expected = there.objectives[:, 0] + excess @ np.array(costs)
        assert here.objectives[:, 0].tolist() == pytest.approx(expected.tolist(), rel=1e-12)


def test_the_sources_problem_is_the_class_that_was_there_before() -> None:
    posed = problem("valorant-20min")
    known = ValorantAvgDifference(fixed_factors={"upper_time": 20.0})
    assert posed.factors["initial_solution"] == known.factors["initial_solution"]
    x = (325.0, 50.0, 0.025, 110.0, 320.0)
    mine, theirs = simulated(posed, x), simulated(known, x)
    assert mine.objectives.tolist() == theirs.objectives.tolist()
    assert mine.stoch_constraints.tolist() == theirs.stoch_constraints.tolist()
    rng = stream(), stream()
    assert posed.get_random_solution(rng[0]) == known.get_random_solution(rng[1])


@pytest.mark.parametrize("penalty", [None, 5.0])
def test_copies_give_the_same(shots: Path, penalty: float | None) -> None:
    posed = problem(shots, penalty=penalty)
    x = posed.factors["initial_solution"]
    expected = simulated(posed, x).objectives.tolist()
    for copy in (
        deepcopy(posed),
        pickle.loads(pickle.dumps(posed)),
        problem(shots, penalty=penalty),
    ):
        assert copy == posed
        assert simulated(copy, x).objectives.tolist() == expected
    other = problem(shots, ["far=3"], penalty=penalty)
    assert other != posed


def test_an_undefined_response_is_an_error_unless_it_counts_as_something() -> None:
    nothing = (0.0, 0.0, 0.15, 0.0, 0.0)
    with pytest.raises(ValueError, match=r"avg_team_diff is undefined .* undefined=\{'avg_team_di"):
        simulated(problem("valorant-20min"), nothing, 1)
    worst = {"avg_team_diff": 2400.0, "avg_player_diff": 2400, "avg_wait_time": 1440.0}
    solution = simulated(problem("valorant-20min", undefined=worst), nothing, 2)
    assert solution.objectives.tolist() == [[4800.0]] * 2
    assert solution.stoch_constraints.tolist() == [[1420.0]] * 2


def test_bad_input_is_refused(shots: Path) -> None:
    for arguments, message in (
        ({"penalty": -1.0}, r"penalty: -1\.0 \(allowed: a number >= 0\)"),
        ({"penalty": {"fra": 1.0}}, r"penalty: 'fra' is no constraint \(did you mean far\?\)"),
        ({"penalty": {"far": 1.0}}, r"penalty: none for near"),
        ({"penalty": {"far": 1.0, "near": True}}, r"penalty near: True \(allowed"),
        ({"undefined": {"miss": "x"}}, r"undefined miss: 'x' \(allowed: a number\)"),
    ):
        with pytest.raises(InputError, match=message):
            problem(shots, **arguments)
    with pytest.raises(InputError, match=r"optimize\.variables: missing"):
        problem("valorant")
    made = problem(shots)
    with pytest.raises(ValueError, match=r"rule\.aim is 11"):
        made.vector_to_factor_dict((11.0, 5.0))
    with pytest.raises(ValueError, match="1 decision variables given"):
        type(made)(fixed_factors={"initial_solution": (1.0,)})
    with pytest.raises(RuntimeError, match="before_replicate"):
        made.model.replicate()


@pytest.mark.usefixtures("_experiments")
def test_experiments_and_plots_of_simopt_run(shots: Path) -> None:
    made = multiple.ProblemsSolvers(
        solvers=[RandomSearch(), NelderMead()],
        problems=[problem(shots, penalty=5.0), problem(shots, ["far=3"], penalty=5.0)],
    )
    made.run(n_macroreps=2)
    made.post_replicate(n_postreps=20)
    made.post_normalize(n_postreps_init_opt=20)
    for experiments in made.experiments:
        for experiment in experiments:
            assert len(experiment.objective_curves) == 2
            assert len(experiment.all_recommended_xs) == 2
    first = [row[0] for row in made.experiments]
    (path,) = plot_progress_curves(first, PlotType.ALL, normalize=False)
    assert path.is_file()
