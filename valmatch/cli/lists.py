"""The commands that list what there is: factors, responses, solvers, problems, configs."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

from valmatch.cli.console import show
from valmatch.cli.options import Json, command, complete_model
from valmatch.inputs import options as o
from valmatch.text.terminal import WIDTH, escaped, labelled, print_wrapped

if TYPE_CHECKING:
    from valmatch.experiments.response_list import Listed

_MODEL = {"argument": True, "complete": complete_model}


@command(speaks=())
def factors(
    model: Annotated[str, o.text("valorant", "Name of the model.", "[MODEL]", **_MODEL)],
) -> None:
    """Print a YAML config with every factor of a model, documented."""
    from valmatch.config.writing import template

    sys.stdout.write(template(model))


@command(speaks=())
def responses(
    model: Annotated[
        str, o.text("valorant", "Name of the model, or a config.", "[MODEL]", **_MODEL)
    ],
    overrides: Annotated[
        tuple[str, ...], o.repeated("Override a value; may be repeated.", "KEY=VALUE")
    ],
    json: Json,
) -> None:
    """Print every response of a model: its unit, what it is, and what asks for it.

    Those of a group are computed only where the factor `measure` names the group, or --responses
    one of them.
    """
    from valmatch.experiments.response_list import list_responses

    rows = list_responses(model, list(overrides))
    document = {
        row.response.name: {
            "unit": row.response.unit,
            "meaning": row.response.meaning,
            "group": row.group or None,
        }
        for row in rows
    }
    show(json, document, lambda: _print_responses(rows))


@command(speaks=())
def solvers(json: Json) -> None:
    """List the solvers of `optimize`, those of installed packages too, with what they need."""
    from valmatch.optimization.solvers.registry import listed

    rows = listed()
    heads = {"solver": "solver", "summary": "what it does", "needs": "needs", "from": "from"}
    columns = {head: [row[key] for row in rows] for key, head in heads.items()}
    columns = {head: cells for head, cells in columns.items() if any(cells)}
    show(json, {"solvers": rows}, lambda: _print_columns(columns))


@command(speaks=())
def problems(json: Json) -> None:
    """List the shipped problems of `optimize`, a test bed, with the best known of each.

    Noise is the standard deviation of the objective over replications at the best known point;
    effort is the number of replications that all searches for it took.
    """
    from valmatch.optimization.best_known import listed

    rows = listed()
    show(json, {"problems": rows}, lambda: _print_problems(rows))


@command(speaks=())
def configs(json: Json) -> None:
    """List the shipped configs with their models and what each is."""
    from valmatch.config.loading import listed

    rows = listed()
    cells = [(row["config"], row["model"], row["about"]) for row in rows]
    heads = ("config", "model", "what it is")
    show(json, {"configs": rows}, lambda: _print_wrapped_last(heads, cells, 0))


def _print_columns(columns: Mapping[str, Sequence[str]]) -> None:
    from valmatch.present.document import TextTable
    from valmatch.present.terminal import print_table

    print_table("", TextTable.of_columns(columns.items()))


def _print_wrapped_last(
    heads: Sequence[str], rows: Sequence[tuple[str, str, str]], least: int
) -> None:
    """Print rows of several lines where the last cell takes them, below where it has no room."""
    taken = sum(2 + max(map(len, cells)) for cells in list(zip(heads, *rows, strict=True))[:2])
    if WIDTH - taken < least:
        for name, unit, text in rows:
            print(escaped(labelled(name, unit)))
            print_wrapped(text, "  ")
        return
    lines = []
    for *names, text in rows:
        first, *further = textwrap.wrap(text, WIDTH - taken) or [""]
        lines += [(*names, first), *(("", "", line) for line in further)]
    _print_columns(dict(zip(heads, zip(*lines, strict=True), strict=True)))


MEANING = 24  # characters of a line of what a response means, at least


def _print_responses(listed: Sequence[Listed]) -> None:
    """Print what each response is, and what asks for it."""
    for group, of_group in groupby(listed, key=lambda row: row.group):
        if group:
            print(f"\nmeasure: [{group}]")
        rows = [(r.response.name, r.response.unit, r.response.meaning) for r in of_group]
        _print_wrapped_last(("response", "unit", "meaning"), rows, MEANING)


def _print_problems(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print what problems are shipped and the best known of each."""
    from valmatch.statistics.rounding import rounded

    known = [row["best_known"] or {} for row in rows]
    objectives = [
        rounded(best["objective"], best["ci_high"] - best["objective"])
        if "objective" in best
        else ("infeasible" if best else "", "")
        for best in known
    ]
    _print_columns(
        {
            "problem": [row["problem"] for row in rows],
            "variables": [str(row["dimension"]) for row in rows],
            "constraints": [", ".join(row["constraints"]) or "none" for row in rows],
            "noise": [f"{best['noise']['objective']:.2g}" if best else "" for best in known],
            "best known": [mean for mean, _ in objectives],
            "± 95%": [half for _, half in objectives],
            "effort": [f"{best['replications']:,}" if best else "" for best in known],
            "date": [best.get("date", "") for best in known],
        }
    )
