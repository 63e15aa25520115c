"""Texts beside and around panels, in the room that there is for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec

from valmatch.plots.parts.style import wrapped
from valmatch.text.terminal import shortened

HEAD = 0.5  # inches of a figure that its title takes
HANDLE = 0.55  # inches that an entry of a legend takes besides its text

CHARACTERS_PER_INCH = 14.0


def label(axes: Axes, x: str = "", y: str = "") -> None:
    """Label the axes of a panel."""
    width, height = _room(axes)
    if x:
        axes.set_xlabel(wrapped(x, width - 0.15))
    if y:
        axes.set_ylabel(wrapped(y, height - 0.1))


def entitle(axes: Axes, text: str, **properties: Any) -> None:  # noqa: ANN401
    """Write lines above a panel, as wide as it is."""
    width, _ = _room(axes)
    lines = [wrapped(line, width - 0.25) for line in text.split("\n")]
    axes.set_title("\n".join(lines), fontsize=8.5, **properties)


def few_ticks(axes: Axes) -> None:
    """Have as many ticks on the horizontal axis as have room beside each other."""
    width, _ = _room(axes)
    axes.locator_params(axis="x", nbins=max(2, min(5, int(1.9 * width))))


def legend_below(
    figure: Figure,
    handles: Sequence[Artist],
    labels: Sequence[str],
    title: str = "",
) -> None:
    """Say below all panels what is drawn, in as many columns as the figure is wide."""
    columns, texts = _fitted(labels, figure.get_figwidth())
    figure.legend(
        handles, texts, loc="outside lower center", ncols=columns, title=title, handletextpad=0.4
    )


def legend_above(axes: Axes) -> None:
    """Say above a panel what is drawn, in as many columns as it is wide."""
    handles, labels = axes.get_legend_handles_labels()
    columns, texts = _fitted(labels, _room(axes)[0] - 0.4)
    properties: dict[str, Any] = {"bbox_to_anchor": (0.5, 1.0), "handletextpad": 0.4}
    axes.legend(handles, texts, loc="lower center", ncols=columns, **properties)


def in_first_column(axes: Axes) -> bool:
    """Return whether no panel stands left of one."""
    return _cell(axes).is_first_col()


def _cell(axes: Axes) -> SubplotSpec:
    cell = axes.get_subplotspec()
    assert cell is not None
    return cell


def _room(axes: Axes) -> tuple[float, float]:
    """Return width and height in inches of the cell that a panel stands in."""
    figure, cell = axes.figure, _cell(axes)
    assert isinstance(figure, Figure)
    width, height = figure.get_size_inches().tolist()
    grid: Any = cell.get_gridspec()
    rows = grid.get_height_ratios() or [1.0] * grid.nrows
    share = sum(rows[k] for k in cell.rowspan) / sum(rows)
    return width * len(cell.colspan) / grid.ncols, (height - HEAD) * share


def _fitted(labels: Sequence[str], inches: float) -> tuple[int, list[str]]:
    """Return the number of columns of a legend of that width, and its texts, shortened to it."""
    most = max(12, int((inches - HANDLE) * CHARACTERS_PER_INCH))
    texts = [shortened(text, most) for text in labels]
    for columns in range(len(texts), 1, -1):
        rows = -(-len(texts) // columns)
        widest = [max(map(len, texts[k : k + rows])) for k in range(0, len(texts), rows)]
        if sum(HANDLE + length / CHARACTERS_PER_INCH for length in widest) <= inches:
            return columns, texts
    return 1, texts
