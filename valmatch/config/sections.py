"""The sections of a config that hold the options of a command."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, Strict, model_validator

from valmatch.config.factor_paths import dotted
from valmatch.inputs.fields import Flag, NonNegative, Number, Real, Section, Whole, refuse
from valmatch.inputs.limits import LARGEST, LEVEL, RANGES


def _within(argument: str) -> Any:  # noqa: ANN401 - as pydantic has it
    """Return the range of an argument of the public functions."""
    return Field(ge=RANGES[argument].least, le=RANGES[argument].most)


Level = Annotated[float, Field(allow_inf_nan=False, ge=LEVEL[0], le=LEVEL[1]), Strict()]
# Of a problem or a design: whatever is computed of them must stay finite.
Amount = Annotated[float, Field(allow_inf_nan=False, ge=-LARGEST, le=LARGEST), *Real]
Spread = Annotated[float, Field(allow_inf_nan=False, ge=1.0 / LARGEST, le=LARGEST), *Real]

Executor = Literal["local", "processes", "dask"]


class Options(Section):
    """A section of options, in which null is the same as not to give a key."""

    @model_validator(mode="before")
    @classmethod
    def _given(cls, data: object) -> object:
        if isinstance(data, dict):
            known = cls.model_fields
            return {k: value for k, value in data.items() if value is not None or k not in known}
        return data


class Expectation(Section):
    """What a mean is known to be."""

    mean: Number = Field(description="Mean of the response over the replications.")
    tolerance: NonNegative = Field(0.0, description="Largest accepted distance from it.")


class ReplicateOptions(Options):
    """Options of ``valmatch replicate`` that a config can give."""

    n: Annotated[int, _within("n"), *Whole] | None = Field(
        None, description="Number of replications."
    )
    seed: Annotated[int, _within("seed"), *Whole] | None = Field(
        None, description="Seed of all random numbers."
    )
    workers: Annotated[int, _within("workers"), *Whole] | None = Field(
        None, description="Number of workers of this machine."
    )
    executor: Executor | None = Field(
        None,
        description="Where replications run: local (threads where the model can use them, else"
        " processes), processes or a Dask cluster; null: dask with a scheduler, else local.",
    )
    scheduler: str | None = Field(
        None, description="Address of a Dask scheduler; null: dask starts one for the run."
    )
    target: list[str] = Field(
        [], description="Half-widths to reach, such as avg_wait_time=1% or avg_wait_time=0.05."
    )
    max_reps: Annotated[int, _within("max_reps"), *Whole] | None = Field(
        None, description="Number of replications at which targets are given up."
    )
    control_variates: Flag | None = Field(
        None, description="Whether to adjust means by what is known of the arrivals."
    )
    confidence: Level | None = Field(None, description="Confidence level of the intervals.")
    expect: dict[str, Expectation] = Field(
        {},
        description="Means that the run must reproduce: {response: {mean: ..., tolerance: ...}}.",
    )


class VariableOptions(Section):
    """A decision variable: a numeric factor."""

    model_config = ConfigDict(json_schema_extra={"example": "{low: 0, high: 500}"})

    low: Amount = Field(description="Lower bound.")
    high: Amount = Field(description="Upper bound.")
    start: Amount | None = Field(None, description="Starting solution; null: the factor's value.")
    scale: Spread | None = Field(
        None,
        description="Searched linearly below, logarithmically above; null: linearly, in wide ranges"
        " also logarithmically from both ends.",
    )
    mean: Amount | None = Field(None, description="Mean of random solutions; null: the start.")
    std: Spread | None = Field(
        None, description="Standard deviation of random solutions; null: uniform."
    )


class TermOptions(Section):
    """One term of the objective."""

    response: str = Field(description="Response of the model.")
    weight: Amount = Field(1.0, description="Its mean is multiplied by this; the sum minimised.")


class ConstraintOptions(Section):
    """A bound on the mean of a response; one of `at_most`, `at_least`."""

    response: str = Field(description="Response of the model.")
    at_most: Amount | None = Field(None, description="Upper bound of its mean.")
    at_least: Amount | None = Field(None, description="Lower bound of its mean.")

    @model_validator(mode="after")
    def _one_bound(self) -> ConstraintOptions:
        if (self.at_most is None) == (self.at_least is None):
            raise refuse("needs one bound (allowed: at_most or at_least)")
        return self


def _dotted_keys(names: object) -> object:
    """Return a mapping by names of factors with indices in brackets as parts of them."""
    return {dotted(str(key)): of for key, of in names.items()} if isinstance(names, dict) else names


ByFactor = BeforeValidator(_dotted_keys)


class OptimizeOptions(Options):
    """The problem and the options of ``valmatch optimize`` that a config can give."""

    variables: Annotated[dict[str, VariableOptions], ByFactor] = Field(
        {}, description="Decision variables by factor."
    )
    objective: dict[str, TermOptions] = Field(
        {}, description="Terms of the objective, which is minimised, by name."
    )
    constraints: dict[str, ConstraintOptions] = Field({}, description="Bounds on means, by name.")
    objectives: dict[str, TermOptions] = Field(
        {},
        description="Several objectives, by name, in place of one: the run finds their Pareto"
        " front. Of a weight only the sign counts; what has one below 0 is maximised.",
    )
    best_known: Amount | None = Field(
        None,
        description="Best known objective, for solver experiments; null: that of the shipped"
        " problem, if it is one.",
    )
    solver: str | None = Field(None, description="Solver, or several separated by commas.")
    budget: Annotated[int, _within("budget"), *Whole] | None = Field(
        None, description="Replications that a run may take."
    )
    macroreps: Annotated[int, _within("macroreps"), *Whole] | None = Field(
        None, description="Independent runs of each solver."
    )
    seed: Annotated[int, _within("seed"), *Whole] | None = Field(
        None, description="Seed of all random numbers."
    )
    workers: Annotated[int, _within("workers"), *Whole] | None = Field(
        None, description="Number of workers of this machine."
    )
    executor: Executor | None = Field(
        None,
        description="Where runs and replications are made: local, processes or a Dask cluster;"
        " null: dask with a scheduler, else local.",
    )
    scheduler: str | None = Field(
        None, description="Address of a Dask scheduler; null: dask starts one for the run."
    )
    confidence: Level | None = Field(
        None, description="Probability with which a point called feasible is so."
    )


class RangeOptions(Section):
    """The values of a factor in a design that fills space."""

    model_config = ConfigDict(json_schema_extra={"example": "{low: 0, high: 500}"})

    low: Amount = Field(description="Least value.")
    high: Amount = Field(description="Largest value.")
    log: Flag = Field(False, description="Whether to fill the logarithms evenly.")

    @model_validator(mode="after")
    def _ordered(self) -> RangeOptions:
        if self.low > self.high or (self.log and self.low <= 0):
            raise refuse("needs low <= high, and 0 < low with log")
        return self


class DesignOptions(Options):
    """The points of an experiment: a grid, or a sample that fills ranges."""

    grid: Annotated[dict[str, Annotated[list[Any], Field(min_length=1)]], ByFactor] = Field(
        {}, description="Values by factor; every combination is a point."
    )
    ranges: Annotated[dict[str, RangeOptions], ByFactor] = Field(
        {}, description="Ranges to fill, by factor."
    )
    sample: Literal["latin-hypercube", "sobol"] | None = Field(
        None, description="How ranges are filled; null: latin-hypercube."
    )
    points: Annotated[int, _within("points"), *Whole] | None = Field(
        None, description="Number of points of a sample; for sobol a power of two is best."
    )
    seed: Annotated[int, _within("seed"), *Whole] | None = Field(
        None, description="Seed of the sample; null: 1."
    )

    @model_validator(mode="after")
    def _one_kind(self) -> DesignOptions:
        if self.grid and self.ranges:
            raise refuse("give one kind of design (allowed: grid or ranges)", "ranges")
        if bool(self.ranges) != bool(self.points):
            raise refuse("ranges and points need each other", "points", "ranges")
        return self


SECTIONS: dict[str, type[Options]] = {
    "replicate": ReplicateOptions,
    "optimize": OptimizeOptions,
    "design": DesignOptions,
}
"""Each is a field of `Config`; the keys of the first two are the long options of the command."""
