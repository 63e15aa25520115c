"""A report as one web page that loads nothing."""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from valmatch.present.document import Block, Presentation, TextTable
from valmatch.present.presenting import present
from valmatch.present.svg import svg_of
from valmatch.storage.results import Result
from valmatch.text.terminal import escaped

MARK = '<meta name="generator" content="valmatch report">'  # by what a page is known as a report
MOST_BYTES = 300_000  # bytes of a page; charts of the last chapters are left out of a longer one

JOINTS = re.compile(r"(?<=[_./;])(?=\w)")  # where a name may be broken

HERE = Path(__file__).parent / "page"


def html_of(chapters: Sequence[Presentation]) -> str:
    """Return the page."""
    explorers = [chapter.explorer() for chapter in chapters]
    parts = ("page", "explore") if any(explorers) else ("page",)
    style, script = (
        Markup("".join((HERE / f"{part}.{kind}").read_text("utf-8") for part in parts))
        for kind in ("css", "js")
    )
    title = f"Report of {len(chapters)} runs" if len(chapters) > 1 else chapters[0].title
    values = {"chapters": chapters, "explorers": explorers, "title": title, "mark": MARK}
    values |= {"style": style, "script": script}
    for charted in range(len(chapters), -1, -1):
        page = _templates().get_template("page.html.jinja").render(values, charted_chapters=charted)
        if len(page.encode()) <= MOST_BYTES:
            break
    return page


def fragment_of(result: Result) -> str:
    """Return the finding, the tables and the warnings of a result, for a notebook."""
    page = present(result)
    show = _templates().get_template("blocks.html.jinja").module.show  # type: ignore[attr-defined]
    blocks = [*page.tables, Block(items=page.warnings)]
    finding = Markup("<p><strong>{}</strong></p>\n").format(escaped(page.finding))
    return Markup("").join([finding, *(show(block, False) for block in blocks)])


@cache
def _templates() -> Environment:
    """Return the templates; in all that they show, characters that steer are escaped."""
    made = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: escaped(value) if type(value) is str else value,
    )
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    made.filters |= {
        "rows": _rows,
        "digest": _digest,
        "for_report": TextTable.for_report,
        "svg": lambda chart: Markup(svg_of(chart)),
    }
    return made


def _rows(table: TextTable) -> list[list[str]]:
    """Return the rows of a table: names with joints, numbers with their points below each other."""
    left = [head in table.left for head in table.heads]
    return [
        [
            Markup("<wbr>").join(JOINTS.split(escaped(cell))) if is_name else cell
            for cell, is_name in zip(row, left, strict=True)
        ]
        for row in table.aligned("\N{PUNCTUATION SPACE}", "\N{FIGURE SPACE}").rows
    ]


def _digest(content: str) -> str:
    """Return by what the page's own policy knows a style or a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
