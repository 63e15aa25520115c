"""Rows of a queue log that cannot be used: refused, or left out and told of."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from valmatch.errors import InputError, option
from valmatch.models.csv_rows import RowError

__all__ = ["BadRows"]


class BadRows:
    """Bad rows of a file: the first ends the reading, or all are counted by kind.

    Parameters
    ----------
    path : Path
        The file.
    skip : bool
        Whether they may be left out.
    most : float
        The share of all rows that may be.
    """

    def __init__(self, path: Path, skip: bool, most: float) -> None:
        self._path, self._skip, self._most = path, skip, most
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def add(self, error: RowError) -> None:
        """Count a bad row, or raise what is wrong with it."""
        if not self._skip:
            raise InputError(f"{error}; {option('log.skip_bad_rows=True')} leaves bad rows out")
        self._examples.setdefault(error.kind, str(error))
        self._counts[error.kind] += 1

    def seen(self) -> str:
        """Say that there are bad rows, if there are."""
        n = self._counts.total()
        first = next(iter(self._examples.values()), "")
        return f"; {n:,} bad row{'s' * (n > 1)}, the first: {first}" if n else ""

    def check(self, good: int) -> None:
        """Refuse a log of which too large a part would be left out.

        Raises
        ------
        InputError
            With one row of each kind.
        """
        bad = self._counts.total()
        if bad <= self._most * (good + bad):
            return
        share = min(1.0, -(-1000 * bad // (good + bad)) / 1000)
        raise InputError(
            f"{self._path}: {bad:,} of {good + bad:,} rows are bad ({self._kinds()}), more than"
            f" {100.0 * self._most:g} %: {option(f'log.max_bad_rows={share:g}')} leaves them out"
            " all the same",
            *self._examples.values(),
        )

    def remarks(self) -> list[str]:
        """Say how many rows were left out and why, with one row of each kind."""
        n = self._counts.total()
        if not n:
            return []
        first, *others = self._examples.values()
        rows = f"{n:,} bad row{'s' * (n > 1)} left out ({self._kinds()}), the first:"
        return [f"{self._path}: {rows} {first}", *(f"left out, too: {one}" for one in others)]

    def _kinds(self) -> str:
        return ", ".join(f"{count:,} {kind}" for kind, count in sorted(self._counts.items()))
