"""The style that all figures share."""

from __future__ import annotations

import io
import math
import os
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec

from valmatch.errors import InputError
from valmatch.present.figure_options import (
    DEFAULT_FORMATS,
    DEFAULTS,
    FigureOptions,
    current_options,
    drawn_with,
    sized,
)
from valmatch.storage.output import write_bytes
from valmatch.text.terminal import shortened

# Colours of Okabe and Ito, which all kinds of colour vision tell apart; no yellow on white.
GOOD, BAD, GREY, FAINT = "#0072B2", "#D55E00", "0.45", "#56B4E9"
COLOURS = (GOOD, BAD, "#009E73", "#E69F00", "#CC79A7", FAINT, "#000000", GREY)
LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), "-.", (0, (1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1)))
"""Styles for print in black, one after the other like the colours."""

DPI = 120
CHARACTERS_PER_INCH = 13

SAID: Mapping[str, Any] = {
    "png": {"Software": "valmatch"},
    "svg": {"Date": None, "Creator": "valmatch"},
    "pdf": {"CreationDate": None, "Creator": "valmatch"},
}
"""What files of each format say of with what they were made, and not of when."""

MARKS = {
    "png": b"Software\0valmatch",
    "svg": b"<dc:title>valmatch</dc:title>",
    "pdf": b"/Creator (valmatch)",
}
"""By what a file of each format is known as one of ours."""

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


@contextmanager
def style_context(wanted: FigureOptions = DEFAULTS) -> Iterator[None]:
    """Make figures as they are asked for."""
    with matplotlib.rc_context(RC), drawn_with(wanted):
        yield


def refuse_to_replace(
    figures: Mapping[str, Figure], folder: Path, formats: Sequence[str] = DEFAULT_FORMATS
) -> None:
    """Refuse to write figures over files that were not drawn here."""
    for name in figures:
        for suffix in formats:
            file = folder / f"{name}.{suffix}"
            if os.path.lexists(file) and not _is_drawn(file, suffix):
                raise InputError(
                    f"{file}: is there already and was not drawn by valmatch; move it, or choose"
                    " another --format"
                )


def _is_drawn(file: Path, suffix: str) -> bool:
    """Return whether a file is a figure that was drawn here."""
    if file.is_symlink() or not file.is_file():
        return False
    try:
        return MARKS[suffix] in file.read_bytes()
    except OSError:
        return False


def save(
    figures: Mapping[str, Figure], folder: Path, formats: Sequence[str] = DEFAULT_FORMATS
) -> list[Path]:
    """Write each figure as a file of each format; return them."""
    files = []
    for name, figure in figures.items():
        for suffix in formats:
            file, content = folder / f"{name}.{suffix}", io.BytesIO()
            with style_context(), warnings.catch_warnings():
                # Not every font has every letter of every name.
                warnings.filterwarnings("ignore", "Glyph .* missing")
                # Texts that a damaged file holds may leave no room for axes.
                warnings.filterwarnings("ignore", "constrained_layout not applied")
                figure.savefig(content, format=suffix, dpi=DPI, metadata=SAID[suffix])
            figure.set_layout_engine("none")  # the first file has laid it out
            write_bytes(file, content.getvalue())
            files.append(file)
    return files


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of its own size in inches, or of the one that is asked for."""
    return Figure(figsize=sized(width, height), layout="constrained")


def panels(
    count: int, columns: int, width: float = 2.75, height: float = 2.2, *, free: bool = False
) -> tuple[Figure, list[Axes]]:
    """Return a figure of `count` panels in rows; what is left of the last row stays empty."""
    columns = min(columns, count)
    wanted = current_options().size
    if free and wanted:
        columns = max(
            range(1, count + 1),
            key=lambda k: min(wanted[0] / k / width, wanted[1] / math.ceil(count / k) / height),
        )
    rows = math.ceil(count / columns)
    figure = new_figure(max(5.0, width * columns), height * rows + 0.5)
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for empty in axes[count:]:
        empty.remove()
    return figure, axes[:count]


def head(figure: Figure, *texts: str, lines: int = 2) -> None:
    """Write above a figure its title, or what it shows, in at most so many lines."""
    inches = figure.get_figwidth()
    texts = (current_options().title,) if current_options().title else texts
    found = "\n".join(wrapped(text, inches) for text in texts)
    if found.count("\n") >= lines:
        found = wrapped("; ".join(texts), inches, lines)
    figure.suptitle(found, fontsize=9.5)


def wrapped(text: str, inches: float, lines: int | None = None) -> str:
    """Break a text so that it fits into a width, and into so many lines, but no unit in brackets.

    Names that are too long are broken behind a joint.
    """
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


def note(axes: Axes, text: str) -> None:
    """Say in an empty panel why it is so."""
    axes.text(
        0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=GREY, wrap=True
    )
    axes.set(xticks=[], yticks=[])


# Texts beside and around panels, in the room that there is for them.

HEAD = 0.5  # inches of a figure that its title takes
LEGEND = 14.0  # characters to an inch of a legend
HANDLE = 0.55  # inches that an entry of a legend takes besides its text


def label(axes: Axes, x: str = "", y: str = "") -> None:
    """Label the axes of a panel."""
    width, height = _room(axes)
    if x:
        axes.set_xlabel(wrapped(x, width - 0.15))
    if y:
        axes.set_ylabel(wrapped(y, height - 0.1))


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
    most = max(12, int((inches - HANDLE) * LEGEND))
    texts = [shortened(text, most) for text in labels]
    for columns in range(len(texts), 1, -1):
        rows = -(-len(texts) // columns)
        widest = [max(map(len, texts[k : k + rows])) for k in range(0, len(texts), rows)]
        if sum(HANDLE + length / LEGEND for length in widest) <= inches:
            return columns, texts
    return 1, texts
