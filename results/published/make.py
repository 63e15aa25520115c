"""Make the tables, charts and page of this folder, as PLAN.md says: ten claims of others.

    python results/published/make.py --only 3

makes those of claim 3 again, and without `--only` all. The page says how many minutes each takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from results.commands import save_chart
from results.study import Row, Study
from valmatch.present.figures import style_context

study = Study(globals())

CLAIMS = {
    **{1: "theory.elo", 2: "theory.windows", 3: "theory.traffic", 6: "theory.waiting"},
    **{4: "rules.parties", 7: "rules.tiers", 8: "rules.faf", 9: "rules.evo"},
    **{5: "ranks.sides", 10: "ranks.leader"},
}
"""By number the file and the function that makes the rows of the table of that name."""


def function(number: int, suffix: str = "") -> Callable[..., Any]:
    """Return the function of a claim, or one that goes with it: NAME_summary, NAME_chart."""
    file, _, name = CLAIMS[number].partition(".")
    module = import_module(f"results.published.{file}")
    return getattr(module, name + suffix, lambda _: None)


def table_name(number: int) -> str:
    """Return the name of the table of a claim, and of its chart."""
    return f"{number}-{CLAIMS[number].partition('.')[2]}"


def make(number: int) -> None:
    """Run a claim: write its table, with the minutes that took, and draw its chart."""
    name, started = table_name(number), time.monotonic()
    rows = function(number)()
    minutes = (time.monotonic() - started) / 60
    study.write(name, [row | {"minutes": minutes} for row in rows])
    with style_context():
        figure = function(number, "_chart")(study.rows(name))
    if figure is not None:
        save_chart(name, figure, study.folder, 128)
    study.write("claims", [answer(claim) for claim in sorted(CLAIMS)])


def answer(number: int) -> Row:
    """Return our number with its interval, n, verdict and minutes of a claim, by its table."""
    row: Row = {"claim": number, "ours": "", "n": "", "verdict": "not run", "minutes": ""}
    if rows := study.rows(table_name(number)):
        row |= {**function(number, "_summary")(rows), "minutes": rows[0]["minutes"]}
    return row


study.parts |= {str(number): partial(make, number) for number in sorted(CLAIMS)}

if __name__ == "__main__":
    study.main()
