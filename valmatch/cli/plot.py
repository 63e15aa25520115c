"""``valmatch plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from valmatch.cli.console import info, warn
from valmatch.cli.options.declarations import path
from valmatch.cli.options.responses import names_of
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
    from valmatch.plots.drawing import plot_files
    from valmatch.plots.figure_options import figure_options

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
