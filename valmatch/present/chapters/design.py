"""Chapters on designs: what changes with the factors that were varied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from valmatch.models.model import Response
from valmatch.present.chapters.replicate import glossary
from valmatch.present.document import (
    COLOURS,
    Block,
    Chart,
    Graph,
    Line,
    Presentation,
    after,
    counted,
    estimate_of,
    headline,
    in_interval_words,
    joined,
    meanings_in_words,
    response_of,
    value_in_words,
)
from valmatch.present.provenance import run_name
from valmatch.present.sheets import at_every_point, points_sheet
from valmatch.present.source import RunFiles
from valmatch.statistics.estimates import Estimate
from valmatch.storage.result_files import damaged
from valmatch.text.terminal import shortened

SUMMARY = "summary.json"

CHARTS = 12  # most responses that are drawn
SEVERAL = 2  # responses that a finding names where several factors vary
TABLE = 6  # most responses in the table of points

Point = Mapping[str, object]


def chapter(run: RunFiles) -> Presentation:
    """Return the chapter on a design of `replicate`."""
    name, title = run_name(run), f"Sweep of {run_name(run)}"
    if not (run.folder / SUMMARY).exists() and run.status != "complete":
        return Presentation(title, f"How do the responses of {name} depend on the factors varied?")
    given = run.json(SUMMARY)
    with damaged(run.folder / SUMMARY):
        factors = [str(factor).removeprefix("factors.") for factor in given["factors"]]
        points = [_named(point["point"]) for point in given["points"]]
        founds = [_means(point["responses"]) for point in given["points"]]
        seed = run.manifest.seed
        asked = (
            f"How do the responses of {name} depend on {joined(factors)}?"
            f" {counted(len(points), 'point')}, seed {seed}."
        )
        chapter = Presentation(title, asked)
        if not points:
            return chapter
        responses = at_every_point([[response_of(run, name) for name in own] for own in founds])
        _fill(run, chapter, factors, points, founds, responses)
        reasons = [point["no_interval"] for point in given["points"] if point.get("no_interval")]
        if reasons:
            chapter.blocks[0].items = [f"No interval: {reasons[0]}"]
    return chapter


def _named(point: Mapping[str, Any]) -> Point:
    return {name.removeprefix("factors."): value for name, value in point.items()}


def _means(found: Mapping[str, Any]) -> dict[str, Estimate]:
    return {name: estimate_of(facts) for name, facts in found.items()}


def _fill(
    run: RunFiles,
    chapter: Presentation,
    factors: Sequence[str],
    points: Sequence[Point],
    founds: Sequence[Mapping[str, Estimate]],
    responses: Sequence[Response],
) -> None:
    """Say what a design found."""
    shown = headline(run, responses)
    named = shown if len(factors) == 1 else shown[:SEVERAL]
    chapter.finding = _finding(factors, points, founds, named)
    chapter.glossary = meanings_in_words(shown)
    charts = _charts(run, factors, points, founds, responses)
    chapter.blocks.append(Block("Means against the factors", charts=charts, figure="design"))
    plain = [response.name for response in responses if not response.part]
    names = [name for name in plain if name in run.chosen] or plain
    sheet = points_sheet(points, founds, names[:TABLE], factors)
    if len(names) > TABLE:
        sheet.notes.append(f"The first {TABLE} of {len(names)} responses; design.csv has all.")
    chapter.blocks.append(Block("Means at each point", sheet=sheet))
    chapter.blocks += glossary(responses)


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
    how = in_interval_words(means, n, "replication").replace("n = ", f"n = {least}")
    return f"{'; '.join(said)}; {how} at each point."


def _span(response: Response, known: Sequence[tuple[Estimate, Point]]) -> str:
    """Say where a response is least and largest, if that is known beyond the intervals."""
    (low, at_low), (high, at_high) = (
        pick(known, key=lambda one: one[0].mean or 0.0) for pick in (min, max)
    )
    unit = after(response.unit)
    ends = f"{value_in_words(low)}{unit} at {_place(at_low)}"
    if low.mean != high.mean:
        ends = f"from {ends} to {value_in_words(high)}{unit} at {_place(at_high)}"
    if low.ci_high is None or high.ci_low is None or low.ci_high < high.ci_low:
        return f"{response.name} goes {ends}"
    return f"{response.name} does not clearly change: {ends}"


def _place(point: Point) -> str:
    return ", ".join(f"{name}={_level(value)}" for name, value in point.items())


def _level(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else shortened(str(value))


def _charts(
    run: RunFiles,
    factors: Sequence[str],
    points: Sequence[Point],
    founds: Sequence[Mapping[str, Estimate]],
    responses: Sequence[Response],
) -> list[Chart]:
    """Return a chart of each response over the first factor, a line for each level of others."""
    wanted = [r for r in responses if (r.name in run.chosen if run.chosen else not r.part)]
    first, *others = factors
    groups: dict[str, list[int]] = {}
    for place, point in enumerate(points):
        key = ", ".join(f"{name}={_level(point[name])}" for name in others)
        groups.setdefault(key, []).append(place)
    levels = [point[first] for point in points]
    numeric = all(isinstance(x, int | float) and not isinstance(x, bool) for x in levels)
    names = [] if numeric else list(dict.fromkeys(map(_level, levels)))
    charts: list[Chart] = []
    for response in wanted[:CHARTS]:
        lines = []
        for k, (key, places) in enumerate(list(groups.items())[:COLOURS]):
            xs = [float(levels[p]) if numeric else names.index(_level(levels[p])) for p in places]  # type: ignore[arg-type]
            order = np.argsort(np.array(xs), kind="stable")
            own = [founds[places[k]][response.name] for k in order]
            lines.append(_line(key, np.array(xs)[order], own, k))
        label = run.units.response(response.name)
        charts.append(Graph(label, run.units.factor(first), "", lines, names=names))
    return charts


def _line(name: str, xs: Any, means: Sequence[Estimate], colour: int) -> Line:  # noqa: ANN401
    """Return means with their intervals as a line."""
    columns = ([m.mean for m in means], [m.ci_low for m in means], [m.ci_high for m in means])
    y, low, high = (np.array([np.nan if x is None else x for x in own]) for own in columns)
    said = [value_in_words(mean) for mean in means]
    return Line(name, xs, y, low, high, marks=True, colour=colour, said=said)
