"""The optimisation problem that a config poses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any

from pydantic import ValidationError

from valmatch.config.config import Config, VariableOptions
from valmatch.config.factor_paths import (
    factor_at,
    factor_names,
    flat,
    is_open,
    parts,
    replaced,
    section_of,
)
from valmatch.config.identity import set_factors
from valmatch.errors import MOST, InputError, collecting, in_lines
from valmatch.inputs.fields import Factors, allowed, plain_number, schema_at
from valmatch.models.model import Model
from valmatch.models.registry import no_response
from valmatch.optimization.best_known import shipped_problems
from valmatch.optimization.problem import Problem, Term, Variable
from valmatch.text.suggestions import by_last_part, hint

# A range is searched linearly where its largest value is at most this many times its least.
ORDERS = 100.0

SIZES = 300.0
"""Distances from an end that matter: the range divided by this; by its square, if the start is as
near."""

FINEST = 1e-30  # least of all, as a share of the range


def problem_of(config: Config, model: Model[object]) -> Problem:
    """Return the problem of the `optimize` section of a config."""
    section = config.optimize
    for key in ("variables", "objective"):
        if not getattr(section, key):
            shipped = "" if section.variables or section.objective else _shipped_problems(config)
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
    today = _today(config, variables)
    return Problem(variables, terms, dict(section.constraints), today, limits)


def _shipped_problems(config: Config) -> str:
    """Return the shipped problems of the model of a config, to go on with after what is missing."""
    names = [name for name, other in shipped_problems().items() if other.model == config.model]
    return f"; shipped problems of {config.model}: {', '.join(names)}" if names else ""


def _today(config: Config, variables: Sequence[Variable]) -> dict[str, float] | None:
    """Return the config's own values of the variables, unless all are defaults or the start's."""
    # A default is nobody's rule, whether it is written out or not.
    chosen = flat(set_factors(config.factors))
    if not any(variable.name in chosen for variable in variables):
        return None
    values = flat(config.factors.model_dump(mode="json"))
    today = {}
    for variable in variables:
        value = values.get(variable.name)
        if not isinstance(value, int | float):
            return None  # it may be null
        today[variable.name] = float(value)
    return None if all(today[v.name] == v.start for v in variables) else today


def scales_by_default(problem: Problem) -> dict[str, Any]:
    """Return what a summary says of search scales that were not given, if any."""
    names = [variable.name for variable in problem.variables if variable.ends]
    scales = dict.fromkeys(names, "linear and logarithmic from both ends")
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
        near = abs(start - bound) or math.inf
        distance = max(min(span / SIZES, near), span / SIZES**2)
        if abs(bound) == least > 0.0:  # so that logarithms are those of the values themselves
            distance = max(least, FINEST * span)
        return max(1.0, distance) if integer else distance

    return end(low), end(high)


def with_factors(config: Config, changes: Mapping[str, float]) -> Factors:
    """Return the factors of a config with some of them changed, checked."""
    values = config.factors.model_dump()
    for name, value in changes.items():
        values = replaced(values, parts(name), value)
    context = {"files": frozenset(config.files)}
    return type(config.factors).model_validate(values, context=context)


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
        _check_range(config, name, f"{path}.{key}", bound)
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
    if section_of(factor_at(model, name.split("."))):
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


def _check_range(config: Config, name: str, path: str, value: float) -> None:
    """Refuse a bound that the factor itself does not take."""
    try:
        with_factors(config, {name: value})
    except ValidationError as error:
        schema = schema_at(type(config.factors), parts(name))
        limits = allowed(schema) if schema else error.errors()[0]["msg"]
        what = f"{plain_number(value)} is outside the range of the factor (allowed: {limits})"
        raise InputError(f"{config.at(path)}: {what}") from None


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
