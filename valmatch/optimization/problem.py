"""Optimisation problems over the factors of models, those that configs pose, and shipped ones."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from valmatch.config.config import Config, Constraint, VariableOptions
from valmatch.config.factor_paths import (
    factor_at,
    factor_names,
    flat,
    is_open,
    parts,
    replaced,
    section_of,
)
from valmatch.config.identity import config_id, problem_id, set_factors
from valmatch.config.loading import load_config, shipped_configs
from valmatch.errors import MOST, InputError, collecting, in_lines
from valmatch.inputs.fields import Factors, allowed, plain_number, schema_at
from valmatch.kernels.arrays import Floats
from valmatch.models.model import ANY, Model
from valmatch.models.registry import no_response
from valmatch.statistics.estimates import t_quantile
from valmatch.text.suggestions import by_last_part, hint

START, TODAY = "start", "today's rule"  # the points that a config gives, by their names
EDGE = 1e-3  # as near to the edge of the unit cube, the value of a variable is at its bound
HALVINGS = 52  # that find a value on a scale whose inverse has no formula


@dataclass(frozen=True)
class Variable:
    """A decision variable: a numeric factor of the model."""

    name: str  # the factor
    low: float  # bounds, in the unit of the factor
    high: float
    # values far above `scale` are spaced logarithmically, values far below it linearly; inf for
    # linear spacing throughout
    scale: float
    start: float  # value in the starting solution
    # random solutions draw the variable from this normal distribution, then clip it; with an
    # infinite std they draw it uniformly on the search scale
    mean: float
    std: float
    integer: bool = False  # whether it takes whole numbers only
    # where no scale was given in a range of many sizes: half of the values are spaced linearly,
    # half logarithmically beyond these distances from `low` and from `high`. Then `scale` says
    # nothing
    ends: tuple[float, float] | None = None

    def to_unit(self, value: float) -> float:
        """Map [low, high] to [0, 1]."""
        span, distance = self.high - self.low, value - self.low
        if self.ends:
            below, above = self.ends
            low, high = math.log1p(distance / below), math.log1p((self.high - value) / above)
            of_low, of_high = math.log1p(span / below), math.log1p(span / above)
            return 0.5 * (distance / span + (low + of_high - high) / (of_low + of_high))
        if math.isinf(self.scale):
            return distance / span
        return math.log1p(distance / self.scale) / math.log1p(span / self.scale)

    def from_unit(self, unit: float) -> float:
        """Map [0, 1] to [low, high]; the inverse of `to_unit`, whole where the factor is."""
        unit, span = min(1.0, max(0.0, unit)), self.high - self.low
        if self.ends:
            value = self.low + self._from_ends(unit, self.ends)
        elif math.isinf(self.scale):
            value = self.low + unit * span
        else:
            value = self.low + self.scale * math.expm1(unit * math.log1p(span / self.scale))
        # Twelve digits, so that 200 comes back as 200.
        value = min(self.high, max(self.low, float(f"{value:.12g}")))
        return float(round(value)) if self.integer else value

    def _from_ends(self, unit: float, ends: tuple[float, float]) -> float:
        """Return the distance from `low` of the value that is at `unit`, by halving."""
        (below, above), span = ends, self.high - self.low
        if unit in (0.0, 1.0):
            return unit * span
        logarithm = math.log1p(span / below) + math.log1p(span / above)

        def distance(share: float) -> float:
            grown = math.expm1(logarithm * share)
            return grown / (1.0 / below + (grown + 1.0) / (above + span))

        least, most = 0.0, 1.0  # shares of the logarithmic scale
        for _ in range(HALVINGS):
            middle = 0.5 * (least + most)
            if 0.5 * (distance(middle) / span + middle) < unit:
                least = middle
            else:
                most = middle
        return distance(0.5 * (least + most))


@dataclass(frozen=True)
class Term:
    """One weighted response of the objective."""

    name: str
    response: str
    weight: float


@dataclass(frozen=True)
class Problem:
    """Minimise a weighted sum of mean responses subject to bounds on mean responses.

    Attributes
    ----------
    variables : sequence of Variable
        The decision variables; a point is a vector of their values.
    terms : sequence of Term
        The objective; minimised.
    constraints : mapping of str to Constraint
        Bounds by name, all of which must hold: each has a `response`, a `bound`, and a `sign` of 1
        for an upper and -1 for a lower one.
    today : mapping of str to float or None
        The values that the config itself has for the variables; None where it gives none, or those
        of the start.
    limits : mapping of str to (float, float)
        The least and the largest value of each response that has any.
    """

    variables: Sequence[Variable]
    terms: Sequence[Term]
    constraints: Mapping[str, Constraint]
    today: Mapping[str, float] | None = None
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def start(self) -> Floats:
        """The starting solution in the unit cube."""
        return np.array([v.to_unit(v.start) for v in self.variables])

    @property
    def baselines(self) -> dict[str, Floats]:
        """The points of the unit cube that the config gives, by name: the start comes first.

        Today's rule is one of them where it is another point within the bounds.
        """
        points, today = {START: self.start}, self.today
        if today and all(v.low <= today[v.name] <= v.high for v in self.variables):
            points[TODAY] = np.array([v.to_unit(today[v.name]) for v in self.variables])
        return points

    def name_of(self, unit: Floats) -> str:
        """Return the name of a point that the config gives, "" for any other."""
        point = self.point(unit)
        return next((n for n, base in self.baselines.items() if self.point(base) == point), "")

    def at_bounds(self, point: Mapping[str, float]) -> dict[str, str]:
        """Return which variables of a point are at a bound, ``"low"`` or ``"high"``."""
        units = {v.name: v.to_unit(point[v.name]) for v in self.variables}
        edges = {name: unit for name, unit in units.items() if min(unit, 1.0 - unit) <= EDGE}
        return {name: "low" if unit < 0.5 else "high" for name, unit in edges.items()}

    @property
    def responses(self) -> list[str]:
        """The responses that the problem names, each once."""
        names = [term.response for term in self.terms]
        return list(dict.fromkeys(names + [bound.response for bound in self.constraints.values()]))

    def random_solution(self, rng: np.random.Generator) -> Floats:
        """Draw a random solution of the source: normal, clipped to the bounds; in the unit cube."""
        unit = np.empty(len(self.variables))
        for k, v in enumerate(self.variables):
            if math.isinf(v.std):
                unit[k] = rng.random()
            else:
                unit[k] = v.to_unit(min(v.high, max(v.low, rng.normal(v.mean, v.std))))
        return unit

    def point(self, unit: Floats) -> dict[str, float]:
        """Return the factors at a point of the unit cube."""
        return dict(zip(self.names, self.values(unit), strict=True))

    def values(self, unit: Floats) -> tuple[float, ...]:
        """Return the values of the factors at a point of the unit cube."""
        return tuple(v.from_unit(u) for v, u in zip(self.variables, unit.tolist(), strict=True))

    @property
    def names(self) -> list[str]:
        """The factors."""
        return [v.name for v in self.variables]

    def outcomes(self, responses: Mapping[str, Floats]) -> Floats:
        """Return (n, 1 + constraints): objective and excess over each bound, per replication.

        A constraint holds where the mean of its excess is <= 0. NaN marks a replication in which
        a response is undefined.
        """
        objective = sum(self._weighted(responses), np.float64(0.0))
        bounds = self.constraints.values()
        excesses = [c.sign * (responses[c.response] - c.bound) for c in bounds]
        return np.column_stack([objective, *excesses])

    @property
    def limits_of_excesses(self) -> Floats:
        """(constraints, 2): the least and the largest excess over each bound that there can be."""
        rows = [
            sorted(c.sign * (limit - c.bound) for limit in self.limits.get(c.response, ANY))
            for c in self.constraints.values()
        ]
        return np.array(rows).reshape(-1, 2)

    def parts(self, responses: Mapping[str, Floats]) -> Floats:
        """Return (n, terms): what the terms add to the objective, per replication."""
        return np.column_stack(self._weighted(responses))

    def _weighted(self, responses: Mapping[str, Floats]) -> list[Floats]:
        return [term.weight * responses[term.response] for term in self.terms]


# A range is searched linearly where its largest value is at most this many times its least.
ORDERS = 100.0

# Distances from an end that matter: the range divided by this; by its square, if the start is as
# near.
SIZES = 300.0

FINEST = 1e-30  # least of all, as a share of the range


def problem_of(config: Config, model: Model[object]) -> Problem:
    """Return the problem of the `optimize` section of a config."""
    section = config.optimize
    for key in ("variables", "objective"):
        if not getattr(section, key):
            others = {} if section.variables or section.objective else shipped_problems()
            names = ", ".join(k for k, other in others.items() if other.model == config.model)
            shipped = f"; shipped problems of {config.model}: {names}" if names else ""
            raise InputError(
                f"{config.at(f'optimize.{key}')}: missing (at least one is needed{shipped})"
            )
    variables, wrong = list[Variable](), list[str]()
    for name, of in section.variables.items():
        if len(wrong) == MOST:
            break
        with collecting(wrong):
            variables.append(_variable(config, name, of))
    limits = {response.name: response.limits for response in model.responses}
    for part in ("objective", "constraints"):
        for name, entry in getattr(section, part).items():
            if entry.response not in limits and len(wrong) < MOST:
                at = config.at(f"optimize.{part}.{name}.response")
                what = no_response(config.model, config.factors, entry.response, limits)
                wrong.append(f"{at}: {what}")
    if wrong:
        raise InputError(*in_lines(wrong))
    _check_together(config, model, variables)
    terms = [Term(name, term.response, term.weight) for name, term in section.objective.items()]
    return Problem(variables, terms, dict(section.constraints), _today(config, variables), limits)


def _today(config: Config, variables: Sequence[Variable]) -> dict[str, float] | None:
    """Return the config's own values of the variables, unless all are defaults or the start's."""
    # A default is nobody's rule, whether it is written out or not.
    chosen = flat(set_factors(config.factors))
    if not any(variable.name in chosen for variable in variables):
        return None
    values = flat(config.factors.model_dump(mode="json"))
    numbers = {v.name: values.get(v.name) for v in variables}  # a factor may be null
    today = {name: float(n) for name, n in numbers.items() if isinstance(n, int | float)}
    changed = len(today) == len(variables) and any(today[v.name] != v.start for v in variables)
    return today if changed else None


def scales_by_default(problem: Problem) -> dict[str, Any]:
    """Return what a summary says of search scales that were not given, if any."""
    text = "linear and logarithmic from both ends"
    scales = {variable.name: text for variable in problem.variables if variable.ends}
    return {"search_scale": scales} if scales else {}


def default_ends(
    low: float, high: float, start: float, integer: bool
) -> tuple[float, float] | None:
    """Return the `ends` of a variable whose search scale is not given; None for linear spacing."""
    # Values are of many sizes where the largest is more than `ORDERS` times the least: in whole
    # numbers 1 at least, in others as small as one likes where the range begins at 0. A range
    # across 0 is one of places, not of sizes. The start may show that small distances matter.
    least, most = sorted((abs(low), abs(high)))
    if integer:
        least = max(1.0, least)
    if low < 0.0 < high or most <= ORDERS * least:
        return None
    span = high - low

    def end(bound: float) -> float:
        distance = max(min(span / SIZES, abs(start - bound) or math.inf), span / SIZES**2)
        if abs(bound) == least > 0.0:  # so that logarithms are those of the values themselves
            distance = max(least, FINEST * span)
        return max(1.0, distance) if integer else distance

    return end(low), end(high)


def with_factors(config: Config, changes: Mapping[str, float]) -> Factors:
    """Return the factors of a config with some of them changed, checked."""
    values = config.factors.model_dump()
    for name, value in changes.items():
        values = replaced(values, parts(name), value)
    return type(config.factors).model_validate(values, context={"files": frozenset(config.files)})


def _variable(config: Config, name: str, options: VariableOptions) -> Variable:
    """Return a decision variable, its bounds and start checked against the factor."""
    path = f"optimize.variables.{name}"
    value = _value(config, name, path)
    low, high = options.low, options.high
    between = f"(allowed: from {plain_number(low)} to {plain_number(high)})"
    if value is None and options.start is None:
        raise InputError(f"{config.at(path)}: needs a start, as the factor is null {between}")
    start = float(value or 0.0) if options.start is None else options.start
    if not low < high:
        what = f"{plain_number(low)} is not below high, {plain_number(high)}"
        raise InputError(f"{config.at(f'{path}.low')}: {what}")
    for key, bound in (("low", low), ("high", high)):
        try:
            with_factors(config, {name: bound})
        except ValidationError as error:
            schema = schema_at(type(config.factors), parts(name))
            limits = allowed(schema) if schema else error.errors()[0]["msg"]
            what = f"{plain_number(bound)} is outside the range of the factor (allowed: {limits})"
            raise InputError(f"{config.at(f'{path}.{key}')}: {what}") from None
    if not low <= start <= high:
        what = f"{plain_number(start)} is outside the bounds {between}"
        raise InputError(f"{config.at(f'{path}.start')}: {what}")
    integer = isinstance(value, int) or (
        value is None and _kinds(type(config.factors), name) == {"integer"}
    )
    scaled = options.scale is not None or options.std is not None
    return Variable(
        name,
        low,
        high,
        math.inf if options.scale is None else options.scale,
        start,
        start if options.mean is None else options.mean,
        math.inf if options.std is None else options.std,
        integer=integer,
        ends=None if scaled else default_ends(low, high, start, integer),
    )


def _value(config: Config, name: str, path: str) -> float | None:
    """Return the value of a numeric factor, None where the factor may be null and is."""
    model = type(config.factors)
    values, names = flat(config.factors.model_dump(mode="json")), factor_names(model)
    value = values.get(name)
    if _is_number(value) or (name in values and value is None and _kinds(model, name)):
        return value  # type: ignore[return-value]
    numeric = [factor for factor in names if _is_number(values.get(factor))]
    section, _, last = name.rpartition(".")
    what = "is not a number" if name in names else "is no factor"
    if section_of(factor_at(model, name.split("."))[0]):
        what = "is a section, not a factor"
        numeric = [factor for factor in numeric if factor.startswith(f"{name}.")]
    candidates = by_last_part(numeric, section)
    raise InputError(f"{config.at(path)}: {what} ({hint(last, candidates, candidates)})")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kinds(model: type[Factors], name: str) -> set[str]:
    """Return which kinds of numbers a factor may be that may also be null."""
    options = schema_at(model, parts(name)).get("anyOf", ())
    return {"integer", "number"} & {option.get("type") for option in options}


def _check_together(config: Config, model: Model[object], variables: Sequence[Variable]) -> None:
    """Refuse bounds between which parts of an open factor do not go together, such as steps."""
    # These are asked of two values at a time, so that pairs of bounds show it.
    fields = type(config.factors).model_fields
    open_parts = [v for v in variables if is_open(fields[v.name.partition(".")[0]])]
    pairs = list(combinations(open_parts, 2)) or [(v, v) for v in open_parts]
    files = {key: file.path for key, file in config.files.items()}
    for first, second in pairs:
        for values in product((first.low, first.high), (second.low, second.high)):
            changes = dict(zip((first.name, second.name), values, strict=True))
            try:
                type(model)(with_factors(config, changes), files)  # type: ignore[call-arg]
            except (InputError, ValidationError) as error:
                what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
                bounds = ", ".join(f"{name}={plain_number(v)}" for name, v in changes.items())
                at = config.at("optimize.variables")
                raise InputError(f"{at}: the bounds allow {bounds}: {what}") from None


TABLE = "best-known.csv"


def table_file() -> Path:
    """Return the table that ``results/best-known/make.py`` writes."""
    package = Path(__file__).parents[1]
    # Installed, it lies inside the package, beside the configs.
    inside = package / "configs" / TABLE
    return inside if inside.is_file() else package.parent / "results" / "best-known" / TABLE


def shipped_problems() -> dict[str, Config]:
    """Return the shipped configs that pose a problem, by name."""
    configs = {name: load_config(name) for name in shipped_configs()}
    return {name: config for name, config in configs.items() if config.optimize.variables}


@cache
def _table() -> dict[str, dict[str, Any]]:
    """Return what there is to say of the best known point of each problem, by its config."""
    # Of a point of least violation where nothing was certified.
    objective = {"objective": "objective", "ci_low": "objective_low", "ci_high": "objective_high"}
    entries = {}
    with table_file().open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            feasible, n = row["feasible"] == "True", int(row["n"])
            scale = math.sqrt(n) / t_quantile(0.975, n - 1)  # intervals are of 95 %
            entries[row["config"]] = {
                "feasible": feasible,
                **({key: float(row[name]) for key, name in objective.items()} if feasible else {}),
                # the standard deviation of a replication of each mean
                "noise": {
                    name: scale * (float(row[f"{name}_high"]) - float(row[f"{name}_low"])) / 2.0
                    for name in row
                    if f"{name}_low" in row and row[name]
                },
                "solver": row["solver"],
                "replications": int(row["replications"]),  # of all searches whose best it is
                "date": row["date"],
            }
    return entries


def best_known(config: Config) -> float | None:
    """Return the best known objective of a problem: the config's own, or that of a shipped one."""
    # A problem is a shipped one if it has the same factors, variables, objective and constraints.
    if config.optimize.best_known is not None:
        return config.optimize.best_known
    ids = config_id(config), problem_id(config)
    for name, known in _table().items():
        shipped = load_config(name)
        if shipped.model == config.model and (config_id(shipped), problem_id(shipped)) == ids:
            return known.get("objective")
    return None


def listed() -> list[dict[str, Any]]:
    """Return what there is to say of each shipped problem."""
    return [
        {
            "problem": name,
            "model": config.model,
            "dimension": len(config.optimize.variables),
            "variables": list(config.optimize.variables),
            "constraints": [
                f"{c.response} {c.sense} {c.bound:g}" for c in config.optimize.constraints.values()
            ],
            "best_known": _table().get(name),
        }
        for name, config in shipped_problems().items()
    ]
