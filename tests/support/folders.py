"""What folders hold."""

from __future__ import annotations

import csv
from pathlib import Path


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table by their columns."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def everything(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def results(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder but those of the run itself; evaluations are sorted."""
    found = {
        name: content
        for name, content in everything(folder).items()
        if not name.endswith(("manifest.json", ".lock"))
    }
    for name in [name for name in found if Path(name).name == "evaluations.csv"]:
        found[name] = b"".join(sorted(found[name].splitlines(keepends=True)))
    return found
