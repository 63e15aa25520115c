"""What the scripts of this folder share: tables, texts put into pages, a check of pages."""

from __future__ import annotations

import csv
import operator
import re
import statistics
import sys
import time
from argparse import SUPPRESS, Action, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from valmatch.config.loading import shipped_configs

T = TypeVar("T")

END = "<!-- end -->"

OF: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": statistics.fmean,
    "median": statistics.median,
    "sum": sum,
    "least": min,
    "largest": max,
    "count": len,
}

VALUE = re.compile(
    rf"<!-- (?P<file>[\w-]+)\[(?P<where>[^\]]*)\] (?:(?P<of>{'|'.join(OF)}) of )?"
    rf"(?P<column>[^<>]+?) (?P<format>\S+) -->(?P<text>.*?){re.escape(END)}",
    re.S,
)
"""A number in a sentence: ``FILE[COLUMN=TEXT & ...] COLUMN FORMAT``, of several rows `OF` of it.

``COLUMN=TEXT|TEXT`` are the rows of either text. The number is that of a column, or of two by one
of the `SIGNS`, row by row: ``COLUMN - COLUMN``. Either may be a number, as in ``1 - COLUMN``.
"""

SIGNS: Mapping[str, Callable[[float, float], float]] = {
    "-": operator.sub,
    "+": operator.add,
    "/": operator.truediv,
}

MARKED = re.compile(
    rf"(?P<mark><!-- (?!end -->)[^>]* -->)(?P<text>(?:(?!<!-- ).)*){re.escape(END)}", re.S
)
"""Any text that a script puts into a page."""

UNREAD = re.compile(
    rf"{MARKED.pattern}|^```.*?^```|(?<=\n\n)(?:    [^\n]*\n)+|`[^`]*`|\]\([^)]*\)|<!--.*?-->",
    re.S | re.M,
)
"""What of a page is no sentence: texts between marks, code, targets of links, comments."""

NUMBER = re.compile(r"(?<![\w.^/])(?:\d[\d,_]*(?:\.\d+)?|\.\d+)(?!\d|[.,]\d)(?P<percent> ?%)?")
"""A number by itself: of ``p90`` or ``1/3`` there is none."""

SMALL = 20
"""Whole numbers up to here may be typed, not percentages: most count what the reader sees."""

LEVEL = "the level of intervals"
WANTED = "a result that wants a mark"

TYPED: Mapping[str, Mapping[str, str]] = {
    "chess-1": {"2015": "a year"},
    "kg-study": {"30": "comparisons: three ranks, five priors, two rivals"},
    "living-matchmakers": {
        "800": "points, of a question that is not answered",
    },
    "next-pair": dict.fromkeys((".85", ".62", ".44", ".65", ".67"), "of a trial before the plan"),
    "optimum-gap": {"95 %": LEVEL},
    "pareto": {"95 %": LEVEL},
    "policies": {"99": "0.99 / (1 - 0.99)", "999": "0.999 / (1 - 0.999)"},
    "population-kg": dict.fromkeys(
        (".03 %", ".12 %", "14.8 %", "16.7 %"), "of trials before the plan, in no file"
    ),
    "rating-benchmark": {
        "95 %": LEVEL,
        **dict.fromkeys(("2019", "2024"), "a year"),
    },
    "readings": {
        "95 %": LEVEL,
        **dict.fromkeys(("21", "22", "26", "29"), "of rows of the page"),
        "501": "games, of a source",
        **dict.fromkeys(("0.4", "0.6", "0.67", "1.5"), "arithmetic: shares and their ratios"),
    },
    "results": dict.fromkeys(("100", "1,000", "5,000"), "runs and budgets of a study"),
    "solver-comparison": {"500": "replications that judge a point, by default"},
    "targeting": {
        "99.875 %": "95 %, of 40 intervals together",
        **dict.fromkeys(("0.667", "1.25"), "arithmetic of the model"),
    },
    "tickets": {"65": "in a hundred, what a win gap of 0.15 means"},
    "zonestats": {"40": "points a game: GAME_MULT 2, MAX_GAME_LENGTH 20"},
}
"""Numbers that a page may type though nothing of its study says them, with the reason."""

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


def _of_row(row: Mapping[str, str], column: str) -> float:
    """Return the number of a column, or of two columns or numbers by a sign, of a row."""
    one, *rest = re.split(" ([-+/]) ", column, maxsplit=1)
    numbers = [float(row.get(name, name)) for name in (one, *rest[1:])]
    return SIGNS[rest[0]](*numbers) if rest else numbers[0]


def value(folder: Path, mark: re.Match[str]) -> str:
    """Return the number that a mark of a sentence asks for, from a CSV file of a folder."""
    rows = read(folder / f"{mark['file']}.csv")
    for name, texts in (part.split("=", 1) for part in filter(None, mark["where"].split(" & "))):
        rows = [row for row in rows if row[name] in texts.split("|")]
    numbers = [_of_row(row, mark["column"]) for row in rows]
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


def _numbers(text: str) -> Iterator[tuple[re.Match[str], float]]:
    """Yield numbers with their values, that of a percentage as a share."""
    for found in NUMBER.finditer(text):
        one = float(re.sub("[,_ %]", "", found[0]))
        yield found, round(one / 100, 12) if found["percent"] else one


def _constants(folder: Path) -> set[float]:
    """Return the numbers of a study: of its scripts, its plan, and the configs they name."""
    own = [*folder.glob("*.py"), *folder.glob("PLAN.md")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in own)
    root = Path(__file__).parents[1]
    imported = re.findall(r"^from ((?:results|tests)\S*) import \(?\s*(\w+)", text, re.M)
    paths = [root / f"{'/'.join(names).replace('.', '/')}.py" for names in imported]
    modules = {path for one in paths for path in (one, one.parent.with_suffix(".py"))}
    named = set(re.findall(r"[\w-]+", text + (folder / "README.md").read_text(encoding="utf-8")))
    configs = [path for name, path in shipped_configs().items() if name in named]
    configs += [path.with_suffix(".json") for path in configs]
    shared = [path for path in (*modules - {Path(__file__)}, *configs) if path.is_file()]
    text = "\n".join([text, *(path.read_text(encoding="utf-8") for path in shared)])
    # A comma stands between thousands in a plan, between numbers in a list.
    return {one for each in (text, text.replace(",", " ")) for _, one in _numbers(each)}


def typed(page: Path) -> list[str]:
    """Return what is to be done about numbers that were typed into the sentences of a page.

    What a study found stands between marks, so that it is that of its files. Typed may be what the
    study was given (`_constants`), small whole numbers (`SMALL`), and what `TYPED` lists. A result
    that is by chance the same number as one of these passes, too.
    """
    content = page.read_text(encoding="utf-8")
    sentences = UNREAD.sub(lambda part: re.sub("[^\n]", " ", part[0]), content)
    excused = " ".join(TYPED.get(page.parent.name, ()))
    allowed = _constants(page.parent) | {one for _, one in _numbers(excused)} | {*range(SMALL + 1)}
    lines = enumerate(sentences.split("\n"), 1)
    return [
        f"{page}:{line}: {found[0]} is typed: take it from a CSV file by a mark, "
        f"<!-- FILE[COLUMN=TEXT & ...] COLUMN FORMAT -->?{END}, or, if it is no result, "
        "give the reason in TYPED of results/pages.py"
        for line, text in lines
        for found, one in _numbers(text)
        if one not in allowed
    ]


def check(page: Path, write: Callable[[], object]) -> None:
    """End the script where a page is not what writing it would make of it; leave it as it is.

    It is written without the texts between its marks, so that a mark that nothing fills is found.
    Numbers that are typed are found, too (`typed`).
    """
    before = page.read_bytes()
    try:
        emptied = MARKED.sub(rf"\g<mark>{END}", before.decode())
        page.write_text(emptied, encoding="utf-8")
        write()
        after = page.read_bytes()
    finally:
        page.write_bytes(before)
    if after != before:
        sys.exit(f"{page}: is not what its files say")
    if found := typed(page):
        sys.exit("\n".join(found))


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
    """Yield results as they are made, and say at most a hundred times how many there are."""
    started = time.monotonic()
    for number, result in enumerate(results, 1):
        if number * 100 // total > (number - 1) * 100 // total:
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
