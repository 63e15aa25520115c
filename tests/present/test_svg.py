"""Charts as SVG: what is drawn where, and what is left out."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from valmatch.present.document import Graph, Interval, Intervals, Line
from valmatch.present.svg import MOST_POINTS, number, svg_of


def points_of(svg: str) -> list[tuple[float, float]]:
    """Return the points of the first line of a chart."""
    (path,) = re.findall(r'data-name="[^"]*" d="([^"]*)"', svg)[:1]
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+),([\d.]+)", path)]


def test_a_line_lies_within_its_axes_and_keeps_its_order() -> None:
    xs = np.arange(50.0)
    svg = svg_of(Graph("t", "x", "y", [Line("a", xs, xs**2)]))
    places = points_of(svg)
    assert len(places) == 50
    assert places == sorted(places)
    assert [y for _, y in places] == sorted((y for _, y in places), reverse=True)
    assert all(52.0 <= x <= 350.0 and 8.0 <= y <= 192.0 for x, y in places)


def test_a_long_line_is_thinned() -> None:
    xs = np.arange(1e5)
    svg = svg_of(Graph("t", "x", "y", [Line("a", xs, np.sin(xs), xs - 1.0, xs + 1.0)]))
    assert len(points_of(svg)) <= MOST_POINTS
    assert len(svg) < 8000


def test_gaps_stay_gaps_and_the_undefined_draws_nothing() -> None:
    ys = np.array([1.0, 2.0, math.nan, 4.0, 5.0])
    svg = svg_of(Graph("t", "x", "y", [Line("a", np.arange(5.0), ys)]))
    assert svg.count("M", svg.index("data-name")) >= 2
    empty = svg_of(Graph("t", "x", "y", [Line("a", np.arange(5.0), np.full(5, math.nan))]))
    assert "data-name" not in empty
    assert "nan" not in svg + empty


@pytest.mark.parametrize("values", [[0.0], [1e300], [-1e-300], [3.0, 3.0], [1e15, 1e15 + 1.0]])
def test_axes_have_ticks_whatever_the_values(values: list[float]) -> None:
    ys = np.array(values)
    svg = svg_of(Graph("t", "x", "y", [Line("", np.arange(float(ys.size)), ys, marks=True)]))
    assert 2 <= svg.count("<text") <= 30
    assert not re.search("nan|inf", svg)


def test_texts_are_escaped_and_the_whole_is_well_formed() -> None:
    name = "<b>&\"'\u202e"
    rows = [Interval(name, 1.0, 0.5, 1.5, name), Interval(name, math.nan, math.nan, math.nan, name)]
    graph = Graph(name, name, name, [Line(name, np.arange(2.0), np.arange(2.0), marks=True)])
    for chart in (graph, Intervals(name, rows, zero=True)):
        tree = ElementTree.fromstring(svg_of(chart))
        tags = {element.tag for element in tree.iter()}
        assert tags <= {"svg", "g", "path", "text", "circle", "title"}


def test_intervals_that_leave_zero_out_are_filled() -> None:
    rows = [Interval("a", 1.0, 0.5, 1.5, ""), Interval("b", 0.2, -0.5, 1.0, "")]
    svg = svg_of(Intervals("t", rows, zero=True))
    assert svg.count('class="o"') == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1234.5, "1234"), (123456.0, "123,456"), (1e12, "1e+12"), (math.nan, "undefined")],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text
