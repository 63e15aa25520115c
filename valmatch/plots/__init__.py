"""Figures of finished runs; needs the extra `plot`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from valmatch.errors import InputError
from valmatch.plots.source import Run, read_run
from valmatch.storage.run_folder import MANIFEST

__all__ = ["Run", "plot"]

DRAWERS: dict[tuple[str, str], tuple[str, ...]] = {
    ("simulate", "valorant"): ("simulate_valorant",),
    ("simulate", "opponent"): ("simulate_opponent",),
    ("simulate", "zonestats"): ("simulate_zonestats",),
    ("replicate", "opponent"): ("opponent", "responses"),
    ("replicate", "zonestats"): ("curves", "responses"),
    ("replicate", ""): ("responses",),
    ("compare", ""): ("compare",),
    ("design", ""): ("design",),
    ("optimize", ""): ("optimize",),
    ("rate", ""): ("rate",),
}
"""Modules whose `draw` makes the figures of what a command wrote of a model ("": of any)."""

SIDE_BY_SIDE = {("replicate", "opponent"): "opponent"}
"""The module whose `draw_all` draws several runs in one figure."""


def plot(folder: Path) -> list[Path]:
    """Draw what a folder holds, as PNG and SVG files in it.

    Parameters
    ----------
    folder : Path
        The folder of a run, or one whose subfolders are runs of one kind, in the order of their
        names. Replications of the opponent model are then drawn side by side in `folder`, other
        runs each in its own folder.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InputError
        If the folder does not hold what can be drawn, or if matplotlib is missing.
    RunError
        If a file cannot be written.
    """
    runs = _runs(folder)
    kinds = {run.kind for run in runs}
    if len(kinds) > 1:
        made = " and ".join(sorted(" ".join(kind).strip() for kind in kinds))
        raise InputError(f"{folder}: holds runs of different kinds ({made}); draw them one by one")
    kind = kinds.pop()
    names = DRAWERS.get(kind) or DRAWERS.get((kind[0], ""))
    if names is None:
        raise InputError(
            f"{folder}: nothing is drawn of {' '.join(kind).strip()} (allowed: {_allowed()})"
        )
    _need_matplotlib()
    from valmatch.plots.style import look, save

    with look():
        if kind in SIDE_BY_SIDE and runs[0].folder != folder:
            return save(_drawer(SIDE_BY_SIDE[kind]).draw_all(runs), folder)
        files = []
        for run in runs:
            figures = {}
            for name in names:
                figures.update(_drawer(name).draw(run))
            files += save(figures, run.folder)
    return files


def _allowed() -> str:
    """Say what is drawn."""
    return ", ".join(dict.fromkeys(" ".join(kind).strip() for kind in DRAWERS))


def _need_matplotlib() -> None:
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        raise InputError(
            "plots need matplotlib, which the extra `plot` brings: pip install 'valmatch[plot]'"
        ) from None


def _drawer(name: str) -> ModuleType:
    return importlib.import_module(f"valmatch.plots.{name}")


def _runs(folder: Path) -> Sequence[Run]:
    """Return the run in a folder, or the runs in its subfolders."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if (folder / MANIFEST).is_file():
        return [read_run(folder)]
    inner = sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))
    if not inner:
        raise InputError(f"{folder}: no {MANIFEST} here or one level below, so not made by a run")
    return [read_run(path) for path in inner]
