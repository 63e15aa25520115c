"""Presentation of a design: what changes with the factors that were varied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from valmatch.experiments.sweep import DesignReplications
from valmatch.models.model import Response
from valmatch.present import document as d
from valmatch.present.kinds.replicate import curve_charts
from valmatch.present.kinds.responses import glossary
from valmatch.present.provenance import unit_of_factor
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.no_interval import TOO_SHORT
from valmatch.text.terminal import labelled, shortened

CHARTS = 24  # most responses that are drawn
MEANS = 3  # responses in the table of points, where none are chosen
SEVERAL = 2  # responses that a finding names where several factors vary

Point = Mapping[str, object]


def present(result: DesignReplications, view: d.View) -> d.Presentation:
    """Return what a design shows."""
    name, chosen = d.config_name(result.config), view.responses
    factors = [factor.removeprefix("factors.") for factor in result.design.factors]
    points = [dict(zip(factors, point.values(), strict=True)) for point in result.points]
    seed = f", seed {result.results[0].seed}" if result.results else ""
    found = d.Presentation(
        f"Sweep of {name}",
        f"How do the responses of {name} depend on {d.joined(factors)}?"
        f" {d.counted(len(points), 'point')}{seed}.",
        header=f"{_source(result)}{seed}, {replications_of_each(result)}",
    )
    if not points:
        return found
    founds = [one.estimates for one in result.results]
    responses = at_every_point([one.responses for one in result.results])
    shown = d.headline(responses, [one.name for one in responses if one.name in chosen])
    named = shown if len(factors) == 1 else shown[:SEVERAL]
    found.finding = _finding(factors, points, founds, named)
    found.glossary = d.meanings_in_words(shown)
    listed = list(chosen) or _first(responses)
    table = _points(points, founds, listed)
    table.notes = d.notes_of(
        {
            "no interval": result.no_interval_of(listed),
            TOO_SHORT: result.short_intervals_of(listed),
        }
    )
    found.tables = [d.Block("Means at each point", table=table)]
    wanted = [one for one in responses if (one.name in chosen if chosen else not one.part)]
    charts = _charts(result.config.model, factors, points, founds, wanted[:CHARTS])
    figure = d.Block("Means against the factors", charts=charts, figure="design")
    found.charts = [figure] if charts else []
    if all(one.axes and one.curves for one in result.results):
        curves = [curve_charts(one) for one in result.results]
        rows = [
            replace(chart, title=f"{chart.title}, {_place(point)}")
            for row in zip(*curves, strict=False)
            for chart, point in zip(row, points, strict=True)
        ]
        found.charts.insert(0, d.Block("At each point", charts=rows, figure="curves"))
    found.blocks = glossary(responses)
    return found


def replications_of_each(result: DesignReplications) -> str:
    """Say how many replications each point of a design has."""
    numbers = [one.count for one in result.results] or [0]
    least, most = min(numbers), max(numbers)
    shown = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return f"{shown} replications at each point"


def _source(result: DesignReplications) -> str:
    model, name = result.config.model, d.config_name(result.config)
    return name if name != model else f"{model} ({model})"


def _first(responses: Sequence[Response]) -> list[str]:
    """Return the responses of the table: the first, of policies the first measure of each."""
    window = responses[0].window
    return [
        response.name
        for number, response in enumerate(responses)
        if (response.window and response.window[1:] == window[1:] if window else number < MEANS)
    ]


def at_every_point(points: Sequence[Sequence[Response]]) -> list[Response]:
    """Return the responses that every point of a design has, a measure's policies side by side.

    Factors may decide of which stretches of a history there are responses.
    """
    common = set.intersection(*({response.name for response in point} for point in points))
    found: dict[object, list[Response]] = {}
    for response in points[0]:
        if response.name in common:
            window = response.window
            measure = (window.measure, window.games) if window else response.name
            found.setdefault(measure, []).append(response)
    return [response for measure in found.values() for response in measure]


def _points(
    points: Sequence[Point], estimates: Sequence[Mapping[str, Estimate]], shown: Sequence[str]
) -> d.TextTable:
    """Return a table of the means of some responses at each point of a design."""
    columns: list[d.Column] = [
        (name, [_level(point[name]) for point in points]) for name in points[0]
    ]
    for name in shown:
        columns += d.mean_columns(name, "±", [found.get(name) for found in estimates])
    table = d.TextTable.of_columns(columns)
    table.repeated = len(points[0])
    return table


def _finding(
    factors: Sequence[str],
    points: Sequence[Point],
    founds: Sequence[Mapping[str, Estimate]],
    shown: Sequence[Response],
) -> str:
    """Say where the first responses are least and largest."""
    said = []
    for response in shown:
        known = [
            (found[response.name], point)
            for found, point in zip(founds, points, strict=True)
            if found[response.name].mean is not None
        ]
        if not known:
            said.append(f"{response.name} is undefined at all points")
            continue
        said.append(_span(response, known))
    means = [founds[0][response.name] for response in shown]
    counts = sorted({found[shown[0].name].n + found[shown[0].name].undefined for found in founds})
    n = counts[0]
    least = "at least " if len(counts) > 1 else ""
    how = d.in_interval_words(means, n, "replication").replace("n = ", f"n = {least}")
    return f"{'; '.join(said)}; {how} at each point."


def _span(response: Response, known: Sequence[tuple[Estimate, Point]]) -> str:
    """Say where a response is least and largest, if that is known beyond the intervals."""
    (low, at_low), (high, at_high) = (
        pick(known, key=lambda one: one[0].mean or 0.0) for pick in (min, max)
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
    return f"{value:.6g}" if isinstance(value, float) else shortened(str(value))


def _charts(
    model: str,
    factors: Sequence[str],
    points: Sequence[Point],
    founds: Sequence[Mapping[str, Estimate]],
    responses: Sequence[Response],
) -> list[d.Chart]:
    """Return a chart of each response over the first factor, a line for each level of others."""
    first, *others = factors
    groups: dict[str, list[int]] = {}
    for place, point in enumerate(points):
        key = ", ".join(f"{name}={_level(point[name])}" for name in others)
        groups.setdefault(key, []).append(place)
    levels = [point[first] for point in points]
    numeric = all(isinstance(x, int | float) and not isinstance(x, bool) for x in levels)
    names = [] if numeric else list(dict.fromkeys(map(_level, levels)))
    charts: list[d.Chart] = []
    for response in responses:
        lines = []
        for k, (key, places) in enumerate(list(groups.items())[: d.COLOURS]):
            xs = [float(levels[p]) if numeric else names.index(_level(levels[p])) for p in places]  # type: ignore[arg-type]
            order = np.argsort(np.array(xs), kind="stable")
            own = [founds[places[k]][response.name] for k in order]
            said = list(map(d.value_in_words, own))
            lines.append(d.line_of_means(key, np.array(xs)[order], own, said, colour=k))
        axis = labelled(first, unit_of_factor(model, first))
        label = labelled(response.name, response.unit)
        charts.append(d.Graph(label, axis, "", lines, names=names))
    return charts
