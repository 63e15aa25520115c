"""Curves of the opponent-selection study, panel by panel as in the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.errors import InputError
from valmatch.kernels.arrays import Floats
from valmatch.plots.figure_options import current_options
from valmatch.plots.parts.curves import Curve, read_curves
from valmatch.plots.parts.labels import legend_below
from valmatch.plots.parts.source import RunFiles, damaged
from valmatch.plots.parts.style import head, new_figure
from valmatch.policies.registry import OPPONENT, POLICIES, TARGET
from valmatch.storage.contents import MANIFEST


class Panel(NamedTuple):
    """A row of panels."""

    measure: str  # what it shows
    label: str  # text of the vertical axis
    ideal: float | None = None  # a line to compare with, if there is one
    span: int = 1  # games in the moving average, odd; 1 shows the curve as it is


PANELS = (
    Panel("true_draw_probability", "true draw probability (14)\n[1/skill]"),
    Panel("squared_error", "squared error of the belief\n[skill²]"),
    Panel("skill_difference", "skill of player 0 - opponent\n[skill]", ideal=0.0),
    Panel("win_fraction", "share of games won\n(mean of {span} games)", ideal=0.5, span=11),
)

DRAWN = Panel("draw_fraction", "share of games drawn\n(mean of {span} games)", span=11)
"""Below the others where games can be drawn."""

STYLES: dict[str, tuple[str, str, Any]] = {
    name: (POLICIES[name].label, POLICIES[name].colour, POLICIES[name].line)
    for name in (*OPPONENT, *TARGET)
}
"""Label, colour and line of each policy."""

BAND = 1.96  # half-width of the bands in standard errors: 95% where the mean is nearly normal

Curves = Mapping[tuple[str, str], Curve]


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw the panels of one run."""
    return draw_all([run])


def draw_all(runs: Sequence[RunFiles]) -> dict[str, Figure]:
    """Draw a column of panels for each run."""
    return {"curves": _figure(runs, [read_curves(run) for run in runs])}


def moving_average(values: Floats, span: int) -> Floats:
    """Return centred means of `span` values, of fewer towards the ends so that they stay centred.

    Of standard errors it gives a bound of the standard error of the mean, attained if the values
    are perfectly correlated.
    """
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(values.size)
    reach = np.minimum(np.minimum(at, at[::-1]), span // 2)
    return np.asarray((sums[at + reach + 1] - sums[at - reach]) / (2 * reach + 1))


def _figure(runs: Sequence[RunFiles], curves: Sequence[Curves]) -> Figure:
    """Return the whole figure."""
    columns = len(runs)
    panels = (*PANELS, DRAWN) if any(run.factor("draw_margin", 0.0) for run in runs) else PANELS
    figure = new_figure(1.2 + 3.6 * columns, 2.3 * len(panels) + 0.9)
    grid = figure.subplots(len(panels), columns, sharex=True, sharey="row", squeeze=False)
    for column, (run, own) in enumerate(zip(runs, curves, strict=True)):
        for panel, axes in zip(panels, grid[:, column], strict=True):
            _panel(axes, panel, own, run.folder)
            if column == 0:
                axes.set_ylabel(panel.label.format(span=panel.span))
        grid[0, column].set_title(_title(run), fontsize=9)
        grid[-1, column].set_xlabel("game")
    if current_options().title:
        head(figure)
    legend_below(figure, *grid[0, 0].get_legend_handles_labels())
    return figure


def _panel(axes: Axes, panel: Panel, curves: Curves, folder: Path) -> None:
    """Draw one measure under all policies of the run in a folder, with bands."""
    if panel.ideal is not None:
        axes.axhline(panel.ideal, color="0.6", linewidth=0.8)
    for policy in dict.fromkeys(policy for policy, _ in curves):
        if policy not in STYLES or (policy, panel.measure) not in curves:
            raise InputError(
                f"{folder}: there is no curve of {panel.measure} under a policy {policy!r}"
            )
        name, colour, style = STYLES[policy]
        curve = curves[policy, panel.measure]
        mean, error = (moving_average(c, panel.span) for c in (curve.mean, curve.error))
        game = np.arange(1, mean.size + 1)
        axes.plot(game, mean, color=colour, linestyle=style, linewidth=1.3, label=name)
        axes.fill_between(
            game, mean - BAND * error, mean + BAND * error, color=colour, alpha=0.2, linewidth=0
        )


def _title(run: RunFiles) -> str:
    """Say which run a column shows."""
    rank, prior, update = (run.factor(name) for name in ("rank", "prior", "update"))
    with damaged(run.folder / MANIFEST):
        players, n = run.factor("n_opponents") + 1, run.fact("replications")
        player = f"rank {rank} of {players}" if isinstance(rank, int) else f"{rank} rank"
        player += " by skill" if run.factor("rank_by", "mean") == "skill" else ""
        lines = (
            f"{player}, {prior} prior, {update.replace('_', ' ')}",
            f"seed {run.fact('seed')}, {n:,} sample paths, 95% bands",
            run.remark,
        )
    return "\n".join(line for line in lines if line)
