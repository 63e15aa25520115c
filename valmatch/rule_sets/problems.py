"""Problems of a file, each with its place."""

from __future__ import annotations

from bisect import bisect_right
from typing import Literal, NamedTuple

Severity = Literal["error", "warning"]

WHOLE = "rule set"  # path of what is wrong with the whole, where a text is to be one


class Problem(NamedTuple):
    """One thing that is wrong; problems are ordered by place."""

    # line, column: where, from 1
    line: int
    column: int
    severity: Severity  # whether the service refuses it, or it will hardly do what is meant
    path: str  # what it is about, such as ``expansions[1].steps[2]``
    text: str  # what is wrong, and what would be right


class Problems:
    """The problems found in a text."""

    def __init__(self, text: str, whole: str = WHOLE) -> None:
        self._whole = whole
        self._starts = [0]
        place = text.find("\n")
        while place >= 0:
            self._starts.append(place + 1)
            place = text.find("\n", place + 1)
        self._found: set[Problem] = set()

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and column of a character, from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def add(self, severity: Severity, offset: int, path: str, text: str) -> None:
        """Add a problem."""
        self._found.add(Problem(*self.place(offset), severity, path or self._whole, text))

    def error(self, offset: int, path: str, text: str) -> None:
        """Add what the service would refuse."""
        self.add("error", offset, path, text)

    def warn(self, offset: int, path: str, text: str) -> None:
        """Add what will hardly do what is meant."""
        self.add("warning", offset, path, text)

    def at(self, line: int, column: int, text: str) -> None:
        """Add an error whose line and column are known."""
        self._found.add(Problem(line, column, "error", self._whole, text))

    def sorted(self) -> list[Problem]:
        """Return all problems by place."""
        return sorted(self._found)

    def errors_in(self, path: str) -> bool:
        """Return whether there is an error of something at a path, or in it."""
        inner = (f"{path}.", f"{path}[")
        paths = [one.path for one in self._found if one.severity == "error"]
        return any(one == path or one.startswith(inner) for one in paths)

    @property
    def errors(self) -> int:
        """How many of them are errors."""
        return sum(problem.severity == "error" for problem in self._found)
