"""A report as Markdown, as GitHub shows it: the same findings and tables, no charts."""

import re
from collections.abc import Iterator, Sequence

from valmatch.present.document import Block, Presentation, TextTable
from valmatch.text.terminal import escaped

MARK = "<!-- valmatch report -->"  # by what a file is known as a report

_SPECIAL = re.compile(r"([\\`*{}\[\]<>#|~$&!^])|(?<![0-9A-Za-z])(_)|(_)(?![0-9A-Za-z])")
"""What steers Markdown; an underscore within a name does not."""

_LINKS = re.compile(r"@(?=\w)|(?<=\w)://|\bwww\.|\bGH-(?=\d)", re.IGNORECASE)
"""Where GitHub would call somebody or make a link of plain text."""

BREAK = "\N{ZERO WIDTH NON-JOINER}"  # stands where GitHub must not see a word; nobody sees it


def markdown_of(chapters: Sequence[Presentation]) -> str:
    """Return the report."""
    return "\n".join([MARK, "", *(line for chapter in chapters for line in _chapter(chapter))])


def text_of(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    plain = _LINKS.sub(lambda match: match[0][0] + BREAK + match[0][1:], escaped(text))
    plain = _SPECIAL.sub(lambda match: "\\" + match[0], plain)
    return re.sub(r"^(\s*)([-+=]|\d+[.)])(?=\s|$)", r"\1\\\2", plain)


def _chapter(chapter: Presentation) -> Iterator[str]:
    yield from (f"## {text_of(chapter.title)}", "")
    incomplete = ("**Incomplete.** {}", chapter.incomplete)
    texts = (("{}", chapter.question), ("**{}**", chapter.finding), ("{}", chapter.glossary))
    for form, text in (incomplete, *texts):
        yield from (form.format(text_of(text)), "") if text else ()
    for block in chapter.page:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    """Yield the lines of a block; charts are left out, and a block that has nothing else."""
    if not (block.table or block.items or block.code or (block.paragraphs and not block.charts)):
        return
    if block.folded:
        yield from (f"<details><summary>{text_of(block.title)}</summary>", "")
    elif block.title:
        yield from (f"### {text_of(block.title)}", "")
    for paragraph in block.paragraphs:
        yield from (text_of(paragraph), "")
    if block.table is not None:
        yield from table_of(block.table.for_report())
    if block.items:
        yield from (f"- {text_of(item)}" for item in block.items)
        yield ""
    if block.code:  # in a fence that none of its lines closes
        fence = "`" * max([3, *(1 + len(run) for run in re.findall("`+", block.code))])
        yield from (fence, *map(escaped, block.code.splitlines()), fence, "")
    if block.folded:
        yield from ("</details>", "")


def table_of(table: TextTable) -> Iterator[str]:
    """Yield the lines of a table, all of its rows."""
    yield _row(table.heads)
    yield _row([":---" if head in table.left else "---:" for head in table.heads], plain=True)
    yield from map(_row, table.rows)
    yield ""
    for note in table.notes:
        yield from (text_of(note), "")


def _row(cells: Sequence[str], *, plain: bool = False) -> str:
    return f"| {' | '.join(cells if plain else [text_of(cell.strip()) for cell in cells])} |"
