"""Numbers that were typed into the templates of results, and not taken from a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from results.study import TEMPLATE
from valmatch.config.loading import shipped_configs

UNREAD = re.compile(
    r"\{\{.*?\}\}|\{%.*?%\}|^```.*?^```|(?<=\n\n)(?:    [^\n]*\n)+|`[^`]*`|\]\([^)]*\)", re.S | re.M
)
"""What of a template is no sentence: what it computes, code, targets of links."""

NUMBER = re.compile(r"(?<![\w.^/])(?:\d[\d,_]*(?:\.\d+)?|\.\d+)(?!\d|[.,]\d)(?P<percent> ?%)?")
"""A number by itself: of ``p90`` or ``1/3`` there is none."""

SMALL = 20
"""Whole numbers up to here may be typed, not percentages: most count what the reader sees."""

LEVEL = "the level of intervals"

EXCUSED: dict[str, dict[str, str]] = {
    "kg-study": {"30": "comparisons: three ranks, five priors, two rivals"},
    "living-matchmakers": {
        "800": "points, of a question that is not answered",
        "9,999": "the largest radius of a rule, by default",
    },
    "next-pair": dict.fromkeys((".85", ".62", ".44", ".65", ".67"), "of a trial before the plan"),
    "policies": {
        "99": "0.99 / (1 - 0.99)",
        "999": "0.999 / (1 - 0.999)",
        **dict.fromkeys((".03 %", ".12 %", "14.8 %", "16.7 %"), "of trials before the plan"),
    },
    "rating-benchmark": {"95 %": LEVEL, **dict.fromkeys(("2019", "2024"), "a year")},
    "readings": {
        "95 %": LEVEL,
        **dict.fromkeys(("21", "22", "26", "29"), "of rows of the page"),
        "501": "games, of a source",
        **dict.fromkeys(("0.4", "0.6", "0.67", "1.5"), "arithmetic: shares and their ratios"),
    },
    "scale": {"518": "players of a default day", "5 %": "a share that is asked for"},
    "solver-comparison": {"2015": "a year"},
    "targeting": {
        "99.875 %": "95 %, of 40 intervals together",
        **dict.fromkeys(("0.667", "1.25"), "arithmetic of the model"),
    },
    "tickets": {"65": "in a hundred, what a win gap of 0.15 means"},
    "zonestats": {"40": "points a game: GAME_MULT 2, MAX_GAME_LENGTH 20", "95 %": LEVEL},
}
"""Numbers that a template may type though nothing of its study says them, with the reason."""


def typed_numbers(folder: Path) -> list[str]:
    """Return the numbers that a template types and that nothing excuses, each with its line."""
    text = (folder / TEMPLATE).read_text(encoding="utf-8")
    sentences = UNREAD.sub(lambda part: re.sub("[^\n]", " ", part[0]), text)
    excused = " ".join(EXCUSED.get(folder.name, ()))
    allowed = _constants(folder) | {one for _, one in _numbers(excused)} | {*range(SMALL + 1)}
    return [
        f"{line}: {found}"
        for line, sentence in enumerate(sentences.split("\n"), 1)
        for found, one in _numbers(sentence)
        if one not in allowed
    ]


def _numbers(text: str) -> Iterator[tuple[str, float]]:
    """Yield numbers with their values, that of a percentage as a share."""
    for found in NUMBER.finditer(text):
        one = float(re.sub("[,_ %]", "", found[0]))
        yield found[0], round(one / 100, 12) if found["percent"] else one


def _constants(folder: Path) -> set[float]:
    """Return the numbers of a study: of its scripts, its plan, and the configs they name."""
    names = ("*.py", "*.yaml", "PLAN.md")
    text = "\n".join(path.read_text("utf-8") for name in names for path in folder.glob(name))
    root = Path(__file__).parents[2]
    imported = re.findall(r"^from ((?:results|tests)\S*) import \(?\s*(\w+)", text, re.M)
    paths = [root / f"{'/'.join(names).replace('.', '/')}.py" for names in imported]
    modules = {path for one in paths for path in (one, one.parent.with_suffix(".py"))}
    modules -= {root / "results" / "study.py"}
    named = set(re.findall(r"[\w-]+", text + (folder / TEMPLATE).read_text("utf-8")))
    configs = [path for name, path in shipped_configs().items() if name in named]
    configs += [path.with_suffix(".json") for path in configs]
    shared = [path for path in (*modules, *configs) if path.is_file()]
    text = "\n".join([text, *(path.read_text(encoding="utf-8") for path in shared)])
    # A comma stands between thousands in a plan, between numbers in a list.
    return {one for each in (text, text.replace(",", " ")) for _, one in _numbers(each)}
