"""The problem of the source for SimOpt, on the `valorant` model with all of its factors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator
from simopt.base import (
    ConstraintType,
    Model,
    Objective,
    RepResult,
    StochasticConstraint,
    VariableType,
)

from valmatch.config.loading import load_config, shipped_configs
from valmatch.execution.chunks import build
from valmatch.models.valorant.days import RESPONSES
from valmatch.models.valorant.factors import ValorantFactors
from valmatch.models.valorant.model import ValorantModel
from valmatch.optimization import problem as valmatch_problem
from valmatch.optimization.problem import problem_of
from valmatch.simopt.config_problem import CoordinateProblem, ReplicatedModel, inside

Vector = tuple[float, ...]

# Elo points that a difference counts as where there is no match: the source's largest.
MOST_DIFFERENCE = 2400.0


@cache
def _posed() -> valmatch_problem.Problem:
    """Return the problem of the source, which the shipped config `valorant-1` spells out."""
    config = load_config(str(shipped_configs()["valorant-1"]))
    return problem_of(config, build(config))


class ValorantMatchmaking(ReplicatedModel):
    """The `valorant` model of this package as a Model of SimOpt.

    Its factors are those of `ValorantFactors`, checked whenever they change: a factor that does
    not exist is refused, as is a value out of range.

    Common random numbers hold as SimOpt means them: the players of a replication depend on the
    state of the one stream that it gets, never on a rule. They are the players of the
    replication `replication_index` of seed 0.

    Parameters
    ----------
    fixed_factors : dict or None
        Factors that differ from their defaults.
    """

    class_name_abbr: ClassVar[str] = "VALORANT"
    class_name: ClassVar[str] = "Valorant Matchmaking"
    config_class: ClassVar[type[BaseModel]] = ValorantFactors
    n_responses: ClassVar[int] = len(RESPONSES)

    def __reduce__(self) -> tuple[type[ValorantMatchmaking], tuple[dict[str, Any]]]:
        """Copy by the factors: SimOpt copies and pickles models, kernels cannot be."""
        return type(self), (dict(self.factors),)

    @classmethod
    def build(cls, factors: dict[str, Any]) -> ValorantModel:
        """Return the model of these factors."""
        return ValorantModel(ValorantFactors(**factors))


class _Options(BaseModel):
    """Factors of the problem; SimOpt itself would ignore unknown ones."""

    model_config = ConfigDict(extra="forbid", validate_default=True)

    initial_solution: Vector = Field(
        default_factory=lambda: tuple(v.start for v in _posed().variables),
        description="initial solution",
    )
    budget: int = Field(
        default=1000,
        gt=0,
        description="max # of replications for a solver to take",
        json_schema_extra={"isDatafarmable": False},
    )
    upper_time: float = Field(default=10.0, gt=0, description="upper bound on wait time (minutes)")
    w_team: float = Field(default=1.0, ge=0, description="weight of avg_team_diff")
    w_player: float = Field(default=1.0, ge=0, description="weight of avg_player_diff")

    @field_validator("initial_solution")
    @classmethod
    def _inside(cls, x: Vector) -> Vector:
        return inside(x, _posed().variables, on_cube=False)


class ValorantAvgDifference(CoordinateProblem):
    """Minimise the mean Elo differences between and within teams, the mean wait being bounded.

    The problem of "Valorant Matchmaking Model" (Nolan Berry, 2023), section CHESS-1: bounds,
    starting solution, random solutions and default factors are the source's. The stochastic
    constraint is E[avg_wait_time] - upper_time <= 0. Problem factors: `initial_solution`,
    `budget`, `upper_time`, and the weights `w_team` and `w_player` of the two differences.

    A replication without a match has no differences and no wait. SimOpt would average NaN, so
    such a replication counts as the worst there is: 2400 Elo points and the whole horizon (with
    `num_players`, which leaves it open: the mean time from an arrival to the last one).
    """

    class_name_abbr: ClassVar[str] = "VALORANT-1"
    class_name: ClassVar[str] = "Min Avg Difference for Valorant Matchmaking"
    config_class: ClassVar[type[BaseModel]] = _Options
    model_class: ClassVar[type[Model]] = ValorantMatchmaking
    n_stochastic_constraints: ClassVar[int] = 1
    constraint_type: ClassVar[ConstraintType] = ConstraintType.STOCHASTIC
    variable_type: ClassVar[VariableType] = VariableType.CONTINUOUS
    model_decision_factors: ClassVar[set[str]] = {
        "player_diff",
        "team_diff",
        "wait_thresh",
        "player_slack",
        "team_slack",
    }

    @property
    def variables(self) -> Sequence[valmatch_problem.Variable]:
        """The decision variables."""
        return _posed().variables

    def replicate(self, x: Vector, /) -> RepResult:
        """Return objective and constraint of the replication that the model is set to."""
        objective, wait = self._outcome()
        limit = self.factors["upper_time"]
        return RepResult([Objective(objective)], [StochasticConstraint(wait, deterministic=-limit)])

    def _outcome(self) -> tuple[float, float]:
        """Run the model; return the weighted differences and the mean wait in minutes."""
        responses, _ = self.model.replicate()
        weights = self.factors["w_team"], self.factors["w_player"]
        if responses["n_matches"] == 0.0:
            horizon = self.model.factors["horizon"]
            longest = responses["avg_wait_time_all"] if horizon is None else 60.0 * horizon
            return sum(weights) * MOST_DIFFERENCE, longest
        objective = weights[0] * responses["avg_team_diff"]
        return objective + weights[1] * responses["avg_player_diff"], responses["avg_wait_time"]


class _PenalizedOptions(_Options):
    """Factors of the penalised problem."""

    initial_solution: Vector = Field(
        default_factory=lambda: tuple(_posed().start.tolist()),
        description="initial solution, in the unit cube",
    )
    penalty: float = Field(
        default=100.0, ge=0, description="Elo points for each minute of wait over upper_time"
    )

    @field_validator("initial_solution")
    @classmethod
    def _inside(cls, x: Vector) -> Vector:
        return inside(x, _posed().variables, on_cube=True)


class PenalizedValorantAvgDifference(ValorantAvgDifference):
    """The same problem on the unit cube, with a penalty in the place of the constraint.

    For the solvers that ignore stochastic constraints, which are most of SimOpt's. Each decision
    variable is mapped to [0, 1] by the scale of the config `valorant-1` (linear for small
    values, logarithmic for large ones), because in the source's units steps that suit
    differences in Elo points do not suit a threshold in hours, and most of the box is flat.
    `vector_to_factor_dict` gives the source's units. Random solutions are uniform.

    Further problem factor: `penalty`, in Elo points for each minute.

    Notes
    -----
    SimOpt averages the objective over replications, so the penalty stands in each of them:
    difference + penalty * max(0, wait - upper_time). Averages stay averages of independent
    terms, and their variances, which some solvers use, stay right. The expected penalty is
    smooth in the rules and not less than the penalty of the expected wait. At the optimum
    P(wait > upper_time) is about shadow price / penalty, the shadow price being what a minute of
    mean wait is worth in Elo points. So a penalty of twice the shadow price puts the mean wait
    at upper_time; a greater one keeps it below, a smaller one lets it exceed. Shadow prices are
    about 20 at an upper_time of 20, and 40 at one of 10 with doubled arrivals; a replication's
    wait has a standard deviation of about 1.7 and 0.4 minutes there.
    """

    class_name_abbr: ClassVar[str] = "VALORANT-1P"
    class_name: ClassVar[str] = "Min Penalized Avg Difference for Valorant Matchmaking"
    config_class: ClassVar[type[BaseModel]] = _PenalizedOptions
    n_stochastic_constraints: ClassVar[int] = 0
    constraint_type: ClassVar[ConstraintType] = ConstraintType.BOX
    on_cube: ClassVar[bool] = True

    def replicate(self, x: Vector, /) -> RepResult:
        """Return the penalised objective of the replication that the model is set to."""
        objective, wait = self._outcome()
        excess = max(0.0, wait - self.factors["upper_time"])
        return RepResult([Objective(objective + self.factors["penalty"] * excess)])
