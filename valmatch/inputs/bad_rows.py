"""Bad rows of a log, or bad games: refused, or left out and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from valmatch.errors import InputError, option

MOST = 0.05  # the share of all rows that may be left out, unless it is said otherwise


class RowError(InputError):
    """A row that cannot be used."""

    def __init__(self, *lines: str, kind: str = "") -> None:
        super().__init__(*lines)
        self.kind = kind  # what is wrong, in the same words for all such rows


class BadRows:
    """Bad rows of a file: the first ends the reading, or all are counted by kind."""

    def __init__(
        self, name: str, skip: bool, most: float, section: str = "", what: str = "row"
    ) -> None:
        self.counts: Counter[str] = Counter()  # number of bad rows by kind
        self._name, self._skip, self._most = name, skip, most
        self._section, self._what = section, what
        self._examples: dict[str, str] = {}

    def add(self, error: RowError) -> None:
        """Count a bad row, or raise what is wrong with it."""
        if not self._skip:
            argument = option(f"{self._section}skip_bad_{self._what}s=True")
            raise InputError(f"{error}; {argument} leaves bad {self._what}s out")
        self.count(error.kind, lambda: str(error))

    def count(self, kind: str, example: Callable[[], str]) -> None:
        """Count a bad row that may be left out; the first of its kind is the example."""
        if kind not in self._examples:
            self._examples[kind] = example()
        self.counts[kind] += 1

    def seen(self) -> str:
        """Say that there are bad rows, if there are."""
        n = self.counts.total()
        first = next(iter(self._examples.values()), "")
        return f"; {self._bad(n)}, the first: {first}" if n else ""

    def check(self, good: int) -> None:
        """Refuse a log of which too large a part would be left out."""
        bad = self.counts.total()
        if bad <= self._most * (good + bad):
            return
        share = min(1.0, -(-1000 * bad // (good + bad)) / 1000)
        raise InputError(
            f"{self._name}: {bad:,} of {good + bad:,} {self._what}s are bad ({self._kinds()}), more"
            f" than {100.0 * self._most:g} %: {option(f'{self._section}max_bad_rows={share:g}')}"
            " leaves them out all the same",
            *self._examples.values(),
        )

    def remarks(self) -> list[str]:
        """Say how many rows were left out and why, with one row of each kind."""
        n = self.counts.total()
        if not n:
            return []
        first, *others = self._examples.values()
        left = f"{self._bad(n)} left out ({self._kinds()}), the first: {first}"
        return [f"{self._name}: {left}", *(f"left out, too: {other}" for other in others)]

    def _bad(self, n: int) -> str:
        return f"{n:,} bad {self._what}{'s' * (n > 1)}"

    def _kinds(self) -> str:
        return ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.counts.items()))
