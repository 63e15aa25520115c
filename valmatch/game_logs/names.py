"""Names of players and of games, numbered in the order in which they first come."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from valmatch.inputs.csv_reader import unmark
from valmatch.kernels.arrays import Bools, Ints


class Names(dict[str, int]):
    """The numbers of names, by the cells that stand for them."""

    def __init__(self, spelled: Callable[[str], str] = unmark) -> None:
        super().__init__()
        self.texts: list[str] = []  # the names by their numbers
        self._spelled = spelled  # returns the name that a cell stands for
        self._others: dict[str, int] = {}  # the numbers of names that as cells stand for others

    def __missing__(self, cell: str) -> int:
        number = self[cell] = self.number(self._spelled(cell))
        return number

    def number(self, name: str) -> int:
        """Return the number of a name."""
        known = self if self._spelled(name) == name else self._others
        number = known.setdefault(name, len(self.texts))
        if number == len(self.texts):
            self.texts.append(name)
        return number

    def read(self, cells: Sequence[str]) -> Ints:
        """Return the numbers of the names in some cells."""
        return np.fromiter(map(self.__getitem__, cells), np.int64, len(cells))

    def ranks(self) -> Ints:
        """Return the rank of each name in the order of all, from 0."""
        ranks = np.empty(len(self.texts), np.int64)
        ranks[sorted(range(len(ranks)), key=self.texts.__getitem__)] = np.arange(len(ranks))
        return ranks


class Titles:
    """The names of games, of which there may be millions: as one text."""

    def __init__(self, runs: bool) -> None:
        self._runs = runs  # whether rows that follow each other belong to one game if named alike
        self._last = ""
        self._parts, self._text = list[str](), ""
        # ends: (games + 1,) of names in the text; sizes, hashes: (games,)
        self._ends = np.zeros(1, np.int64)
        self._sizes, self._hashes = list[Ints](), list[Ints]()

    def read(self, cells: Sequence[str]) -> Bools:
        """Return for some cells whether they are the first of a game."""
        first = np.ones(len(cells), np.bool_)
        if self._runs:
            before = (self._last, *cells)
            first = np.fromiter(map(str.__ne__, cells, before), np.bool_, len(cells))
            self._last = cells[-1]
            cells = [cell for cell, begins in zip(cells, first.tolist(), strict=True) if begins]
        if "'" in "".join(cells):
            cells = list(map(unmark, cells))
        self._hashes.append(np.fromiter(map(hash, cells), np.int64, len(cells)))
        self._parts.append("".join(cells))
        self._sizes.append(np.fromiter(map(len, cells), np.int64, len(cells)))
        return first

    def texts(self, games: Ints) -> list[str]:
        """Return the names of some games, once all are there."""
        if self._parts:
            self._text = "".join(self._parts)
            self._ends = np.concatenate([[0], np.cumsum(np.concatenate(self._sizes))])
            self._parts.clear()
            self._sizes.clear()
        text, ends = self._text, self._ends
        limits = zip(ends[games].tolist(), ends[games + 1].tolist(), strict=True)
        return [text[start:end] for start, end in limits]

    def first_of_name(self) -> Ints:
        """Return for each game the first one of the same name."""
        hashes = np.concatenate(self._hashes) if self._hashes else np.zeros(0, np.int64)
        self._hashes.clear()
        found = np.arange(len(hashes))
        _, number, counts = np.unique(hashes, return_inverse=True, return_counts=True)
        alike = np.flatnonzero(counts[number.ravel()] > 1)
        first: dict[str, int] = {}
        for game, name in zip(alike.tolist(), self.texts(alike), strict=True):
            found[game] = first.setdefault(name, game)
        return found
