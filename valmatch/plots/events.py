"""Figures of what happened in a replication of any model: its tables over their times."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valmatch.errors import InputError
from valmatch.kernels.arrays import Floats
from valmatch.plots.parts.labels import few_ticks, label
from valmatch.plots.parts.pages import MOST_ROWS, numbered, pages_of
from valmatch.plots.parts.source import RunFiles
from valmatch.plots.parts.style import dots, head, note, panels
from valmatch.text.numerals import real_number

TIME = re.compile(r"(?:.*_)?(?:time|seconds|minutes|hours|days)")
"""The name of a column of times; the first of a table that has it is its time."""

COLUMNS = 3  # panels in a row


def draw(run: RunFiles) -> dict[str, Figure]:
    """Draw each column of numbers of each table that has times over these."""
    names = [str(name) for name in run.fact("files") if str(name).endswith(".csv")]
    figures: dict[str, Figure] = {}
    for name in names:
        columns = _numbers(run, name)
        times = next((column for column in columns if TIME.fullmatch(column)), None)
        if times is None:
            continue
        others = [column for column in columns if column != times]
        stem = name.removesuffix(".csv")
        pages = pages_of(others, COLUMNS * MOST_ROWS)
        drawn = [_page(run, stem, columns, times, page) for page in pages]
        figures |= numbered(stem, drawn)
    if not figures:
        found = f"tables {', '.join(names)}" if names else "no tables"
        raise InputError(
            f"{run.folder}: nothing to draw: {found} (allowed: a table with a column of times,"
            " called time, seconds, minutes, hours or days, or ending so as in match_hours)"
        )
    return figures


def _page(
    run: RunFiles, stem: str, columns: dict[str, Floats], times: str, shown: Sequence[str]
) -> Figure:
    figure, axes = panels(len(shown), COLUMNS, free=True)
    for panel, column in zip(axes, shown, strict=True):
        _over_time(panel, columns[times], columns[column])
        label(panel, times, column)
        few_ticks(panel)
    head(figure, run.heading(f"replication {run.manifest.get('replication')}"), stem)
    return figure


def _over_time(axes: Axes, times: Floats, values: Floats) -> None:
    there = np.isfinite(times) & np.isfinite(values)
    if there.any():
        dots(axes, times[there], values[there])
    else:
        note(axes, "no values")


def _numbers(run: RunFiles, name: str) -> dict[str, Floats]:
    """Return the columns of a table that hold numbers or nothing, and some number."""
    header = run.header(name)
    rows = list(run.rows(name, header))
    found = {}
    for place, column in enumerate(header):
        cells = [row[place] for row in rows]
        values = [real_number(cell) if cell else np.nan for cell in cells]
        if None not in values and any(cells):
            found[column] = np.array(values, dtype=np.float64)
    return found
