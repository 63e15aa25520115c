"""The style that all figures share, and their files."""

from __future__ import annotations

import io
import math
import os
import re
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.errors import InputError, option
from valmatch.present.loading import made_here
from valmatch.present.plot_options import INCH, Inches
from valmatch.storage.output import write_bytes
from valmatch.text.terminal import shortened

# Colours of Okabe and Ito, which all kinds of colour vision tell apart; no yellow on white.
GOOD, BAD, GREY, FAINT = "#0072B2", "#D55E00", "0.45", "#56B4E9"
COLOURS = (GOOD, BAD, "#009E73", "#E69F00", "#CC79A7", FAINT, "#000000", GREY)
LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), "-.", (0, (1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1)))
"""Styles for print in black, one after the other like the colours."""

DPI = 120
CHARACTERS_PER_INCH = 13
LEGEND = 14.0  # characters to an inch of a legend
HANDLE = 0.55  # inches that an entry of a legend takes besides its text
HEAD = 0.5  # inches of a figure that its title takes
LEAST = 0.75  # share of its own width and height below which a figure has no room for its texts

SAID: Mapping[str, Any] = {
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


def style_context() -> AbstractContextManager[None]:
    """Make figures in the style of all."""
    return matplotlib.rc_context(RC)


def refuse_to_replace(figures: Mapping[str, Figure], folder: Path, formats: Sequence[str]) -> None:
    """Refuse to write figures over files that were not drawn here."""
    for name in figures:
        for suffix in formats:
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


def panels(
    count: int, columns: int, width: float = 2.75, height: float = 2.2, size: Inches = None
) -> tuple[Figure, list[Axes]]:
    """Return a figure of `count` panels in rows, as large as its size allows."""
    columns = min(columns, count)
    if size:
        columns = max(
            range(1, count + 1),
            key=lambda k: min(size[0] / k / width, size[1] / math.ceil(count / k) / height),
        )
    rows = math.ceil(count / columns)
    needed = max(5.0, width * columns), height * rows + 0.5
    if size and any(LEAST * side > there for side, there in zip(needed, size, strict=True)):
        wanted = "x".join(f"{INCH * side:.3g}" for side in size)
        least = "x".join(f"{INCH * (LEAST * side + 0.02):.3g}" for side in needed)
        raise InputError(
            f"{option('size')}: {wanted} is too small for what is drawn (allowed: {least} and more)"
        )
    figure = Figure(figsize=size or needed, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for empty in axes[count:]:
        empty.remove()
    return figure, axes[:count]


def room(axes: Axes) -> tuple[float, float]:
    """Return width and height in inches of the cell that a panel stands in."""
    figure, cell = axes.get_figure(root=True), axes.get_subplotspec()
    assert figure
    assert cell
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


def legend_below(figure: Figure, handles: Sequence[Artist], labels: Sequence[str]) -> None:
    """Say below all panels what is drawn, in as many columns as the figure is wide."""
    inches = figure.get_figwidth()
    texts = [shortened(text, max(12, int((inches - HANDLE) * LEGEND))) for text in labels]
    widest = HANDLE + max(map(len, texts)) / LEGEND
    columns = min(len(texts), max(1, int(inches / widest)))
    figure.legend(handles, texts, loc="outside lower center", ncols=columns, handletextpad=0.4)
