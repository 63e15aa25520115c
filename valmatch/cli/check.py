"""``valmatch check``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from valmatch.cli.console import info, say, show
from valmatch.cli.options import Json, command, needed
from valmatch.inputs import options as o
from valmatch.text.terminal import one_line


@command(speaks=["quiet"])
def check(
    file: Annotated[Path, needed("Any file that you have, or a results folder.")],
    write: Annotated[
        Path | None,
        o.path(
            "Write the config that reads a queue log or simulates a rule set, or the columns of a"
            " game log, such as mine.yaml."
        ),
    ],
    json: Json,
) -> None:
    """Say what a file is, what is understood of it, what is wrong with it, and what to type next.

    It knows queue logs, game logs (CSV, JSON lines, PGN, votes), tickets, rule sets inside other
    files, worlds, configs, results folders, and files of other services. Exit code 1 if something
    is wrong that changes answers, 2 if the file cannot be used.
    """
    from valmatch.file_check import check_file

    file_report = check_file(file, write=write)

    def table() -> None:
        sys.stdout.writelines(f"{one_line(line)}\n" for line in file_report.text().splitlines())

    show(json, file_report.as_json(), table)
    for line in file_report.errors:
        say(line)
    if write is not None:
        info(f"written: {write}")
    if file_report.code:
        sys.stdout.flush()
        raise typer.Exit(file_report.code)
