"""What the scripts of this folder share: tables in Markdown, texts put into pages, what is said."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

END = "<!-- end -->"

PAGE = "page"
"""The part of a folder that puts its tables into its page."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown, each row a line."""
    lines = [f"| {' | '.join(cells)} |\n" for cells in (head, *rows)]
    return "".join([lines[0], f"|{'---|' * len(head)}\n", *lines[1:]])


def fill(page: Path, texts: Mapping[str, str]) -> None:
    """Put texts into a page, each between the mark ``<!-- name -->`` and the next end.

    Parameters
    ----------
    page : Path
        A file in Markdown.
    texts : mapping of str to str
        By the name of the mark; a text of whole lines begins below it.

    Raises
    ------
    ValueError
        If the page has no such mark, or nothing ends it.
    """
    content = page.read_text(encoding="utf-8")
    for name, text in texts.items():
        mark = f"<!-- {name} -->"
        before, found, rest = content.partition(mark)
        _, ended, after = rest.partition(END)
        if not (found and ended):
            raise ValueError(f"{page}: no {mark} with an {END} after it")
        below = "\n" if text.endswith("\n") else ""
        content = f"{before}{mark}{below}{text}{END}{after}"
    page.write_text(content, encoding="utf-8")


def check(page: Path, write: Callable[[], object]) -> None:
    """End the script where a page is not what writing it would make of it; leave it as it is."""
    before = page.read_bytes()
    try:
        write()
        after = page.read_bytes()
    finally:
        page.write_bytes(before)
    if after != before:
        sys.exit(f"{page}: is not what its files say")


def parser(description: str | None) -> ArgumentParser:
    """Return the parser of a script whose docstring is its help."""
    return ArgumentParser(description=description, formatter_class=RawDescriptionHelpFormatter)


def say(text: str) -> None:
    """Say how far a script has come."""
    print(text, file=sys.stderr, flush=True)


def counted(what: str, results: Iterable[T], total: int) -> Iterator[T]:
    """Yield results as they are made, and say how many there are."""
    started = time.monotonic()
    for number, result in enumerate(results, 1):
        minutes = (time.monotonic() - started) / 60
        say(f"{what}: {number:,} of {total:,} after {minutes:.1f} min")
        yield result


def make_parts(description: str | None, parts: Mapping[str, Callable[[], object]]) -> None:
    """Make the parts of a folder that the command line names, or all, in their order.

    With ``--check`` nothing is made: the part ``page`` says whether the page is what it would be.
    """
    given = parser(description)
    given.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)}; or all")
    if PAGE in parts:
        given.add_argument("--check", action="store_true", help="whether the page holds the files")
    asked = given.parse_args()
    chosen = asked.parts
    if PAGE in parts and asked.check:
        check(Path(sys.argv[0]).with_name("README.md"), parts[PAGE])
        return
    for name in chosen:
        if name not in parts:
            given.error(f"no part {name!r} (allowed: {', '.join(parts)})")
    for _ in counted(
        "parts made", (parts[name]() for name in chosen or parts), len(chosen or parts)
    ):
        pass
