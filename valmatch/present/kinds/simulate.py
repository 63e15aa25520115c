"""Presentation of a replication: its responses, and what happened in it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from valmatch.experiments.response_list import shown_by
from valmatch.experiments.simulate import Simulation
from valmatch.kernels.arrays import Floats
from valmatch.present import document as d
from valmatch.present.bins import histogram, queue_charts
from valmatch.present.kinds.responses import glossary, responses_tables
from valmatch.present.svg import number

COMMON, LONG = 0.99, 2.0
"""Share of the values that is drawn where others are so many times larger."""


class Column(NamedTuple):
    """A column of a table whose distribution is drawn."""

    # table, name: the table and the column
    table: str
    name: str
    # label, what: what it is, with its unit, and what is counted
    label: str
    what: str


HISTOGRAMS = {
    "valorant": (
        Column("players", "wait_minutes", "wait of matched players [minutes]", "players"),
        Column("players", "rating", "rating of players [Elo points]", "players"),
        Column("matches", "team_diff", "difference of matched teams [Elo points]", "matches"),
    ),
    "ladder": (
        Column("players", "skill", "true skill of players [points]", "players"),
        Column("players", "rating", "rating of players at the end [points]", "players"),
        Column("tickets", "wait_minutes", "wait in the queue [minutes]", "tickets"),
    ),
    "zonestats": (
        Column("players", "skill", "true skill of players [points]", "players"),
        Column("players", "rating", "rating of players at the end [points]", "players"),
        Column("players", "games", "games of a player", "players"),
    ),
}
"""What is drawn of the models of this package."""

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
    "valorant": ("players", "players", ("arrival_hours", "match_hours", "left_hours")),
    "ladder": ("tickets", "players", ("queued_hours", "ended_hours")),
}
"""The table of those who wait, who they are, and the columns of when they come and go."""

TIME = re.compile(r"(?:.*_)?(?:time|seconds|minutes|hours|days)")
"""The name of a column of times; the first of a table that has it is its time."""


def present(result: Simulation, view: d.View) -> d.Presentation:
    """Return what a replication shows."""
    name = d.config_name(result.config)
    of = f"seed {result.seed}, replication {result.replication}"
    return d.Presentation(
        f"One replication of {name}",
        f"What happens in replication {result.replication} of {name}? Seed {result.seed}.",
        finding=_finding(result, view),
        glossary=d.meanings_in_words(d.headline(result.responses, view.responses)),
        header=f"{d.config_title(result.config)}, {of}",
        tables=responses_tables(result.responses, result.values.tolist(), view.responses),
        charts=[d.Block("What happened", charts=_charts(result), figure="replication")],
        blocks=glossary(result.responses),
    )


def _finding(result: Simulation, view: d.View) -> str:
    """Say what the first responses are."""
    values = dict(zip((r.name for r in result.responses), result.values.tolist(), strict=True))
    said = [
        f"{one.name} is undefined"
        if math.isnan(values[one.name])
        else f"{one.name} is {values[one.name]:.4g}{d.after(one.unit)}"
        for one in d.headline(result.responses, view.responses)
    ]
    return f"Here {d.joined(said)}; this is one replication (n = 1), without intervals."


def _charts(result: Simulation) -> list[d.Chart]:
    """Return the charts of a model of this package, or tables over their times."""
    model, there = result.config.model, [table.name for table in result.tables]
    charts: list[d.Chart] = []
    if model in QUEUES:
        charts += _queue(result, model)
    if model in CURVES and CURVES[model][0] in there:
        charts += _curves(result, *CURVES[model])
    for column in HISTOGRAMS.get(model, ()):
        if column.table in there and column.name in result[column.table]:
            values = d.floats(result[column.table][column.name])
            values = np.sort(values[~np.isnan(values)])
            if values.size:
                charts.append(_histogram(column, values))
    return charts or _events(result)


def _queue(result: Simulation, model: str) -> Iterator[d.Chart]:
    """Yield who waits when, and when matches are made."""
    table, what, columns = QUEUES[model]
    came, *went = (
        3600.0 * d.floats(result[table][name]) for name in columns if name in result[table]
    )
    matches = np.zeros(0)
    if model == "valorant":
        matches = 3600.0 * d.floats(result["matches"]["time_hours"])
    yield from queue_charts(came, np.fmin(went[0], went[-1]), matches, what)


def _histogram(column: Column, values: Floats) -> d.Graph:
    """Return the distribution of a column, with its mean."""
    mean = (float(values.mean()), math.nan, math.nan)
    title = column.label[:1].upper() + column.label[1:]
    most = float(np.quantile(values, COMMON))
    if values[-1] > LONG * most > 0.0:
        title += f", the lowest {COMMON:.0%}; the largest is {number(float(values[-1]))}"
        values = values[values <= most]
    label, _, unit = column.label.partition(" [")
    return histogram(values, None, title, unit.rstrip("]") or label, column.what, mean=mean)


def _curves(
    result: Simulation, name_of_table: str, step: str, measures: Sequence[str]
) -> Iterator[d.Chart]:
    """Yield a chart for each measure over the steps of each policy, if there are several."""
    table, (_, axes) = result[name_of_table], shown_by(result.config)
    steps = d.floats(table[step])
    policies = np.asarray(table["policy"] if "policy" in table else np.full(steps.size, ""))
    for name in (name for name in measures if name in table):
        lines = [
            d.Line(str(policy), steps[own], d.floats(table[name])[own], colour=k)
            for k, policy in enumerate(dict.fromkeys(policies.tolist()))
            for own in [policies == policy]
        ]
        yield d.Graph(d.measure_label(axes, result.responses, name), step, "", lines)


def _events(result: Simulation) -> list[d.Chart]:
    """Return each column of numbers of each table that has times, over these: of any model."""
    charts: list[d.Chart] = []
    for table in result.tables:
        numbers = {k: d.floats(own) for k, own in table.columns.items() if own.dtype.kind in "iuf"}
        time = next((name for name in numbers if TIME.fullmatch(name)), None)
        if time is not None:
            times = numbers.pop(time)
            for name, own in numbers.items():
                line = d.Line("", times, own, marks=True, joined=False)
                charts.append(d.Graph(f"{name} of {table.name}", time, "", [line]))
    return charts
