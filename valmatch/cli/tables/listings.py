"""Lists of `responses`, `solvers` and `problems`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from valmatch.cli.tables.layout import WIDTH, print_table
from valmatch.statistics.rounding import rounded
from valmatch.text.labels import labelled
from valmatch.text.sheet import UNIT, Sheet, aligned
from valmatch.text.terminal import escaped

if TYPE_CHECKING:
    from valmatch.experiments.response_list import Listed
    from valmatch.models.model import Response

MEANING = 24  # characters of a line of what a response means, at least

INDENT = "    "


def show_listed(listed: Sequence[Listed]) -> None:
    """Print what each response is, and what asks for it."""
    for group, rows in groupby(listed, key=lambda row: row.group):
        if group:
            print(f"\nmeasure: [{group}]")
        responses = [row.response for row in rows]
        names = max(map(len, ["response", *(r.name for r in responses)]))
        units = max(map(len, [UNIT, *(r.unit for r in responses)]))
        room = WIDTH - names - units - 4
        if room < MEANING:
            _show_meanings_below(responses)
            continue
        table = Sheet.of("response", UNIT, "meaning")
        for response in responses:
            for k, line in enumerate(textwrap.wrap(response.meaning, room) or [""]):
                table.add(*((response.name, response.unit) if k == 0 else ("", "")), line)
        print_table("", table)


def _show_meanings_below(responses: Sequence[Response]) -> None:
    """Print responses whose names leave no room beside them."""
    for response in responses:
        print(escaped(labelled(response.name, response.unit)))
        print(
            textwrap.fill(response.meaning, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)
        )


def show_solver_list(rows: Sequence[Mapping[str, str]]) -> None:
    """Print what solvers there are."""
    names = {"solver": "solver", "summary": "what it does", "needs": "needs", "from": "from"}
    shown = [key for key in names if any(row[key] for row in rows)]
    table = Sheet.of(*(names[key] for key in shown))
    for row in rows:
        table.add(*(row[key] for key in shown))
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
    table = Sheet.of(*names, "effort", "date")
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
        table.add(*cells)
    print_table("", table)
