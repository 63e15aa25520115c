"""Rule sets in files."""

from __future__ import annotations

import math
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from valmatch.errors import InputError, in_lines
from valmatch.inputs.files import read_document, readable
from valmatch.rule_sets.flexmatch import Reading, read_parsed, read_rule_set
from valmatch.rule_sets.json_text import Node, Path, Place, Places, Problem, Problems, read_json
from valmatch.rule_sets.wrappers import NoRuleSetError, body_of
from valmatch.text.terminal import Notice, shortened, shown

if TYPE_CHECKING:
    import yaml

MARKS_OF_UTF_16 = (BOM_UTF16_LE, BOM_UTF16_BE)  # what files of this encoding begin with
LONGEST_PATH = 120  # characters of a path in a line: names in it may be of any length
NUMBER = re.compile("[0-9][0-9.]*")


def read_rule_file(path: FilePath, timeout: float | None = None, lenient: bool = False) -> Reading:
    """Return what the file of a rule set says and all that is wrong with it."""
    with readable(path):
        content = read_document(path)
    try:
        text = content.decode("utf-8")
        body = body_of(text)
    except UnicodeDecodeError as error:
        text = content[: error.start].decode("utf-8")
        what = "UTF-16, not UTF-8" if content.startswith(MARKS_OF_UTF_16) else "not UTF-8"
        at, what = len(text), f"no JSON: {what} from here on"
    except NoRuleSetError as error:
        at, what = error.at, error.what
    else:
        if body is None:
            return read_text(path, text, timeout, lenient)
        problems = Problems(text, places=body.places)
        node = read_json(body.text, problems, lenient)
        return read_parsed(body.text, node, problems, timeout, lenient)._replace(is_wrapped=True)
    problems = Problems(text)
    problems.error(at, "", what)
    return Reading(None, problems.sorted())


def read_text(
    path: FilePath, text: str, timeout: float | None = None, lenient: bool = False
) -> Reading:
    """Return what the text of a file says: YAML by the name of the file, else JSON."""
    if not is_yaml(path):
        return read_rule_set(text, timeout, lenient)
    from valmatch.inputs.yaml_document import parse

    text = text.removeprefix("\ufeff")
    problems, node = Problems(text), None
    try:
        root = parse(text, "")
        if root is None:
            problems.error(0, "", "an object is needed, not an empty file")
        else:
            node = node_of(root, problems)
    except InputError as error:
        for line in error.args:
            match = PLACED.fullmatch(line)
            row, column, what = match.groups() if match else (1, 1, str(line))
            problems.at(int(row), int(column), what)
    return read_parsed(text, node, problems, timeout, lenient)


def is_yaml(path: FilePath) -> bool:
    """Return whether a file is YAML by its name."""
    return path.suffix.lower() in (".yaml", ".yml")


def in_line(path: FilePath, problem: Problem) -> str:
    """Return a problem as a line: ``file:line:column: severity: path: text``."""
    line, column, severity, where, text = problem
    return f"{path}:{line}:{column}: {severity}: {shortened(where, LONGEST_PATH)}: {text}"


def error_lines(path: FilePath, problems: Iterable[Problem]) -> list[str]:
    """Return the errors among problems as the lines of an `InputError`."""
    return in_lines([in_line(path, problem) for problem in problems if problem.severity == "error"])


def as_remark(path: FilePath, problem: Problem) -> str:
    """Return a warning as a line, for what says that it is one."""
    line, column, _, where, text = problem
    return f"{path}:{line}:{column}: {shortened(where, LONGEST_PATH)}: {text}"


def as_remarks(path: FilePath, problems: Iterable[Problem]) -> list[str]:
    """Return a warning of each kind as a line, with how many differ from it in numbers alone."""
    kinds: dict[str, list[Problem]] = {}
    for problem in problems:
        kinds.setdefault(NUMBER.sub("", problem.text), []).append(problem)
    remarks: list[str] = []
    for first, *others in kinds.values():
        more = f" (and {len(others):,} more like this)" if others else ""
        remarks.append(Notice(as_remark(path, first) + more, "rule_set", 1 + len(others)))
    return remarks


PLACED = re.compile(r":([0-9]+):([0-9]+): (.*)", re.S)
"""A line of an error: place, and what is wrong."""


def node_of(root: yaml.Node, problems: Problems) -> Node:
    """Return a node of YAML as rule sets have them; numbers that are none are reported."""
    from yaml import MappingNode, SequenceNode

    from valmatch.inputs.yaml_document import to_value

    places: dict[Path, Place] = {}

    def value_of(node: yaml.Node, path: Path, key: yaml.Node) -> object:
        places[path] = Place(key.start_mark.index, node.start_mark.index, node.end_mark.index)
        if isinstance(node, MappingNode):
            pairs = node.value
            return {name.value: value_of(inner, (*path, name.value), name) for name, inner in pairs}
        if isinstance(node, SequenceNode):
            items = enumerate(node.value)
            return [value_of(inner, (*path, number), inner) for number, inner in items]
        value = to_value(node)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            problems.error(node.start_mark.index, "", f"{shown(node.value)} is no finite number")
            return 0
        return value if isinstance(value, int) and abs(value) < 10**15 else number

    return Node(value_of(root, (), root), Places(lambda: places))
