"""``valmatch plot`` and ``valmatch report``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from valmatch.cli.options import Folders, command, needed
from valmatch.errors import InputError
from valmatch.inputs import options as o
from valmatch.present.plotting import PlotFileOptions
from valmatch.text.terminal import escaped


@command(speaks=())
def plot(
    source: Annotated[Path, needed("The folder of a run.", "DIR")],
    options: PlotFileOptions,
) -> None:
    """Draw figures of a results folder.

    Needs matplotlib, which the extra `plot` brings.
    """
    from valmatch.present.plotting import plot_files

    for file in plot_files(source, options):
        print(escaped(str(file)))


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
    if out is None or out == Path("-"):
        sys.stdout.write(make(list(folders), markdown=markdown))
    else:
        make(list(folders), out, markdown=markdown)
        print(escaped(str(out)))
