"""Groups of tickets, matches by step, rules, reasons: what is measured of each."""

from __future__ import annotations

from matplotlib.figure import Figure

from valmatch.plots.parts.part_panels import draw_parts
from valmatch.plots.parts.source import RunFiles

PARTS = {
    "size": "sizes",
    "region": "regions",
    "skill": "deciles",
    "attribute": "attributes",
    "step": "steps",
    "rule": "rules",
    "reason": "reasons",
}
"""The figure of what is divided."""


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw the groups in ``replications.csv``, a figure for each kind of several groups."""
    figures = {name: draw_parts(run, of) for of, name in PARTS.items()}
    return {name: figure for name, figure in figures.items() if figure}
