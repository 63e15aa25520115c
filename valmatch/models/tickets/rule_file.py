"""The rule set of a config: its file, and its values with those that factors replace.

The factors of a model that goes by a rule set have these besides its file: ``rule_set``, a mapping
in its place; ``rules`` and ``expansions``, values that replace its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

from pydantic_core import PydanticCustomError

from valmatch.errors import InputError, in_lines
from valmatch.inputs.fields import Misplaced, factor, refuse
from valmatch.inputs.files import read_document
from valmatch.rule_sets.files import LONGEST_PATH, as_remark, in_line, is_yaml, read_rule_file
from valmatch.rule_sets.flexmatch import Reading, read_parsed, read_rule_set
from valmatch.rule_sets.json_text import WHOLE, Problem, Problems, plain
from valmatch.rule_sets.table import Search as Order
from valmatch.rule_sets.table import Steps, Table, Team
from valmatch.rule_sets.values import RuleValues, UnknownValue, filled
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
    Order(),
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

NAMED = "rules"  # what a rule set is called that is a mapping of a config


class FaultyMapping(Exception):  # noqa: N818 - caught where the mapping has places
    """A mapping is no rule set."""

    def __init__(self, problems: Sequence[tuple[Sequence[str | int], str]]) -> None:
        super().__init__(problems[0][1])
        self.problems = tuple(problems)


class OfRules(Protocol):
    """Factors of a model that goes by a rule set."""

    @property
    def rule_set(self) -> dict[str, Any] | None:
        """The rule set as a mapping, None for that of a file."""

    @property
    def rules(self) -> dict[str, Any]:
        """Values of rules, of the algorithm and of teams that replace those of the rule set."""

    @property
    def expansions(self) -> dict[str, Any]:
        """Values of steps that do."""


@lru_cache(maxsize=4)
def _text(path: Path, stamp: tuple[int, int]) -> str:
    """Return the text of a rule set without errors, read once for each state of the file."""
    reading = read_rule_file(path)
    errors = [one for one in reading.problems if one.severity == "error"]
    if errors:
        raise InputError(*in_lines([in_line(path, one) for one in errors]))
    if is_yaml(path) or reading.is_short:
        return _flexmatch(reading)
    return read_document(path).decode("utf-8")


def _flexmatch(reading: Reading) -> str:
    """Return the text of a rule set that was written otherwise."""
    return "" if reading.node is None else json.dumps(plain(reading.node), indent=4)


@lru_cache(maxsize=4)
def _expanded(text: str) -> str:
    """Return the text of a rule set that is a mapping, given as JSON."""
    reading = read_rule_set(text)
    errors = [one for one in reading.problems if one.severity == "error"]
    if errors:
        raise FaultyMapping([(_parts(one.path), one.text) for one in errors])
    return _flexmatch(reading)


def _parts(path: str) -> list[str | int]:
    """Return the keys and numbers of what a problem is about."""
    parts = re.split(r"[.\[\]]", "" if path == WHOLE else path)
    return [int(part) if part.isdecimal() else part for part in parts if part]


def rule_text(source: Source) -> str:
    """Return the text of a rule set as FlexMatch JSON, whatever its form."""
    if not isinstance(source, Path):
        return _expanded(json.dumps(source))
    try:
        state = source.stat()
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror}") from None
    return _text(source, (state.st_mtime_ns, state.st_size))


def values_of(source: Source) -> RuleValues:
    """Return the values of a rule set that can be set."""
    return RuleValues(rule_text(source))


def filled_values(
    factors: OfRules, files: Mapping[str, Path], given: Collection[str]
) -> dict[str, Any]:
    """Return the factors ``rules`` and ``expansions`` with all values of a rule set filled in.

    So each has a value of its own that can be varied and optimised. Without a rule set there are
    none.
    """
    if "rules" in files and factors.rule_set is not None:
        raise Misplaced(("rule_set",), f"there is a file, too: rules: {files['rules']}")
    source = files.get("rules", factors.rule_set)
    if source is None:
        return {}
    own = {name: getattr(factors, name) for name in ("rules", "expansions") if name in given}
    try:
        values: dict[str, Any] = filled(own, values_of(source))
    except FaultyMapping as wrong:
        first, *others = [Misplaced(("rule_set", *path), text) for path, text in wrong.problems]
        raise first.along_with(others) from None
    except UnknownValue as wrong:
        raise Misplaced(tuple(map(str, wrong.path)), wrong.text) from None
    try:
        check_steps(values["expansions"])
    except PydanticCustomError as error:
        (place,) = (error.context or {})["at"]
        raise Misplaced(place.split("."), str(error)) from None
    return values


def check_steps(expansions: Mapping[str, Any]) -> None:
    """Refuse steps that do not increase."""
    for name, properties in expansions.items():
        for key, steps in properties.items() if isinstance(properties, dict) else ():
            for first, second in pairwise(_waits(steps)):
                if second <= first:
                    what = f"steps have to increase: {second:g} s comes after {first:g} s"
                    # Names with dots are no paths, and are said.
                    said = f"{name}.{key}: {what}" if "." in name else what
                    raise refuse(said, f"expansions.{name}.{key}")


def _waits(steps: object) -> list[float]:
    """Return the waits of steps, as far as they are a list of steps."""
    if not isinstance(steps, list):
        return []
    found = [step.get("wait") for step in steps if isinstance(step, dict)]
    return [cast(float, wait) for wait in found if isinstance(wait, int | float)]


def rewritten_rules(factors: OfRules, files: Mapping[str, Path]) -> Mapping[str, str]:
    """Return the text of the rule set with the values of factors, by file, if any differs."""
    given = {"rules": factors.rules, "expansions": factors.expansions}
    source = files.get("rules", factors.rule_set)
    text = tuned_text(source, given) if source is not None else None
    return {"tuned_rules.json": text} if text is not None else {}


def tuned_text(source: Source, given: Mapping[str, Any]) -> str | None:
    """Return the text of a rule set, the same but for some values; None if none differs."""
    values = values_of(source)
    changes = values.changes(given)
    return values.text(changes) if changes else None


def read_rules(source: Source | None, given: Mapping[str, Any], timeout: float | None) -> RuleSet:
    """Return the rule set of a config."""
    if source is None:
        for name, values in given.items():
            if values:
                raise InputError(f"factors.{name}: there is no rule set (rules: FILE is needed)")
        return RuleSet(PLAIN, ())
    own = values_of(source)
    text = rule_text(source)
    problems = Problems(text)
    reading = read_parsed(text, own.changed(own.changes(given), problems), problems, timeout)
    where = str(source) if isinstance(source, Path) else NAMED
    if reading.table is None:
        raise InputError(*in_lines(_named(reading.problems, own, where)))
    # Places are those of the text, which is the file's own unless it was written otherwise.
    is_own = isinstance(source, Path) and not (is_yaml(source) or read_rule_file(source).is_short)
    remarks = tuple(
        as_remark(source, one) if isinstance(source, Path) and is_own else _unplaced(where, one)
        for one in reading.problems
    )
    return RuleSet(reading.table, remarks)


def _unplaced(where: str, problem: Problem) -> str:
    """Return a warning as a line, without a place."""
    return f"{where}: {shortened(problem.path, LONGEST_PATH)}: {problem.text}"


def _named(problems: Iterable[Problem], values: RuleValues, source: str) -> list[str]:
    """Return the errors that values of factors make, by the names of these."""
    lines = []
    for problem in problems:
        if problem.severity == "error":
            name = values.names.get(problem.path)
            where = f"factors.{'.'.join(map(str, name))}" if name else source
            lines.append(f"{where}: {problem.text}")
    return lines
