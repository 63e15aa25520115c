"""Bands of players by rating: what is measured of each, one below the other."""

from __future__ import annotations

from matplotlib.figure import Figure

from valmatch.plots.parts.part_panels import draw_parts
from valmatch.plots.parts.source import RunFiles


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw the means of bands in ``replications.csv``, a panel for each measure."""
    figure = draw_parts(run, "rating")
    return {"bands": figure} if figure else {}
