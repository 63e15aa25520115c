"""The commands that list what there is: factors, responses, solvers, problems, configs."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Annotated

from valmatch.cli.console import show
from valmatch.cli.options import Json, command, complete_model
from valmatch.inputs import options as o

_ABOUT = {"argument": True, "complete": complete_model}


@command(speaks=())
def factors(
    model: Annotated[str, o.text("valorant", "Name of the model.", "[MODEL]", **_ABOUT)],
) -> None:
    """Print a YAML config with every factor of a model, documented."""
    from valmatch.config.writing import template

    sys.stdout.write(template(model))


@command(speaks=())
def responses(
    model: Annotated[
        str, o.text("valorant", "Name of the model, or a config.", "[MODEL]", **_ABOUT)
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
    from valmatch.cli.tables import show_listed
    from valmatch.experiments.response_list import list_responses

    listed = list_responses(model, list(overrides))
    document = {
        found.response.name: {
            "unit": found.response.unit,
            "meaning": found.response.meaning,
            "group": found.group or None,
        }
        for found in listed
    }
    show(json, document, lambda: show_listed(listed))


@command(speaks=())
def solvers(json: Json) -> None:
    """List the solvers of `optimize`, those of installed packages too, with what they need."""
    from valmatch.cli.tables import show_solver_list
    from valmatch.optimization.solvers.registry import listed

    found = listed()
    show(json, {"solvers": found}, lambda: show_solver_list(found))


@command(speaks=())
def problems(json: Json) -> None:
    """List the shipped problems of `optimize`, a test bed, with the best known of each.

    Noise is the standard deviation of the objective over replications at the best known point;
    effort is the number of replications that all searches for it took.
    """
    from valmatch.cli.tables import show_problem_list
    from valmatch.optimization.best_known import listed

    found = listed()
    show(json, {"problems": found}, lambda: show_problem_list(found))


@command(speaks=())
def configs(json: Json) -> None:
    """List the shipped configs with their models and what each is."""
    from valmatch.config.loading import listed

    found = listed()
    show(json, {"configs": found}, lambda: _show_configs(found))


def _show_configs(found: Sequence[Mapping[str, str]]) -> None:
    """Print a row for each config, of several lines where what it is takes them."""
    from valmatch.present.document import TextTable
    from valmatch.present.terminal import print_table
    from valmatch.text.terminal import WIDTH

    names = ("config", "model", "what it is")
    table = TextTable.of(*names, left=names)
    taken = sum(
        2 + max(map(len, (key, *(row[key] for row in found)))) for key in ("config", "model")
    )
    for row in found:
        first, *further = textwrap.wrap(row["about"], WIDTH - taken)
        table.add(row["config"], row["model"], first)
        for line in further:
            table.add("", "", line)
    print_table("", table)
