"""The problem of any config as a Problem of SimOpt, with its model as a Model."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, create_model, field_validator
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
from valmatch.config.loading import ConfigLike, load_config
from valmatch.draws.streams import Streams
from valmatch.errors import InputError, option
from valmatch.execution.chunks import build
from valmatch.models import model as valmatch_model
from valmatch.models.model import row_of
from valmatch.optimization import problem as valmatch_problem
from valmatch.optimization.problem import problem_of, with_factors
from valmatch.optimization.studies.study import DEFAULT_BUDGET
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

Vector = tuple[float, ...]

# Share of a range by which a solver may step over its bounds, as rounding makes some do.
ROUNDING = 1e-9


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
    bounds = list(posed.constraints)
    if penalty is not None:
        penalty = _penalties(penalty, bounds)
    undefined = dict(undefined or {})
    for name, value in undefined.items():
        if name not in posed.responses:
            raise InputError(
                f"{option('undefined')}: the problem has no response {shown(name)}"
                f" ({hint(name, posed.responses)})"
            )
        _number("undefined", f" {name}", value, -math.inf)
    return _class_of(_Posed(loaded, posed, penalty, undefined))()


def _penalties(
    penalty: float | Mapping[str, float], constraints: Sequence[str]
) -> dict[str, float]:
    """Return the penalty of each constraint."""
    if not isinstance(penalty, Mapping):
        return {name: _number("penalty", "", penalty, 0.0) for name in constraints}
    for name in penalty:
        if name not in constraints:
            raise InputError(
                f"{option('penalty')}: {shown(name)} is no constraint ({hint(name, constraints)})"
            )
    missing = [name for name in constraints if name not in penalty]
    if missing:
        raise InputError(f"{option('penalty')}: none for {missing[0]} (one for each is needed)")
    return {name: _number("penalty", f" {name}", penalty[name], 0.0) for name in constraints}


def _number(argument: str, key: str, value: object, least: float) -> float:
    """Return a finite number that is not below `least`."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and math.isfinite(value) and value >= least:  # type: ignore[arg-type, operator]
        return float(value)  # type: ignore[arg-type]
    allowed = "a number" if math.isinf(least) else f"a number >= {least:g}"
    raise InputError(f"{option(argument)}{key}: {shown(value)} (allowed: {allowed})")


@dataclass(frozen=True)
class _Posed:
    """What a problem of SimOpt is made of."""

    config: Config
    problem: valmatch_problem.Problem  # as `optimize` has it
    penalty: dict[str, float] | None  # of each constraint; None where they stay constraints
    undefined: dict[str, float] = field(default_factory=dict)  # what undefined responses count as

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

    @property
    def start(self) -> Vector:
        """The starting solution in these coordinates."""
        if self.penalty is not None:
            return tuple(self.problem.start.tolist())
        return tuple(v.start for v in self.problem.variables)

    @property
    def variable_type(self) -> VariableType:
        """Whether the variables are whole numbers; on the unit cube they are not."""
        kinds = {v.integer for v in self.problem.variables if self.penalty is None}
        if kinds == {True}:
            return VariableType.DISCRETE
        return VariableType.MIXED if True in kinds else VariableType.CONTINUOUS


# The classes made so far, so that copies of a problem are equal to it.
_classes: dict[tuple[object, ...], type[Problem]] = {}


def _class_of(posed: _Posed) -> type[Problem]:
    """Return the class of SimOpt for a problem: it keeps what it needs to know in classes."""
    if posed.key in _classes:
        return _classes[posed.key]
    stochastic = len(posed.problem.constraints) if posed.penalty is None else 0
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
        "on_cube": posed.penalty is not None,
        "class_name_abbr": posed.name if posed.penalty is None else f"{posed.name}-PENALIZED",
        "class_name": f"the problem of {posed.name}",
        "config_class": _options_of(posed),
        "model_class": type("ConfiguredModel", (_ConfiguredModel,), model_attributes),
        "n_stochastic_constraints": stochastic,
        "constraint_type": ConstraintType.STOCHASTIC if stochastic else ConstraintType.BOX,
        "variable_type": posed.variable_type,
        "model_decision_factors": {v.name for v in posed.problem.variables},
    }
    _classes[posed.key] = type("ConfiguredProblem", (_ConfiguredProblem,), attributes)
    return _classes[posed.key]


def _options_of(posed: _Posed) -> type[BaseModel]:
    """Return the class of the problem's factors."""
    most = posed.config.optimize.budget or DEFAULT_BUDGET

    class Options(BaseModel):
        model_config = ConfigDict(extra="forbid", validate_default=True)

        initial_solution: Vector = Field(posed.start, description="initial solution")
        budget: int = Field(
            default=most,
            gt=0,
            description="max # of replications for a solver to take",
            json_schema_extra={"isDatafarmable": False},
        )

        @field_validator("initial_solution")
        @classmethod
        def _inside(cls, x: Vector) -> Vector:
            return inside(x, posed.problem.variables, posed.penalty is not None)

    return Options


def _problem_again(posed: _Posed, name: str, factors: dict[str, Any]) -> Problem:
    return _class_of(posed)(name, factors)


def _model_again(posed: _Posed, factors: dict[str, Any]) -> Model:
    return _class_of(posed).model_class(factors)


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


class _ConfiguredModel(ReplicatedModel):
    """The model of a config, whose factors are the decision variables."""

    posed: ClassVar[_Posed]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy by the factors: SimOpt copies and pickles models, kernels cannot be."""
        return _model_again, (self.posed, dict(self.factors))

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


class CoordinateProblem(Problem):  # type: ignore[misc]
    """A problem on the variables of `optimize`, in their units or on the unit cube."""

    n_objectives: ClassVar[int] = 1
    minmax: ClassVar[tuple[int, ...]] = (-1,)
    gradient_available: ClassVar[bool] = False
    model_default_factors: ClassVar[dict[str, Any]] = {}
    on_cube: ClassVar[bool] = False

    @property
    def variables(self) -> Sequence[valmatch_problem.Variable]:
        """The decision variables."""
        raise NotImplementedError

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
        pairs = list(zip(self.variables, inside(vector, self.variables, self.on_cube), strict=True))
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
        return tuple(_random_value(v, rand_sol_rng) for v in self.variables)


class _ConfiguredProblem(CoordinateProblem):
    """The problem of a config."""

    posed: ClassVar[_Posed]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy by what it was made of; its class is made anew where it is not known."""
        return _problem_again, (self.posed, self.name, dict(self.factors))

    @property
    def variables(self) -> Sequence[valmatch_problem.Variable]:
        """The decision variables."""
        return self.posed.problem.variables

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


def _random_value(variable: valmatch_problem.Variable, rng: Random) -> float:
    """Draw the value of a variable in a random solution."""
    if math.isinf(variable.std):
        return variable.from_unit(float(rng.random()))
    drawn = float(rng.normalvariate(variable.mean, variable.std))
    value = min(variable.high, max(variable.low, drawn))
    return float(round(value)) if variable.integer else value


def replication_index(rng: Random) -> int:
    """Turn the state of a stream into the index of a replication, from 0 to 2**63 - 1.

    The stream is a generator of SimOpt (MRG32k3a), whose `random` has 32 bits and whose
    `getrandbits` is not its own: so two calls of `random` give the higher 32 and the lower 31
    bits. Among n replications some two have the same index with probability below n**2 / 2**64.
    """
    high = int(rng.random() * 2.0**32)
    return high << 31 | int(rng.random() * 2.0**31)


def inside(
    x: Sequence[float], variables: Sequence[valmatch_problem.Variable], on_cube: bool
) -> Vector:
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
