"""Chapters on plans: how many games are enough."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from valmatch.errors import InputError
from valmatch.game_logs.planning import AIMED, said_of_plan
from valmatch.kernels.arrays import Floats
from valmatch.present.document import Block, Graph, Line, Presentation, counted
from valmatch.present.source import RunFiles
from valmatch.statistics.estimates import t_quantile
from valmatch.storage.result_files import FileTable, damaged
from valmatch.text.terminal import Sheet

PLAN, SUMMARY = "plan.csv", "summary.json"

SHARES = {
    "named_best": "leader is the best",
    "shown_best": "one alone is tied for first",
    "coverage": "intervals hold the difference",
}
"""What is measured as a share of leagues or of differences."""

ASKED = "How many games are enough?"

MEANT = (
    "half-width: of the intervals of differences between two players, their mean; named best: the"
    " leader of the ratings is the true best; shown best: exactly one player is tied for first;"
    " coverage: share of the differences that their intervals hold."
)


def chapter(run: RunFiles) -> Presentation:
    """Return the chapter on a run of `plan`."""
    if not (run.folder / SUMMARY).exists() and run.status != "complete":
        return Presentation("Plan of games", ASKED)
    names = ("half_width", *SHARES)
    table = run.table(PLAN, ["games", *names, *(f"{name}_std_error" for name in names)])
    if not table.numbers["games"].size:
        raise InputError(f"{run.folder / PLAN}: damaged: holds no number of games")
    given = run.json(SUMMARY)
    with damaged(run.folder / SUMMARY):
        players, policy = counted(int(given["players"]), "player"), _policy(given)
        aim = AIMED[given["aim"]].format(value=float(given["value"]))
        asked = f"How many games of {players}, paired by {policy}, reach {aim}?"
        made = Presentation(f"Plan of games of {players}", asked, glossary=MEANT)
        end = f"n = {counted(int(given['replications']), 'league')}"
        made.finding = (
            f"{said_of_plan(given, int(table.numbers['games'][0]))}; {_sure(given)}, {end}."
        )
        level = float(given["level"])
        made.blocks += [
            Block("Games", sheet=_sheet(table, level)),
            Block("Charts", charts=_charts(table, level), figure="plan"),
            Block("How it was simulated", items=_facts(given)),
        ]
    return made


def _policy(given: Mapping[str, Any]) -> str:
    return f"{given['policy']} ({given['goal']})" if given["goal"] else str(given["policy"])


def _sure(given: Mapping[str, Any]) -> str:
    """Say how sure the number of games is."""
    return "no interval" if given["games"] is None else f"{float(given['level']):.0%} interval"


def _halves(table: FileTable, name: str, level: float) -> Floats:
    reach = t_quantile(0.5 + 0.5 * level, math.inf)
    found: Floats = reach * table.numbers[f"{name}_std_error"]
    return found


def _sheet(table: FileTable, level: float) -> Sheet:
    """Return the curves as a table."""
    columns = {"half_width": ".1f", **dict.fromkeys(SHARES, ".3f")}
    heads = [head for name in columns for head in (name.replace("_", " "), f"± {level:.0%}")]
    sheet = Sheet.of("games", *heads)
    halves = {name: _halves(table, name, level) for name in columns}
    for row, games in enumerate(table.numbers["games"]):
        cells = [
            "" if math.isnan(value) else f"{value:{form}}"
            for name, form in columns.items()
            for value in (table.numbers[name][row], halves[name][row])
        ]
        sheet.add(f"{games:.0f}", *cells)
    return sheet


def _line(table: FileTable, name: str, label: str, level: float, colour: int) -> Line:
    mean, half = table.numbers[name], _halves(table, name, level)
    return Line(label, table.numbers["games"], mean, mean - half, mean + half, colour=colour)


def _charts(table: FileTable, level: float) -> list[Graph]:
    """Return the curves as charts."""
    widths = [_line(table, "half_width", "", level, 0)]
    shares = [
        _line(table, name, what, level, colour)
        for colour, (name, what) in enumerate(SHARES.items())
    ]
    return [
        Graph("Mean half-width of the differences", "games", "half-width [points]", widths),
        Graph("What is known", "games", "share", shares),
    ]


def _facts(given: Mapping[str, Any]) -> list[str]:
    """Return sentences on the leagues."""
    level = float(given["level"])
    batch = f", {given['batch']:,} games at a time" if given["policy"] != "uniform" else ""
    return [
        f"Pairs: {_policy(given)}{batch}.",
        f"Intervals: {level:.0%}; that of the games resamples the leagues.",
        *map(str, given["notes"]),
    ]
