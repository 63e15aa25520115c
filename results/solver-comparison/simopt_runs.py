"""Run SimOpt's solvers on the penalised variant; print what their last recommendations are worth.

python results/solver-comparison/simopt_runs.py PROBLEM MACROREPS
"""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
import simopt.directory
from simopt.experiment.run_solver import run_solver

from valmatch.config.loading import load
from valmatch.execution.simulator import build
from valmatch.optimization.evaluation import Evaluator
from valmatch.optimization.problem_of_config import problem_of
from valmatch.optimization.studies.solver_comparison import POST_FIRST, post_replications
from valmatch.simopt import PenalizedValorantAvgDifference

SOLVERS = ("RNDSRCH", "ASTRODF", "NELDMD", "SPSA")


def main() -> None:
    """Print {solver: [[objective, excess of the mean wait], ...]}, one pair a run."""
    warnings.simplefilter("ignore")
    name, macroreps = sys.argv[1], int(sys.argv[2])
    config = load(name)
    problem = problem_of(config, build(config))
    posed = PenalizedValorantAvgDifference(
        fixed_factors={"upper_time": problem.constraints[0].bound},
        model_fixed_factors={"rate_multiplier": config.factors.model_dump()["rate_multiplier"]},
    )
    # The same fresh replications by which `valmatch optimize` judges its own solvers.
    post = post_replications(int(posed.factors["budget"]))
    judge = Evaluator(config, problem, 1, POST_FIRST, budget=1 << 62)
    worth: dict[str, list[list[float]]] = {}
    for solver in SOLVERS:
        steps, _ = run_solver(simopt.directory.solver_directory[solver](), posed, macroreps, 1)
        worth[solver] = []
        for _, run in steps.groupby("mrep"):
            last = run.sort_values("step").solution.iloc[-1]
            units = [
                variable.to_unit(posed.vector_to_factor_dict(last)[variable.name])
                for variable in problem.variables
            ]
            mean = judge.evaluate(np.array(units), post).mean(axis=0)
            worth[solver].append(mean.tolist())
    print(json.dumps(worth))


if __name__ == "__main__":
    main()
