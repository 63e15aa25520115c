"""Chapters on pairs to play next, and on what the next games would bring under each policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from valmatch.errors import InputError
from valmatch.inputs.csv_names import are_marked, unmark
from valmatch.kernels.arrays import Bools
from valmatch.plots.parts.source import FileTable, RunFiles, damaged
from valmatch.plots.report.charts import Graph, Line
from valmatch.plots.report.document import Block, Chapter
from valmatch.plots.report.words import counted, joined
from valmatch.text.sheet import Sheet

BATCH, SIMULATED, SUMMARY = "batch.csv", "simulated.csv", "summary.json"

Z = 1.96  # standard errors to either end of an interval of 95 %

LABELS = {
    "named_best": ("share in which the leader is the best", ".3f"),
    "misordered": ("neighbours in the wrong order", ".2f"),
    "widest": ("standard error of the widest difference [points]", ".1f"),
}
"""What is measured, and how many digits are shown."""

OF_GOAL = dict(zip(("best", "order", "widest"), LABELS, strict=True))

COLUMNS = ("place", "player_a", "player_b", "value", "expected_score", "std_error", "games")


def chapter(run: RunFiles) -> Chapter:
    """Return the chapter on a run of `next`."""
    if not (run.folder / SUMMARY).exists() and run.status != "complete":
        return Chapter("Pairs to play next", "Which pairs are to play next?")
    given = run.json(SUMMARY)
    with damaged(run.folder / SUMMARY):
        return _simulated(run, given) if "policies" in given else _chosen(run, given)


def _chosen(run: RunFiles, given: Mapping[str, Any]) -> Chapter:
    """Return the chapter on a batch."""
    players, policy = counted(int(given["players"]), "player"), str(given["policy"])
    goal = f" for {given['goal']}" if given["goal"] else ""
    marked = are_marked(run.folder / BATCH)
    sheet = Sheet.of(
        "place",
        "player a",
        "player b",
        "value",
        "expected",
        "std error",
        "games",
        left=("player a", "player b"),
    )
    pairs = []
    for place, first, second, value, expected, error, games in run.rows(BATCH, COLUMNS):
        names = [unmark(name) if marked else name for name in (first, second)]
        numbers = f"{float(value):.4g}", f"{float(expected):.3f}", f"{float(error):.1f}"
        sheet.add(place, *names, *numbers, games)
        pairs.append(names)
    asked = f"Which {counted(len(pairs), 'pair')} of {players} are to play next, by {policy}{goal}?"
    made = Chapter(f"Pairs to play next by {policy}", asked)
    first_pair = f"{pairs[0][0]} against {pairs[0][1]} is first" if pairs else "No pair is left"
    known = f"{given['leader']} is the best with probability {float(given['leader_best']):.2f}"
    made.found = f"{first_pair}; {known} (no interval, n = {counted(len(pairs), 'pair')})."
    made.blocks += [Block("Pairs", sheet=sheet), Block("Notes", items=[*map(str, given["notes"])])]
    return made


def _simulated(run: RunFiles, given: Mapping[str, Any]) -> Chapter:
    """Return the chapter on a simulation of the next games."""
    policies, goal = [*map(str, given["policies"])], str(given["goal"])
    worlds = counted(int(given["replications"]), "world")
    games = counted(int(given["games"]), "game")
    table = run.table(
        SIMULATED, ["games", *LABELS, *(f"{name}_std_error" for name in LABELS)], ("policy",)
    )
    players = counted(int(given["players"]), "player")
    made = Chapter(
        f"The next {games} of {players}",
        f"What would the next {games} of {players} bring under {joined(policies)}?",
        meant=f"knowledge_gradient: for the goal {goal}.",
    )
    own = {policy: np.array(table.texts["policy"]) == policy for policy in policies}
    if missing := [policy for policy in policies if not own[policy].any()]:
        raise InputError(f"{run.folder / SIMULATED}: damaged: has no {missing[0]}")
    measure = OF_GOAL[goal]
    label, form = LABELS[measure]
    said = [f"{policy} {_last(table, own[policy], measure, form)}" for policy in policies]
    sure = "95% intervals" if int(given["replications"]) > 1 else "no interval"
    made.found = f"{label.capitalize()} after them: {', '.join(said)}; {sure}, n = {worlds}."
    sheet = Sheet.of("policy", *(label for label, _ in LABELS.values()), left=("policy",))
    for policy in policies:
        cells = [_last(table, own[policy], name, form) for name, (_, form) in LABELS.items()]
        sheet.add(policy, *cells)
    charts = [
        Graph(
            f"{label.capitalize()}",
            "games",
            label,
            [_line(table, own[policy], name, policy, k) for k, policy in enumerate(policies)],
        )
        for name, (label, _) in LABELS.items()
    ]
    made.blocks += [
        Block(f"After {games}", sheet=sheet),
        Block("Charts", charts=charts),
        Block("Notes", items=[*map(str, given["notes"])]),
    ]
    return made


def _last(table: FileTable, own: Bools, name: str, form: str) -> str:
    """Return a measure of a policy after all games, with its interval."""
    mean = float(table.numbers[name][own][-1])
    half = Z * float(table.numbers[f"{name}_std_error"][own][-1])
    return f"{mean:{form}}" if math.isnan(half) else f"{mean:{form}} ± {half:{form}}"


def _line(table: FileTable, own: Bools, name: str, label: str, colour: int) -> Line:
    mean = table.numbers[name][own]
    half = Z * table.numbers[f"{name}_std_error"][own]
    return Line(label, table.numbers["games"][own], mean, mean - half, mean + half, colour=colour)
