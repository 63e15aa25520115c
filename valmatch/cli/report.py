"""``valmatch report``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from valmatch.cli.options.declarations import path
from valmatch.errors import InputError
from valmatch.text.terminal import escaped

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
    from valmatch.plots.report.report import report as make

    if out is None and not markdown:
        raise InputError("--out: is missing (such as -o study.html, or - for standard output)")
    if out is None or out == STDOUT:
        sys.stdout.write(make(folders, markdown=markdown))
        return
    make(folders, out, markdown=markdown)
    print(escaped(str(out)))
