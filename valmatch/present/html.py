"""A report as one web page that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.present.document import (
    COLOURS,
    Block,
    Chart,
    Graph,
    Interval,
    Intervals,
    Line,
    Presentation,
    blocks_of,
    shortened_sheet,
)
from valmatch.text.terminal import Sheet, escaped, shortened

# Scales, texts and marks of charts as SVG: texts stay texts, colours are left to the page.
#
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
        body += _mark(row, x, y, sure=_is_sure(row.low, row.high) if chart.zero else True)
    return svg_element(chart.title, base + 20.0, body)


def _is_sure(low: float, high: float) -> bool:
    """Return whether an interval leaves 0 out."""
    return low > 0.0 or high < 0.0


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


MARK = '<meta name="generator" content="valmatch report">'  # by what a page is known as a report
MOST_BYTES = 300_000  # bytes of a page; charts of the last chapters are left out of a longer one

FIGURE_SPACE = "\N{FIGURE SPACE}"


def html_of(chapters: Sequence[Presentation]) -> str:
    """Return the page."""
    for charted in range(len(chapters), -1, -1):
        page = _page(chapters, charted)
        if len(page.encode()) <= MOST_BYTES:
            break
    return page


def fragment_of(found: Presentation) -> str:
    """Return the finding, the tables and the warnings of a result, for a notebook."""
    blocks = [*found.tables, Block(items=found.warnings)]
    body = "".join(part for block in blocks for part in _block(block, False))
    return f"<p><strong>{_text(found.finding)}</strong></p>\n{body}"


def _page(chapters: Sequence[Presentation], charted: int) -> str:
    """Return the page with the charts of the first chapters."""
    style, script = (_resource(name) for name in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )
    several = len(chapters) > 1
    title = f"Report of {len(chapters)} runs" if several else chapters[0].title
    body = f"<h1>{_text(title)}</h1>\n" + (_contents(chapters) if several else "")
    for number, chapter in enumerate(chapters, 1):
        body += "".join(_chapter(chapter, number, several, number <= charted))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{MARK}\n"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<link rel="icon" href="data:,">\n<title>{_text(title)}</title>\n'
        f"<style>{style}</style>\n</head>\n<body>\n<main>\n{body}"
        "<footer>Made by valmatch report. This page is one file; it loads nothing.</footer>\n"
        f"</main>\n<script>{script}</script>\n</body>\n</html>\n"
    )


def _resource(name: str) -> str:
    return (files("valmatch.present") / name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    """Return by what the page's own policy knows a style or a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _text(text: str) -> str:
    return escape(escaped(text))


def _contents(chapters: Sequence[Presentation]) -> str:
    """Return the list of chapters with what came out of each."""
    lines = "".join(
        f'<li><a href="#run-{number}">{_text(chapter.title)}</a>'
        f"<p>{_text(chapter.finding or chapter.incomplete)}</p></li>\n"
        for number, chapter in enumerate(chapters, 1)
    )
    return f'<nav aria-label="Contents"><ol>\n{lines}</ol></nav>\n'


def _chapter(chapter: Presentation, number: int, several: bool, charted: bool) -> Iterator[str]:
    """Yield what is said of a run."""
    yield f'<section id="run-{number}">\n'
    if several:
        yield f"<h2>{number}. {_text(chapter.title)}</h2>\n"
    if chapter.incomplete:
        yield f'<p class="missing"><strong>Incomplete.</strong> {_text(chapter.incomplete)}</p>\n'
    yield f'<p class="label">Asked</p>\n<p class="asked">{_text(chapter.question)}</p>\n'
    if chapter.finding:
        yield f'<p class="label">Found</p>\n<p class="found">{_text(chapter.finding)}</p>\n'
    if chapter.glossary:
        yield f'<p class="note">{_text(chapter.glossary)}</p>\n'
    for block in blocks_of(chapter):
        yield from _block(block, charted)
    if chapter.files:
        yield "<h3>Files of the run</h3>\n<ul>\n"
        for file in chapter.files:
            name = _text(file.name)
            yield (
                f'<li><a href="{escape(file.target)}">{name}</a></li>\n'
                if (file.target)
                else f"<li>{name}</li>\n"
            )
        yield "</ul>\n"
    yield "</section>\n"


def _block(block: Block, charted: bool) -> Iterator[str]:
    """Yield a table, charts or paragraphs under their heading."""
    if block.folded:
        yield f"<details>\n<summary>{_text(block.title)}</summary>\n"
    elif block.title:
        yield f"<h3>{_text(block.title)}</h3>\n"
    for paragraph in block.paragraphs:
        yield f'<p class="note">{_text(paragraph)}</p>\n'
    if block.sheet is not None:
        yield from _table(block.sheet)
    if block.charts and charted:
        yield '<div class="charts">\n'
        for chart in block.charts:
            yield f"<figure><figcaption>{_text(chart.title)}</figcaption>{svg_of(chart)}</figure>\n"
        yield "</div>\n"
    elif block.charts:
        yield '<p class="note">Charts are left out here, so that the page stays small.</p>\n'
    if block.items:
        yield "<ul>\n" + "".join(f"<li>{_text(item)}</li>\n" for item in block.items) + "</ul>\n"
    if block.code:
        yield f"<pre>{_lines(block.code)}</pre>\n"
    if block.folded:
        yield "</details>\n"


def _lines(code: str) -> str:
    """Return lines of text as they are, but for characters that steer."""
    return "\n".join(map(_text, code.splitlines()))


def _table(whole: Sheet) -> Iterator[str]:
    """Yield a table that can be sorted."""
    sheet, more = shortened_sheet(whole)
    kinds = [' class="t"' if head in sheet.left else "" for head in sheet.heads]
    yield '<div class="scroll" tabindex="0">\n<table class="sorts">\n'
    heads = "".join(
        f'<th scope="col"{kind}>{_text(head)}</th>'
        for head, kind in zip(sheet.heads, kinds, strict=True)
    )
    yield f"<thead><tr>{heads}</tr></thead>\n<tbody>\n"
    for row in sheet.rows:
        cells = "".join(
            f"<td{kind}>{_cell(cell)}</td>" for cell, kind in zip(row, kinds, strict=True)
        )
        yield f"<tr>{cells}</tr>\n"
    yield "</tbody>\n</table>\n</div>\n"
    for note in (*sheet.notes, *([more] if more else [])):
        yield f'<p class="note">{_text(note)}</p>\n'


def _cell(cell: str) -> str:
    """Return a cell; what aligns the points of numbers is as wide as a digit."""
    text = cell.rstrip(" ")
    return _text(text) + FIGURE_SPACE * (len(cell) - len(text))


def svg_of(chart: Chart) -> str:
    """Return a chart as SVG."""
    return graph_svg(chart) if isinstance(chart, Graph) else intervals_svg(chart)
