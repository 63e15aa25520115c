"""A report as one web page that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from valmatch.plots.report.charts import Chart, Graph, Strip
from valmatch.plots.report.document import Block, Chapter, shortened_sheet
from valmatch.plots.report.graphs import graph_svg
from valmatch.plots.report.intervals import intervals_svg, svg_of_strip
from valmatch.text.sheet import Sheet
from valmatch.text.terminal import escaped

MARK = '<meta name="generator" content="valmatch report">'  # by what a page is known as a report
MOST_BYTES = 300_000  # bytes of a page; charts of the last chapters are left out of a longer one

FIGURE_SPACE = "\N{FIGURE SPACE}"


def html_of(chapters: Sequence[Chapter]) -> str:
    """Return the page."""
    for charted in range(len(chapters), -1, -1):
        page = _page(chapters, charted)
        if len(page.encode()) <= MOST_BYTES:
            break
    return page


def _page(chapters: Sequence[Chapter], charted: int) -> str:
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
    return (files("valmatch.plots.report") / name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    """Return by what the page's own policy knows a style or a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _text(text: str) -> str:
    return escape(escaped(text))


def _contents(chapters: Sequence[Chapter]) -> str:
    """Return the list of chapters with what came out of each."""
    lines = "".join(
        f'<li><a href="#run-{number}">{_text(chapter.title)}</a>'
        f"<p>{_text(chapter.found or chapter.missing)}</p></li>\n"
        for number, chapter in enumerate(chapters, 1)
    )
    return f'<nav aria-label="Contents"><ol>\n{lines}</ol></nav>\n'


def _chapter(chapter: Chapter, number: int, several: bool, charted: bool) -> Iterator[str]:
    """Yield what is said of a run."""
    yield f'<section id="run-{number}">\n'
    if several:
        yield f"<h2>{number}. {_text(chapter.title)}</h2>\n"
    if chapter.missing:
        yield f'<p class="missing"><strong>Incomplete.</strong> {_text(chapter.missing)}</p>\n'
    yield f'<p class="label">Asked</p>\n<p class="asked">{_text(chapter.asked)}</p>\n'
    if chapter.found:
        yield f'<p class="label">Found</p>\n<p class="found">{_text(chapter.found)}</p>\n'
    if chapter.meant:
        yield f'<p class="note">{_text(chapter.meant)}</p>\n'
    for block in chapter.blocks:
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
        yield from _table(block.sheet, block.strips)
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


def _table(whole: Sheet, strips: Sequence[Strip | None]) -> Iterator[str]:
    """Yield a table that can be sorted."""
    sheet, more = shortened_sheet(whole)
    kinds = [' class="t"' if head in sheet.left else "" for head in sheet.heads]
    yield '<div class="scroll" tabindex="0">\n<table class="sorts">\n'
    if sheet.title:
        yield f"<caption>{_text(sheet.title)}</caption>\n"
    heads = "".join(
        f'<th scope="col"{kind}>{_text(head)}</th>'
        for head, kind in zip(sheet.heads, kinds, strict=True)
    )
    heads += '<th scope="col" class="t plain">around 0</th>' if strips else ""
    yield f"<thead><tr>{heads}</tr></thead>\n<tbody>\n"
    for number, row in enumerate(sheet.rows):
        cells = "".join(
            f"<td{kind}>{_cell(cell)}</td>" for cell, kind in zip(row, kinds, strict=True)
        )
        if strips:
            strip = strips[number]
            cells += f"<td>{svg_of_strip(strip) if strip else ''}</td>"
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
