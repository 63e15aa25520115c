"""Problems of valmatch as Problems of SimOpt (simoptlib 1.2.4, the extra `simopt`).

`problem` takes any config with a section `optimize`, as posed or with a penalty in the place of the
constraints; SimOpt's solvers, experiment classes and plots take the result as they take their own:

>>> from valmatch.simopt import problem
>>> posed = problem("valorant-20min")
>>> posed.dim, posed.n_stochastic_constraints, posed.compatibility
(5, 1, 'SSCN')
>>> penalised = problem("valorant-20min", ["upper_time=25"], penalty=40.0)
>>> penalised.n_stochastic_constraints, penalised.upper_bounds
(0, (1.0, 1.0, 1.0, 1.0, 1.0))

The problem of the source is there as classes too, whose limit and weights are problem factors, on
the `valorant` model with all of its factors:

>>> from simopt.experiment_base import ProblemSolver
>>> from simopt.solvers.neldmd import NelderMead
>>> from valmatch.simopt import PenalizedValorantAvgDifference
>>> problem = PenalizedValorantAvgDifference(
...     fixed_factors={"upper_time": 20.0}, model_fixed_factors={"rate_multiplier": 1.0}
... )
>>> experiment = ProblemSolver(solver=NelderMead(), problem=problem, create_pickle=False)
>>> experiment.run(n_macroreps=1, n_jobs=1)
>>> best = experiment.all_recommended_xs[0][-1]
>>> sorted(problem.vector_to_factor_dict(best))
['player_diff', 'player_slack', 'team_diff', 'team_slack', 'wait_thresh']

SimOpt looks names up in its own package alone: give it instances. It makes a folder
``./experiments`` wherever Python was started. It needs numpy below 2.4.
"""

from valmatch.simopt.problems import (
    PenalizedValorantAvgDifference,
    ValorantAvgDifference,
    ValorantMatchmaking,
    problem,
    replication_index,
)

__all__ = [
    "PenalizedValorantAvgDifference",
    "ValorantAvgDifference",
    "ValorantMatchmaking",
    "problem",
    "replication_index",
]
