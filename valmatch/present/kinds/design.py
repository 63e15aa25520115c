"""Presentation of a design: what changes with the factors that were varied, with sliders."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
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
from valmatch.present.kinds.replicate import curve_charts
from valmatch.present.kinds.responses import glossary
from valmatch.present.provenance import unit_of_factor
from valmatch.statistics.estimates import FEW_VALUES, Estimate
from valmatch.statistics.pairs import paired
from valmatch.statistics.rounding import mean_and_half
from valmatch.text.terminal import escaped, labelled, shortened

CHARTS = 24  # most responses that are drawn
MEANS = 3  # responses in the table of points, where none are chosen
EXPLORED = 20  # responses beside sliders, where none are chosen
MOST_POINTS = 5000  # points of a grid that has sliders
SEVERAL = 2  # responses that a finding names where several factors vary

Point = Mapping[str, object]


def present(result: DesignReplications, view: d.View) -> d.Presentation:
    """Return what a design shows."""
    name, model, chosen = d.config_name(result.config), result.config.model, view.responses
    factors = [factor.removeprefix("factors.") for factor in result.design.factors]
    points = [dict(zip(factors, point.values(), strict=True)) for point in result.points]
    seed = f", seed {result.results[0].seed}" if result.results else ""
    counts = [run.count for run in result.results] or [0]
    least, most = min(counts), max(counts)
    n = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    source = f"{model} ({model})" if name == model else name
    page = d.Presentation(
        f"Sweep of {name}",
        f"How do the responses of {name} depend on {d.joined(factors)}?"
        f" {d.counted(len(points), 'point')}{seed}.",
        header=f"{source}{seed}, {n} replications at each point",
    )
    if not points:
        return page
    means = [run.estimates for run in result.results]
    responses = at_every_point([run.responses for run in result.results])
    shown = d.headline(
        responses, [response.name for response in responses if response.name in chosen]
    )
    page.finding = _finding(points, means, shown if len(factors) == 1 else shown[:SEVERAL])
    page.glossary = d.meanings_in_words(shown)
    first = responses[:MEANS]
    if window := responses[0].window:  # its first measure under every policy
        first = [
            response
            for response in responses
            if response.window and response.window[1:] == window[1:]
        ]
    table = _points(points, means, list(chosen) or [response.name for response in first])
    page.tables = [d.Block("Means at each point", table=table)]
    wanted = [
        response
        for response in responses
        if (response.name in chosen if chosen else not response.part)
    ]
    charts = [_chart(model, factors, points, means, response) for response in wanted[:CHARTS]]
    page.charts = [d.Block("Means against the factors", charts=charts, figure="design")]
    page.explorer = partial(_explorer, result, wanted if chosen else wanted[:EXPLORED], shown)
    if all(run.axes and run.curves for run in result.results):
        rows = [
            replace(chart, title=f"{chart.title}, {_place(point)}")
            for row in zip(*map(curve_charts, result.results), strict=False)
            for chart, point in zip(row, points, strict=True)
        ]
        page.charts.insert(0, d.Block("At each point", charts=rows, figure="curves"))
    page.blocks = glossary(responses)
    return page


def at_every_point(points: Sequence[Sequence[Response]]) -> list[Response]:
    """Return the responses that every point of a design has, a measure's policies side by side."""
    common = set.intersection(*({response.name for response in point} for point in points))
    measures: dict[object, list[Response]] = {}
    for response in points[0]:
        if response.name in common:
            window = response.window
            measures.setdefault(window[1:] if window else response.name, []).append(response)
    return [response for measure in measures.values() for response in measure]


def _points(
    points: Sequence[Point], means: Sequence[Mapping[str, Estimate]], shown: Sequence[str]
) -> d.TextTable:
    """Return a table of the means of some responses at each point of a design."""
    columns: list[d.Column] = [(k, [_level(point[k]) for point in points]) for k in points[0]]
    for name in shown:
        columns += d.mean_columns(name, "±", [of_point.get(name) for of_point in means])
    table = d.TextTable.of_columns(columns)
    table.repeated = len(points[0])
    return table


def _finding(
    points: Sequence[Point], means: Sequence[Mapping[str, Estimate]], shown: Sequence[Response]
) -> str:
    """Say where the first responses are least and largest."""
    parts = []
    for response in shown:
        known = [
            (of_point[response.name], point)
            for of_point, point in zip(means, points, strict=True)
            if of_point[response.name].mean is not None
        ]
        undefined = f"{response.name} is undefined at all points"
        parts.append(_span(response, known) if known else undefined)
    first = [of_point[shown[0].name] for of_point in means]
    counts = {mean.n + mean.undefined for mean in first}
    least = "at least " if len(counts) > 1 else ""
    named = [means[0][response.name] for response in shown]
    how = d.in_interval_words(named, f"{least}{d.counted(min(counts), 'replication')}")
    return f"{'; '.join(parts)}; {how} at each point."


def _span(response: Response, known: Sequence[tuple[Estimate, Point]]) -> str:
    """Say where a response is least and largest, if that is known beyond the intervals."""
    (low, at_low), (high, at_high) = (
        pick(known, key=lambda pair: pair[0].mean or 0.0) for pick in (min, max)
    )
    unit = d.after(response.unit)
    ends = f"{d.value_in_words(low)}{unit} at {_place(at_low)}"
    if low.mean != high.mean:
        ends = f"from {ends} to {d.value_in_words(high)}{unit} at {_place(at_high)}"
    if low.ci_high is None or high.ci_low is None or low.ci_high < high.ci_low:
        return f"{response.name} goes {ends}"
    return f"{response.name} does not clearly change: {ends}"


def _place(point: Point) -> str:
    return ", ".join(f"{name}={_level(value)}" for name, value in point.items())


def _level(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else shortened(escaped(str(value)))


def _are_numbers(values: Sequence[object]) -> bool:
    return all(isinstance(x, int | float) and not isinstance(x, bool) for x in values)


def _chart(
    model: str,
    factors: Sequence[str],
    points: Sequence[Point],
    means: Sequence[Mapping[str, Estimate]],
    response: Response,
) -> d.Chart:
    """Return a chart of a response over the first factor, a line for each level of others."""
    first, *others = factors
    levels = [point[first] for point in points]
    numeric = _are_numbers(levels)
    names = [] if numeric else list(dict.fromkeys(map(_level, levels)))
    xs = d.floats(levels if numeric else [names.index(_level(level)) for level in levels])
    groups: dict[str, list[int]] = {}
    for k, point in enumerate(points):
        groups.setdefault(_place({name: point[name] for name in others}), []).append(k)
    lines = []
    for colour, (key, places) in enumerate(list(groups.items())[: d.COLOURS]):
        order = np.array(places)[np.argsort(xs[places], kind="stable")]
        estimates = [means[k][response.name] for k in order]
        labels = list(map(d.value_in_words, estimates))
        lines.append(d.line_of_means(key, xs[order], estimates, labels, colour=colour))
    axis = labelled(first, unit_of_factor(model, first))
    return d.Graph(labelled(response.name, response.unit), axis, "", lines, names=names)


# Sliders over the points of a grid: means, and paired differences to the config as it is.


def _explorer(
    result: DesignReplications, responses: Sequence[Response], large: Sequence[Response]
) -> d.Explorer | None:
    """Return the sliders of a design that is a whole grid, `large` responses in large numbers."""
    design, config = result.design, result.config
    size = len(design.points) - design.beside
    levels = list(map(_levels, zip(*design.points[:size], strict=True)))
    at = {json.dumps(point): k for k, point in enumerate(design.points[:size])}
    is_grid = math.prod(map(len, levels)) == len(at) and len(result.points) == len(design.points)
    if not is_grid or not 1 < len(at) <= MOST_POINTS:
        return None
    order = [at[json.dumps(point)] for point in product(*levels)] + [size] * design.beside
    runs, base = [result.results[k] for k in order], config_id(config)
    ids = [config_id(run.config) for run in runs]
    today = ids.index(base) if base in ids else None
    rows = [] if today is None else [_changes(runs[today], run, responses) for run in runs]
    changes: Sequence[Sequence[str]] = list(zip(*rows, strict=True)) or [[]] * len(responses)
    now = [None] * len(levels) if today is None else design.points[order[today]]
    names = [name.removeprefix("factors.") for name in design.factors]
    means = [run.estimates for run in runs]
    data = {
        "factors": [
            {
                "name": escaped(name),
                "unit": unit_of_factor(config.model, name),
                "values": values if _are_numbers(values) else list(range(len(values))),
                "texts": list(map(_level, values)),
                "yaml": list(map(json.dumps, values)),
                "today": _level(value),
                "start": _nearest(values, value),
            }
            for name, values, value in zip(names, levels, now, strict=True)
        ],
        "responses": [
            {
                "name": escaped(response.name),
                "unit": response.unit,
                "meaning": escaped(response.meaning),
                "large": response in large,
                "means": [_text(of_point[response.name]) for of_point in means],
                "changes": texts,
            }
            for response, texts in zip(responses, changes, strict=True)
        ],
        "today": today,
        "level": d.confidence_in_words(runs[0].confidence),
        "rule": _rule(config, design.factors),
    }
    points = [dict(zip(names, design.points[k], strict=True)) for k in order]
    return d.Explorer(data, _points(points, means, [response.name for response in responses]))


def _levels(column: Sequence[Any]) -> list[Any]:
    """Return the values of a factor, numbers in order."""
    values = list({json.dumps(value): value for value in column}.values())
    return sorted(values) if _are_numbers(values) else values


def _nearest(values: Sequence[Any], value: object) -> int:
    """Return where a slider stands first: at the value of today, or near it."""
    if _are_numbers([*values, value]):
        return min(range(len(values)), key=lambda k: abs(values[k] - value))
    return values.index(value) if value in values else 0


def _text(mean: Estimate) -> str:
    """Return a mean, what its interval is, and a mark if that is doubtful, as the script reads."""
    return " ".join([*mean_and_half(mean), *(["?"] if FEW_VALUES in mean.remarks else [])])


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
