"""What the scripts of this folder share: tables in Markdown, texts put into pages, what is said."""

from __future__ import annotations

import csv
import re
import statistics
import sys
import time
from argparse import SUPPRESS, Action, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

END = "<!-- end -->"

VALUE = re.compile(
    r"<!-- (?P<file>[\w-]+)\[(?P<where>[^\]]*)\] (?:(?P<of>[a-z]+) of )?(?P<column>\S+)"
    rf" (?P<format>\S+) -->(?P<text>.*?){re.escape(END)}",
    re.S,
)
"""A number in a sentence: ``FILE[COLUMN=TEXT & ...] COLUMN FORMAT``, of several rows `OF` of it."""

OF: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": statistics.fmean,
    "sum": sum,
    "least": min,
    "largest": max,
    "count": len,
}

PAGE = "page"
"""The part of a folder that puts its tables into its page."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown, each row a line."""
    lines = [f"| {' | '.join(cells)} |\n" for cells in (head, *rows)]
    return "".join([lines[0], f"|{'---|' * len(head)}\n", *lines[1:]])


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file by their columns."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def where(rows: Iterable[dict[str, str]], **cells: object) -> list[dict[str, str]]:
    """Return the rows that have these cells."""
    wanted = {name: str(value) for name, value in cells.items()}
    return [row for row in rows if wanted.items() <= row.items()]


def value(folder: Path, mark: re.Match[str]) -> str:
    """Return the number that a mark of a sentence asks for, from a CSV file of a folder."""
    wanted = dict(part.split("=", 1) for part in filter(None, mark["where"].split(" & ")))
    rows = where(read(folder / f"{mark['file']}.csv"), **wanted)
    numbers = [float(row[mark["column"]]) for row in rows]
    if not numbers or (mark["of"] is None and len(numbers) > 1):
        raise ValueError(f"{folder}: {len(numbers)} rows for {mark[0]}")
    one = OF[mark["of"]](numbers) if mark["of"] else numbers[0]
    return f"{int(one) if mark['format'].endswith('d') else one:{mark['format']}}"


def fill(page: Path, texts: Mapping[str, str]) -> None:
    """Put texts into a page, each between the mark ``<!-- name -->`` and the next end.

    Numbers that sentences take from the CSV files beside the page (`VALUE`) are put in, too.

    Parameters
    ----------
    page : Path
        A file in Markdown.
    texts : mapping of str to str
        By the name of the mark; a text of whole lines begins below it.

    Raises
    ------
    ValueError
        If the page has no such mark, or nothing ends it; if a number is not one of its file.
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
    content = VALUE.sub(
        lambda mark: mark[0][: mark.start("text") - mark.start()] + value(page.parent, mark) + END,
        content,
    )
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


class _Instead(Action):
    """An option that does something in place of all that a script makes, as `--help` does."""

    does: Callable[[], object]

    def __call__(self, given: ArgumentParser, *_: object) -> None:
        self.does()
        given.exit()


def add_page(given: ArgumentParser, write: Callable[[], object]) -> None:
    """Let a script fill the page that stands beside it, or check it, and make nothing else."""
    page = Path(sys.argv[0]).with_name("README.md")
    options = {
        "--page": (write, "put what the files say into the page; makes nothing else"),
        "--check": (lambda: check(page, write), "whether the page holds the files; makes nothing"),
    }
    for name, (does, about) in options.items():
        action = given.add_argument(name, action=_Instead, nargs=0, default=SUPPRESS, help=about)
        assert isinstance(action, _Instead)
        action.does = does


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

    With ``--page`` the part ``page`` is made alone, with ``--check`` it says whether the page is
    what it would be.
    """
    given = parser(description)
    given.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)}; or all")
    if PAGE in parts:
        add_page(given, parts[PAGE])
    chosen = given.parse_args().parts
    for name in chosen:
        if name not in parts:
            given.error(f"no part {name!r} (allowed: {', '.join(parts)})")
    for _ in counted(
        "parts made", (parts[name]() for name in chosen or parts), len(chosen or parts)
    ):
        pass
