"""``valmatch status``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valmatch.cli.console import info, show
from valmatch.cli.options.declarations import Json, Quiet, path

if TYPE_CHECKING:
    from valmatch.experiments.status import RunStatus

FOLDER = 26  # most characters of a folder in the table


def status(
    folders: Annotated[
        list[Path],
        typer.Argument(
            parser=path("folders"), metavar="DIR...", help="Folders that commands write, or wrote."
        ),
    ],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say how far the run of each folder is: done of wanted, rate, time left, whether it goes on.

    Nothing is written. A run is killed if it has not ended and nobody holds its folder; of one on
    another host, whose lock may not be seen from here, it may be unknown (running?). Exit code 0,
    whatever the runs did.
    """
    from valmatch.experiments.status import status_of

    found = [status_of(folder) for folder in folders]
    show(json, {"runs": [one.as_dict() for one in found]}, lambda: _show_table(found))


def _show_table(found: Sequence[RunStatus]) -> None:
    from valmatch.cli.reports import rate_in_words
    from valmatch.cli.tables.layout import print_table
    from valmatch.text.durations import in_words
    from valmatch.text.sheet import Sheet
    from valmatch.text.terminal import shortened

    table = Sheet.of(
        "folder",
        "command",
        "state",
        "done",
        "of",
        "rate",
        "left",
        left=("folder", "command", "state"),
    )
    for one in found:
        left = one.seconds_left
        table.add(
            shortened(str(one.folder), FOLDER),
            one.command,
            one.state,
            "" if one.done is None else f"{one.done:,}",
            "" if one.wanted is None else f"{one.wanted:,}",
            "" if one.rate is None else rate_in_words(one.rate),
            "" if left is None else in_words(left),
        )
    print_table("", table)
    for one in found:
        if one.alive is None:
            info(
                f"{one.folder}: on {one.host or 'an unknown host'}, whose lock cannot be seen from"
                f" here; last written {in_words(one.idle)} ago"
            )
