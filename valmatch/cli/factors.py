"""``valmatch factors``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from valmatch.cli.parameters import complete_model


def factors(
    model: Annotated[
        str,
        typer.Argument(metavar="[MODEL]", help="Name of the model.", autocompletion=complete_model),
    ] = "valorant",
) -> None:
    """Print a YAML config with every factor of a model, documented."""
    from valmatch.config.template import template

    sys.stdout.write(template(model))
