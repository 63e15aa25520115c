"""A sample path of the `targeting` model: what was measured, what was selected."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from valmatch.errors import InputError
from valmatch.plots.opponent.replications import STYLES
from valmatch.plots.parts.labels import label, legend_below
from valmatch.plots.parts.source import RunFiles
from valmatch.plots.parts.style import GOOD, dots, head, panels

COLUMNS = ("distance", "measured_distance")


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``measurements.csv``."""
    table = run.table("measurements.csv", COLUMNS, ("policy",))
    if not len(table):
        raise InputError(f"{table.path}: holds no measurements")
    policies = np.array(table.texts["policy"])
    figure, (selected, measured) = panels(2, 2, width=4.4, height=2.9)
    for policy in dict.fromkeys(policies.tolist()):
        name, colour, style = STYLES.get(policy, (policy, GOOD, "-"))
        own, other = (table.numbers[column][policies == policy] for column in COLUMNS)
        step = np.arange(1, own.size + 1)
        selected.plot(step, own, color=colour, linestyle=style, label=name)
        dots(measured, step, other, color=colour, markersize=1.8, alpha=0.35)
    label(selected, "measurement", "distance of the selected from the target [value]")
    label(measured, "measurement", "distance of the measured from the target [value]")
    legend_below(figure, *selected.get_legend_handles_labels())
    head(figure, run.heading(f"replication {run.manifest.get('replication')}"))
    return {"path": figure}
