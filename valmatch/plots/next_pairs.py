"""Figures of `next --simulate`: how well the goals are known after the next games."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.errors import InputError
from valmatch.plots.parts.source import FileTable, RunFiles, damaged
from valmatch.plots.parts.style import head, panels
from valmatch.policies.registry import POLICIES

SIMULATED = "simulated.csv"

Z = 1.96  # standard errors to either end of an interval of 95 %

LABELS = {
    "named_best": "share of worlds in which\nthe leader is the best",
    "misordered": "neighbours in\nthe wrong order",
    "widest": "standard error of the\nwidest difference [points]",
}


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw ``simulated.csv``: a panel for each goal, a line for each policy."""
    path = run.folder / SIMULATED
    if not path.exists():
        raise InputError(
            f"{run.folder}: holds pairs to play, of which nothing is drawn (allowed: a folder of"
            " `next --simulate`)"
        )
    summary = run.json("summary.json")
    with damaged(run.folder / "summary.json"):
        heading = (
            f"the next {summary['games']:,} games of {summary['players']:,} players,"
            f" {summary['replications']:,} worlds; bands: 95 %"
        )
        goal = str(summary["goal"])
    errors = [f"{name}_std_error" for name in LABELS]
    numbers = ["games", *LABELS, *errors] if summary["replications"] > 1 else ["games", *LABELS]
    table = run.table(SIMULATED, numbers, ("policy",))
    if unknown := set(table.texts["policy"]) - set(POLICIES):
        raise InputError(f"{path}: damaged: policy: {min(unknown)!r} is none")
    figure, axes = panels(len(LABELS), 3, 3.0, 2.9)
    for one, (name, label) in zip(axes, LABELS.items(), strict=True):
        _panel(one, table, name)
        one.set(xlabel="games", ylabel=label)
    axes[0].set_ylim(0.0, 1.0)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    head(figure, heading, f"knowledge gradient for: {goal}")
    return {"simulated": figure}


def _panel(axes: Axes, table: FileTable, name: str) -> None:
    """Draw one measure of all policies."""
    policies = np.array(table.texts["policy"])
    for policy in dict.fromkeys(table.texts["policy"]):
        own, look = policies == policy, POLICIES[policy]
        games, mean = table.numbers["games"][own], table.numbers[name][own]
        axes.plot(games, mean, color=look.colour, linestyle=look.line, label=look.label)
        if f"{name}_std_error" in table.numbers:
            half = Z * table.numbers[f"{name}_std_error"][own]
            axes.fill_between(
                games, mean - half, mean + half, color=look.colour, alpha=0.12, linewidth=0.0
            )
