"""Charts of reports: what is to be drawn, whatever draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from valmatch.kernels.arrays import Floats

COLOURS = 8
"""Colours that a page knows, by the classes ``c0`` and so on."""


@dataclass(frozen=True)
class Line:
    """Points, with a line through them and a band or bars around them.

    Attributes
    ----------
    name : str
        What it is called in the legend; "" for nothing.
    x, y : numpy.ndarray
        The points; NaN where there is none.
    low, high : numpy.ndarray or None
        The ends of intervals; None for none.
    marks, joined : bool
        Whether points have marks, and whether a line goes through them.
    colour : int
        Its colour, by number.
    said : sequence of str
        What is said of each point; none: its numbers.
    """

    name: str
    x: Floats
    y: Floats
    low: Floats | None = None
    high: Floats | None = None
    marks: bool = False
    joined: bool = True
    colour: int = 0
    said: Sequence[str] = ()


@dataclass(frozen=True)
class Graph:
    """Lines or bars over two axes.

    Attributes
    ----------
    title, x, y : str
        What is shown, and the names of the axes.
    lines : sequence of Line
        The lines.
    edges, counts : numpy.ndarray or None
        A histogram.
    names : sequence of str
        What stands at 0, 1 and so on of the horizontal axis, where it has no numbers.
    mean : tuple of float or None
        A mean with the ends of its interval, across the chart.
    diagonal : bool
        Whether x = y is drawn.
    """

    title: str
    x: str
    y: str
    lines: Sequence[Line] = ()
    edges: Floats | None = None
    counts: Floats | None = None
    names: Sequence[str] = ()
    mean: tuple[float, float, float] | None = None
    diagonal: bool = False


@dataclass(frozen=True)
class Interval:
    """A mean with its interval, NaN where there is none, and what is said of it."""

    name: str
    mean: float
    low: float
    high: float
    said: str


@dataclass(frozen=True)
class Intervals:
    """Means with their intervals, one below the other.

    Attributes
    ----------
    title : str
        What they are of.
    rows : sequence of Interval
        The means.
    zero : bool
        Whether they are differences, and 0 is in the middle.
    """

    title: str
    rows: Sequence[Interval]
    zero: bool = False


class Strip(NamedTuple):
    """A difference with its interval, in a cell of a table; NaN where undefined."""

    mean: float
    low: float
    high: float


Chart = Graph | Intervals
"""What a page can draw."""
