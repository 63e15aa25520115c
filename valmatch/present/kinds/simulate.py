"""Presentation of a replication: its responses, and what happened in it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np

from valmatch.experiments.response_list import shown_by
from valmatch.experiments.simulate import Simulation
from valmatch.present import document as d
from valmatch.present.bins import histogram, queue_charts
from valmatch.present.kinds.responses import glossary, responses_tables
from valmatch.present.svg import number

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


def present(result: Simulation, view: d.View) -> d.Presentation:
    """Return what a replication shows."""
    name = d.config_name(result.config)
    of = f"seed {result.seed}, replication {result.replication}"
    shown = d.headline(result.responses, view.responses)
    values = dict(zip((r.name for r in result.responses), result.values.tolist(), strict=True))
    parts = [
        f"{response.name} is undefined"
        if math.isnan(values[response.name])
        else f"{response.name} is {values[response.name]:.4g}{d.after(response.unit)}"
        for response in shown
    ]
    charts = _charts(result) if view.charts else []
    return d.Presentation(
        f"One replication of {name}",
        f"What happens in replication {result.replication} of {name}? Seed {result.seed}.",
        concluded=False,
        finding=f"Here {d.joined(parts)}; this is one replication (n = 1), without intervals.",
        glossary=d.meanings_in_words(shown),
        header=f"{d.config_title(result.config)}, {of}",
        tables=responses_tables(result.responses, result.values.tolist(), view.responses),
        charts=[d.Block("What happened", charts=charts, figure="replication")],
        blocks=glossary(result.responses),
    )


def _charts(result: Simulation) -> list[d.Chart]:
    """Return the charts of a model of this package, or tables over their times."""
    model, there = result.config.model, [table.name for table in result.tables]
    charts: list[d.Chart] = []
    if model in QUEUES:
        charts += _queue(result, model)
    if model in CURVES and CURVES[model][0] in there:
        charts += _curves(result, *CURVES[model])
    for (table, column), label in HISTOGRAMS.get(model, {}).items():
        if table in there and column in result[table]:
            charts += _histogram(result, table, column, label)
    return charts or list(_events(result))


def _queue(result: Simulation, model: str) -> Iterator[d.Chart]:
    """Yield who waits when, and when matches are made."""
    table, columns = QUEUES[model]
    came, *went = (
        3600.0 * result.numbers(table, name)
        for name in columns
        if name != "left_hours" or name in result[table]
    )
    matches = np.zeros(0)
    if model == "valorant":
        matches = 3600.0 * result.numbers("matches", "time_hours")
    yield from queue_charts(came, np.fmin(went[0], went[-1]), matches, "players")


def _histogram(result: Simulation, table: str, column: str, label: str) -> Iterator[d.Graph]:
    """Yield the distribution of a column, with its mean, if it has values."""
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
    ends = (mean, math.nan, math.nan)
    yield histogram(values, title, unit.rstrip("]") or name, table, mean=ends)


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


def _events(result: Simulation) -> Iterator[d.Chart]:
    """Yield each column of numbers of each table that has times, over these: of any model."""
    for table in result.tables:
        numbers = [name for name, column in table.columns.items() if column.dtype.kind in "iuf"]
        time = next((name for name in numbers if TIME.fullmatch(name)), None)
        for name in numbers if time else ():
            if name != time:
                xs, ys = (d.floats(table.columns[key]) for key in (time or "", name))
                line = d.Line("", xs, ys, marks=True, joined=False)
                yield d.Graph(f"{name} of {table.name}", time or "", "", [line])
