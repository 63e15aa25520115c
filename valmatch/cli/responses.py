"""``valmatch responses``."""

from __future__ import annotations

from typing import Annotated

import typer

from valmatch.cli.console import show
from valmatch.cli.parameters import Json, Overrides, complete_model


def responses(
    model: Annotated[
        str,
        typer.Argument(
            metavar="[MODEL]",
            help="Name of the model, or a config.",
            autocompletion=complete_model,
        ),
    ] = "valorant",
    overrides: Overrides = [],  # noqa: B006
    json: Json = False,
) -> None:
    """Print every response of a model: its unit, what it is, and what asks for it.

    Those of a group are computed only where the factor `measure` names the group, or --responses
    one of them.
    """
    from valmatch.cli.tables.listings import show_listed
    from valmatch.experiments.response_list import list_responses

    listed = list_responses(model, overrides)
    document = {
        one.response.name: {
            "unit": one.response.unit,
            "meaning": one.response.meaning,
            "group": one.group or None,
        }
        for one in listed
    }
    show(json, document, lambda: show_listed(listed))
