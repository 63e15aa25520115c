"""Lists of `responses`, `solvers` and `problems`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from valmatch.cli.tables.layout import (
    WIDTH,
    add_row,
    aligned,
    new_table,
    print_table,
    rounded,
)

if TYPE_CHECKING:
    from valmatch.experiments.response_list import Listed

MEANING = 24
"""Characters of a line of what a response means, at least."""


def show_listed(listed: Sequence[Listed]) -> None:
    """Print what each response is, and what asks for it."""
    for group, rows in groupby(listed, key=lambda row: row.group):
        table = new_table("response", "unit", "meaning")
        responses = [row.response for row in rows]
        taken = sum(
            2 + max(map(len, texts))
            for texts in (
                ["response", *(r.name for r in responses)],
                ["unit", *(r.unit for r in responses)],
            )
        )
        for response in responses:
            lines = textwrap.wrap(response.meaning, max(MEANING, WIDTH - taken))
            for k, line in enumerate(lines or [""]):
                add_row(table, *((response.name, response.unit) if k == 0 else ("", "")), line)
        print_table(f"\nmeasure: [{group}]" if group else "", table)


def show_solver_list(rows: Sequence[Mapping[str, str]]) -> None:
    """Print what solvers there are."""
    names = {"solver": "solver", "summary": "what it does", "needs": "needs", "from": "from"}
    shown = [key for key in names if any(row[key] for row in rows)]
    table = new_table(*(names[key] for key in shown))
    for row in rows:
        add_row(table, *(row[key] for key in shown))
    print_table("", table)


def show_problem_list(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print what problems are shipped and the best known of each."""
    known = [row["best_known"] or {} for row in rows]
    objectives = [
        rounded(best["objective"], best["ci_high"] - best["objective"])
        if "objective" in best
        else ("infeasible" if best else "", "")
        for best in known
    ]
    noises = [f"{best['noise']['objective']:.2g}" if best else "" for best in known]
    names = ("problem", "variables", "constraints", "noise", "best known", "± 95%")
    table = new_table(*names, "effort", "date")
    columns = [
        [row["problem"] for row in rows],
        [str(row["dimension"]) for row in rows],
        [", ".join(row["constraints"]) or "none" for row in rows],
        aligned(noises),
        aligned([mean for mean, _ in objectives]),
        aligned([half for _, half in objectives]),
        [f"{best['replications']:,}" if best else "" for best in known],
        [best.get("date", "") for best in known],
    ]
    for cells in zip(*columns, strict=True):
        add_row(table, *cells)
    print_table("", table, repeated=1)
