"""Make the tables, charts and page of this folder, as PLAN.md says: ten claims of others.

    python results/published/make.py --only 3

makes those of claim 3 again, and without `--only` all. The page says how many minutes each takes
on two cores; all ten take some hours.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import yaml

from results.commands import save_chart
from results.study import Row, Study
from valmatch.present.style import style_context

study = Study(globals())

CLAIMS: dict[int, Row] = yaml.safe_load((study.folder / "claims.yaml").read_text("utf-8"))


def function(number: int, suffix: str = "") -> Callable[..., Any] | None:
    """Return a function of a claim, if there is one."""
    file, _, name = CLAIMS[number]["by"].partition(".")
    return getattr(import_module(f"results.published.{file}"), name + suffix, None)


def table_name(number: int) -> str:
    """Return the name of the table of a claim, and of its chart."""
    return f"{number}-{CLAIMS[number]['by'].partition('.')[2]}"


def make(number: int) -> None:
    """Run a claim: write its table, with the minutes that took, and draw its chart."""
    started, rows_of, chart = time.monotonic(), function(number), function(number, "_chart")
    assert rows_of is not None
    rows = rows_of()
    minutes = (time.monotonic() - started) / 60
    study.write(table_name(number), [row | {"minutes": minutes} for row in rows])
    if chart is not None:
        with style_context():
            figure = chart(study.rows(table_name(number)))
        save_chart(table_name(number), figure, study.folder, 128)
    study.write("claims", answers())


def answers() -> list[Row]:
    """Return our number with its interval, n, verdict and minutes of each claim, by its table."""
    found = []
    for number in CLAIMS:
        said: Row = {"claim": number, "ours": "", "n": "", "verdict": "not run", "minutes": ""}
        if rows := study.rows(table_name(number)):
            summary = function(number, "_summary")
            assert summary is not None
            said |= {**summary(rows), "minutes": rows[0]["minutes"]}
        found.append(said)
    return found


study.parts |= {str(number): partial(make, number) for number in CLAIMS}

if __name__ == "__main__":
    study.main()
