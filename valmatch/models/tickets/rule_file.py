"""The rule set of a config: its file, and its values with those that factors replace.

The factors of a model that goes by a rule set have these besides its file: ``rule_set``, a mapping
in its place; ``rules`` and ``expansions``, values that replace its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol, TypeAlias

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from valmatch.errors import InputError, in_lines
from valmatch.inputs.fields import Misplaced, factor, refuse
from valmatch.inputs.files import read_document
from valmatch.rule_sets.files import LONGEST_PATH, as_remark, in_line, is_yaml, read_rule_file
from valmatch.rule_sets.flexmatch import Reading, read_parsed, read_rule_set
from valmatch.rule_sets.json_text import WHOLE, Problem, Problems, plain
from valmatch.rule_sets.table import Search, Steps, Table, Team
from valmatch.rule_sets.values import RuleValues
from valmatch.text.terminal import shortened

RULES: dict[str, Any] = factor(
    {},
    "",
    "Values of the rule set that replace those of its file: NAME: {PROPERTY: VALUE} of a rule,"
    " of algorithm, and of teams by name.",
)
EXPANSIONS: dict[str, Any] = factor(
    {},
    "",
    "Values of steps that replace those of its file: NAME: {PROPERTY: {0: {wait: VALUE, value:"
    " VALUE}}}, steps from 0 on.",
)
"""Factors of every model that takes a rule set."""

PLAIN = Table(
    (),
    tuple(Team(name, Steps((), (5,)), Steps((), (5,))) for name in ("red", "blue")),
    (),
    Search(),
    False,
    (),
)
"""What a model without a rule set goes by: two teams of five."""


class RuleSet(NamedTuple):
    """A rule set as a model takes it."""

    table: Table
    remarks: tuple[str, ...]  # warnings, one line each


Source: TypeAlias = "Path | Mapping[str, Any]"
"""Where a rule set is: its file, or a mapping that is one."""


class RuleDocument:
    """A rule set as FlexMatch JSON, whatever its form was."""

    def __init__(self, reading: Reading, path: Path | None) -> None:
        self.name = "rules" if path is None else str(path)  # what problems call it
        # whether its text is that of the file, so that places are, too
        rewritten = path is None or is_yaml(path) or reading.is_short or reading.is_wrapped
        self._path = None if rewritten else path
        if self._path:
            self._text = read_document(self._path).decode("utf-8")
        else:
            self._text = "" if reading.node is None else json.dumps(plain(reading.node), indent=4)

    @cached_property
    def values(self) -> RuleValues:
        """The values that can be set."""
        return RuleValues(self._text)

    def place(self, *path: str | int) -> str:
        """Return what something in it is called, with line and column where it has some."""
        label = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)[1:]
        if not self._path:
            return f"{self.name}: {label}"
        line, column = Problems(self._text).place(self.values.root.place_of(path).start)
        return f"{self.name}:{line}:{column}: {label}"

    def remark(self, problem: Problem) -> str:
        """Return a warning as a line, with its place where it has one."""
        if self._path:
            return as_remark(self._path, problem)
        return f"{self.name}: {shortened(problem.path, LONGEST_PATH)}: {problem.text}"

    def read(self, values: Mapping[str, Any], timeout: float | None) -> Reading:
        """Return what it says with other values."""
        problems, changes = Problems(self._text), self.values.changes(values)
        node = self.values.changed(changes, problems)
        return read_parsed(self._text, node, problems, timeout)


class FaultyMapping(Exception):  # noqa: N818 - caught where the mapping has places
    """A mapping is no rule set."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems[0].text)
        # keys and numbers of what each is about, and its text
        self.problems = [(_parts(problem.path), problem.text) for problem in problems]


def _parts(path: str) -> list[str | int]:
    """Return the keys and numbers of what a problem is about."""
    parts = re.split(r"[.\[\]]", "" if path == WHOLE else path)
    return [int(part) if part.isdecimal() else part for part in parts if part]


@lru_cache(maxsize=4)
def _of_file(path: Path, stamp: tuple[int, int]) -> RuleDocument:
    """Return the rule set of a file without errors, read once for each state of the file."""
    reading = read_rule_file(path)
    if errors := [problem for problem in reading.problems if problem.severity == "error"]:
        raise InputError(*in_lines([in_line(path, problem) for problem in errors]))
    return RuleDocument(reading, path)


@lru_cache(maxsize=4)
def _of_mapping(text: str) -> RuleDocument:
    """Return the rule set that a mapping is, given as JSON."""
    reading = read_rule_set(text)
    if errors := [problem for problem in reading.problems if problem.severity == "error"]:
        raise FaultyMapping(errors)
    return RuleDocument(reading, None)


def document_of(source: Source) -> RuleDocument:
    """Return the rule set of a file or a mapping."""
    if not isinstance(source, Path):
        return _of_mapping(json.dumps(source))
    try:
        state = source.stat()
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror}") from None
    return _of_file(source, (state.st_mtime_ns, state.st_size))


class OfRules(Protocol):
    """Factors of a model that goes by a rule set."""

    rule_set: dict[str, Any] | None  # the rule set as a mapping, None for that of a file
    rules: dict[str, Any]  # values of rules, of the algorithm and of teams in place of its own
    expansions: dict[str, Any]  # values of steps in place of its own


def filled_values(
    factors: OfRules, files: Mapping[str, Path], named: Collection[str]
) -> dict[str, Any]:
    """Return the factors ``rules`` and ``expansions`` with all values of a rule set filled in."""
    # So each has a value of its own that can be varied and optimised. Without a rule set there
    # are none.
    if "rules" in files and factors.rule_set is not None:
        raise Misplaced(("rule_set",), f"there is a file, too: rules: {files['rules']}")
    source = files.get("rules", factors.rule_set)
    if source is None:
        return {}
    own_values = {name: getattr(factors, name) for name in ("rules", "expansions") if name in named}
    try:
        values: dict[str, Any] = document_of(source).values.filled(own_values)
    except FaultyMapping as wrong:
        (first, text), *others = wrong.problems
        more = [Misplaced(("rule_set", *path), what) for path, what in others]
        raise Misplaced(("rule_set", *first), text, more) from None
    try:
        check_steps(values["expansions"])
    except PydanticCustomError as error:
        (key,) = (error.context or {})["at"]
        raise Misplaced(key.split("."), str(error)) from None
    return values


def check_steps(expansions: dict[str, Any]) -> dict[str, Any]:
    """Refuse steps that do not increase."""
    for name, properties in expansions.items():
        for key, steps in properties.items() if isinstance(properties, dict) else ():
            listed = steps if isinstance(steps, list) else []
            waits = [step.get("wait") for step in listed if isinstance(step, dict)]
            numbers = [wait for wait in waits if isinstance(wait, int | float)]
            for first, second in pairwise(numbers):
                if second <= first:
                    what = f"steps have to increase: {second:g} s comes after {first:g} s"
                    # Names with dots are no paths, and are said.
                    text = f"{name}.{key}: {what}" if "." in name else what
                    raise refuse(text, f"expansions.{name}.{key}")
    return expansions


Expansions = Annotated[dict[str, Any], AfterValidator(check_steps)]


def step_ranges(expansions: Mapping[str, Any], most: float) -> dict[str, tuple[float, float]]:
    """Return ranges of all steps by the names of their factors: from half to double a value."""
    # Waits keep their order: the ranges of two steps do not meet, and the last ends by `most`
    # seconds. Steps of numbers of players, which teams bound, are not among them.
    ranges: dict[str, tuple[float, float]] = {}
    for name, properties in expansions.items():
        for key, steps in properties.items():
            if key in ("minPlayers", "maxPlayers"):
                continue
            waits = [float(step["wait"]) for step in steps]
            middles = [(first + second) // 2 for first, second in pairwise(waits)]
            lows = [min(1.0, *waits), *(middle + 1.0 for middle in middles)]
            last = 2.0 * waits[-1]
            highs = [*middles, min(last, most) if waits[-1] < most else last]
            for k, step in enumerate(steps):
                factor_name = f"expansions.{name}.{key}.{k}"
                ranges[f"{factor_name}.wait"] = lows[k], highs[k]
                value = step.get("value")
                if isinstance(value, int | float) and not isinstance(value, bool):
                    low, high = sorted((value / 2, 2.0 * value))
                    whole = isinstance(value, int)
                    ranges[f"{factor_name}.value"] = (-(-low // 1) if whole else low), high
    return {name: (low, high) for name, (low, high) in ranges.items() if low < high}


def rewritten_rules(factors: OfRules, files: Mapping[str, Path]) -> Mapping[str, str]:
    """Return the text of the rule set with the values of factors, by file, if any differs."""
    source = files.get("rules", factors.rule_set)
    if source is None:
        return {}
    values = document_of(source).values
    changes = values.changes({"rules": factors.rules, "expansions": factors.expansions})
    return {"tuned_rules.json": values.text(changes)} if changes else {}


def read_rules(
    source: Source | None, given_values: Mapping[str, Any], timeout: float | None
) -> RuleSet:
    """Return the rule set of a config."""
    if source is None:
        for name, factor_values in given_values.items():
            if factor_values:
                raise InputError(f"factors.{name}: there is no rule set (rules: FILE is needed)")
        return RuleSet(PLAIN, ())
    document = document_of(source)
    reading = document.read(given_values, timeout)
    if reading.table is None:
        lines, names = [], document.values.names
        for problem in reading.problems:
            if problem.severity == "error":  # of a value that a factor has
                value = names.get(problem.path)
                where = f"factors.{'.'.join(map(str, value))}" if value else document.name
                lines.append(f"{where}: {problem.text}")
        raise InputError(*in_lines(lines))
    return RuleSet(reading.table, tuple(map(document.remark, reading.problems)))
