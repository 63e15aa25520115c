"""Charts of reports: what is to be drawn, whatever draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from valmatch.kernels.arrays import Floats

COLOURS = 8  # colours that a page knows, by the classes ``c0`` and so on


@dataclass(frozen=True)
class Line:
    """Points, with a line through them and a band or bars around them."""

    name: str  # what it is called in the legend; "" for nothing
    # x, y: the points; NaN where there is none
    x: Floats
    y: Floats
    # low, high: the ends of intervals; None for none
    low: Floats | None = None
    high: Floats | None = None
    # marks, joined: whether points have marks, and whether a line goes through them
    marks: bool = False
    joined: bool = True
    colour: int = 0  # its colour, by number
    said: Sequence[str] = ()  # what is said of each point; none: its numbers


@dataclass(frozen=True)
class Graph:
    """Lines or bars over two axes."""

    # title, x, y: what is shown, and the names of the axes
    title: str
    x: str
    y: str
    lines: Sequence[Line] = ()  # the lines
    # edges, counts: a histogram
    edges: Floats | None = None
    counts: Floats | None = None
    # what stands at 0, 1 and so on of the horizontal axis, where it has no numbers
    names: Sequence[str] = ()
    # a mean with the ends of its interval, across the chart
    mean: tuple[float, float, float] | None = None
    diagonal: bool = False  # whether x = y is drawn


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
    """Means with their intervals, one below the other."""

    title: str  # what they are of
    rows: Sequence[Interval]  # the means
    zero: bool = False  # whether they are differences, and 0 is in the middle


class Strip(NamedTuple):
    """A difference with its interval, in a cell of a table; NaN where undefined."""

    mean: float
    low: float
    high: float


Chart = Graph | Intervals  # what a page can draw
