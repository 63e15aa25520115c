"""Rule sets in files."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from valmatch.errors import InputError
from valmatch.inputs.files import read_document
from valmatch.rule_sets.flexmatch import Reading, read_parsed, read_rule_set
from valmatch.rule_sets.problems import Problem, Problems
from valmatch.text.terminal import shortened

MARKS_OF_UTF_16 = (BOM_UTF16_LE, BOM_UTF16_BE)  # what files of this encoding begin with
LONGEST_PATH = 120  # characters of a path in a line: names in it may be of any length

NUMBER = re.compile("[0-9][0-9.]*")


def read_rule_file(path: Path, timeout: float | None = None, lenient: bool = False) -> Reading:
    """Return what the file of a rule set says and all that is wrong with it."""
    try:
        content = read_document(path)
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read: {what}") from None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        problems = Problems(before)
        what = "UTF-16, not UTF-8" if content.startswith(MARKS_OF_UTF_16) else "not UTF-8"
        problems.error(len(before), "", f"no JSON: {what} from here on")
        return Reading(None, problems.sorted())
    return read_text(path, text, timeout, lenient)


def read_text(
    path: Path, text: str, timeout: float | None = None, lenient: bool = False
) -> Reading:
    """Return what the text of a file says: YAML by the name of the file, else JSON."""
    if is_yaml(path):
        from valmatch.rule_sets.yaml_text import read_yaml

        text = text.removeprefix("\ufeff")
        problems = Problems(text)
        return read_parsed(text, read_yaml(text, problems), problems, timeout, lenient)
    return read_rule_set(text, timeout, lenient)


def is_yaml(path: Path) -> bool:
    """Return whether a file is YAML by its name."""
    return path.suffix.lower() in (".yaml", ".yml")


def in_line(path: Path, problem: Problem) -> str:
    """Return a problem as a line: ``file:line:column: severity: path: text``."""
    line, column, severity, where, text = problem
    return f"{path}:{line}:{column}: {severity}: {shortened(where, LONGEST_PATH)}: {text}"


def as_remark(path: Path, problem: Problem) -> str:
    """Return a warning as a line, for what says that it is one."""
    line, column, _, where, text = problem
    return f"{path}:{line}:{column}: {shortened(where, LONGEST_PATH)}: {text}"


def as_remarks(path: Path, problems: Iterable[Problem]) -> list[str]:
    """Return a warning of each kind as a line, with how many differ from it in numbers alone."""
    first: dict[str, Problem] = {}
    counts = Counter[str]()
    for problem in problems:
        kind = NUMBER.sub("", problem.text)
        first.setdefault(kind, problem)
        counts[kind] += 1
    return [
        as_remark(path, problem) + (f" (and {more:,} more like this)" if more else "")
        for kind, problem in first.items()
        for more in [counts[kind] - 1]
    ]
