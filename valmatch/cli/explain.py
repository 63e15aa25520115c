"""``valmatch rules explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from valmatch.cli.console import show
from valmatch.cli.options.declarations import Json, Quiet, path


def explain(
    folder: Annotated[
        Path,
        typer.Argument(
            parser=path("folder"),
            metavar="DIR",
            help="The folder of a replay, or of simulate tickets: what --out has written.",
        ),
    ],
    ticket: Annotated[
        str,
        typer.Argument(
            metavar="TICKET", help="The id of a ticket, of simulate its number in tickets.csv."
        ),
    ],
    search: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of which search: pass or exhaustive.  [default: of each that was made]",
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say why a ticket waited: which rules refused whom, and what was nearest.

    As each review ends, those who wait on look for a match once more, now in plain sight: the first
    20 tickets as anchors, and the ticket itself. A folder of simulate says how to make its run
    again, and it is.
    """
    from valmatch.cli.tables.explanations import show_explanations
    from valmatch.experiments.explain import explain_ticket

    found = explain_ticket(folder, ticket, search=search)
    show(json, found.documents, lambda: show_explanations(found))
