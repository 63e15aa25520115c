"""Scales, texts and marks of charts as SVG: texts stay texts, colours are left to the page.

A chart is as wide as a telephone, so that it is read there without scrolling; a page puts as many
beside each other as it has room for. Marks have their values as titles; of lines the script of the
page tells them by the ends of the axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from valmatch.text.terminal import escaped, shortened

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
