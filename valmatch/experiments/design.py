"""The points of an experiment over several factors."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import product
from typing import Any

from valmatch.config.config import Config
from valmatch.config.factor_paths import parts
from valmatch.errors import InputError, option
from valmatch.inputs.fields import schema_at
from valmatch.inputs.limits import LARGEST, RANGES
from valmatch.inputs.yaml_document import parse, to_value
from valmatch.models.registry import MODELS
from valmatch.text.numerals import real_number
from valmatch.text.terminal import shortened, shown

DEFAULT_SEED = 1

MOST_LEVELS = 10_000  # most values of FIRST:LAST:STEP


@dataclass(frozen=True)
class Design:
    """Points, each a value for every factor."""

    factors: Sequence[str]  # keys as ``--set`` takes them
    points: Sequence[tuple[Any, ...]]  # values of the factors
    # what messages call the factors: where they are given
    names: Sequence[str] = field(default=(), compare=False)

    def levels(self, point: tuple[Any, ...]) -> list[tuple[str, str]]:
        """Return a point as the name and ``KEY=VALUE`` of each factor."""
        texts = [f"{k}={json.dumps(v)}" for k, v in zip(self.factors, point, strict=True)]
        return list(zip(self.names or self.factors, texts, strict=True))


def design_of(config: Config, sweeps: Sequence[str]) -> Design | None:
    """Return the grid that sweeps span, else the design of the config, if it has one."""
    if sweeps:
        levels = [parse_levels(text) for text in sweeps]
        if len({key for key, _ in levels}) < len(levels):
            given = " ".join(f"{option('sweep')} {text}" for text in sweeps)
            raise InputError(f"{given}: a key is given twice")
        names = [f"{option('sweep')} {shortened(key)}" for key, _ in levels]
        return _grid(dict(levels), option("sweep"), names)
    if config.design.grid:
        names = [config.at(f"design.grid.{key}") for key in config.design.grid]
        return _grid(config.design.grid, config.at("design.grid"), names)
    return _sample(config) if config.design.ranges else None


def parse_levels(text: str) -> tuple[str, list[Any]]:
    """Return the key and the values of ``KEY=VALUE,...`` or ``KEY=FIRST:LAST:STEP``.

    LAST is among the values if a step ends there.
    """
    key, equals, given = text.partition("=")
    wrong = InputError(
        f"{option('sweep')} {shortened(text)}: not of the form KEY=VALUE,VALUE,... or"
        " KEY=FIRST:LAST:STEP (numbers up to 1e100, at most 10,000 values)"
    )
    if not (key.strip() and equals and given.strip()):
        raise wrong
    if given.count(":") == 2 and "," not in given:
        numbers = span(given)
        if numbers is None:
            raise wrong
        whole = all(value.is_integer() for value in numbers)
        return key.strip(), [int(v) for v in numbers] if whole else numbers
    try:
        node = parse(f"[{given}]", "sweep")
    except InputError:
        raise wrong from None
    values = to_value(node) if node is not None else []
    if not isinstance(values, list) or not values or None in values:
        raise wrong
    return key.strip(), values


def _grid(levels: Mapping[str, Sequence[Any]], where: str, names: Sequence[str]) -> Design:
    count = math.prod(map(len, levels.values()))
    most = RANGES["points"].most
    if count > most:
        raise InputError(f"{where}: the design has {shown(count)} points (allowed: at most {most})")
    return Design(list(levels), list(product(*levels.values())), names)


def _sample(config: Config) -> Design:
    """Return a space-filling sample of the ranges that a config gives."""
    from scipy.stats import qmc

    options, ranges = config.design, config.design.ranges
    sampler: Any = qmc.Sobol if options.sample == "sobol" else qmc.LatinHypercube
    seed = DEFAULT_SEED if options.seed is None else options.seed
    units = sampler(len(ranges), rng=seed).random(options.points)
    kinds = [_kind(config, key) for key in ranges]
    rows = [
        tuple(
            _scaled(u, range_.low, range_.high, range_.log, kind)
            for u, range_, kind in zip(row, ranges.values(), kinds, strict=True)
        )
        for row in units.tolist()
    ]
    return Design(list(ranges), rows, [config.at(f"design.ranges.{key}") for key in ranges])


def _kind(config: Config, key: str) -> str:
    """Return the JSON type of a factor; of one that does not exist, a number."""
    path = parts(key.removeprefix("factors."))
    return str(schema_at(MODELS[config.model].factors, path).get("type", "number"))


def _scaled(unit: float, low: float, high: float, log: bool, kind: str) -> float | int:
    """Return the value at `unit` in [0, 1) of the way from low to high."""
    whole = kind == "integer"
    if whole:
        high += 1  # every whole number has the same share
    if log:
        value = math.exp(math.log(low) + unit * (math.log(high) - math.log(low)))
    else:
        value = low + unit * (high - low)
    return math.floor(value) if whole else value


def span(text: str) -> list[float] | None:
    """Return the values FIRST, FIRST + STEP, ... up to LAST; None if that is not what `text` says.

    LAST is among them if a step ends there. Steps are taken in decimals, so that 0.1:0.3:0.1
    ends with 0.3.
    """
    parts = [part.strip() for part in text.split(":")]
    if not all(map(_moderate, parts)):
        return None
    try:
        first, last, step = map(Decimal, parts)
        count = (last - first) / step
    except (ValueError, ArithmeticError):
        return None
    if not 0 <= count < MOST_LEVELS:
        return None
    return [float(first + k * step) for k in range(int(count) + 1)]


def _moderate(text: str) -> bool:
    """Return whether a text is a number whose size is not absurd."""
    number = real_number(text)
    return number is not None and abs(number) <= LARGEST
