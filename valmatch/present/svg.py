"""Charts as SVG: texts stay texts, colours are left to the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.present.document import COLOURS, Chart, Graph, Interval, Intervals, Line
from valmatch.text.terminal import escaped, shortened

# A chart is as wide as a telephone, so that it is read there without scrolling; a page puts as many
# beside each other as it has room for. Marks have their values as titles; of lines the script of
# the page tells them by the ends of the axes.

WIDTH = 360.0  # width of a chart
CHARACTER = 6.3  # width of a character of the size that texts have
NAME = 26  # most characters of a name in a legend or beside a row


@dataclass(frozen=True)
class Scale:
    """From numbers to places: `low` is at `start`, `high` at `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of a number."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, most: int) -> list[float]:
        """Return round numbers within the scale."""
        step = _step((self.high - self.low) / most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, min(last, first + 2 * most) + 1)]


def _step(least: float) -> float:
    """Return the least of 1, 2, 5, 10, 20 and so on that is not less than a number."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(k * power for k in (1.0, 2.0, 5.0, 10.0) if k * power >= least * (1.0 - 1e-9))


def scale_of(values: Sequence[float], start: float, end: float, room: float = 0.04) -> Scale:
    """Return a scale on which some numbers have room; those that are none do not count."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    least = 1e-9 * max(abs(low), abs(high)) or 1e-9
    reach = room * (high - low) if high - low > least else 0.05 * max(abs(low), abs(high)) or 0.5
    return Scale(low - reach, high + reach, start, end)


def number(value: float) -> str:
    """Return a number in a few digits, thousands divided."""
    if not math.isfinite(value):
        return "undefined"
    text = f"{value:.4g}"
    return f"{value:,.0f}" if abs(value) >= 1e4 and "e" in text and abs(value) < 1e9 else text


def text_at(x: float, y: float, text: str, of: str = "") -> str:
    """Return a text at a place, of a class of the page's style."""
    kind = f' class="{of}"' if of else ""
    return f'<text x="{x:g}" y="{y:g}"{kind}>{escape(text)}</text>'


def short_name(text: str) -> str:
    """Return a name that has room in a chart."""
    return shortened(escaped(text), NAME)


def titled_mark(mark: str, said: str) -> str:
    """Return a mark, without its end, with what is said of it."""
    return f"{mark}><title>{escape(said)}</title></{mark[1:].split(' ', 1)[0]}>"


def svg_element(title: str, height: float, body: str, data: str = "") -> str:
    """Return a chart of what it holds, with its title for those who do not see it."""
    label = escape(escaped(title))
    box = f"0 0 {WIDTH:g} {height:g}"
    return f'<svg viewBox="{box}" role="img" aria-label="{label}"{data}>{body}</svg>'


# Graphs of reports as SVG: lines, marks and bars over two axes.

HEIGHT = 230.0  # height of a graph, without its legend

LEFT, RIGHT, TOP, BOTTOM = 52.0, 10.0, 8.0, 38.0
"""Margins of the area in which data are drawn."""

MOST_POINTS = 120  # points of a line


def graph_svg(chart: Graph) -> str:
    """Draw lines or bars over two axes."""
    legend = [line for line in chart.lines if line.name]
    rows = _legend_rows(legend)
    height = HEIGHT + 16.0 * len(rows)
    xs, ys = _extent(chart)
    x = scale_of(xs, LEFT, WIDTH - RIGHT, 0.03)
    if chart.names:
        x = Scale(-0.5, len(chart.names) - 0.5, LEFT, WIDTH - RIGHT)
    y = scale_of(ys, HEIGHT - BOTTOM, TOP, 0.06)
    if chart.counts is not None:
        y = Scale(0.0, 1.06 * (max(ys) or 1.0), HEIGHT - BOTTOM, TOP)
    body = "".join(_axes(chart, x, y))
    if chart.edges is not None and chart.counts is not None:
        body += "".join(_bars(chart.edges, chart.counts, x, y))
    if chart.diagonal:
        low, high = max(x.low, y.low), min(x.high, y.high)
        body += f'<path class="k" d="M{x(low):g},{y(low):g}L{x(high):g},{y(high):g}"/>'
    if chart.mean is not None:
        body += _mean(chart.mean, x)
    body += "".join(_line(line, x, y) for line in chart.lines)
    body += "".join(_legend(rows))
    ends = " ".join(f"{v:.6g}" for v in (x.low, x.high, y.low, y.high))
    data = "" if chart.names or chart.counts is not None else f' data-ends="{ends}"'
    return svg_element(chart.title, height, body, data)


def _extent(chart: Graph) -> tuple[list[float], list[float]]:
    """Return the numbers that have to find room on both axes."""
    xs: list[float] = []
    ys: list[float] = []
    for line in chart.lines:
        xs += line.x.tolist()
        ys += line.y.tolist()
        if line.low is not None and line.high is not None:
            ys += _within(line.y, line.low, line.high)
    if chart.edges is not None and chart.counts is not None:
        xs += chart.edges.tolist()
        ys += chart.counts.tolist()
    if chart.mean is not None:
        xs += chart.mean
    return xs, ys


def _within(means: Floats, low: Floats, high: Floats) -> list[float]:
    """Return the ends of intervals, those of few replications cut off where means end."""
    finite = means[np.isfinite(means)]
    if not finite.size:
        return []
    least, most = float(finite.min()), float(finite.max())
    reach = most - least or math.inf
    ends = np.concatenate([low, high])
    return np.clip(ends[np.isfinite(ends)], least - reach, most + reach).tolist()  # type: ignore[no-any-return]


def _axes(chart: Graph, x: Scale, y: Scale) -> Iterator[str]:
    """Yield grid, numbers and names of the axes."""
    for value in y.ticks(5):
        place = y(value)
        yield f'<path class="g" d="M{LEFT:g},{place:g}H{WIDTH - RIGHT:g}"/>'
        yield text_at(LEFT - 5.0, place + 3.5, number(value if abs(value) > 1e-12 else 0.0), "e")
    base = HEIGHT - BOTTOM
    yield f'<path class="a" d="M{LEFT:g},{base:g}H{WIDTH - RIGHT:g}"/>'
    ticks = [(value, number(value)) for value in x.ticks(5)]
    if chart.names:
        every = math.ceil(len(chart.names) * CHARACTER * _longest(chart.names) / (WIDTH - LEFT))
        ticks = [(float(k), short_name(chart.names[k])) for k in range(0, len(chart.names), every)]
    for value, text in ticks:
        yield text_at(x(value), base + 14.0, text, "m")
    yield text_at((LEFT + WIDTH - RIGHT) / 2.0, base + 30.0, escaped(chart.x), "m")


def _longest(names: Sequence[str]) -> int:
    return 1 + max(min(NAME, len(name)) for name in names)


def _bars(edges: Floats, counts: Floats, x: Scale, y: Scale) -> Iterator[str]:
    """Yield the bars of a histogram."""
    for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True):
        if count:
            left, top = x(low), y(count)
            width, height = max(0.5, x(high) - left - 0.5), HEIGHT - BOTTOM - top
            size = f'width="{width:.1f}" height="{height:.1f}"'
            mark = f'<rect class="b" x="{left:g}" y="{top:g}" {size}'
            yield titled_mark(mark, f"{number(low)} to {number(high)}: {count:,.0f}")


def _mean(mean: tuple[float, float, float], x: Scale) -> str:
    """Draw a mean with its interval across the chart."""
    value, low, high = mean
    if not math.isfinite(value):
        return ""
    band = ""
    if math.isfinite(low) and math.isfinite(high):
        left, width = x(low), max(0.5, x(high) - x(low))
        band = (
            f'<rect class="i" x="{left:g}" y="{TOP:g}" width="{width:.1f}"'
            f' height="{HEIGHT - BOTTOM - TOP:g}"/>'
        )
    mark = f'<path class="v" d="M{x(value):g},{TOP:g}V{HEIGHT - BOTTOM:g}"'
    return band + titled_mark(mark, f"mean {number(value)}")


def _line(line: Line, x: Scale, y: Scale) -> str:
    """Draw points, the line through them, and what is around them."""
    shown = slice(None, None, max(1, math.ceil(line.x.size / MOST_POINTS)))
    xs, ys = line.x[shown], line.y[shown]
    of, body = f"c{line.colour % COLOURS}", ""
    if line.low is not None and line.high is not None:
        low = np.clip(line.low[shown], y.low, y.high)
        high = np.clip(line.high[shown], y.low, y.high)
        body += _around(xs, low, high, x, y, bars=line.marks)
    paths = ["M" + "L".join(f"{x(a):g},{y(b):g}" for a, b in run) for run in _runs(xs, ys)]
    if line.joined and paths:
        name = f' data-name="{escape(short_name(line.name))}"'
        body += f'<path class="l"{name} d="{"".join(paths)}"/>'
    if line.marks:
        texts = list(line.said)[shown] if line.said else [""] * len(xs)
        for a, b, said in zip(xs.tolist(), ys.tolist(), texts, strict=True):
            if math.isfinite(a) and math.isfinite(b):
                mark = f'<circle cx="{x(a):g}" cy="{y(b):g}" r="3"'
                body += titled_mark(mark, said or f"{number(a)}: {number(b)}")
    return f'<g class="{of}">{body}</g>'


def _runs(xs: Floats, ys: Floats) -> Iterator[list[tuple[float, float]]]:
    """Yield stretches of points without gaps."""
    run: list[tuple[float, float]] = []
    for a, b in zip(xs.tolist(), ys.tolist(), strict=True):
        if math.isfinite(a) and math.isfinite(b):
            run.append((a, b))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _around(xs: Floats, low: Floats, high: Floats, x: Scale, y: Scale, *, bars: bool) -> str:
    """Draw intervals: bars of marks, or a band around a line."""
    known = np.isfinite(low) & np.isfinite(high) & np.isfinite(xs)
    ends = list(zip(xs[known].tolist(), low[known].tolist(), high[known].tolist(), strict=True))
    if not ends:
        return ""
    if bars:
        lines = "".join(f"M{x(a):g},{y(b):g}V{y(c):g}" for a, b, c in ends)
        return f'<path class="w" d="{lines}"/>'
    above = "L".join(f"{x(a):g},{y(c):g}" for a, _, c in ends)
    below = "L".join(f"{x(a):g},{y(b):g}" for a, b, _ in reversed(ends))
    return f'<path class="f" d="M{above}L{below}Z"/>'


def _legend_rows(lines: Sequence[Line]) -> list[list[tuple[Line, float]]]:
    """Return the rows of a legend: lines with their places."""
    rows: list[list[tuple[Line, float]]] = []
    place = WIDTH
    for line in lines:
        width = 26.0 + CHARACTER * len(short_name(line.name))
        if place + width > WIDTH:
            rows.append([])
            place = LEFT
        rows[-1].append((line, place))
        place += width
    return rows


def _legend(rows: Sequence[Sequence[tuple[Line, float]]]) -> Iterator[str]:
    """Yield the legend below a chart."""
    for k, row in enumerate(rows):
        height = HEIGHT + 10.0 + 16.0 * k
        for line, place in row:
            mark = f'<path class="l" d="M{place:g},{height:g}h14"/>'
            if not line.joined:
                mark = f'<circle cx="{place + 7.0:g}" cy="{height:g}" r="3"/>'
            yield f'<g class="c{line.colour % COLOURS}">{mark}</g>'
            yield text_at(place + 18.0, height + 3.5, short_name(line.name))


# Means with their intervals as SVG.

RIGHT_MARGIN = 10.0  # margin on the right
ROW = 22.0  # height of a row of a chart of intervals


def intervals_svg(chart: Intervals) -> str:
    """Draw means with their intervals, one below the other."""
    names = [short_name(row.name) for row in chart.rows]
    left = min(150.0, 12.0 + CHARACTER * max(map(len, names)))
    values = [end for row in chart.rows for end in (row.mean, row.low, row.high)]
    x = scale_of([*values, *([0.0] if chart.zero else [])], left, WIDTH - RIGHT_MARGIN, 0.08)
    base = 6.0 + ROW * len(chart.rows)
    body = ""
    for value in x.ticks(4):
        body += f'<path class="g" d="M{x(value):g},2V{base:g}"/>'
        body += text_at(x(value), base + 14.0, number(value if abs(value) > 1e-12 else 0.0), "m")
    if chart.zero:
        body += f'<path class="z" d="M{x(0.0):g},2V{base:g}"/>'
    for k, (row, name) in enumerate(zip(chart.rows, names, strict=True)):
        y = 4.0 + ROW * (k + 0.5)
        body += text_at(left - 6.0, y + 4.0, name, "e")
        body += _mark(row, x, y, sure=chart.is_sure(row))
    return svg_element(chart.title, base + 20.0, body)


def _mark(row: Interval, x: Scale, y: float, *, sure: bool) -> str:
    """Draw a mean with its interval; filled where that is sure."""
    if not math.isfinite(row.mean):
        return text_at(x((x.low + x.high) / 2.0), y + 4.0, "undefined", "m")
    body = ""
    if math.isfinite(row.low) and math.isfinite(row.high):
        body = f'<path class="w" d="M{x(row.low):g},{y:g}H{x(row.high):g}"/>'
    outline = "" if sure else ' class="o"'
    mark = f'<circle cx="{x(row.mean):g}" cy="{y:g}" r="4"{outline}'
    return f'<g class="{"c0" if sure else "c7"}">{body}{titled_mark(mark, row.said)}</g>'


def svg_of(chart: Chart) -> str:
    """Return a chart as SVG."""
    return graph_svg(chart) if isinstance(chart, Graph) else intervals_svg(chart)
