"""Charts as SVG: texts stay texts, colours are left to the page."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.present.document import COLOURS, Chart, Ends, Graph, Interval, Intervals, Line
from valmatch.text.terminal import escaped, shortened

# A chart is as wide as a telephone, so that it is read there without scrolling; a page puts as many
# beside each other as it has room for. Marks have their values as titles; of lines the script of
# the page tells them by the ends of the axes.

WIDTH = 360.0  # width of a chart
HEIGHT = 230.0  # height of a graph, without its legend
LEFT, RIGHT, TOP, BOTTOM = 52.0, WIDTH - 10.0, 8.0, 192.0  # the area of data in a graph

CHARACTER = 6.3  # width of a character of the size that texts have
NAME = 26  # most characters of a name beside a row or at an axis
LEGEND = 36  # most characters of a name in a legend
ROW = 22.0  # height of a row of a chart of intervals
MOST_POINTS = 120  # points of a line


def svg_of(chart: Chart) -> str:
    """Return a chart as SVG."""
    return graph_svg(chart) if isinstance(chart, Graph) else intervals_svg(chart)


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
        least = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(least))
        step = next(k * power for k in (1.0, 2.0, 5.0, 10.0) if k * power >= least * (1.0 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        ticks = [k * step for k in range(first, min(last, first + 2 * most) + 1)]
        return [tick if abs(tick) > 1e-12 else 0.0 for tick in ticks]


def scale_of(values: Iterable[float], start: float, end: float, room: float) -> Scale:
    """Return a scale on which some numbers have room; those that are none do not count."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    size = max(abs(low), abs(high))
    reach = room * (high - low) if high - low > (1e-9 * size or 1e-9) else 0.05 * size or 0.5
    return Scale(low - reach, high + reach, start, end)


def number(value: float) -> str:
    """Return a number in a few digits, thousands divided."""
    if not math.isfinite(value):
        return "undefined"
    text = f"{value:.4g}"
    return f"{value:,.0f}" if abs(value) >= 1e4 and "e" in text and abs(value) < 1e9 else text


def text_at(x: float, y: float, text: str, kind: str = "") -> str:
    """Return a text at a place, of a class of the page's style."""
    of = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}"{of}>{escape(text)}</text>'


def path(kind: str, steps: str) -> str:
    """Return a path of a class of the page's style."""
    return f'<path class="{kind}" d="{steps}"/>'


def short_name(text: str, most: int = NAME) -> str:
    """Return a name that has room in a chart."""
    return shortened(escaped(text), most)


def titled_mark(mark: str, title: str) -> str:
    """Return a mark, without its end, with what is said of it."""
    return f"{mark}><title>{escape(title)}</title></{mark[1:].split(' ', 1)[0]}>"


def svg_element(title: str, height: float, body: str, data: str = "") -> str:
    """Return a chart of what it holds, with its title for those who do not see it."""
    label = escape(escaped(title))
    box = f"0 0 {WIDTH:g} {height:g}"
    return f'<svg viewBox="{box}" role="img" aria-label="{label}"{data}>{body}</svg>'


# Graphs: lines, marks and bars over two axes.


def graph_svg(chart: Graph) -> str:
    """Draw lines or bars over two axes."""
    legend, rows = _legend(line for line in chart.lines if line.name)
    xs, ys = _extent(chart)
    x, y = scale_of(xs, LEFT, RIGHT, 0.03), scale_of(ys, BOTTOM, TOP, 0.06)
    if chart.names:
        x = Scale(-0.5, len(chart.names) - 0.5, LEFT, RIGHT)
    if chart.counts is not None:
        y = Scale(0.0, 1.06 * (max(ys) or 1.0), BOTTOM, TOP)
    body = "".join([*_axes(chart, x, y), *_bars(chart, x, y)])
    if chart.diagonal:
        low, high = max(x.low, y.low), min(x.high, y.high)
        body += path("k", f"M{x(low):g},{y(low):g}L{x(high):g},{y(high):g}")
    if chart.mean is not None:
        body += _mean(chart.mean, x)
    body += "".join(_line(line, x, y) for line in chart.lines) + legend
    ends = " ".join(f"{v:.6g}" for v in (x.low, x.high, y.low, y.high))
    data = "" if chart.names or chart.counts is not None else f' data-ends="{ends}"'
    return svg_element(chart.title, HEIGHT + 16.0 * rows, body, data)


def _extent(chart: Graph) -> tuple[list[float], list[float]]:
    """Return the numbers that have to find room on both axes."""
    xs, ys = list[float](chart.mean or ()), list[float]()
    for line in chart.lines:
        xs += line.x.tolist()
        ys += line.y.tolist()
        means = line.y[np.isfinite(line.y)]
        if line.low is not None and line.high is not None and means.size:
            # Intervals of few replications are cut off where means end.
            reach = float(np.ptp(means)) or math.inf
            ends = np.concatenate([line.low, line.high])
            ends = np.clip(ends[np.isfinite(ends)], means.min() - reach, means.max() + reach)
            ys += ends.tolist()
    if chart.edges is not None and chart.counts is not None:
        xs += chart.edges.tolist()
        ys += chart.counts.tolist()
    return xs, ys


def _axes(chart: Graph, x: Scale, y: Scale) -> Iterator[str]:
    for value in y.ticks(5):
        yield path("g", f"M{LEFT:g},{y(value):g}H{RIGHT:g}")
        yield text_at(LEFT - 5.0, y(value) + 3.5, number(value), "e")
    yield path("a", f"M{LEFT:g},{BOTTOM:g}H{RIGHT:g}")
    ticks = [(value, number(value)) for value in x.ticks(5)]
    if names := chart.names:
        longest = 1 + max(min(NAME, len(name)) for name in names)
        every = math.ceil(len(names) * CHARACTER * longest / (WIDTH - LEFT))
        ticks = [(float(k), short_name(names[k])) for k in range(0, len(names), every)]
    for value, text in ticks:
        yield text_at(x(value), BOTTOM + 14.0, text, "m")
    yield text_at((LEFT + RIGHT) / 2.0, BOTTOM + 30.0, escaped(chart.x), "m")


def _bars(chart: Graph, x: Scale, y: Scale) -> Iterator[str]:
    if chart.edges is None or chart.counts is None:
        return
    for low, high, count in zip(chart.edges[:-1], chart.edges[1:], chart.counts, strict=True):
        if count:
            left, top = x(low), y(count)
            size = f'width="{max(0.5, x(high) - left - 0.5):.1f}" height="{BOTTOM - top:.1f}"'
            mark = f'<rect class="b" x="{left:g}" y="{top:g}" {size}'
            yield titled_mark(mark, f"{number(low)} to {number(high)}: {count:,.0f}")


def _mean(mean: Ends, x: Scale) -> str:
    value, low, high = mean
    if not math.isfinite(value):
        return ""
    band = ""
    if math.isfinite(low) and math.isfinite(high):
        size = f'width="{max(0.5, x(high) - x(low)):.1f}" height="{BOTTOM - TOP:g}"'
        band = f'<rect class="i" x="{x(low):g}" y="{TOP:g}" {size}/>'
    mark = f'<path class="v" d="M{x(value):g},{TOP:g}V{BOTTOM:g}"'
    return band + titled_mark(mark, f"mean {number(value)}")


def _line(line: Line, x: Scale, y: Scale) -> str:
    shown = slice(None, None, max(1, math.ceil(line.x.size / MOST_POINTS)))
    xs, ys = line.x[shown], line.y[shown]
    body = ""
    if line.low is not None and line.high is not None:
        low, high = (np.clip(end[shown], y.low, y.high) for end in (line.low, line.high))
        body += _around(xs, low, high, x, y, bars=line.marks)
    known = np.isfinite(xs) & np.isfinite(ys)
    if line.joined and known.any():
        name = escape(short_name(line.name))
        stretches = np.split(np.arange(xs.size), np.flatnonzero(~known))
        runs = ([k for k in stretch.tolist() if known[k]] for stretch in stretches)
        steps = ("L".join(f"{x(xs[k]):g},{y(ys[k]):g}" for k in run) for run in runs if run)
        body += f'<path class="l" data-name="{name}" d="M{"M".join(steps)}"/>'
    if line.marks:
        texts = list(line.labels)[shown] if line.labels else [""] * xs.size
        for k in np.flatnonzero(known).tolist():
            mark = f'<circle cx="{x(xs[k]):g}" cy="{y(ys[k]):g}" r="3"'
            body += titled_mark(mark, texts[k] or f"{number(xs[k])}: {number(ys[k])}")
    return f'<g class="c{line.colour % COLOURS}">{body}</g>'


def _around(xs: Floats, low: Floats, high: Floats, x: Scale, y: Scale, *, bars: bool) -> str:
    """Draw intervals: bars of marks, or a band around a line."""
    ends = np.stack([xs, low, high], axis=1)
    ends = ends[np.isfinite(ends).all(axis=1)].tolist()
    if not ends:
        return ""
    if bars:
        return path("w", "".join(f"M{x(a):g},{y(b):g}V{y(c):g}" for a, b, c in ends))
    above = "L".join(f"{x(a):g},{y(c):g}" for a, _, c in ends)
    below = "L".join(f"{x(a):g},{y(b):g}" for a, b, _ in reversed(ends))
    return path("f", f"M{above}L{below}Z")


def _legend(lines: Iterable[Line]) -> tuple[str, int]:
    """Return the legend below a chart, and how many rows it has."""
    body, row, x = "", 0, WIDTH
    for line in lines:
        name = short_name(line.name, LEGEND)
        width = 26.0 + CHARACTER * len(name)
        if x + width > WIDTH:
            row, x = row + 1, LEFT
        height = HEIGHT - 6.0 + 16.0 * row
        mark = path("l", f"M{x:g},{height:g}h14")
        if not line.joined:
            mark = f'<circle cx="{x + 7.0:g}" cy="{height:g}" r="3"/>'
        body += f'<g class="c{line.colour % COLOURS}">{mark}</g>'
        body += text_at(x + 18.0, height + 3.5, name)
        x += width
    return body, row


# Means with their intervals, one below the other.


def intervals_svg(chart: Intervals) -> str:
    """Draw means with their intervals, one below the other."""
    names = [short_name(row.name) for row in chart.rows]
    left = 12.0 + CHARACTER * max(map(len, names))
    values = [end for row in chart.rows for end in (row.mean, row.low, row.high)]
    x = scale_of([*values, *([0.0] if chart.zero else [])], left, RIGHT, 0.08)
    base = 6.0 + ROW * len(chart.rows)
    body = ""
    for value in x.ticks(4):
        body += path("g", f"M{x(value):g},2V{base:g}")
        body += text_at(x(value), base + 14.0, number(value), "m")
    if chart.zero:
        body += path("z", f"M{x(0.0):g},2V{base:g}")
    for k, (row, name) in enumerate(zip(chart.rows, names, strict=True)):
        y = 4.0 + ROW * (k + 0.5)
        body += text_at(left - 6.0, y + 4.0, name, "e")
        body += _interval(row, x, y, sure=chart.is_sure(row))
    return svg_element(chart.title, base + 20.0, body)


def _interval(row: Interval, x: Scale, y: float, *, sure: bool) -> str:
    """Draw a mean with its interval; filled where that is sure."""
    if not math.isfinite(row.mean):
        return text_at(x((x.low + x.high) / 2.0), y + 4.0, "undefined", "m")
    known = math.isfinite(row.low) and math.isfinite(row.high)
    body = path("w", f"M{x(row.low):g},{y:g}H{x(row.high):g}") if known else ""
    outline = "" if sure else ' class="o"'
    mark = f'<circle cx="{x(row.mean):g}" cy="{y:g}" r="4"{outline}'
    return f'<g class="{"c0" if sure else "c7"}">{body}{titled_mark(mark, row.label)}</g>'
