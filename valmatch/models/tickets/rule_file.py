"""The rule set of a config: its file, and its values with those that factors replace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from valmatch.errors import InputError, in_lines
from valmatch.inputs.files import read_document
from valmatch.rule_sets.files import as_remark, in_line, read_rule_file
from valmatch.rule_sets.flexmatch import read_rule_set
from valmatch.rule_sets.problems import Problem
from valmatch.rule_sets.table import Search as Order
from valmatch.rule_sets.table import Steps, Table, Team
from valmatch.rule_sets.values import RuleValues

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
    """A rule set as a model takes it.

    Attributes
    ----------
    table : Table
    remarks : tuple of str
        Warnings, one line each.
    """

    table: Table
    remarks: tuple[str, ...]


@lru_cache(maxsize=4)
def _text(path: Path, stamp: tuple[int, int]) -> str:
    """Return the text of a rule set without errors, read once for each state of the file."""
    errors = [one for one in read_rule_file(path).problems if one.severity == "error"]
    if errors:
        raise InputError(*in_lines([in_line(path, one) for one in errors]))
    return read_document(path).decode("utf-8")


def rule_text(path: Path) -> str:
    """Return the text of a rule set: the one place where other forms of it would be expanded.

    Raises
    ------
    InputError
        If the file cannot be read, or is no rule set.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return _text(path, (state.st_mtime_ns, state.st_size))


def values_of(path: Path) -> RuleValues:
    """Return the values of a rule set that can be set.

    Raises
    ------
    InputError
        As of `rule_text`.
    """
    return RuleValues(rule_text(path))


def tuned_text(path: Path, given: Mapping[str, Any]) -> str | None:
    """Return the text of a rule set, the same but for some values; None if none differs.

    Parameters
    ----------
    path : Path
        Its file.
    given : mapping
        The factors ``rules`` and ``expansions``.

    Raises
    ------
    InputError
        As of `rule_text`.
    """
    values = values_of(path)
    changes = values.changes(given)
    return values.text(changes) if changes else None


def read_rules(path: Path | None, given: Mapping[str, Any], timeout: float) -> RuleSet:
    """Return the rule set of a config.

    Parameters
    ----------
    path : Path or None
        Its file; None for two teams of five and no rule.
    given : mapping
        The factors ``rules`` and ``expansions``.
    timeout : float
        Seconds after which tickets leave.

    Raises
    ------
    InputError
        If the file is no rule set, also with these values.
    """
    if path is None:
        for name, values in given.items():
            if values:
                raise InputError(f"factors.{name}: there is no rule set (rules: FILE is needed)")
        return RuleSet(PLAIN, ())
    values = values_of(path)
    changes = values.changes(given)
    reading = read_rule_set(values.text(changes), timeout)
    if reading.table is None:
        raise InputError(*in_lines(_named(reading.problems, values, path)))
    remarks = tuple(as_remark(path, one) for one in reading.problems)
    return RuleSet(reading.table, remarks)


def _named(problems: Iterable[Problem], values: RuleValues, path: Path) -> list[str]:
    """Return the errors that values of factors make, by the names of these."""
    lines = []
    for problem in problems:
        if problem.severity == "error":
            name = values.names.get(problem.path)
            where = f"factors.{'.'.join(map(str, name))}" if name else str(path)
            lines.append(f"{where}: {problem.text}")
    return lines
