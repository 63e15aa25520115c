"""Chapters on single replications: what happened."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from valmatch.present.bins import bin_edges
from valmatch.present.chapters.replicate import glossary
from valmatch.present.document import (
    Block,
    Chart,
    Graph,
    Line,
    Presentation,
    after,
    headline,
    joined,
    meanings_in_words,
    response_of,
    titled,
)
from valmatch.present.html import number
from valmatch.present.provenance import run_name
from valmatch.present.series import queue_charts
from valmatch.present.sheets import responses_sheets
from valmatch.present.source import RunFiles
from valmatch.storage.result_files import damaged
from valmatch.text.numerals import real_number

RESPONSES = "responses.json"

MOST = 200_000  # most rows of a file that are counted


COMMON, LONG = 0.99, 2.0
"""Share of the values that is drawn where others are so many times larger."""


class Column(NamedTuple):
    """A column of a file whose distribution is drawn."""

    # file, name: the file and the column
    file: str
    name: str
    # label, what: what it is, with its unit, and what is counted
    label: str
    what: str


HISTOGRAMS = {
    "valorant": (
        Column("players.csv", "wait_minutes", "wait of matched players [minutes]", "players"),
        Column("players.csv", "rating", "rating of players [Elo points]", "players"),
        Column("matches.csv", "team_diff", "difference of matched teams [Elo points]", "matches"),
    ),
    "ladder": (
        Column("players.csv", "skill", "true skill of players [points]", "players"),
        Column("players.csv", "rating", "rating of players at the end [points]", "players"),
        Column("tickets.csv", "wait_minutes", "wait in the queue [minutes]", "tickets"),
    ),
    "zonestats": (
        Column("players.csv", "skill", "true skill of players [points]", "players"),
        Column("players.csv", "rating", "rating of players at the end [points]", "players"),
        Column("players.csv", "games", "games of a player", "players"),
    ),
}
"""What is drawn of the models of this package."""

DAYS = ("matches", "avg_wait_time", "win_gap", "rating_error", "scale_stretch", "active_players")
"""What is drawn of a ladder day by day."""

GAMES = ("true_draw_probability", "squared_error", "skill_difference", "expected_quality")
"""What is drawn of opponents game by game."""


def chapter(run: RunFiles) -> Presentation:
    """Return the chapter on a run of `simulate`."""
    name = run_name(run)
    replication = run.manifest.get("replication") or 0
    asked = f"What happens in replication {replication} of {name}? Seed {run.manifest.seed}."
    chapter = Presentation(f"One replication of {name}", asked)
    if not (run.folder / RESPONSES).exists() and run.status != "complete":
        return chapter
    given = run.json(RESPONSES)
    with damaged(run.folder / RESPONSES):
        values: Mapping[str, float] = {
            key: math.nan if value is None else float(value)
            for key, value in given["responses"].items()
        }
    responses = [response_of(run, response) for response in values]
    shown = headline(run, responses)
    said = [
        f"{one.name} is undefined"
        if math.isnan(values[one.name])
        else f"{one.name} is {values[one.name]:.4g}{after(one.unit)}"
        for one in shown
    ]
    chapter.finding = f"Here {joined(said)}; this is one replication (n = 1), without intervals."
    chapter.glossary = meanings_in_words(shown)
    first, *parts = responses_sheets(responses, list(values.values()), run.chosen)
    chapter.blocks.append(titled(first, "Responses"))
    charts = _charts(run)
    if charts:
        chapter.blocks.append(Block("What happened", charts=charts, figure="replication"))
    chapter.blocks += [titled(part, f"By {part.heads[0]}", folded=True) for part in parts]
    chapter.blocks += glossary(responses)
    return chapter


def _charts(run: RunFiles) -> list[Chart]:
    """Return the charts of a replication, of a model of this package."""
    model = run.kind[1]
    charts: list[Chart] = [*_queue(run, model)]
    if model == "ladder":
        charts += _days(run)
    if model == "opponent":
        charts += _games(run)
    for column in HISTOGRAMS.get(model, ()):
        if not (run.folder / column.file).exists() or column.name not in run.header(column.file):
            continue
        values = run.table(column.file, (column.name,), most=MOST).numbers[column.name]
        values = np.sort(values[~np.isnan(values)])
        if values.size:
            charts.append(_histogram(column, values))
    return charts or _events(run)


QUEUES = {
    "valorant": ("players.csv", "players", ("arrival_hours", "match_hours", "left_hours")),
    "ladder": ("tickets.csv", "players", ("queued_hours", "ended_hours")),
}
"""The file of those who wait, who they are, and the columns of when they come and go."""


def _queue(run: RunFiles, model: str) -> Iterator[Chart]:
    """Yield who waits when, and when matches are made."""
    if model not in QUEUES or not (run.folder / QUEUES[model][0]).exists():
        return
    file, what, columns = QUEUES[model]
    there = [name for name in columns if name in run.header(file)]
    came, *went = (3600.0 * column for column in run.table(file, there).numbers.values())
    matches = np.zeros(0)
    if model == "valorant":
        matches = 3600.0 * run.table("matches.csv", ("time_hours",)).numbers["time_hours"]
    yield from queue_charts(came, np.fmin(went[0], went[-1]), matches, what)


TIME = re.compile(r"(?:.*_)?(?:time|seconds|minutes|hours|days)")
"""The name of a column of times; the first of a table that has it is its time."""


def _events(run: RunFiles) -> list[Chart]:
    """Return each column of numbers of each table that has times, over these: of any model."""
    charts: list[Chart] = []
    for file in [name for name in run.manifest.files or () if name.endswith(".csv")]:
        header = run.header(file)
        time = next((name for name in header if TIME.fullmatch(name)), None)
        texts = run.table(file, (), header).texts if time else {}
        columns = {
            name: [real_number(x) if x else math.nan for x in own] for name, own in texts.items()
        }
        numbers = {
            name: np.array(own, np.float64)
            for name, own in columns.items()
            if None not in own and any(texts[name])
        }
        if time in numbers:
            charts += [
                Graph(
                    f"{name} of {file.removesuffix('.csv')}",
                    time,
                    "",
                    [Line("", numbers[time], own, marks=True, joined=False)],
                )
                for name, own in numbers.items()
                if name != time
            ]
    return charts


def _histogram(column: Column, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Graph:
    """Return the distribution of a column, with its mean."""
    mean = (float(values.mean()), math.nan, math.nan)
    title = column.label[:1].upper() + column.label[1:]
    most = float(np.quantile(values, COMMON))
    if values[-1] > LONG * most > 0.0:
        title += f", the lowest {COMMON:.0%}; the largest is {number(float(values[-1]))}"
        values = values[values <= most]
    counts, edges = np.histogram(values, bin_edges(values))
    label, _, unit = column.label.partition(" [")
    axis = unit.rstrip("]") or label
    what = column.what
    return Graph(title, axis, what, edges=edges, counts=counts.astype(np.float64), mean=mean)


def _days(run: RunFiles) -> list[Chart]:
    """Return the days of a ladder, a chart for each measure."""
    if not (run.folder / "days.csv").exists():
        return []
    header = run.header("days.csv")
    names = [name for name in DAYS if name in header]
    numbers = run.table("days.csv", ("day", *names)).numbers
    return [
        Graph(run.units.response(name), "day", "", [Line("", numbers["day"], numbers[name])])
        for name in names
    ]


def _games(run: RunFiles) -> list[Chart]:
    """Return the games of each policy, a chart for each measure."""
    if not (run.folder / "games.csv").exists():
        return []
    table = run.table("games.csv", ("game", *GAMES), ("policy",), most=MOST)
    policies = np.array(table.texts["policy"])
    charts: list[Chart] = []
    for name in GAMES:
        lines = []
        for k, policy in enumerate(dict.fromkeys(table.texts["policy"])):
            own = policies == policy
            lines.append(
                Line(policy, table.numbers["game"][own], table.numbers[name][own], colour=k)
            )
        charts.append(Graph(run.units.measure(name), "game", "", lines))
    return charts
