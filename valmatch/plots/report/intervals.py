"""Means with their intervals as SVG: a chart of several, or a strip in a cell of a table."""

from __future__ import annotations

import math

from valmatch.plots.report.charts import Interval, Intervals, Strip
from valmatch.plots.report.scales import (
    CHARACTER,
    WIDTH,
    Scale,
    number,
    scale_of,
    short_name,
    svg_element,
    text_at,
    titled_mark,
)

RIGHT = 10.0  # margin on the right
ROW = 22.0  # height of a row of a chart of intervals
STRIP = 120.0  # width of a chart in a cell


def intervals_svg(chart: Intervals) -> str:
    """Draw means with their intervals, one below the other."""
    names = [short_name(row.name) for row in chart.rows]
    left = min(150.0, 12.0 + CHARACTER * max(map(len, names)))
    values = [end for row in chart.rows for end in (row.mean, row.low, row.high)]
    x = scale_of([*values, *([0.0] if chart.zero else [])], left, WIDTH - RIGHT, 0.08)
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


def svg_of_strip(strip: Strip) -> str:
    """Return a difference with its interval around 0, on a scale of its own, as SVG."""
    if not math.isfinite(strip.mean):
        return ""
    ends = [abs(x) for x in (strip.mean, strip.low, strip.high) if math.isfinite(x)]
    reach = 1.1 * max(ends) or 1.0
    x = Scale(-reach, reach, 4.0, STRIP - 4.0)
    sure = _is_sure(strip.low, strip.high)
    body = f'<path class="z" d="M{STRIP / 2.0:g},1V15"/><g class="{"c0" if sure else "c7"}">'
    if math.isfinite(strip.low) and math.isfinite(strip.high):
        body += f'<path class="w" d="M{x(strip.low):g},8H{x(strip.high):g}"/>'
    outline = "" if sure else ' class="o"'
    body += f'<circle cx="{x(strip.mean):g}" cy="8" r="3.5"{outline}/></g>'
    said = "the interval leaves 0 out" if sure else "the interval holds 0"
    said = said if math.isfinite(strip.low) else "no interval"
    return (
        f'<svg class="strip" viewBox="0 0 {STRIP:g} 16" role="img" aria-label="{said}">'
        f"<title>{said}</title>{body}</svg>"
    )
