"""Curves of the opponent-selection study, panel by panel as in the paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from valmatch.errors import InputError, RunError
from valmatch.plots import Run

__all__ = ["draw", "moving_average", "read_curves"]

Floats = NDArray[np.float64]


class Panel(NamedTuple):
    """A row of panels.

    Attributes
    ----------
    measure : what it shows
    label : text of the vertical axis
    ideal : a line to compare with, if there is one
    span : games in the moving average, odd; 1 shows the curve as it is
    """

    measure: str
    label: str
    ideal: float | None = None
    span: int = 1


PANELS = (
    Panel("true_draw_probability", "true draw probability (14)\n[1/skill]"),
    Panel("squared_error", "squared error of the belief\n[skill²]"),
    Panel("skill_difference", "skill of player 0 - opponent\n[skill]", ideal=0.0),
    Panel("win_fraction", "share of games won\n(mean of {span} games)", ideal=0.5, span=11),
)

# Colours of Okabe and Ito, which all kinds of colour vision tell apart; styles for print.
STYLES: dict[str, tuple[str, str, Any]] = {
    "point_estimate": ("point estimate", "#E69F00", (0, (1, 1))),
    "draw_chance": ("DrawChance", "#0072B2", (0, (5, 1.5))),
    "knowledge_gradient": ("knowledge gradient", "#D55E00", "-"),
    "knowledge_gradient_finite": ("knowledge gradient, finite horizon", "#CC79A7", "-."),
    "random": ("random", "#56B4E9", (0, (3, 1, 1, 1, 1, 1))),
    "oracle": ("oracle", "#009E73", (0, (8, 2))),
}

BAND = 1.96
"""Half-width of the bands in standard errors: 95% where the mean is nearly normal."""

Curves = dict[tuple[str, str], tuple[Floats, Floats]]


def draw(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Draw a column of panels for each run.

    Parameters
    ----------
    runs : sequence of Run
        Runs of ``replicate``.
    folder : Path
        Where ``curves.png`` and ``curves.svg`` go.

    Raises
    ------
    InputError
        If a run has no usable ``curves.csv``.
    RunError
        If the figure cannot be written.
    """
    curves = [read_curves(run.folder / "curves.csv") for run in runs]
    # The same figure gives the same bytes.
    with matplotlib.rc_context({"svg.hashsalt": "valmatch", "font.size": 9}):
        figure = _figure(runs, curves)
        files = [folder / "curves.png", folder / "curves.svg"]
        for file, metadata in zip(files, ({"Software": None}, {"Date": None}), strict=True):
            content = io.BytesIO()
            figure.savefig(content, format=file.suffix[1:], dpi=120, metadata=metadata)
            try:
                file.write_bytes(content.getvalue())
            except OSError as error:
                raise RunError(f"{file}: cannot be written: {error.strerror}") from None
    return files


def read_curves(path: Path) -> Curves:
    """Return (means, standard errors) over the games of each (policy, measure).

    Raises
    ------
    InputError
        If the file is missing or is not a ``curves.csv``.
    """
    points: dict[tuple[str, str], list[tuple[float, float]]] = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                point = float(row["mean"] or "nan"), float(row["std_error"] or "nan")
                points.setdefault((row["policy"], row["measure"]), []).append(point)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(f"{path}: not the curves of a run: {error}") from None
    if not points:
        raise InputError(f"{path}: holds no curves")
    return {key: (np.array(rows)[:, 0], np.array(rows)[:, 1]) for key, rows in points.items()}


def moving_average(values: Floats, span: int) -> Floats:
    """Return centred means of `span` values, of fewer towards the ends so that they stay centred.

    Of standard errors it gives a bound of the standard error of the mean, attained if the values
    are perfectly correlated.
    """
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(values.size)
    reach = np.minimum(np.minimum(at, at[::-1]), span // 2)
    return np.asarray((sums[at + reach + 1] - sums[at - reach]) / (2 * reach + 1))


def _figure(runs: Sequence[Run], curves: Sequence[Curves]) -> Figure:
    """Return the whole figure."""
    columns = len(runs)
    figure = Figure(figsize=(1.2 + 3.6 * columns, 2.3 * len(PANELS) + 0.9), layout="constrained")
    grid = figure.subplots(len(PANELS), columns, sharex=True, sharey="row", squeeze=False)
    for column, (run, own) in enumerate(zip(runs, curves, strict=True)):
        for panel, axes in zip(PANELS, grid[:, column], strict=True):
            _panel(axes, panel, own)
            if column == 0:
                axes.set_ylabel(panel.label.format(span=panel.span))
        grid[0, column].set_title(_title(run), fontsize=9)
        grid[-1, column].set_xlabel("game")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _panel(axes: Axes, panel: Panel, curves: Curves) -> None:
    """Draw one measure under all policies of a run, with bands."""
    if panel.ideal is not None:
        axes.axhline(panel.ideal, color="0.6", linewidth=0.8)
    for policy in dict.fromkeys(policy for policy, _ in curves):
        if policy not in STYLES or (policy, panel.measure) not in curves:
            raise InputError(f"there is no curve of {panel.measure} under a policy {policy!r}")
        name, colour, style = STYLES[policy]
        mean, error = (moving_average(c, panel.span) for c in curves[policy, panel.measure])
        game = np.arange(1, mean.size + 1)
        axes.plot(game, mean, color=colour, linestyle=style, linewidth=1.3, label=name)
        axes.fill_between(
            game, mean - BAND * error, mean + BAND * error, color=colour, alpha=0.2, linewidth=0
        )
    axes.spines[["top", "right"]].set_visible(False)


def _title(run: Run) -> str:
    """Say which run a column shows."""
    factors = run.manifest["config"]["factors"]
    rank = factors["rank"]
    who = (
        f"rank {rank} of {factors['n_opponents'] + 1}" if isinstance(rank, int) else f"{rank} rank"
    )
    return (
        f"{who}, {factors['prior']} prior, {factors['update'].replace('_', ' ')}\n"
        f"seed {run.manifest['seed']}, {run.manifest['replications']:,} sample paths, 95% bands"
    )
