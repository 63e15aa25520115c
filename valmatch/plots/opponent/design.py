"""Curves of the opponent-selection study at the points of a design, side by side."""

from __future__ import annotations

from matplotlib.figure import Figure

from valmatch.experiments.run_manifests import DesignManifest
from valmatch.experiments.sweep import POINTS
from valmatch.plots.opponent.replications import draw_all
from valmatch.plots.parts.source import RunFiles, read_run_files
from valmatch.storage.contents import MANIFEST
from valmatch.storage.manifest import read_manifest

MOST = 6  # columns that a figure has room for; a larger design is drawn by its responses alone


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw a column of panels for each point, in the order of the design."""
    if not (run.folder / POINTS).is_dir():  # a result without files
        return {}
    design = read_manifest(run.folder, DesignManifest).design
    folders = [run.folder / POINTS / name for name in design.config_ids]
    found = [folder for folder in folders if (folder / MANIFEST).is_file()]
    if not 0 < len(found) <= MOST:
        return {}
    return draw_all([read_run_files(folder) for folder in found])
