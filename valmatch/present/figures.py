"""Charts as figures of matplotlib, in one style: panels in figures, figures in files."""

import io
import math
import os
import re
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.errors import InputError, option
from valmatch.present.document import Chart, Graph, Intervals, Line
from valmatch.present.presenting import made_here
from valmatch.storage.output import write_bytes
from valmatch.text.terminal import escaped, shortened

# Colours of Okabe and Ito, which all kinds of colour vision tell apart; no yellow on white.
GOOD, BAD, GREY, FAINT = "#0072B2", "#D55E00", "0.45", "#56B4E9"
COLOURS = (GOOD, BAD, "#009E73", "#E69F00", "#CC79A7", FAINT, "#000000", GREY)
LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), "-.", (0, (1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1)))
"""Styles for print in black, one after the other like the colours."""

DPI = 120
INCH = 2.54  # centimetres
CHARACTERS_PER_INCH = 13
LEGEND = 14.0  # characters to an inch of a legend
HANDLE = 0.55  # inches that an entry of a legend takes besides its text
HEAD = 0.5  # inches of a figure that its title takes
LEAST = 0.75  # share of its own width and height below which a figure has no room for its texts

METADATA: Mapping[str, Any] = {
    "png": {"Software": "valmatch"},
    "svg": {"Date": None, "Creator": "valmatch"},
    "pdf": {"CreationDate": None, "Creator": "valmatch"},
}
"""What files of each format say of with what they were made, and not of when."""

MARKS = {
    "png": "Software\0valmatch",
    "svg": "<dc:title>valmatch</dc:title>",
    "pdf": "/Creator (valmatch)",
}
"""By what a file of each format is known as one of ours."""

Size = Sequence[float] | None  # centimetres: width and height; None for those that a figure needs

NO_BREAK = "\N{NO-BREAK SPACE}"

RC: Any = {
    "svg.hashsalt": "valmatch",  # the same figure gives the same bytes
    "text.parse_math": False,  # a $ in a name is a $
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "legend.fontsize": 8.5,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "errorbar.capsize": 2.5,
    "figure.constrained_layout.h_pad": 0.06,
    "figure.constrained_layout.w_pad": 0.06,
}

COLUMNS, MOST_ROWS = 3, 8
"""Panels beside each other and below each other; what has no room goes on in a further figure."""

MOST_POINTS = 2000  # points of a line; of more, every k-th is drawn
MOST_VECTOR_MARKS = 300  # marks beyond which an SVG file holds a picture of them, to stay small
NAME = 30  # most characters of a name beside a row or in a legend


def style_context() -> AbstractContextManager[None]:
    """Make figures in the style of all."""
    return matplotlib.rc_context(RC)


def refuse_to_replace(figures: Mapping[str, Figure], folder: Path, formats: Sequence[str]) -> None:
    """Refuse to write figures over files that were not drawn here."""
    for name, suffix in product(figures, formats):
        file = folder / f"{name}.{suffix}"
        if os.path.lexists(file) and not made_here(file, MARKS[suffix]):
            raise InputError(
                f"{file}: is there already and was not drawn by valmatch; move it, or choose"
                " another --format"
            )


def save(
    figures: Mapping[str, Figure], folder: Path, formats: Sequence[str] = ("png", "svg")
) -> list[Path]:
    """Write each figure as a file of each format; return them."""
    files = []
    for (name, figure), suffix in product(figures.items(), formats):
        files.append(folder / f"{name}.{suffix}")
        content = io.BytesIO()
        with style_context(), warnings.catch_warnings():
            # Not every font has every letter of every name.
            warnings.filterwarnings("ignore", "Glyph .* missing")
            # Texts that a damaged file holds may leave no room for axes.
            warnings.filterwarnings("ignore", "constrained_layout not applied")
            figure.savefig(content, format=suffix, dpi=DPI, metadata=METADATA[suffix])
        figure.set_layout_engine("none")  # the first file has laid it out
        write_bytes(files[-1], content.getvalue())
    return files


def panels(
    count: int, columns: int, width: float = 2.75, height: float = 2.2, size: Size = None
) -> tuple[Figure, list[Axes]]:
    """Return a figure of `count` panels in rows, as large as its size allows."""
    columns = min(columns, count)
    inches = [side / INCH for side in size or ()]
    if inches:
        columns = max(
            range(1, count + 1),
            key=lambda k: min(inches[0] / k / width, inches[1] / math.ceil(count / k) / height),
        )
    rows = math.ceil(count / columns)
    needed = max(5.0, width * columns), height * rows + 0.5
    if size and any(LEAST * side > there for side, there in zip(needed, inches, strict=True)):
        wanted = "x".join(f"{side:.3g}" for side in size)
        least = "x".join(f"{INCH * (LEAST * side + 0.02):.3g}" for side in needed)
        raise InputError(
            f"{option('size')}: {wanted} is too small for what is drawn (allowed: {least} and more)"
        )
    figure = Figure(figsize=(inches[0], inches[1]) if inches else needed, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for empty in axes[count:]:
        empty.remove()
    return figure, axes[:count]


def room(axes: Axes) -> tuple[float, float]:
    """Return width and height in inches of the cell that a panel stands in."""
    figure: Any = axes.get_figure(root=True)
    cell: Any = axes.get_subplotspec()
    width, height = figure.get_size_inches().tolist()
    rows, columns = cell.get_gridspec().get_geometry()
    return width / columns, (height - HEAD) / rows


def wrapped(text: str, inches: float, lines: int | None = None) -> str:
    """Break a text to fit into a width, and into so many lines, but no unit in brackets."""
    width = max(12, int(inches * CHARACTERS_PER_INCH))
    text = re.sub(r"\[[^]]*\]", lambda unit: unit[0].replace(" ", NO_BREAK), text)
    text = re.sub(rf"\S{{{width + 1},}}", lambda name: _broken(name[0], width), text)
    broken: Any = {"break_long_words": False, "break_on_hyphens": False, "placeholder": " …"}
    return textwrap.fill(text, width, max_lines=lines, **broken).replace(NO_BREAK, " ")


def _broken(name: str, width: int) -> str:
    """Return a name in pieces of at most a width, if it has joints there."""
    pieces = [""]
    for part in re.findall(r"[^_.,/]*[_.,/]?", name):
        if len(pieces[-1]) + len(part) > width and pieces[-1]:
            pieces.append("")
        pieces[-1] += part
    return " ".join(pieces)


def figures_of(
    name: str, charts: Sequence[Chart], heading: str, size: Size = None
) -> dict[str, Figure]:
    """Return charts as figures: name, name-2, name-3 and so on."""
    count = math.ceil(len(charts) / (COLUMNS * MOST_ROWS))
    ends = [round(k * len(charts) / count) for k in range(count + 1)]
    return {
        name if k == 0 else f"{name}-{k + 1}": _figure(charts[first:last], heading, size)
        for k, (first, last) in enumerate(pairwise(ends))
    }


def _figure(charts: Sequence[Chart], heading: str, size: Size) -> Figure:
    rows = max((len(c.rows) for c in charts if isinstance(c, Intervals)), default=0)
    height = max(0.9 + 0.26 * rows, 2.8 if any(isinstance(c, Graph) for c in charts) else 0.0)
    alone = (8.0, max(height, 1.6 if rows else 4.4))
    needed = alone if len(charts) == 1 else (3.6, height)
    figure, grid = panels(len(charts), COLUMNS, *needed, size)
    legend: dict[str, Any] = {}
    for axes, chart in zip(grid, charts, strict=True):
        if isinstance(chart, Graph):
            _draw_graph(axes, chart)
        else:
            _draw_intervals(axes, chart)
        axes.set_title(wrapped(escaped(chart.title), room(axes)[0] - 0.3, 3), fontsize=8.5)
        handles, names = axes.get_legend_handles_labels()
        legend = dict(zip(names, handles, strict=True)) | legend
    if legend:  # below all panels, in as many columns as the figure is wide
        inches = figure.get_figwidth()
        texts = [shortened(text, max(12, int((inches - HANDLE) * LEGEND))) for text in legend]
        most = int(inches / (HANDLE + max(map(len, texts)) / LEGEND))
        where: Any = {"loc": "outside lower center", "ncols": min(len(texts), max(1, most))}
        figure.legend(list(legend.values()), texts, handletextpad=0.4, **where)
    figure.suptitle(wrapped(heading, figure.get_figwidth(), 2), fontsize=9.5)
    return figure


def _draw_graph(axes: Axes, chart: Graph) -> None:
    if not any(np.isfinite(line.y).any() for line in chart.lines) and chart.counts is None:
        middle: Any = {"transform": axes.transAxes, "ha": "center", "va": "center", "color": GREY}
        axes.text(0.5, 0.5, "no values", **middle)
        axes.set(xticks=[], yticks=[])
        return
    if chart.edges is not None and chart.counts is not None:
        axes.stairs(chart.counts, chart.edges, fill=True, color=FAINT, alpha=0.8)
        axes.set_ylim(bottom=0.0)
    if chart.mean is not None and math.isfinite(chart.mean[0]):
        mean, low, high = chart.mean
        if math.isfinite(low) and math.isfinite(high):
            axes.axvspan(low, high, color=BAD, alpha=0.2, linewidth=0)
        axes.axvline(mean, color=BAD)
    for line in chart.lines:
        _draw_line(axes, line)
    if chart.diagonal:
        axes.axline((0.5, 0.5), slope=1.0, color=GREY, linewidth=0.9, zorder=0)
    # What bands of few replications need of the vertical axis is cut off.
    bands = np.concatenate([line.y for line in chart.lines if not line.marks] or [np.zeros(0)])
    bands = bands[np.isfinite(bands)]
    if bands.size and (reach := float(np.ptp(bands))) > 0.0:
        bottom, top = axes.get_ylim()
        axes.set_ylim(max(bottom, bands.min() - reach), min(top, bands.max() + reach))
    if chart.names:
        every = math.ceil(len(chart.names) / 12)
        places = range(0, len(chart.names), every)
        axes.set_xticks(places, [shortened(escaped(chart.names[k]), 12) for k in places])
        axes.tick_params(axis="x", rotation=45 if len(chart.names) > 3 else 0)
    width, height = room(axes)
    axes.set_xlabel(wrapped(chart.x, width - 0.15))
    axes.set_ylabel(wrapped(chart.y, height - 0.1))


def _draw_line(axes: Axes, line: Line) -> None:
    shown = slice(None, None, max(1, math.ceil(line.x.size / MOST_POINTS)))
    x, y = line.x[shown], line.y[shown]
    k = line.colour % len(COLOURS)
    name = shortened(escaped(line.name), NAME) or None
    style: dict[str, Any] = {"color": COLOURS[k], "linestyle": LINES[k % len(LINES)], "label": name}
    style |= {"rasterized": x.size > MOST_VECTOR_MARKS and not line.joined, "markersize": 3.5}
    gap = np.isnan(np.concatenate([[np.nan], y, [np.nan]]))
    alone = gap[:-2] & ~gap[1:-1] & gap[2:]  # no line shows a value that has none beside it
    style |= {"marker": "o" if line.marks or alone.any() else ""}
    style |= {} if line.joined else {"linestyle": "", "alpha": 0.7, "markeredgewidth": 0.0}
    if line.low is not None and line.high is not None:
        low, high = line.low[shown], line.high[shown]
        if line.marks:
            reach = np.nan_to_num(np.stack([y - low, high - y])).clip(0.0)
            axes.errorbar(x, y, yerr=reach, **style)
            return
        axes.fill_between(x, low, high, color=COLOURS[k], alpha=0.2, linewidth=0)
    axes.plot(x, y, **style)


def _draw_intervals(axes: Axes, chart: Intervals) -> None:
    """Draw means with their intervals, one below the other; grey where one holds 0."""
    if chart.zero:
        axes.axvline(0.0, color="0.6", linewidth=0.9, zorder=0)
    for y, row in enumerate(chart.rows):
        if not math.isfinite(row.mean):
            across = axes.get_yaxis_transform()
            axes.text(0.02, y, "undefined", transform=across, va="center", color=GREY)
            continue
        known = math.isfinite(row.low) and math.isfinite(row.high)
        ends = [[max(0.0, row.mean - row.low)], [max(0.0, row.high - row.mean)]] if known else None
        colour, face = (GOOD, GOOD) if chart.is_sure(row) else (GREY, "white")
        mark: dict[str, Any] = {"color": colour, "markerfacecolor": face, "markersize": 4.5}
        axes.errorbar([row.mean], [y], xerr=ends, fmt="o", **mark)
    names = [shortened(escaped(row.name), NAME) for row in chart.rows]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="x", color="0.9", linewidth=0.6)
    axes.locator_params(axis="x", nbins=4)
