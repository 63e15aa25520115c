"""``valmatch plot``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Annotated

from valmatch.cli.console import info, warn
from valmatch.cli.options import Folders, command
from valmatch.errors import InputError
from valmatch.inputs import options as o
from valmatch.text.terminal import escaped


@dataclass(frozen=True)
class PlotOptions(o.Options):
    """What is drawn, and how."""

    players: Sequence[str] = o.names(
        "Players of a rating to draw, instead of the best.", "NAME,..."
    )
    responses: Sequence[str] = o.names(
        "Responses of `replicate` or `compare` to draw.",
        "NAME,...",
        default="those that `compare` was asked for, or all",
    )
    title: str = o.text("", "Title of every figure, instead of what it shows.", "TEXT")
    size: str = o.text(
        "",
        "Size of every figure in centimetres, such as 24x14.",
        "WIDTHxHEIGHT",
        default="as needed",
    )
    recursive: bool = o.flag("Draw the runs below DIR, all of one kind; lists them first.")
    formats: Sequence[str] = o.names(
        "Formats of the files: png, svg, pdf.", "NAME,...", ("png", "svg"), default="png,svg"
    )


@command(speaks=())
def plot(
    source: Annotated[Path, o.path("The folder of a run.", "DIR", argument=True, value=MISSING)],
    options: PlotOptions,
) -> None:
    """Draw figures of a results folder.

    Needs matplotlib, which the extra `plot` brings.
    """
    from valmatch.present.figure_options import figure_options
    from valmatch.present.plotting import plot_files

    wanted = figure_options(options.title, options.size, list(options.formats))
    made = plot_files(
        source,
        list(options.players),
        list(options.responses),
        wanted,
        recursive=options.recursive,
        inform=info,
        warn=warn,
    )
    for file in made:
        print(escaped(str(file)))


# ``valmatch report``.

STDOUT = Path("-")


@command(speaks=())
def report(
    folders: Folders,
    out: Annotated[
        Path | None,
        o.path("The page, such as study.html; - for standard output.", short="-o"),
    ],
    markdown: Annotated[
        bool,
        o.flag("Write Markdown for a pull request, without charts; printed without a FILE."),
    ],
) -> None:
    """Write what runs found as one page to be sent: findings, tables, charts, how they were made.

    The page loads nothing and needs no scripts. An earlier report is replaced, no other file is.
    """
    from valmatch.present.reporting import report as make

    if out is None and not markdown:
        raise InputError("--out: is missing (such as -o study.html, or - for standard output)")
    if out is None or out == STDOUT:
        sys.stdout.write(make(list(folders), markdown=markdown))
        return
    make(list(folders), out, markdown=markdown)
    print(escaped(str(out)))
