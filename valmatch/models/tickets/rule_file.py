"""The rule set of a config: its file, and its values with those that factors replace."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from valmatch.errors import InputError, in_lines
from valmatch.inputs.fields import Factors, Misplaced, factor, refuse
from valmatch.inputs.files import read_document, readable
from valmatch.rule_sets.files import LONGEST_PATH, as_remark, error_lines, is_yaml, read_rule_file
from valmatch.rule_sets.flexmatch import Reading, read_parsed, read_rule_set
from valmatch.rule_sets.json_text import WHOLE, Problem, Problems, label, plain
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

Source: TypeAlias = "Path | Mapping[str, Any]"
"""Where a rule set is: its file, or a mapping that is one."""


def plain_table(names: Iterable[str], size: int) -> Table:
    """Return teams of a size as a table without rules."""
    size_of_team = Steps((), (size,))
    teams = tuple(Team(name, size_of_team, size_of_team) for name in names)
    return Table((), teams, (), Search(), False, ())


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
        where = label(path)[1:]
        if not self._path:
            return f"{self.name}: {where}"
        line, column = Problems(self._text).place(self.values.root.place_of(path).start)
        return f"{self.name}:{line}:{column}: {where}"

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


@lru_cache(maxsize=4)
def _of_file(path: Path, stamp: tuple[int, int]) -> RuleDocument:
    """Return the rule set of a file without errors, read once for each state of the file."""
    reading = read_rule_file(path)
    if lines := error_lines(path, reading.problems):
        raise InputError(*lines)
    return RuleDocument(reading, path)


@lru_cache(maxsize=4)
def _of_mapping(text: str) -> RuleDocument:
    """Return the rule set that a mapping is, given as JSON."""
    reading = read_rule_set(text)
    faults = []
    for problem in (problem for problem in reading.problems if problem.severity == "error"):
        parts = re.split(r"[.\[\]]", "" if problem.path == WHOLE else problem.path)
        path = (int(part) if part.isdecimal() else part for part in parts if part)
        faults.append(Misplaced(("rule_set", *path), problem.text))
    if faults:
        raise Misplaced(faults[0].path, faults[0].text, faults[1:])
    return RuleDocument(reading, None)


def state_of(path: Path) -> tuple[int, int]:
    """Return what tells states of a file apart: when it was written last, and its size."""
    with readable(path):
        state = path.stat()
    return state.st_mtime_ns, state.st_size


def document_of(source: Source) -> RuleDocument:
    """Return the rule set of a file or a mapping."""
    if isinstance(source, Path):
        return _of_file(source, state_of(source))
    return _of_mapping(json.dumps(source))


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


class OfRules(Factors):
    """Factors of a model that goes by a rule set."""

    if TYPE_CHECKING:
        rule_set: dict[str, Any] | None  # the rule set as a mapping, None for that of a file
        rules: dict[str, Any]  # values of rules, of the algorithm and of teams in place of its own
        expansions: dict[str, Any]  # values of steps in place of its own

    def is_changed(self, name: str) -> bool:
        """Return whether a factor of a section is not the default."""
        section, _, factor_name = name.partition(".")
        factors: Factors = getattr(self, section)
        default = type(factors).model_fields[factor_name].default
        return bool(getattr(factors, factor_name) != default)

    def source(self, files: Mapping[str, Path]) -> Source | None:
        """Return where the rule set is, None without one."""
        return files.get("rules", self.rule_set)

    def new_values(self) -> dict[str, Any]:
        """Return the values that replace those of the rule set."""
        return {"rules": self.rules, "expansions": self.expansions}

    def longest_wait(self) -> float:
        """Return how many seconds a ticket lives at most."""
        return math.inf

    def filled_values(self, files: Mapping[str, Path], named: Collection[str]) -> dict[str, Any]:
        """Return the factors of a rule set with all its values, which can then be varied."""
        if "rules" in files and self.rule_set is not None:
            raise Misplaced(("rule_set",), f"there is a file, too: rules: {files['rules']}")
        source = self.source(files)
        if source is None:
            return {}
        new_values = {name: value for name, value in self.new_values().items() if name in named}
        values = document_of(source).values.filled(new_values)
        try:
            check_steps(values["expansions"])
        except PydanticCustomError as error:
            (key,) = (error.context or {})["at"]
            raise Misplaced(key.split("."), str(error)) from None
        return values

    def rewritten(self, files: Mapping[str, Path]) -> Mapping[str, str]:
        """Return the text of the rule set with the values of these factors, if any differs."""
        source = self.source(files)
        values = None if source is None else document_of(source).values
        changes = values.changes(self.new_values()) if values else {}
        return {"tuned_rules.json": values.text(changes)} if values and changes else {}

    def starred_ranges(self) -> Mapping[str, tuple[float, float]]:
        """Return the ranges of the steps of the rule set: from half to double a value."""
        # Waits keep their order: the ranges of two steps do not meet, and the last ends before no
        # ticket lives. Steps of numbers of players, which teams bound, are not among them.
        ranges: dict[str, tuple[float, float]] = {}
        most = self.longest_wait()
        for name, properties in self.expansions.items():
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
                        is_integer = isinstance(value, int)
                        ranges[f"{factor_name}.value"] = (-(-low // 1) if is_integer else low), high
        return {name: (low, high) for name, (low, high) in ranges.items() if low < high}

    def read_rules(
        self, files: Mapping[str, Path], timeout: float | None
    ) -> tuple[Table, tuple[str, ...]]:
        """Return the rule set, without one two teams of five, and what is to be said of it."""
        source, values = self.source(files), self.new_values()
        if source is None:
            for name in (name for name, replaced in values.items() if replaced):
                raise InputError(f"factors.{name}: there is no rule set (rules: FILE is needed)")
            return plain_table(("red", "blue"), 5), ()
        document = document_of(source)
        reading = document.read(values, timeout)
        if reading.table is None:
            lines, names = [], document.values.names
            for problem in reading.problems:
                if problem.severity == "error":  # of a value that a factor has
                    value = names.get(problem.path)
                    where = f"factors.{'.'.join(map(str, value))}" if value else document.name
                    lines.append(f"{where}: {problem.text}")
            raise InputError(*in_lines(lines))
        return reading.table, tuple(map(document.remark, reading.problems))
