"""``valmatch plot``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from valmatch.cli.console import info, warn
from valmatch.cli.options import names_of, path
from valmatch.errors import InputError
from valmatch.text.terminal import escaped


def plot(
    folder: Annotated[
        Path,
        typer.Argument(
            parser=path("source"),
            metavar="DIR",
            help="The folder of a run.",
        ),
    ],
    players: Annotated[
        str,
        typer.Option(metavar="NAME,...", help="Players of a rating to draw, instead of the best."),
    ] = "",
    responses: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="Responses of `replicate` or `compare` to draw; otherwise those that `compare`"
            " was asked for, or all.",
        ),
    ] = "",
    title: Annotated[
        str,
        typer.Option(metavar="TEXT", help="Title of every figure, instead of what it shows."),
    ] = "",
    size: Annotated[
        str,
        typer.Option(
            metavar="WIDTHxHEIGHT",
            help="Size of every figure in centimetres, such as 24x14; otherwise as it needs.",
        ),
    ] = "",
    recursive: Annotated[
        bool,
        typer.Option(
            "--recursive", help="Draw the runs below DIR, all of one kind; lists them first."
        ),
    ] = False,
    formats: Annotated[
        str,
        typer.Option("--format", metavar="NAME,...", help="Formats of the files: png, svg, pdf."),
    ] = "png,svg",
) -> None:
    """Draw the results in a folder, as PNG and SVG files in it, or as others.

    Needs matplotlib, which the extra `plot` brings.
    """
    from valmatch.present.figure_options import figure_options
    from valmatch.present.plotting import plot_files

    wanted = figure_options(title, size, names_of(formats))
    made = plot_files(
        folder,
        names_of(players),
        names_of(responses),
        wanted,
        recursive=recursive,
        inform=info,
        warn=warn,
    )
    for file in made:
        print(escaped(str(file)))


# ``valmatch report``.

STDOUT = Path("-")


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            parser=path("folders"),
            metavar="DIR...",
            help="Folders of runs; several make chapters.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            parser=path("out"),
            metavar="FILE",
            help="The page, such as study.html; - for standard output.",
        ),
    ] = None,
    markdown: Annotated[
        bool,
        typer.Option(
            "--markdown",
            help="Markdown for a pull request instead, without charts; printed where no FILE is"
            " given.",
        ),
    ] = False,
) -> None:
    """Write what runs found as one page to be sent: findings, tables, charts, how they were made.

    The page loads nothing and needs no scripts. An earlier report is replaced, no other file is.
    """
    from valmatch.present.reporting import report as make

    if out is None and not markdown:
        raise InputError("--out: is missing (such as -o study.html, or - for standard output)")
    if out is None or out == STDOUT:
        sys.stdout.write(make(folders, markdown=markdown))
        return
    make(folders, out, markdown=markdown)
    print(escaped(str(out)))
