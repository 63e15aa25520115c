"""Sliders over the points of a grid: means, and paired differences to the config as it is."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from valmatch.config.config import Config
from valmatch.config.factor_paths import dotted, parts, replaced
from valmatch.config.identity import config_id, resolved, set_factors
from valmatch.config.writing import document
from valmatch.experiments.replications import Replications
from valmatch.experiments.sweep import DesignReplications
from valmatch.models.model import Response
from valmatch.present import document as d
from valmatch.present.provenance import unit_of_factor
from valmatch.statistics.estimates import FEW_VALUES, Estimate
from valmatch.statistics.pairs import paired
from valmatch.statistics.rounding import mean_and_half
from valmatch.text.terminal import escaped, labelled, shortened

MOST_POINTS = 5000  # points of a grid that has sliders


def explorer_of(
    result: DesignReplications, responses: Sequence[Response], first: Sequence[Response]
) -> d.Explorer | None:
    """Return the sliders of a design that is a whole grid, `first` responses in large numbers."""
    design, runs = result.design, result.results
    points = design.points[: len(design.points) - design.beside]
    levels = [_levels(column) for column in zip(*points, strict=True)]
    at = {tuple(map(json.dumps, point)): k for k, point in enumerate(points)}
    is_grid = math.prod(map(len, levels)) == len(at) and len(runs) == len(design.points)
    if not is_grid or not 1 < len(at) <= MOST_POINTS:
        return None
    ids, base = [config_id(run.config) for run in runs], config_id(result.config)
    today = ids.index(base) if base in ids else None
    means = [[_text(run.estimates[r.name]) for run in runs] for r in responses]
    changes: Sequence[Sequence[str]] = [[] for _ in responses]
    if today is not None:
        rows = [_changes(runs[today], run, responses) for run in runs]
        changes = list(zip(*rows, strict=True))
    units = [unit_of_factor(result.config.model, name) for name in design.factors]
    names = [escaped(name.removeprefix("factors.")) for name in design.factors]
    now = design.points[today] if today is not None else [None] * len(names)
    data = {
        "factors": list(map(_factor, names, units, levels, now)),
        "responses": [
            _described(response, response in first) | {"means": texts, "changes": changed}
            for response, texts, changed in zip(responses, means, changes, strict=True)
        ],
        "grid": [at[key] for key in product(*(map(json.dumps, values) for values in levels))],
        "today": today,
        "level": d.confidence_in_words(runs[0].confidence),
        "rule": _rule(result.config, design.factors),
    }
    heads = [labelled(*pair) for pair in zip(names, units, strict=True)]
    heads += [labelled(escaped(response.name), response.unit) for response in responses]
    rows_of_table = (
        [*map(_level, point), *(_readable(cells[k]) for cells in means)]
        for k, point in enumerate(design.points)
    )
    return d.Explorer(data, heads, rows_of_table)


def _factor(name: str, unit: str, values: Sequence[Any], now: object) -> dict[str, Any]:
    """Return a factor as the script reads it; `now` is its value today."""
    numbers = values if _are_numbers(values) else list(range(len(values)))
    texts = {"texts": list(map(_level, values)), "yaml": list(map(json.dumps, values))}
    today = {"today": _level(now), "start": _nearest(values, now)}
    return {"name": name, "unit": unit, "values": numbers, **texts, **today}


def _described(response: Response, large: bool) -> dict[str, Any]:
    name, meaning = escaped(response.name), escaped(response.meaning)
    return {"name": name, "unit": response.unit, "meaning": meaning, "large": large}


def _levels(column: Sequence[Any]) -> list[Any]:
    """Return the values of a factor, numbers in order."""
    values = list({json.dumps(value): value for value in column}.values())
    return sorted(values) if _are_numbers(values) else values


def _are_numbers(values: Sequence[object]) -> bool:
    return all(isinstance(x, int | float) and not isinstance(x, bool) for x in values)


def _level(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else shortened(escaped(str(value)))


def _nearest(values: Sequence[Any], value: object) -> int:
    """Return where a slider stands first: at the value of today, or near it."""
    if _are_numbers([*values, value]):
        return min(range(len(values)), key=lambda k: abs(values[k] - value))
    return values.index(value) if value in values else 0


def _text(mean: Estimate) -> str:
    """Return a mean, what its interval is, and a mark if that is doubtful, as the script reads."""
    return " ".join([*mean_and_half(mean), *(["?"] if FEW_VALUES in mean.remarks else [])])


def _readable(text: str) -> str:
    mean, half, *_ = text.split(" ")
    return f"{mean} {'' if '/' in half else '± '}{half}" if half else mean


def _changes(base: Replications, run: Replications, responses: Sequence[Response]) -> list[str]:
    """Return the paired differences of a run to another, in the replications that both have."""
    common, here, there = np.intersect1d(base.indices, run.indices, return_indices=True)
    columns = ([side[response.name] for response in responses] for side in (base, run))
    first, second = (np.array(values).T for values in columns)
    samplings, limits = (base.sampling, run.sampling), [response.limits for response in responses]
    pairs = paired(first[here], second[there], base.confidence, samplings, common.tolist(), limits)
    return [_text(pair.difference) for pair in pairs]


def _rule(config: Config, factors: Sequence[str]) -> list[str]:
    """Return the config as YAML, in pieces with the numbers of factors between them; [] if none."""
    values, names = resolved(config)["factors"], set(set_factors(config.factors))
    for number, key in enumerate(factors):
        path = parts(dotted(key.removeprefix("factors.")))
        try:
            values = replaced(values, path, f"\0{number}")
        except (KeyError, IndexError, TypeError):
            return []
        names.add(str(path[0]))
    changed = {name: value for name, value in values.items() if name in names}
    files = {key: file.given for key, file in config.files.items()}
    return re.split(r'"\\u0000(\d+)"', document("", config.model, changed, **files).strip())
