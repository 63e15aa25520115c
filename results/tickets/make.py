"""Make the tables, charts and page of this folder: ten questions on rule sets, as PLAN.md says.

    python results/tickets/make.py [QUESTION ...]

takes some 25 minutes on one core, one to five minutes a question. `list` prints all commands,
which stand in `commands.yaml`; `charts` draws.
"""

import re
import shutil
import tempfile
from functools import partial
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import yaml
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from results.commands import (
    SHOWN,
    Rows,
    add_questions,
    headed,
    interval_text,
    label_of,
    read_commands,
    split,
)
from results.study import Row, Study, group, marks, pivot, run_command, where
from valmatch.config.loading import load_config
from valmatch.present.figures import COLOURS

study = Study(globals(), digits=6)
QUESTIONS = read_commands(study.folder / "commands.yaml")
TUNING = ("optimize", "tickets-tune", "--budget", "300", "--seed", "3902", "--out", "tuned")


def tuned_rows(run: str, command: str) -> list[Row]:
    """Tune the rules, keep them, and return the rows of their comparison."""
    with tempfile.TemporaryDirectory() as folder:
        run_command(*TUNING, folder=Path(folder))
        shutil.copy(Path(folder) / "tuned" / "tuned_rules.json", study.folder)
        return QUESTIONS["tuned"][0].rows(Path(folder))


# ---- charts ----

PANELS = yaml.safe_load((study.folder / "charts.yaml").read_text(encoding="utf-8"))
# Questions whose panels show different rows; those whose panels show different commands.
LABELLED, TITLED = ("blocks",), ("population", "starving")


@study.part
def charts() -> None:
    """Draw a chart for each question."""
    for question, wanted in PANELS.items():
        rows = [row for row in study.rows(question) if row["low"]]
        of_panel = [
            [row for row in where(rows, run=panel["commands"]) if measure(row) == panel["response"]]
            for panel in wanted
        ]
        longest = max(len({_label(row) for row in own}) for own in of_panel)
        size = len(wanted), 3.0, max(1.8, 0.17 * longest + 0.5)
        with study.chart(question, *size, colours=32) as axes:
            for number, (axis, own) in enumerate(zip(axes, of_panel, strict=True)):
                _draw(axis, own, labelled=number == 0 or question in LABELLED)
                if question in TITLED:
                    axis.set_title(wanted[number]["commands"][0])


def measure(row: Row) -> str:
    """Return the measure of a row, without its group."""
    return split(row["response"])[0]


def _label(row: Row) -> str:
    return label_of(row["point"], split(row["response"])[1])


def _draw(axis: Axes, rows: Rows, *, labelled: bool) -> None:
    """Draw a response at the points of a sweep, or intervals one above the other."""
    shown = SHOWN[measure(rows[0])]
    what = shown.words.replace("`", "") + f" [{shown.unit}]" * bool(shown.unit)
    swept = all(re.fullmatch(r"[\d.]+", row["point"]) for row in rows)
    labels = list(dict.fromkeys(map(_label, rows)))
    series = group([row | {"group": split(row["response"])[1]} for row in rows], "run", "group")
    if not swept:
        series = group(rows, "run") if len(labels) > 1 else {(labels[0],): [*rows]}
        labels = labels if len(labels) > 1 else [run for (run,) in group(rows, "run")]
    for number, (names_of, own) in enumerate(series.items()):
        ends = [[float(row[key]) * shown.factor for key in ("mean", "low", "high")] for row in own]
        if swept:
            hours = names_of[1].removesuffix("h").replace("-", " to ")
            points = [float(row["point"]) for row in own]
            label = f"from {hours} h" if hours else "all day"
            marks(axis, points, ends, label=label, color=COLOURS[number])
        else:
            shift = 0.3 * number - 0.15 if len(series) > 1 else 0.0
            at = np.arange(len(own)) + shift
            marks(axis, ends, at, label=names_of[0], color=COLOURS[number], linestyle="")
    if swept:
        axis.set(xlabel="tickets an hour", ylabel=what, xscale="log")
        axis.set_xticks(points, [f"{point:,g}" for point in points])
        axis.minorticks_off()
    else:
        if rows[0]["base"]:
            axis.axvline(0.0, color="0.6", linewidth=0.8)
        axis.set_yticks(range(len(labels)), labels if labelled else [""] * len(labels), fontsize=7)
        axis.set_ylim(len(labels) - 0.5, -0.5)
        axis.xaxis.set_major_locator(MaxNLocator(4))
        axis.set(xlabel=f"change: {what}" if rows[0]["base"] else what)
    if len(series) > 1:
        axis.legend(fontsize=7)


# ---- the page ----


def apart(one: Row, other: Row) -> bool:
    """Return whether a contrast hangs on the order of search, as PLAN.md says."""
    low, high, low2, high2 = (float(r[key]) for r in (one, other) for key in ("low", "high"))
    return high < low2 or high2 < low or (low > 0.0 > high2) or (low2 > 0.0 > high)


def order_table(*runs: str) -> str:
    """Return contrasts, or groups, by both searches; * where they hang on the order."""
    first, second = (study.rows("order", run=run) for run in runs)
    made = []
    for one, other in zip(first, second, strict=True):
        text = ""
        if one["low"] and other["low"]:
            texts = (interval_text(row).removesuffix(" (open)") for row in (one, other))
            text = "; ".join(texts) + " *" * apart(one, other)
        made.append({"line": _label(one), "column": headed(measure(one)), "text": text})
    return pivot(made, ["line"], ["column"], itemgetter("text"), ["pass; exhaustive"])


factors: Any = load_config("tickets").factors
profile, shares = factors.arrivals.hourly_profile, factors.parties.shares
QUIETEST = min(profile) / fmean(profile)
PLAYERS_A_TICKET = sum(k * x for k, x in enumerate(shares, 1)) / sum(shares)

add_questions(study, QUESTIONS)
tuned_case = {"run": "tuned", "command": QUESTIONS["tuned"][0].mark}
study.parts["tuned"] = partial(study.complete, "tuned", [tuned_case], tuned_rows)

if __name__ == "__main__":
    study.main()
