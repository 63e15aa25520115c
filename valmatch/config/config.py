"""A config: what to simulate and how, checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from valmatch.config.factor_paths import label
from valmatch.inputs.arguments import LARGEST, LEVEL, RANGES
from valmatch.inputs.fields import Factors, Flag, NonNegative, Number, Section, real, refuse, whole


def _within(argument: str) -> tuple[Any, ...]:
    """Return the annotation of a number in the range of an argument of the public functions."""
    return whole(*RANGES[argument])


Level = Annotated[float, *real(*LEVEL)]
# Of a problem or a design: whatever is computed of them must stay finite.
Amount = Annotated[float, *real(-LARGEST, LARGEST)]
Spread = Annotated[float, *real(1.0 / LARGEST, LARGEST)]

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

    mean: Number
    """Mean of the response over the replications."""
    tolerance: NonNegative = 0.0
    """Largest accepted distance from it."""


class RunSection(Options):
    """Options of a run that a config can give."""

    seed: Annotated[int, *_within("seed")] | None = None
    """Seed of all random numbers."""
    workers: Annotated[int, *_within("workers")] | None = None
    """Number of workers of this machine."""
    executor: Executor | None = None
    """Where replications run: local (threads where the model can use them, else processes),
    processes or dask; null: dask with a scheduler, else local."""
    scheduler: str | None = None
    """Address of a Dask scheduler; null: dask has worker processes here."""
    confidence: Level | None = None
    """Confidence level of the intervals; of optimize also the probability with which a point called
    feasible is so."""


class ReplicateOptions(RunSection):
    """Options of ``valmatch replicate`` that a config can give."""

    n: Annotated[int, *_within("n")] | None = None
    """Number of replications."""
    target: list[str] = Field([])
    """Half-widths to reach, such as avg_wait_time=1% or avg_wait_time=0.05."""
    max_reps: Annotated[int, *_within("max_reps")] | None = None
    """Number of replications at which targets are given up."""
    control_variates: Flag | None = None
    """Whether to adjust means by what is known of the arrivals."""
    expect: dict[str, Expectation] = Field({})
    """Means that the run must reproduce: {response: {mean: ..., tolerance: ...}}."""


class VariableOptions(Section):
    """A decision variable: a numeric factor."""

    model_config = ConfigDict(json_schema_extra={"example": "{low: 0, high: 500}"})

    low: Amount
    """Lower bound."""
    high: Amount
    """Upper bound."""
    start: Amount | None = None
    """Starting solution; null: the factor's value."""
    scale: Spread | None = None
    """Searched linearly below, logarithmically above; null: linearly, in wide ranges also
    logarithmically from both ends."""
    mean: Amount | None = None
    """Mean of random solutions; null: the start."""
    std: Spread | None = None
    """Standard deviation of random solutions; null: uniform."""


class TermOptions(Section):
    """One term of the objective."""

    response: str
    """Response of the model."""
    weight: Amount = 1.0
    """Its mean is multiplied by this; the sum minimised."""


class Constraint(Section):
    """A bound on the mean of a response; one of `at_most`, `at_least`."""

    response: str
    """Response of the model."""
    at_most: Amount | None = None
    """Upper bound of its mean."""
    at_least: Amount | None = None
    """Lower bound of its mean."""

    @model_validator(mode="after")
    def _one_bound(self) -> "Constraint":
        if (self.at_most is None) == (self.at_least is None):
            raise refuse("needs one bound (allowed: at_most or at_least)")
        return self

    @classmethod
    def of(cls, response: str, sign: int, bound: float) -> "Constraint":
        """Return an upper bound, whose sign is 1, or a lower one, whose sign is -1."""
        key = "at_most" if sign > 0 else "at_least"
        return cls.model_validate({"response": response, key: bound})

    @property
    def sign(self) -> int:
        """1 for an upper bound, -1 for a lower one."""
        return 1 if self.at_least is None else -1

    @property
    def bound(self) -> float:
        """The bound."""
        bound = self.at_most if self.at_least is None else self.at_least
        assert bound is not None  # one of them is given
        return bound

    @property
    def sense(self) -> str:
        """How the response is to be to the bound: ``"<="`` or ``">="``."""
        return "<=" if self.sign > 0 else ">="


class OptimizeOptions(RunSection):
    """The problem and the options of ``valmatch optimize`` that a config can give."""

    variables: dict[str, VariableOptions] = Field({})
    """Decision variables by factor."""
    objective: dict[str, TermOptions] = Field({})
    """Terms of the objective, which is minimised, by name."""
    constraints: dict[str, Constraint] = Field({})
    """Bounds on means, by name."""
    objectives: dict[str, TermOptions] = Field({})
    """Several objectives, by name, in place of one: the run finds their Pareto front. Of a weight
    only the sign counts; what has one below 0 is maximised."""
    best_known: Amount | None = None
    """Best known objective, for solver experiments; null: that of the shipped problem, if it is
    one."""
    solver: str | None = None
    """Solver, or several separated by commas."""
    budget: Annotated[int, *_within("budget")] | None = None
    """Replications that a run may take."""
    macroreps: Annotated[int, *_within("macroreps")] | None = None
    """Independent runs of each solver."""


class RangeOptions(Section):
    """The values of a factor in a design that fills space."""

    model_config = ConfigDict(json_schema_extra={"example": "{low: 0, high: 500}"})

    low: Amount
    """Least value."""
    high: Amount
    """Largest value."""
    log: Flag = False
    """Whether to fill the logarithms evenly."""

    @model_validator(mode="after")
    def _ordered(self) -> "RangeOptions":
        if self.low > self.high or (self.log and self.low <= 0):
            raise refuse("needs low <= high, and 0 < low with log")
        return self


class DesignOptions(Options):
    """The points of an experiment: a grid, or a sample that fills ranges."""

    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = Field({})
    """Values by factor; every combination is a point."""
    ranges: dict[str, RangeOptions] = Field({})
    """Ranges to fill, by factor."""
    sample: Literal["latin-hypercube", "sobol"] | None = None
    """How ranges are filled; null: latin-hypercube."""
    points: Annotated[int, *_within("points")] | None = None
    """Number of points of a sample; for sobol a power of two is best."""
    seed: Annotated[int, *_within("seed")] | None = None
    """Seed of the sample; null: 1."""

    @model_validator(mode="after")
    def _one_kind(self) -> "DesignOptions":
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


@dataclass(frozen=True)
class InputFile:
    """A file that a model reads."""

    path: Path  # where it is
    given: str  # as the config names it
    sha256: str  # digest of its bytes when the config was loaded


@dataclass(frozen=True)
class Config:
    """What to simulate, checked.

    Attributes
    ----------
    model : str
        Name of the model, a key of `MODELS`.
    factors : Factors
        All factors of the model, defaults filled in.
    files : mapping of str to InputFile
        The files that the model reads, by their keys in the config.
    replicate : ReplicateOptions
        The options of ``replicate`` that the config gives; None for those that it does not.
    optimize : OptimizeOptions
        Likewise for ``optimize``, with the problem.
    design : DesignOptions
        The points of an experiment, if the config gives any.
    source : str
        The file, as errors show it.
    warnings : tuple of str
        Settings that are valid but probably not meant, one located line each.
    places : mapping of str to str
        ``file:line:column`` of what is written, by dotted path.
    """

    model: str
    factors: Factors
    files: Mapping[str, InputFile] = field(default_factory=dict)
    replicate: ReplicateOptions = field(default_factory=lambda: ReplicateOptions.model_validate({}))
    optimize: OptimizeOptions = field(default_factory=lambda: OptimizeOptions.model_validate({}))
    design: DesignOptions = field(default_factory=lambda: DesignOptions.model_validate({}))
    source: str = ""
    warnings: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def one_history(self) -> bool:
        """Whether every replication is the same, as there is nothing to draw."""
        return self.factors.one_history(self.files.keys())

    def at(self, path: str) -> str:
        """Return ``file:line:column: path``, with the place of the nearest thing written."""
        written = path
        while written and written not in self.places:
            written = written.rpartition(".")[0]
        return f"{self.places.get(written, self.source)}: {label(path.split('.'))}"
