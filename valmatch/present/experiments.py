"""Presentation of experiments: one replication, means, designs, comparisons, replays."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from valmatch.config.config import Config
from valmatch.config.factor_paths import dotted, parts, replaced
from valmatch.config.identity import config_id, resolved, set_factors
from valmatch.config.writing import document
from valmatch.experiments.compare import Comparison, Variant
from valmatch.experiments.replicate import Replications
from valmatch.experiments.response_list import shown_by
from valmatch.experiments.simulate import Simulation
from valmatch.experiments.sweep import DesignReplications
from valmatch.inputs.fields import plain_number
from valmatch.matching.tickets.layout import DONE
from valmatch.models.model import Response, Window
from valmatch.present import document as d
from valmatch.present.svg import number
from valmatch.statistics.estimates import FEW_VALUES, Estimate, formatted, mean_and_half, t_quantile
from valmatch.statistics.pairs import paired
from valmatch.text.terminal import WIDTH, counted, escaped, labelled, one_line, shortened, some_of

if TYPE_CHECKING:  # those take long to import
    from valmatch.experiments.replay import ReplayedTickets

# Tables of responses: of one replication, of means, of systems, of bands, hours and weekdays.

PARTS = {
    **{"rating": "band", "hour": "hour", "weekday": "weekday", "size": "size", "region": "home"},
    **{name: name for name in ("skill", "attribute", "step", "rule", "reason")},
}
"""What the rows of tables of parts are called: of bands of players, hours of the day and so on."""


def parts_blocks(responses: Sequence[Response], sides: Sequence[d.Column]) -> Iterator[d.Block]:
    """Yield folded tables of parts: a row for units and each part, a column for each measure."""
    for of, names, measures in _divisions(responses):
        units = any(unit for _, unit, _ in measures)
        columns: list[d.Column] = [(PARTS[of], [*([""] if units else []), *names])]
        for measure, unit, places in measures:
            for side, texts in (side for side in sides if any(side[1])):
                above = [f"[{unit}]" if unit and not side else ""] if units else []
                columns.append((side or measure, [*above, *(texts[k] for k in places)]))
        yield d.Block(f"By {PARTS[of]}", table=d.TextTable.of_columns(columns), folded=True)


def compared_parts_blocks(
    responses: Sequence[Response], sides: Sequence[d.Column]
) -> Iterator[d.Block]:
    """Yield folded tables of the responses of parts under several systems, one a measure."""
    for of, names, measures in _divisions(responses):
        for measure, unit, places in measures:
            columns = [(side, [texts[k] for k in places]) for side, texts in sides]
            title = labelled(measure, unit)
            table = d.TextTable.of_columns([(PARTS[of], names), *columns], title=title)
            yield d.titled(table, folded=True)


def _divisions(
    responses: Sequence[Response],
) -> Iterator[tuple[str, list[str], list[tuple[str, str, list[int]]]]]:
    """Yield what is divided, the names of its parts, and each measure: name, unit, places."""
    for of in PARTS:
        names, measures = dict[str, None](), dict[tuple[str, str], list[int]]()
        for k, response in enumerate(responses):
            if (part := response.part) and part.of == of:
                names[part.name] = None
                measures.setdefault((part.measure, response.unit), []).append(k)
        if measures:
            yield of, list(names), [(*key, places) for key, places in measures.items()]


def responses_table(
    responses: Sequence[Response],
    columns: Sequence[d.Column],
    chosen: Collection[str] = (),
    policy: str = "",
) -> d.TextTable:
    """Return a table of the responses that are listed, with their units; or those of a policy."""
    rows, names = [], []
    for k, response in enumerate(responses):
        window = response.window
        if d.listed(response, chosen) and (not policy or (window and window.policy == policy)):
            rows.append(k)
            names.append(f"{window.measure}.{window.games}" if policy and window else response.name)
    cells = [(head, [texts[k] for k in rows]) for head, texts in columns]
    units = (d.UNIT, [responses[k].unit for k in rows])
    return d.TextTable.of_columns([("response", names), *cells, units], title=policy)


def glossary(responses: Sequence[Response]) -> list[d.Block]:
    """Return what responses mean; bands, hours and policies are not repeated."""
    meanings: dict[str, str] = {}
    for response in responses:
        of = response.part or response.window
        if response.meaning:
            meanings.setdefault(of.measure if of else response.name, response.meaning)
    items = [f"{name}: {meaning}" for name, meaning in meanings.items()]
    return [d.Block("What the responses mean", items=items, folded=True)] if items else []


# One replication: its responses, and what happened in it.

COMMON, LONG = 0.99, 2.0
"""Share of the values that is drawn where others are so many times larger."""

HISTOGRAMS = {
    "valorant": {
        ("players", "wait_minutes"): "wait of matched players [minutes]",
        ("players", "rating"): "rating of players [Elo points]",
        ("matches", "team_diff"): "difference of matched teams [Elo points]",
    },
    "ladder": {
        ("players", "skill"): "true skill of players [points]",
        ("players", "rating"): "rating of players at the end [points]",
        ("tickets", "wait_minutes"): "wait in the queue [minutes]",
    },
    "zonestats": {
        ("players", "skill"): "true skill of players [points]",
        ("players", "rating"): "rating of players at the end [points]",
        ("players", "games"): "games of a player",
    },
}
"""The columns of tables whose distributions are drawn, with their names."""

CURVES = {
    "opponent": (
        *("games", "game"),
        ("true_draw_probability", "squared_error", "skill_difference", "expected_quality"),
    ),
    "targeting": ("measurements", "measurement", ("distance", "quality", "measured_distance")),
    "ladder": (
        *("days", "day"),
        ("matches", "avg_wait_time", "win_gap", "rating_error", "scale_stretch", "active_players"),
    ),
}
"""What is drawn step by step: the table, the column of its steps, its measures."""

QUEUES = {
    "valorant": ("players", ("arrival_hours", "match_hours", "left_hours")),
    "ladder": ("tickets", ("queued_hours", "ended_hours")),
}
"""The table of those who wait, and the columns of when they come and go."""

TIME = re.compile(r"(?:.*_)?(?:time|seconds|minutes|hours|days)")
"""The name of a column of times; the first of a table that has it is its time."""


def present_simulate(result: Simulation, view: d.View) -> d.Presentation:
    """Return what a replication shows."""
    name = d.config_name(result.config)
    of = f"seed {result.seed}, replication {result.replication}"
    shown = d.headline(result.responses, view.responses)
    values = dict(zip((r.name for r in result.responses), result.values.tolist(), strict=True))
    worth = [
        f"{response.name} is undefined"
        if math.isnan(values[response.name])
        else f"{response.name} is {values[response.name]:.4g}{d.after(response.unit)}"
        for response in shown
    ]
    cells = [
        "undefined" if math.isnan(x) else f"{x:.0f}" if response.whole else f"{x:.4f}"
        for response, x in zip(result.responses, result.values.tolist(), strict=True)
    ]
    table = responses_table(result.responses, [("value", cells)], view.responses)
    by_part = [] if view.responses else parts_blocks(result.responses, [("", cells)])
    charts = _events(result) if view.charts else []
    return d.Presentation(
        f"One replication of {name}",
        f"What happens in replication {result.replication} of {name}? Seed {result.seed}.",
        concluded=False,
        finding=f"Here {d.joined(worth)}; this is one replication (n = 1), without intervals.",
        glossary=d.meanings_in_words(shown),
        header=f"{d.config_title(result.config)}, {of}",
        tables=[d.titled(table, "Responses"), *by_part],
        charts=[d.Block("What happened", charts=charts, figure="replication")],
        blocks=glossary(result.responses),
    )


def _events(result: Simulation) -> list[d.Chart]:
    """Return the charts of a model of this package, or tables over their times."""
    model, there = result.config.model, [table.name for table in result.tables]
    charts: list[d.Chart] = []
    if model in QUEUES:
        table, columns = QUEUES[model]
        came, *went = (
            3600.0 * result.numbers(table, name)
            for name in columns
            if name != "left_hours" or name in result[table]
        )
        made = 3600.0 * result.numbers("matches", "time_hours") if model == "valorant" else came[:0]
        charts += d.queue_charts(came, np.fmin(went[0], went[-1]), made, "players")
    if model in CURVES and CURVES[model][0] in there:
        charts += _curves(result, *CURVES[model])
    for (table, column), label in HISTOGRAMS.get(model, {}).items():
        if table in there and column in result[table]:
            charts += _histogram(result, table, column, label)
    return charts or list(_over_time(result))


def _histogram(result: Simulation, table: str, column: str, label: str) -> Iterator[d.Graph]:
    values = result.numbers(table, column)
    values = np.sort(values[~np.isnan(values)])
    if not values.size:
        return
    mean, title = float(values.mean()), label[:1].upper() + label[1:]
    most = float(np.quantile(values, COMMON))
    if values[-1] > LONG * most > 0.0:
        title += f", the lowest {COMMON:.0%}; the largest is {number(float(values[-1]))}"
        values = values[values <= most]
    name, _, unit = label.partition(" [")
    yield d.histogram(values, title, unit.rstrip("]") or name, table, (mean, math.nan, math.nan))


def _curves(
    result: Simulation, table: str, step: str, measures: Sequence[str]
) -> Iterator[d.Chart]:
    """Yield a chart for each measure over the steps of each policy, if there are several."""
    columns, (_, axes) = result[table], shown_by(result.config)
    steps = result.numbers(table, step)
    policies = np.asarray(columns["policy"] if "policy" in columns else np.full(steps.size, ""))
    for name in (name for name in measures if name in columns):
        values, lines = result.numbers(table, name), []
        for k, policy in enumerate(dict.fromkeys(policies.tolist())):
            mask = policies == policy
            lines.append(d.Line(str(policy), steps[mask], values[mask], colour=k))
        yield d.Graph(d.measure_label(axes, result.responses, name), step, "", lines)


def _over_time(result: Simulation) -> Iterator[d.Chart]:
    """Yield each column of numbers of each table that has times, over these: of any model."""
    for table in result.tables:
        numbers = [name for name, column in table.columns.items() if column.dtype.kind in "iuf"]
        time = next((name for name in numbers if TIME.fullmatch(name)), None)
        for name in numbers if time else ():
            if name != time:
                xs, ys = (d.floats(table.columns[key]) for key in (time or "", name))
                yield d.Graph(f"{name} of {table.name}", time or "", "", [d.dots("", xs, ys)])


# Means over replications, by policy, band and hour.

DISTRIBUTIONS = 24  # most responses whose distributions are drawn
MOST_ROWS = 8  # parts that are drawn as rows; more are drawn along an axis


def present_replicate(result: Replications, view: d.View) -> d.Presentation:
    """Return what replications show."""
    name, n = d.config_name(result.config), counted(result.count, "replication")
    window = any(response.window for response in result.responses)
    page = d.Presentation(
        f"Replications of {name}",
        f"What does {name} give on average? {n}, seed {result.seed}.",
        header=f"{d.config_title(result.config)}, seed {result.seed}, {n}" + "\n" * window,
    )
    if not result.count:
        return page
    shown = d.headline(result.responses, view.responses)
    first = result.responses[0].window
    policies = first if first and not view.responses else None
    page.finding = (
        _finding_of_policies(result, policies) if policies else _finding_of_means(result, shown)
    )
    page.concluded = bool(policies or result.precision)
    page.glossary = d.meanings_in_words(result.responses[:1] if policies else shown)
    page.tables = [d.titled(table, "Means") for table in _means(result, view.responses)]
    if not view.responses:
        sides = d.mean_columns("", "±", result.estimates.values())
        page.tables += parts_blocks(result.responses, sides)
    page.tables += [d.titled(table, folded=True) for table in _paired(result, view.responses)]
    if targets := [target.shown for target in result.precision]:
        page.tables.append(d.Block("Targets of precision", items=targets))
    page.charts = _charts(result, view.responses)
    page.blocks = glossary(result.responses)
    return page


def _finding_of_means(result: Replications, shown: Sequence[Response]) -> str:
    """Say what the means are, and why there are no intervals."""
    means = [result.estimates[response.name] for response in shown]
    text = d.joined(list(map(d.mean_in_words, shown, means)))
    lead = "On average" if result.count > 1 else "Here"
    why = result.why_no_interval([response.name for response in shown])
    how = d.in_interval_words(means, counted(result.count, "replication"), why)
    return f"{lead} {text}; {how}."


def _finding_of_policies(result: Replications, first: Window) -> str:
    """Say what the first measure is under each policy, and how the policies differ."""
    measure, games = first.measure, first.games
    means = {
        response.window.policy: result.estimates[response.name]
        for response in d.first_measure(result.responses)
        if response.window
    }
    of = f"{measure} ({'sum over all games' if games == 'total' else f'games {games}'})"
    under = [f"{d.value_in_words(mean)} under {name}" for name, mean in means.items()]
    unit = d.after(result.responses[0].unit)
    rows = {
        f"{row.policy} - {row.other}": row.estimate
        for row in result.differences
        if (row.measure, row.games) == (measure, games)
    }
    words = {name: d.value_in_words(mean) for name, mean in rows.items()}
    sure = [f"{k} is {words[k]}{unit}" for k, mean in rows.items() if d.is_sure(mean)]
    unsure = [f"{k} ({words[k]})" for k, mean in rows.items() if not d.is_sure(mean)]
    more = f"; paired, {d.joined(sure)}" if sure else ""
    more += f"; no clear paired difference of {d.joined(unsure)}" if unsure else ""
    how = d.in_interval_words(list(means.values()), counted(result.count, "replication"))
    return f"{of} is {d.joined(under)}{more}; {how}."


def _means(result: Replications, chosen: Collection[str] = ()) -> Iterator[d.TextTable]:
    """Yield tables of mean, half-width and count of each chosen response, one for each policy."""
    counts = [f"{estimate.n}" for estimate in result.estimates.values()]
    columns = d.mean_columns("mean", f"± {result.confidence:.0%}", result.estimates.values())
    columns.append((d.COUNT, counts))
    if adjusted := list(result.adjusted.values()):
        means = [
            replace(mean, mean=x.mean_cv, ci_low=x.ci_low_cv, ci_high=x.ci_high_cv)
            if x.ci_high_cv is not None
            else None
            for mean, x in zip(result.estimates.values(), adjusted, strict=True)
        ]
        columns += d.mean_columns("adjusted", "±", means)
        columns.append(("gain", [formatted(x.variance_reduction, ".1f") for x in adjusted]))
    listed = [response for response in result.responses if d.listed(response, chosen)]
    for policy in dict.fromkeys(r.window.policy if r.window else "" for r in listed):
        table = responses_table(result.responses, columns, chosen, policy)
        table.spare = d.COUNT if set(counts) == {f"{result.count}"} else ""
        yield table


def _paired(result: Replications, chosen: Collection[str]) -> Iterator[d.TextTable]:
    """Yield a table of the paired differences between each two policies."""
    windows = {r.window for r in result.responses if not chosen or r.name in chosen}
    rows = [
        (row, unit)
        for row, unit in zip(result.differences, result.paired_columns()["unit"], strict=True)
        if {Window(policy, row.measure, row.games) for policy in (row.policy, row.other)} <= windows
    ]
    for pair, group in groupby(rows, key=lambda row: (row[0].policy, row[0].other)):
        of_pair = list(group)
        means = [row.estimate for row, _ in of_pair]
        columns: list[d.Column] = [
            ("response", [f"{row.measure}.{row.games}" for row, _ in of_pair]),
            *d.mean_columns("difference", f"± {result.confidence:.0%}", means),
            (d.COUNT, [str(mean.n) for mean in means]),
            (d.UNIT, [unit for _, unit in of_pair]),
        ]
        yield d.TextTable.of_columns(columns, title=f"{' - '.join(pair)}, paired")


def _charts(result: Replications, chosen: Collection[str]) -> list[d.Block]:
    blocks = []
    if result.axes and result.curves:
        note = [f"Means over the replications with {result.confidence:.0%} bands."]
        title = "Over the games of a player"
        blocks.append(d.Block(title, note, charts=curve_charts(result), figure="curves"))
    wanted = [r for r in result.responses if d.listed(r, chosen) and (chosen or not r.window)]
    if result.count > 1:
        title = "Distributions over replications"
        note = ["How often values occur in replications; the line is the mean with its interval."]
        charts = [_distribution(result, response) for response in wanted[:DISTRIBUTIONS]]
        blocks.append(d.Block(title, note, charts=charts, figure="responses"))
    for of, names, measures in () if chosen else _divisions(result.responses):
        parts_charts = [_parts_chart(result, of, names, measure) for measure in measures]
        figure = "bands" if of == "rating" else f"{of}s"
        blocks.append(d.Block(f"By {PARTS[of]}", charts=parts_charts, figure=figure))
    return blocks


def curve_charts(result: Replications) -> list[d.Graph]:
    """Return a chart of each measure with curves, a line for each policy."""
    axes, sums = result.axes, result.curves
    assert axes
    assert sums
    scales = np.array(axes.scales)[:, np.newaxis]
    mean, error = scales * sums.mean, scales * sums.std_error
    numbers, at = np.unique(sums.defined, return_inverse=True)
    half = (1.0 + result.confidence) / 2.0
    times = [t_quantile(half, n - 1) if n > 1 else math.nan for n in numbers.tolist()]
    reach = error * np.array(times)[at].reshape(error.shape)
    games = np.arange(1.0, axes.games + 1.0)
    charts: list[d.Graph] = []
    for m, measure in enumerate(axes.measures):
        lines = []
        for k, policy in enumerate(axes.policies):
            name, y, width = policy if len(axes.policies) > 1 else "", mean[k, m], reach[k, m]
            lines.append(d.Line(name, games, y, y - width, y + width, colour=k))
        label = d.measure_label(axes, result.responses, measure)
        charts.append(d.Graph(label, "games of a player", "", lines))
    return charts


def _distribution(result: Replications, response: Response) -> d.Graph:
    """Return how often finite values of a response occur."""
    values = result[response.name]
    finite = np.sort(values[np.isfinite(values)])
    label, axis = labelled(response.name, response.unit), response.unit or response.name
    mean = None if np.isinf(values).any() else d.ends_of(result.estimates[response.name])
    return d.histogram(finite, label, axis, "replications", mean)


def _parts_chart(
    result: Replications, of: str, names: Sequence[str], measure: tuple[str, str, Sequence[int]]
) -> d.Chart:
    title, estimates = f"{labelled(*measure[:2])} by {PARTS[of]}", list(result.estimates.values())
    means = [estimates[k] for k in measure[2]]
    if len(means) <= MOST_ROWS:
        return d.Intervals(title, list(map(d.interval_of, names, means)))
    labels = [f"{name}: {d.value_in_words(x)}" for name, x in zip(names, means, strict=True)]
    line = d.line_of_means("", np.arange(float(len(means))), means, labels)
    return d.Graph(title, PARTS[of], "", [line], names=names)


# Designs: what changes with the factors that were varied.

DRAWN = 24  # most responses that are drawn
MEANS = 3  # responses in the table of points, where none are chosen
EXPLORED = 20  # responses beside sliders, where none are chosen
MOST_POINTS = 5000  # points of a grid that has sliders
SEVERAL = 2  # responses that a finding names where several factors vary

Point = Mapping[str, object]
Means = Mapping[str, Estimate]  # of a point, by response


def present_design(result: DesignReplications, view: d.View) -> d.Presentation:
    """Return what a design shows."""
    name, model, chosen = d.config_name(result.config), result.config.model, view.responses
    factors = [factor.removeprefix("factors.") for factor in result.design.factors]
    points = [dict(zip(factors, point.values(), strict=True)) for point in result.points]
    seed = f", seed {result.results[0].seed}" if result.results else ""
    counts = sorted({run.count for run in result.results} or {0})
    n = " to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1])))
    source = f"{model} ({model})" if name == model else name
    page = d.Presentation(
        f"Sweep of {name}",
        f"How do the responses of {name} depend on {d.joined(factors)}?"
        f" {counted(len(points), 'point')}{seed}.",
        header=f"{source}{seed}, {n} replications at each point",
    )
    if not points:
        return page
    means = [run.estimates for run in result.results]
    common = set.intersection(*({r.name for r in run.responses} for run in result.results))
    measures: dict[object, list[Response]] = {}  # a measure's policies side by side
    for response in result.results[0].responses:
        if response.name in common:
            window = response.window
            measures.setdefault(window[1:] if window else response.name, []).append(response)
    responses = [response for measure in measures.values() for response in measure]
    shown = d.headline(responses, [r.name for r in responses if r.name in chosen])
    named = shown if len(factors) == 1 else shown[:SEVERAL]
    page.finding = _finding_of_design(points, means, named)
    page.glossary = d.meanings_in_words(shown)
    first = d.first_measure(responses) or responses[:MEANS]
    table = _points(points, means, list(chosen) or [response.name for response in first])
    page.tables = [d.Block("Means at each point", table=table)]
    wanted = [response for response in responses if d.listed(response, chosen)]
    charts = [_chart(model, points, means, response) for response in wanted[:DRAWN]]
    page.charts = [d.Block("Means against the factors", charts=charts, figure="design")]
    page.explorer = partial(_explorer, result, wanted if chosen else wanted[:EXPLORED], shown)
    if all(run.axes and run.curves for run in result.results):
        rows = [
            replace(chart, title=f"{chart.title}, {_where(point)}")
            for row in zip(*map(curve_charts, result.results), strict=False)
            for chart, point in zip(row, points, strict=True)
        ]
        page.charts.insert(0, d.Block("At each point", charts=rows, figure="curves"))
    page.blocks = glossary(responses)
    return page


def _points(points: Sequence[Point], means: Sequence[Means], shown: Sequence[str]) -> d.TextTable:
    columns: list[d.Column] = [(k, [_level(point[k]) for point in points]) for k in points[0]]
    for name in shown:
        columns += d.mean_columns(name, "±", [of_point.get(name) for of_point in means])
    return d.TextTable.of_columns(columns, repeated=len(points[0]))


def _finding_of_design(
    points: Sequence[Point], means: Sequence[Means], shown: Sequence[Response]
) -> str:
    """Say where the first responses are least and largest."""
    spans = []
    for response in shown:
        pairs = zip((of_point[response.name] for of_point in means), points, strict=True)
        known = [(mean, point) for mean, point in pairs if mean.mean is not None]
        undefined = f"{response.name} is undefined at all points"
        spans.append(_span(response, known) if known else undefined)
    counts = {mean.n + mean.undefined for mean in (x[shown[0].name] for x in means)}
    least = "at least " if len(counts) > 1 else ""
    named = [means[0][response.name] for response in shown]
    how = d.in_interval_words(named, f"{least}{counted(min(counts), 'replication')}")
    return f"{'; '.join(spans)}; {how} at each point."


def _span(response: Response, known: Sequence[tuple[Estimate, Point]]) -> str:
    """Say where a response is least and largest, if that is known beyond the intervals."""
    (low, at_low), (high, at_high) = (
        pick(known, key=lambda pair: pair[0].mean or 0.0) for pick in (min, max)
    )
    unit = d.after(response.unit)
    ends = f"{d.value_in_words(low)}{unit} at {_where(at_low)}"
    if low.mean != high.mean:
        ends = f"from {ends} to {d.value_in_words(high)}{unit} at {_where(at_high)}"
    if low.ci_high is None or high.ci_low is None or low.ci_high < high.ci_low:
        return f"{response.name} goes {ends}"
    return f"{response.name} does not clearly change: {ends}"


def _where(point: Point) -> str:
    return ", ".join(f"{name}={_level(value)}" for name, value in point.items())


def _level(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else shortened(escaped(str(value)))


def _are_numbers(values: Sequence[object]) -> bool:
    return all(isinstance(x, int | float) and not isinstance(x, bool) for x in values)


def _chart(
    model: str, points: Sequence[Point], means: Sequence[Means], response: Response
) -> d.Chart:
    """Return a chart of a response over the first factor, a line for each level of others."""
    first, *others = points[0]
    levels = [point[first] for point in points]
    numeric = _are_numbers(levels)
    names = [] if numeric else list(dict.fromkeys(map(_level, levels)))
    xs = d.floats(levels if numeric else [names.index(_level(level)) for level in levels])
    groups: dict[str, list[int]] = {}
    for k, point in enumerate(points):
        groups.setdefault(_where({name: point[name] for name in others}), []).append(k)
    lines = []
    for colour, (key, places) in enumerate(list(groups.items())[: d.COLOURS]):
        order = np.array(places)[np.argsort(xs[places], kind="stable")]
        estimates = [means[k][response.name] for k in order]
        labels = list(map(d.value_in_words, estimates))
        lines.append(d.line_of_means(key, xs[order], estimates, labels, colour=colour))
    axis = labelled(first, d.unit_of_factor(model, first))
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
                "unit": d.unit_of_factor(config.model, name),
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
    for k, key in enumerate(factors):
        path = parts(dotted(key.removeprefix("factors.")))
        try:
            values = replaced(values, path, f"\0{k}")
        except (KeyError, IndexError, TypeError):
            return []
        names.add(str(path[0]))
    changed = {name: value for name, value in values.items() if name in names}
    files = {key: file.given for key, file in config.files.items()}
    return re.split(r'"\\u0000(\d+)"', document("", config.model, changed, **files).strip())


# Comparisons: how systems differ that met the same random numbers.

CHANGES = 8  # differences between two configs that a terminal shows
NAMED = 2  # differences between two configs that a sentence names
SYSTEMS = 4  # systems that a finding names
COMPARED = 40  # most responses that are drawn


def present_compare(result: Comparison, view: d.View) -> d.Presentation:
    """Return what a comparison shows."""
    responses, chosen = result.responses, view.responses
    shown = d.headline(responses, chosen)
    columns, rows = _columns_of_systems(result), [r for r in responses if d.listed(r, chosen)]
    changed = [response for response in rows if _changed(result, response)]
    unchanged = [response.name for response in rows if response not in changed]
    if not chosen:
        shown = d.headline(changed or responses)
    brief = view.changed and not chosen
    names = [response.name for response in changed] if brief else chosen
    table = responses_table(responses, columns, names)
    if brief and changed and unchanged:
        table.notes.append(f"no clear change: {', '.join(unchanged)}")
    same = all(pair.difference.n == result.n for pair in result.comparisons.values())
    table.spare = d.COUNT if same else ""
    tables = [d.Block("Differences", table=table)]
    if brief and (of_parts := [response for response in responses if response.part]):
        sure = sum(_changed(result, response) for response in of_parts)
        table.notes.append(
            f"{sure} of {len(of_parts)} responses of groups changed clearly; --all lists all"
        )
    elif not chosen:
        sides = [side for side in columns if side[0] != d.COUNT]
        tables += compared_parts_blocks(responses, sides)
    note = "The interval of each system's difference from A; filled where it leaves 0 out."
    charts = [_differences(result, response) for response in rows[:COMPARED]]
    return d.Presentation(
        f"Comparison of {d.config_name(result.base.config)}",
        _question(result),
        finding=_finding_of_comparison(result, shown),
        glossary=d.meanings_in_words(shown),
        header=_header(result),
        tables=tables,
        charts=[d.Block("Differences from A", [note], charts=charts, figure="differences")],
        blocks=[_what_differs(result), *glossary(responses)],
    )


def _header(result: Comparison) -> str:
    lines = [f"A: {d.config_title(result.base.config)}"]
    for variant in result.variants:
        lines.append(f"{variant.name.upper()}: {d.config_title(variant.run.config)}")
        changed = [f"   {k}: {_written(a)} -> {_written(b)}" for k, a, b in variant.changed]
        lines += d.first_of(list(map(one_line, changed)), CHANGES, "   and {} more")
    joint = f"; ±: {result.joint}" if result.joint else ""
    made = f"seed {result.base.seed}, {result.replications_in_words}{joint}"
    return "\n".join([*lines, textwrap.fill(made, WIDTH)])


def _changed(result: Comparison, response: Response) -> bool:
    return any(d.is_sure(v.comparisons[response.name].difference) for v in result.variants)


def _written(value: object) -> str:
    return shortened(plain_number(value) if isinstance(value, float) else str(value))


def _in_words(variant: Variant) -> str:
    """Say in few words what differs in a system."""
    changes = [f"{name}={_written(there)}" for name, _, there in variant.changed]
    return some_of(changes, NAMED) or "the same config"


def _question(result: Comparison) -> str:
    name, variants = d.config_name(result.base.config), result.variants
    how = f"{result.replications_in_words}, seed {result.base.seed}"
    if not result.is_pair:
        others = [f"{variant.name.upper()} ({_in_words(variant)})" for variant in variants]
        systems = d.joined(d.first_of(others, SYSTEMS, "{} more"))
        return f"How do {systems} differ from {name} as it is (A)? {how}."
    (other,) = variants
    changes = [f"{key} is {_written(b)} instead of {_written(a)}" for key, a, b in other.changed]
    changes = changes or [f"{Path(other.run.config.source).stem} takes its place"]
    when = d.joined(d.first_of(changes, NAMED, "{} more differ"))
    return f"What changes in {name} when {when}? {how}."


def _finding_of_comparison(result: Comparison, shown: list[Response]) -> str:
    variants, most = result.variants, d.HEADLINE if len(result.variants) <= 2 else NAMED
    parts = []
    for other in variants:
        pairs = [(response, other.comparisons[response.name]) for response in shown[:most]]
        changes = [d.change_in_words(r, pair.difference, pair.a.mean) for r, pair in pairs]
        parts.append(f"{other.name.upper()} ({_in_words(other)}): {d.joined(changes)}")
    if result.is_pair:
        names = [response.name for response in shown]
        means, why = (
            [result.comparisons[k].difference for k in names],
            result.why_no_interval(names),
        )
        return f"{parts[0]}; {d.in_interval_words(means, result.replications_in_words, why)}."
    joint = f"intervals that hold together at {d.confidence_in_words(result.confidence)}"
    systems = "; ".join(d.first_of(parts, SYSTEMS, "{} more below"))
    how = joint if result.joint else "no intervals"
    return f"{systems}; {how}, n = {result.replications_in_words}."


def _columns_of_systems(result: Comparison) -> list[d.Column]:
    """Return the columns of numbers: the base, the other system of a pair, the differences."""
    pairs = [result.comparisons[response.name] for response in result.responses]
    columns = d.mean_columns("A", "", [pair.a for pair in pairs])[:1]
    if result.is_pair:
        columns += d.mean_columns("B", "", [pair.b for pair in pairs])[:1]
    half = f"± {result.confidence:.0%}" if result.is_pair else "±"
    for variant in result.variants:
        differences = [variant.comparisons[r.name].difference for r in result.responses]
        columns += d.mean_columns(f"{variant.name.upper()} - A", half, differences)
    if result.is_pair:
        columns.append((d.COUNT, [str(pair.difference.n) for pair in pairs]))
    return columns


def _what_differs(result: Comparison) -> d.Block:
    """Return a table of what differs between the systems, and how many responses do."""
    changed = [{key: (a, b) for key, a, b in variant.changed} for variant in result.variants]
    names = [variant.name.upper() for variant in result.variants]
    table = d.TextTable.of("factor", "A", *names, d.UNIT)
    for key in dict.fromkeys(key for of_variant in changed for key in of_variant):
        base = next(of_variant[key][0] for of_variant in changed if key in of_variant)
        cells = [str(of_variant[key][1]) if key in of_variant else "" for of_variant in changed]
        table.add(key, str(base), *cells, d.unit_of_factor(result.base.config.model, key))
    if not table.rows:
        table.notes.append("No factor differs.")
    sure = sum(_changed(result, response) for response in result.responses)
    of = counted(len(result.responses), "response")
    items = [f"{sure} of {of} differ beyond the interval.", result.joint]
    return d.Block("What differs", table=table, items=[item for item in items if item])


def _differences(result: Comparison, response: Response) -> d.Chart:
    means = {v.name.upper(): v.comparisons[response.name].difference for v in result.variants}
    rows = [d.interval_of(name, mean, f"{name} - A") for name, mean in means.items()]
    return d.Intervals(labelled(response.name, response.unit), rows, zero=True)


# Replays of tickets: who was matched after how long, by which steps.

THINNED = 400  # points of a line
MOST_BLOCKERS = 3  # tickets that block others, most of whom are named

Columns = Mapping[str, Sequence[Any]]
Waits = Mapping[int, Sequence[float]]  # those of tickets that were matched, sorted, by size


def present_replay(result: ReplayedTickets, view: d.View) -> d.Presentation:
    """Return what a replay shows."""
    rules = shortened(Path(result.source).name)
    page = d.Presentation("Replay of tickets", f"Who is matched with whom and when, by {rules}?")
    findings = []
    for search, numbers in result.results.items():
        tickets = result.rows("tickets", search)
        counts = dict(sorted(Counter(map(int, tickets["players"])).items()))
        waits = _waits(tickets, counts)
        of = f", {search}" if len(result.results) > 1 else ""
        findings.append(_finding_of_replay(search, tickets["status"], waits))
        if compared := numbers.get("compared"):
            title = f"What the log says, and what the rules do{of}"
            page.tables.append(d.Block(title, table=_compared(compared)))
        page.tables += [
            d.Block(
                f"How tickets ended{of}",
                table=_ends(search, numbers, tickets),
                items=_blocked(numbers),
            ),
            d.Block(f"Waits by players of a ticket{of}", table=_waits_by_size(waits, counts)),
        ]
        steps = result.rows("steps", search)
        if steps["what"]:
            text = "How many matches were proposed while each value held, by the age of the match."
            table = _steps(steps, int(numbers["matches"]))
            page.tables.append(d.Block(f"Steps of expansions{of}", [text], table=table))
        if numbers["rules"]:
            table = _judged(compared or {}, numbers["rules"])
            page.tables.append(d.Block(f"Rules{of}", table=table, folded=True))
        matches = d.floats(result.rows("matches", search)["time"])
        came, went = (d.floats(tickets[name]) for name in ("time", "end"))
        charts = [*d.queue_charts(came, went, matches, "tickets"), *_share_matched(waits, counts)]
        page.charts.append(d.Block(f"What happened{of}", charts=charts, figure="replay"))
    page.finding = " ".join([*findings, "This is one replay, without intervals."])
    return page


def _waits(tickets: Columns, sizes: Mapping[int, int]) -> dict[int, list[float]]:
    waits: dict[int, list[float]] = {size: [] for size in sizes}
    columns = (tickets[name] for name in ("wait", "players", "status"))
    for wait, size, status in zip(*columns, strict=True):
        if status == DONE and wait is not None and not math.isnan(wait):
            waits[int(size)].append(wait)
    return {size: sorted(times) for size, times in waits.items()}


def _finding_of_replay(search: str, statuses: Sequence[str], waits: Waits) -> str:
    """Say what came of the tickets, by one search."""
    matched, late = list(statuses).count(DONE), list(statuses).count("TIMED_OUT")
    parts = [f"{counted(matched, 'ticket')} {'is' if matched == 1 else 'are'} matched"]
    if every := sorted(wait for times in waits.values() for wait in times):
        half, most = (seconds(quantile(every, level)) for level in (0.5, 0.9))
        parts.append(f"half of those within {half} and 90 % within {most}")
    parts.append(f"{late:,} time{'s' * (late == 1)} out")
    return f"By the search {search}, of all tickets (n = {len(statuses):,}), {d.joined(parts)}."


def _ends(search: str, numbers: Mapping[str, Any], tickets: Columns) -> d.TextTable:
    matches, ends = int(numbers["matches"]), Counter(tickets["status"])
    many = "match" if matches == 1 else "matches"
    title = f"search {search}: {matches:,} {many} of {numbers['tickets']:,} tickets"
    table = d.TextTable.of("end", "tickets", "share", title=title)
    for status in sorted(ends, key=lambda end: end != DONE):
        end = status.lower().replace("_", " ") or "after the horizon"
        table.add(end, f"{ends[status]:,}", f"{ends[status] / ends.total():.1%}")
    if lacking := sum(map(bool, tickets["unmatchable"])):
        table.notes.append(f"{lacking:,} tickets lack an attribute and cannot be matched")
    return table


def _blocked(numbers: Mapping[str, Any]) -> list[str]:
    blocked = numbers.get("blocked_by", [])
    lines = [
        f"blocked: {blocker['behind']:,} tickets of {numbers['tickets']:,} waited behind"
        f" {' and '.join(blocker['tickets'])}, which could join them, and without which they had a"
        " match"
        for blocker in blocked[:MOST_BLOCKERS]
    ]
    if len(blocked) > MOST_BLOCKERS:
        lines.append(f"blocked: by {len(blocked) - MOST_BLOCKERS:,} others, fewer")
    looked, every = numbers.get("reviews_looked_at", 0), numbers.get("reviews", 0)
    if looked < every:
        seen = "seen" if blocked else "nobody, as seen"
        lines.append(f"blocked: {seen} at {looked:,} of {every:,} reviews at even distances")
    return lines


def _share_matched(waits: Waits, sizes: Mapping[int, int]) -> Iterator[d.Graph]:
    """Yield which share of tickets of each size has been matched after how long."""
    last = max((times[-1] for times in waits.values() if times), default=0.0)
    lines = []
    for k, (size, times) in enumerate(waits.items()):
        if times:
            share = np.arange(1, len(times) + 1) / sizes[size]
            thinned = np.linspace(0, len(times) - 1, min(len(times), THINNED)).astype(int)
            x = np.concatenate([[0.0], np.array(times)[thinned], [last]])
            y = np.concatenate([[0.0], share[thinned], share[-1:]])
            lines.append(d.Line(counted(size, "player"), x, y, colour=k))
    if lines:
        yield d.Graph("Share of tickets matched", "seconds since the ticket came", "", lines)


ENDS = ("matched", "timed_out", "cancelled", "failed", "searching")
LOGGED = {
    "matches": "matches",
    **{name: name.replace("_", " ") for name in ENDS},
    "time_to_match": "time to match, mean",
    "time_to_match_p50": "time to match, half",
    "time_to_match_p90": "time to match, 90 %",
}


def _compared(compared: Mapping[str, Any]) -> d.TextTable:
    """Return how tickets ended in a game's log and by the rules."""
    table = d.TextTable.of("tickets", "in the log", "by the rules", left=["tickets"])
    log, rules = compared["log"], compared["rules"]
    for name, label in LOGGED.items():
        shown = seconds if name.startswith("time_") else "{:,}".format
        cells = shown(log[name]), shown(rules[name])
        if any(cells):
            table.add(label, *cells)
    tickets = sum(log[name] for name in ENDS)
    table.notes.append(f"{compared['same_end']:,} of {tickets:,} tickets end alike")
    both, difference = compared["matched_in_both"], compared["wait_difference"]
    if difference is not None:
        wait = f"they wait {abs(difference):.4g} s {'longer' if difference >= 0 else 'shorter'}"
        table.notes.append(f"{both:,} are matched in both: by the rules {wait}")
    same = compared["same_matches"]
    table.notes.append(f"{same:,} of {log['matches']:,} matches of the log have the same tickets")
    return table


def _judged(compared: Mapping[str, Any], rules: Mapping[str, Mapping[str, int]]) -> d.TextTable:
    """Return how often rules passed and failed, in the log where it says so."""
    logged = compared.get("judged_in_log", {})
    heads = ("passed in the log", "failed in it") if logged else ()
    table = d.TextTable.of("rule", "passed", "failed", *heads)
    for name, counts in rules.items():
        both = [counts, *([logged[name]] if name in logged else [])]
        table.add(name, *(f"{side[key]:,}" for side in both for key in ("passed", "failed")))
    return table


def _waits_by_size(waits: Waits, tickets: Mapping[int, int]) -> d.TextTable:
    table = d.TextTable.of("players", "tickets", "matched", "mean wait", "half", "90 %", left=[])
    for size, count in tickets.items():
        times = waits[size]
        mean = math.fsum(times) / len(times) if times else None
        cells = map(seconds, (mean, quantile(times, 0.5), quantile(times, 0.9)))
        table.add(f"{size}", f"{count:,}", f"{len(times) / count:.1%}", *cells)
    return table


def _steps(steps: Columns, matches: int) -> d.TextTable:
    """Return which steps held when matches were proposed."""
    table = d.TextTable.of("value", "from", "is", "matches", "share", left=["value"])
    names, last = ("what", "from_seconds", "value", "matches"), ""
    for what, begins, value, count in zip(*(steps[name] for name in names), strict=True):
        share = f"{count / matches:.1%}" if matches else ""
        table.add("" if what == last else what, f"{begins:g} s", value, f"{count:,.0f}", share)
        last = what
    return table


def quantile(values: Sequence[float], level: float) -> float | None:
    """Return the least value that so large a share of sorted values does not exceed."""
    return values[max(math.ceil(level * len(values)) - 1, 0)] if len(values) else None


def seconds(value: float | None) -> str:
    """Return seconds as tables show them."""
    return "" if value is None else f"{value:.1f} s"
