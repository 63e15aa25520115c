"""Figures of finished runs; needs the extra `plot`."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valmatch.errors import InputError
from valmatch.run_folder import MANIFEST

__all__ = ["Run", "plot"]

DRAWERS = {("replicate", "opponent"): "valmatch.plots.opponent"}
"""The module whose `draw` makes the figures of what a command wrote of a model."""


@dataclass(frozen=True)
class Run:
    """The folder of a run.

    Attributes
    ----------
    folder : where its files are
    manifest : what its manifest says
    """

    folder: Path
    manifest: dict[str, Any]

    @property
    def kind(self) -> tuple[str, str]:
        """The command and the model that made the folder."""
        return str(self.manifest.get("command")), str(self.manifest.get("config", {}).get("model"))


def plot(folder: Path) -> list[Path]:
    """Draw what a folder holds, as PNG and SVG files in it.

    Parameters
    ----------
    folder : Path
        The folder of a run, or one whose subfolders are runs of one kind: they are drawn side by
        side, in the order of their names.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InputError
        If the folder does not hold what can be drawn, or if matplotlib is missing.
    """
    runs = _runs(folder)
    kinds = {run.kind for run in runs}
    if len(kinds) > 1:
        made = " and ".join(sorted(" ".join(kind) for kind in kinds))
        raise InputError(f"{folder}: holds runs of different kinds ({made}); draw them one by one")
    kind = kinds.pop()
    if kind not in DRAWERS:
        known = ", ".join(f"{command} with model {model}" for command, model in DRAWERS)
        raise InputError(
            f"{folder}: nothing is drawn of {kind[0]} with model {kind[1]} (allowed: {known})"
        )
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        raise InputError(
            "plots need matplotlib, which the extra `plot` brings: pip install 'valmatch[plot]'"
        ) from None
    drawer = importlib.import_module(DRAWERS[kind])
    files: list[Path] = drawer.draw(runs, folder)
    return files


def _runs(folder: Path) -> Sequence[Run]:
    """Return the run in a folder, or the runs in its subfolders."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if (folder / MANIFEST).is_file():
        return [_run(folder)]
    inner = sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))
    if not inner:
        raise InputError(f"{folder}: no {MANIFEST} here or one level below, so not made by a run")
    return [_run(path) for path in inner]


def _run(folder: Path) -> Run:
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    if not isinstance(manifest, dict):
        raise InputError(f"{path}: not a manifest")
    return Run(folder, manifest)
