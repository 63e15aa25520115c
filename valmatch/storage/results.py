"""Base of the results of all public functions."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.text.terminal import escaped, shortened

MOST_ROWS = 20  # rows that a result shows of itself


class Result(ABC):
    """What a public function returns: numbers by name, as text, as arrays, as plain values."""

    folder: Path | None  # where the files of the result are; None where none were written

    @property
    @abstractmethod
    def title(self) -> str:
        """What the result is of, in one line."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""

    @abstractmethod
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return what the result found as a table, equally long columns by name."""

    def table(self) -> Mapping[str, Sequence[Any]]:
        """Return those of the columns that are printed."""
        return self.columns()

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return arrays by name, one for each column, as ``pandas.DataFrame`` takes them."""
        return arrays(self.columns())

    def __repr__(self) -> str:
        return f"{self.title}\n{text_table(self.table())}"


def arrays(columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return columns as arrays; None among numbers becomes NaN."""
    found = {}
    for name, values in columns.items():
        array = np.asarray(values)
        numbers = array.dtype == object and not any(isinstance(value, str) for value in values)
        found[name] = array.astype(np.float64) if numbers else array
    return found


def text_table(columns: Mapping[str, Sequence[Any]], most: int = MOST_ROWS) -> str:
    """Return columns as aligned text, at most `most` rows of them."""
    cells = [[name, *map(_cell, list(values)[:most])] for name, values in columns.items()]
    widths = [max(map(len, column)) for column in cells]
    words = [any(isinstance(value, str) for value in values) for values in columns.values()]
    lines = [
        "  ".join(
            text.ljust(width) if left else text.rjust(width)
            for text, width, left in zip(row, widths, words, strict=True)
        ).rstrip()
        for row in zip(*cells, strict=True)
    ]
    more = max(map(len, columns.values()), default=0) - most
    return "\n".join([*lines, f"... and {more:,} more rows"] if more > 0 else lines)


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else shortened(escaped(str(value)))
