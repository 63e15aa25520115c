"""Problems of configs, and the problem of the source, as Problems of SimOpt."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model
from simopt.base import (
    ConstraintType,
    Model,
    Objective,
    Problem,
    RepResult,
    StochasticConstraint,
    VariableType,
)

from valmatch.config.config import Config
from valmatch.config.identity import config_id, problem_id
from valmatch.config.loading import ConfigLike, load_config, shipped_configs
from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.execution.chunks import build
from valmatch.models import model as valmatch_model
from valmatch.models.model import row_of
from valmatch.models.valorant.days import RESPONSES
from valmatch.models.valorant.factors import ValorantFactors
from valmatch.models.valorant.model import ValorantModel
from valmatch.optimization import problem as valmatch_problem
from valmatch.optimization.problem import Variable, problem_of, with_factors
from valmatch.optimization.studies.study import DEFAULT_BUDGET
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

Vector = tuple[float, ...]

# Share of a range by which a solver may step over its bounds, as rounding makes some do.
ROUNDING = 1e-9

# Elo points that a difference counts as where there is no match: the source's largest.
MOST_DIFFERENCE = 2400.0


def problem(
    config: ConfigLike,
    overrides: Sequence[str] | Mapping[str, Any] = (),
    *,
    penalty: float | Mapping[str, float] | None = None,
    undefined: Mapping[str, float] | None = None,
) -> Problem:
    """Return the problem of a config's `optimize` section for SimOpt.

    As it is posed, its decision variables have the units of the factors, and every constraint is a
    stochastic one: E[excess over the bound] <= 0. With a penalty it stands on the unit cube, to
    which the search scales map the factors (`vector_to_factor_dict` gives them), and the excesses
    become parts of the objective, for the solvers that ignore stochastic constraints, which are
    most of SimOpt's. The problem factors are `initial_solution` and `budget`; what else the model
    has is fixed by config and overrides. All points meet the same replications of seed 0.

    Parameters
    ----------
    config : Config or what `valmatch.load_config` takes
        What to optimise, such as ``"my.yaml"``.
    overrides : sequence of str, or mapping
        As of `valmatch.load_config`.
    penalty : float or mapping of str to float, optional
        What each unit of excess costs in each replication, in units of the objective; one number
        for all constraints, or numbers by their names.
    undefined : mapping of str to float, optional
        What a response counts as in a replication that does not have it. Without one such a
        replication is an error, as SimOpt would average NaN.

    Raises
    ------
    InputError
        If the config poses no problem, or a penalty or response cannot be.
    """
    loaded = load_config(config, overrides)
    posed = problem_of(loaded, build(loaded))
    costs = None if penalty is None else _penalties(penalty, list(posed.constraints))
    undefined = dict(undefined or {})
    for name, value in undefined.items():
        if name not in posed.responses:
            raise InputError(
                f"{option('undefined')}: the problem has no response {shown(name)}"
                f" ({hint(name, posed.responses)})"
            )
        _number("undefined", f" {name}", value, -math.inf)
    return _class_of(_Posed(loaded, posed, costs, undefined))()


def _penalties(
    penalty: float | Mapping[str, float], constraints: Sequence[str]
) -> dict[str, float]:
    named = isinstance(penalty, Mapping)
    costs = penalty if isinstance(penalty, Mapping) else dict.fromkeys(constraints, penalty)
    for name in costs:
        if name not in constraints:
            raise InputError(
                f"{option('penalty')}: {shown(name)} is no constraint ({hint(name, constraints)})"
            )
    if missing := [name for name in constraints if name not in costs]:
        raise InputError(f"{option('penalty')}: none for {missing[0]} (one for each is needed)")
    return {k: _number("penalty", f" {k}" if named else "", costs[k], 0.0) for k in constraints}


def _number(argument: str, key: str, value: object, least: float) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and math.isfinite(value) and value >= least:  # type: ignore[arg-type, operator]
        return float(value)  # type: ignore[arg-type]
    allowed = "a number" if math.isinf(least) else f"a number >= {least:g}"
    raise InputError(f"{option(argument)}{key}: {shown(value)} (allowed: {allowed})")


# What all problems share: the coordinates of their points, their options, their replications.


def _options(
    name: str,
    variables: Sequence[Variable],
    on_cube: bool,
    budget: int,
    **further: Any,  # noqa: ANN401
) -> type[BaseModel]:
    """Return the class of a problem's factors; SimOpt itself would ignore unknown ones."""
    start = tuple(v.to_unit(v.start) if on_cube else v.start for v in variables)
    inside = AfterValidator(lambda x: _inside(x, variables, on_cube))
    most = "max # of replications for a solver to take"
    farmed: Any = {"isDatafarmable": False}
    fields: Any = {
        "initial_solution": Field(default=start, description="initial solution"),
        "budget": Field(default=budget, gt=0, description=most, json_schema_extra=farmed),
        **further,
    }
    kinds: Any = {"initial_solution": Annotated[Vector, inside], "budget": int}
    typed: Any = {key: (kinds.get(key, float), field) for key, field in fields.items()}
    strict = ConfigDict(extra="forbid", validate_default=True)
    return create_model(name, __config__=strict, __module__=__name__, **typed)


def _inside(x: Sequence[float], variables: Sequence[Variable], on_cube: bool) -> Vector:
    """Return a vector within the bounds of variables, or on the unit cube, rounding undone."""
    if len(x) != len(variables):
        raise ValueError(f"{len(x)} decision variables given (the problem has {len(variables)})")
    point = []
    for v, value in zip(variables, x, strict=True):
        low, high = (0.0, 1.0) if on_cube else (v.low, v.high)
        slack = ROUNDING * (high - low)
        if not low - slack <= value <= high + slack:
            raise ValueError(f"{v.name} is {value} (allowed: from {low:g} to {high:g})")
        point.append(min(high, max(low, float(value))))
    return tuple(point)


def replication_index(rng: Random) -> int:
    """Turn the state of a stream into the index of a replication, from 0 to 2**63 - 1.

    The stream is a generator of SimOpt (MRG32k3a), whose `random` has 32 bits and whose
    `getrandbits` is not its own: so two calls of `random` give the higher 32 and the lower 31
    bits. Among n replications some two have the same index with probability below n**2 / 2**64.
    """
    high = int(rng.random() * 2.0**32)
    return high << 31 | int(rng.random() * 2.0**31)


class ReplicatedModel(Model):  # type: ignore[misc]  # simopt has no types
    """A model of this package, all of whose random numbers follow from the state of one stream."""

    n_rngs: ClassVar[int] = 1

    def __init__(self, fixed_factors: dict[str, Any] | None = None) -> None:
        super().__init__(fixed_factors)
        self._streams = Streams(0)
        self._built: tuple[dict[str, Any], valmatch_model.Model[Any]] | None = None
        self._replication: int | None = None

    @classmethod
    def build(cls, factors: dict[str, Any]) -> valmatch_model.Model[Any]:
        """Return the model of these factors."""
        raise NotImplementedError

    def before_replicate(self, rng_list: Sequence[Random]) -> None:
        """Take the random numbers of the next replication from the first stream."""
        self._replication = replication_index(rng_list[0])

    def replicate(self) -> tuple[dict[str, float], dict[str, Any]]:
        """Run one replication; return its responses, NaN where undefined, and no gradients."""
        if self._replication is None:
            raise RuntimeError("call before_replicate(rng_list) before replicate()")
        factors = dict(self.factors)
        if self._built is None or self._built[0] != factors:
            self._built = factors, self.build(factors)
        model = self._built[1]
        row = row_of(model, model.run(model.draw(self._streams, self._replication)).responses)
        return dict(zip(model.responses.names, row.tolist(), strict=True)), {}


class CoordinateProblem(Problem):  # type: ignore[misc]
    """A problem on the variables of `optimize`, in their units or on the unit cube."""

    n_objectives: ClassVar[int] = 1
    minmax: ClassVar[tuple[int, ...]] = (-1,)
    gradient_available: ClassVar[bool] = False
    model_default_factors: ClassVar[dict[str, Any]] = {}
    on_cube: ClassVar[bool] = False
    variables: ClassVar[Sequence[Variable]]  # the decision variables

    @property
    def dim(self) -> int:
        """Number of decision variables."""
        return len(self.variables)

    @property
    def lower_bounds(self) -> Vector:
        """Lower bounds of the coordinates."""
        return tuple(0.0 if self.on_cube else v.low for v in self.variables)

    @property
    def upper_bounds(self) -> Vector:
        """Upper bounds of the coordinates."""
        return tuple(1.0 if self.on_cube else v.high for v in self.variables)

    def vector_to_factor_dict(self, vector: Sequence[float]) -> dict[str, float]:
        """Return the factors at a point, whole where the factor is; refuse one out of bounds."""
        point = _inside(vector, self.variables, self.on_cube)
        pairs = list(zip(self.variables, point, strict=True))
        if self.on_cube:
            return {v.name: v.from_unit(x) for v, x in pairs}
        return {v.name: float(round(x)) if v.integer else x for v, x in pairs}

    def factor_dict_to_vector(self, factor_dict: Mapping[str, float]) -> Vector:
        """Return the point of given factors."""
        values = [(v, factor_dict[v.name]) for v in self.variables]
        return tuple(v.to_unit(value) if self.on_cube else value for v, value in values)

    def get_random_solution(self, rand_sol_rng: Random) -> Vector:
        """Draw a random solution as `optimize` does; uniformly from the unit cube."""
        if self.on_cube:
            return tuple(float(rand_sol_rng.random()) for _ in self.variables)
        drawn = []
        for v in self.variables:
            if math.isinf(v.std):
                drawn.append(v.from_unit(float(rand_sol_rng.random())))
                continue
            value = min(v.high, max(v.low, float(rand_sol_rng.normalvariate(v.mean, v.std))))
            drawn.append(float(round(value)) if v.integer else value)
        return tuple(drawn)


# The problem of any config.


@dataclass(frozen=True)
class _Posed:
    """What a problem of SimOpt is made of."""

    config: Config
    problem: valmatch_problem.Problem  # as `optimize` has it
    penalty: dict[str, float] | None  # of each constraint; None where they stay constraints
    undefined: dict[str, float]  # what undefined responses count as

    @property
    def key(self) -> tuple[object, ...]:
        """What the same problem has in common, whenever it was made."""
        parts = repr((self.config.optimize.budget, self.penalty, self.undefined))
        return config_id(self.config), problem_id(self.config), self.name, parts

    @property
    def name(self) -> str:
        """The name of the config, fit for the files that SimOpt writes."""
        stem = re.sub(r"[^\w-]", "", Path(self.config.source).stem)
        return (stem or self.config.model).upper()


# The classes made so far, so that copies of a problem are equal to it.
_classes: dict[tuple[object, ...], type[Problem]] = {}


def _class_of(posed: _Posed) -> type[Problem]:
    """Return the class of SimOpt for a problem: it keeps what it needs to know in classes."""
    if posed.key in _classes:
        return _classes[posed.key]
    on_cube, budget = posed.penalty is not None, posed.config.optimize.budget or DEFAULT_BUDGET
    stochastic = 0 if on_cube else len(posed.problem.constraints)
    integers = {v.integer and not on_cube for v in posed.problem.variables}
    variable_type = VariableType.MIXED if len(integers) > 1 else VariableType.CONTINUOUS
    variable_type = VariableType.DISCRETE if integers == {True} else variable_type
    model_factors = {
        f"variable_{k}": (float, Field(v.start, alias=v.name, description=v.name))
        for k, v in enumerate(posed.problem.variables)
    }
    strict = ConfigDict(extra="forbid")
    model_attributes = {
        "posed": posed,
        "class_name_abbr": posed.config.model.upper(),
        "class_name": f"{posed.config.model} of {posed.name}",
        "config_class": create_model("Factors", __config__=strict, **model_factors),  # type: ignore[call-overload]
        "n_responses": len(posed.problem.responses),
    }
    attributes = {
        "posed": posed,
        "on_cube": on_cube,
        "variables": posed.problem.variables,
        "class_name_abbr": posed.name + "-PENALIZED" * on_cube,
        "class_name": f"the problem of {posed.name}",
        "config_class": _options("Options", posed.problem.variables, on_cube, budget),
        "model_class": type("ConfiguredModel", (_ConfiguredModel,), model_attributes),
        "n_stochastic_constraints": stochastic,
        "constraint_type": ConstraintType.STOCHASTIC if stochastic else ConstraintType.BOX,
        "variable_type": variable_type,
        "model_decision_factors": {v.name for v in posed.problem.variables},
    }
    _classes[posed.key] = type("ConfiguredProblem", (_ConfiguredProblem,), attributes)
    return _classes[posed.key]


def _again(posed: _Posed, of_problem: bool, *arguments: Any) -> Any:  # noqa: ANN401
    made = _class_of(posed)
    return (made if of_problem else made.model_class)(*arguments)


class _ConfiguredModel(ReplicatedModel):
    """The model of a config, whose factors are the decision variables."""

    posed: ClassVar[_Posed]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy by the factors: SimOpt copies and pickles models, kernels cannot be."""
        return _again, (self.posed, False, dict(self.factors))

    @classmethod
    def build(cls, factors: dict[str, Any]) -> valmatch_model.Model[Any]:
        """Return the model of the config with these factors."""
        return build(cls.posed.config, with_factors(cls.posed.config, factors))

    def replicate(self) -> tuple[dict[str, float], dict[str, Any]]:
        """Run one replication; return the responses that the problem names, and no gradients."""
        responses, _ = super().replicate()
        values = {}
        for name in self.posed.problem.responses:
            values[name] = responses[name]
            if math.isnan(values[name]):
                if name not in self.posed.undefined:
                    raise ValueError(
                        f"{name} is undefined in a replication at {dict(self.factors)}; say what it"
                        f" counts as there: problem(..., undefined={{{name!r}: ...}})"
                    )
                values[name] = self.posed.undefined[name]
        return values, {}


class _ConfiguredProblem(CoordinateProblem):
    """The problem of a config."""

    posed: ClassVar[_Posed]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy by what it was made of; its class is made anew where it is not known."""
        return _again, (self.posed, True, self.name, dict(self.factors))

    def replicate(self, x: Vector, /) -> RepResult:
        """Return objective and excesses of the replication that the model is set to."""
        responses, _ = self.model.replicate()
        posed = self.posed.problem
        objective = sum(term.weight * responses[term.response] for term in posed.terms)
        excesses = {
            name: c.sign * (responses[c.response] - c.bound)
            for name, c in posed.constraints.items()
        }
        if self.posed.penalty is None:
            constraints = [StochasticConstraint(excess) for excess in excesses.values()]
            return RepResult([Objective(objective)], constraints)
        cost = sum(self.posed.penalty[name] * max(0.0, e) for name, e in excesses.items())
        return RepResult([Objective(objective + cost)])


# The problem of the source, on the `valorant` model with all of its factors.


# The problem of the source, which the shipped config `valorant-1` spells out.
_CONFIG = load_config(str(shipped_configs()["valorant-1"]))
_SOURCE = problem_of(_CONFIG, build(_CONFIG))


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


_WEIGHTS: Any = {
    "upper_time": Field(default=10.0, gt=0, description="upper bound on wait time (minutes)"),
    "w_team": Field(default=1.0, ge=0, description="weight of avg_team_diff"),
    "w_player": Field(default=1.0, ge=0, description="weight of avg_player_diff"),
}
_PENALTY: Any = Field(
    default=100.0, ge=0, description="Elo points for each minute of wait over upper_time"
)
_Options = _options("_Options", _SOURCE.variables, False, 1000, **_WEIGHTS)
_PenalizedOptions = _options(
    "_PenalizedOptions", _SOURCE.variables, True, 1000, **_WEIGHTS, penalty=_PENALTY
)


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
    model_decision_factors: ClassVar[set[str]] = {v.name for v in _SOURCE.variables}
    variables: ClassVar[Sequence[Variable]] = _SOURCE.variables

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
    difference + penalty * max(0, wait - upper_time). At the optimum P(wait > upper_time) is about
    shadow price / penalty, the shadow price being what a minute of mean wait is worth in Elo
    points: about 20 at an upper_time of 20, 40 at one of 10 with doubled arrivals. A penalty of
    twice the shadow price puts the mean wait at upper_time; a greater one keeps it below.
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
