"""Make the tables, the chart and the page of this folder, as PLAN.md says: five living matchmakers.

    python results/living-matchmakers/make.py

takes some ten minutes on one core. `duels`, `twos`, `threes` and `eight` after it run the rules on
the same players, `faf`, `bar`, `shieldbattery`, `osu` and `lichess` what maintainers ask, each for
up to three minutes. Each command that is done is kept in the table of its part, and is not run
again unless it has changed. `list` prints all commands, `chart` draws, `page` fills the page, and
`--check` says whether the page holds the tables. How far it is is said on stderr.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path

from matplotlib.axes import Axes
from PIL import Image

from results.living_matchmakers import CELLS, TOGETHER
from results.pages import counted, fill, make_parts
from results.tickets.commands import Run
from results.tickets.make import HEAD, rows_of
from results.tickets.showing import Row, Rows, command_text, run_table, values_of
from valmatch.plots.parts.style import COLOURS, panels, save, style_context
from valmatch.storage.output import write_csv

HERE = Path(__file__).parent
MADE = "command"
"""The column that says of which command a row is."""

BASES = {"change": "before", "rule of today": "as it is"}
"""What the first row of a table of differences is called, where it is not the shipped config."""

BESIDE = {
    "bar: teams": ("2x1", "2x2", "2x3", "2x5"),
    "bar: parties": ("parties once", "parties each"),
}
"""Commands of a cell whose rows stand in one table."""

MARKERS, PALETTE = "osD^v", 128
"""Marks of rules; colours of the chart, which keep its file small and leave rules apart."""

WAIT, GAP = "time_to_match", "win_gap"


def mark_of(run: Run) -> str:
    """Return what tells a command from all others."""
    return sha256(" ".join(run.words).encode()).hexdigest()[:12]


def cell(name: str) -> None:
    """Run those commands of a cell that are not done yet; write its table after each."""
    runs = CELLS[name]
    rows: list[Mapping[str, object]] = []
    known = _by_command(name)
    with tempfile.TemporaryDirectory() as folder:
        for run in counted(name, runs, len(runs)):
            mark = mark_of(run)
            rows += known.get(mark) or [row | {MADE: mark} for row in rows_of(run, folder)]
            columns = {key: [row[key] for row in rows] for key in (*HEAD, MADE)}
            write_csv(HERE / f"{name}.csv", columns)


def _by_command(name: str) -> dict[str, list[Row]]:
    """Return the rows of each command that is done."""
    found: dict[str, list[Row]] = {}
    for row in table_of(name):
        found.setdefault(row[MADE], []).append(row)
    return found


def table_of(name: str) -> list[Row]:
    """Return the rows of a cell, none where nothing is done."""
    path = HERE / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def chart() -> None:
    """Draw wait against fairness of all rules in duels, a panel for each population."""
    rows = table_of("duels")
    points = list(dict.fromkeys(row["point"] for row in rows))
    with style_context():
        figure, axes = panels(len(points), len(points), 3.0, 2.6)
        for axis, point in zip(axes, points, strict=True):
            _front_panel(axis, [row for row in rows if row["point"] == point])
            axis.set(title=f"{float(point):,g} players an hour", xlabel="mean wait [s]")
        axes[0].set_ylabel("win_gap")
        axes[0].legend(fontsize=7)
    (file,) = save({"duels": figure}, HERE, ["png"])
    with Image.open(file) as drawn:
        reduced = drawn.convert("RGB").quantize(PALETTE, dither=Image.Dither.NONE)
    reduced.save(file, optimize=True)


def _front_panel(axis: Axes, rows: Rows) -> None:
    """Draw each rule as a point with its two intervals; those on the front are filled."""
    found = measured(rows)
    for number, (rule, own) in enumerate(found.items()):
        wait, gap = (own[name] for name in (WAIT, GAP))
        axis.errorbar(
            wait[0], gap[0], xerr=[[wait[0] - wait[1]], [wait[2] - wait[0]]],
            yerr=[[gap[0] - gap[1]], [gap[2] - gap[0]]], fmt=MARKERS[number], markersize=5,
            capsize=2, color=COLOURS[number], label=rule, linewidth=0.8,
            markerfacecolor=COLOURS[number] if on_front(rule, found) else "none",
        )  # fmt: skip


Measured = dict[str, dict[str, tuple[float, float, float]]]


def measured(rows: Rows) -> Measured:
    """Return mean, low and high of each response of each rule."""
    found: Measured = {}
    for row in rows:
        if row["low"]:
            numbers = float(row["mean"]), float(row["low"]), float(row["high"])
            found.setdefault(row["run"], {})[row["response"]] = numbers
    return found


def on_front(rule: str, found: Measured) -> bool:
    """Return whether no other rule has, shown, both a shorter mean wait and a smaller win gap."""
    own = found[rule]
    return not any(
        all(other[name][2] < own[name][1] for name in (WAIT, GAP)) for other in found.values()
    )


def _side_by_side(name: str) -> str:
    """Return the table of rules on the same players, in order of the population; * on the front."""
    rows = table_of(name)
    shown = []
    for point in dict.fromkeys(row["point"] for row in rows):
        own = [row for row in rows if row["point"] == point]
        comparable = [row for row in own if name != "eight" or row["run"] != "osu"]
        front = measured(comparable)
        for row in own:
            star = " *" if row["run"] in front and on_front(row["run"], front) else ""
            label = f"{float(point):,g} an hour: `{row['run']}`{star}"
            shown.append(row | {"run": name, "point": label})
    return run_table(shown)


def page() -> None:
    """Put the tables and numbers into the page."""
    readme = HERE / "README.md"
    tables = {name: table_of(name) for name in CELLS}
    texts = {name: f"\n{_side_by_side(name)}\n" for name in TOGETHER}
    for name, runs in CELLS.items():
        for run in runs if name not in TOGETHER else ():
            own = [row for row in tables[name] if row["run"] == run.name]
            base = BASES.get(run.name, "as it is")
            texts[f"{name}: {run.name}"] = f"\n{run_table(own, base)}\n"
    for name, runs_of in BESIDE.items():
        own = [row | {"point": row["run"]} for row in tables["bar"] if row["run"] in runs_of]
        texts[name] = f"\n{run_table(own)}\n"
    text = readme.read_text(encoding="utf-8")
    texts = {name: own for name, own in texts.items() if f"<!-- {name} -->" in text}
    fill(readme, texts | dict(values_of(tables, text)))


def listing() -> None:
    """Print all commands, for those who want to give one by hand."""
    for name, runs in CELLS.items():
        print(f"# {name}", *map(command_text, runs), sep="\n")


PARTS: dict[str, Callable[[], object]] = {
    "list": listing,
    **{name: partial(cell, name) for name in CELLS},
    "chart": chart,
    "page": page,
}


if __name__ == "__main__":
    make_parts(__doc__, PARTS)
