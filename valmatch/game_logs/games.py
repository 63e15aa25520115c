"""Some of the games in flat arrays, and games in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from valmatch.errors import InputError
from valmatch.game_logs.scores import Played, note_game, note_pair
from valmatch.inputs.csv_reader import unmark
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.kernels.compilation import part
from valmatch.ratings.games import Games, Players, add_scores, open_game
from valmatch.ratings.matches import kernel_of
from valmatch.ratings.system import NO_VERBS, System

_PIECE = 1 << 12  # games of a piece, at which working space does not matter


def reordered(games: Games, order: Ints) -> Games:
    """Return the games in another order."""
    sides, game_starts = _members(games.game_starts, order)
    rows, side_starts = _members(games.side_starts, sides)
    return _taken(games, order, sides, rows, game_starts, side_starts)


def _members(starts: Ints, groups: Ints) -> tuple[Ints, Ints]:
    """Return the members of some groups, with the starts of the groups among them."""
    sizes = starts[groups + 1] - starts[groups]
    ends = np.cumsum(sizes)
    members = np.arange(sizes.sum()) + np.repeat(starts[groups] - ends + sizes, sizes)
    return members, np.concatenate([[0], ends])


def games_between(games: Games, first: int, last: int) -> Games:
    """Return the games first..last-1."""
    sides = slice(games.game_starts[first], games.game_starts[last])
    rows = slice(games.side_starts[sides.start], games.side_starts[sides.stop])
    game_starts = games.game_starts[first : last + 1] - sides.start
    side_starts = games.side_starts[sides.start : sides.stop + 1] - rows.start
    return _taken(games, slice(first, last), sides, rows, game_starts, side_starts)


_OF_GAMES, _OF_SIDES = ("names", "times", "homes"), ("points", "scores")


def _taken(
    games: Games,
    which: Ints | slice,
    sides: Ints | slice,
    rows: Ints | slice,
    game_starts: Ints,
    side_starts: Ints,
) -> Games:
    """Return some games, sides and rows of games."""
    index = dict.fromkeys(_OF_GAMES, which) | dict.fromkeys(_OF_SIDES, sides)
    taken: dict[str, Any] = {
        name: column[index.get(name, rows)]
        for name, column in games._asdict().items()
        if not name.endswith("_starts")
    }
    return Games(**taken, game_starts=game_starts, side_starts=side_starts)


def joined(parts: list[Games]) -> Games:
    """Return the games of several parts, which are given up column by column to save memory."""
    columns: dict[str, list[Any]] = {name: [] for name in Games._fields}
    columns["game_starts"], columns["side_starts"] = (
        [np.zeros(1, np.int64)],
        [np.zeros(1, np.int64)],
    )
    sides = rows = 0
    for games in parts:
        game_starts, side_starts = games.game_starts[1:] + sides, games.side_starts[1:] + rows
        sides, rows = sides + len(games.points), rows + len(games.players)
        games = games._replace(game_starts=game_starts, side_starts=side_starts)
        for name, column in games._asdict().items():
            columns[name].append(column)
    parts.clear()
    return Games(*(np.concatenate(columns.pop(name) or [np.zeros(0)]) for name in Games._fields))


def pieces(
    games: Games, stop: Callable[[], bool] = lambda: False, pairs: int = 1 << 40
) -> Iterator[Games]:
    """Yield the games in parts of at most so many pairs of players, until a signal comes."""
    sizes = np.diff(games.side_starts[games.game_starts])
    upto = np.cumsum(sizes * (sizes - 1) // 2)
    first = 0
    while first < games.n_games:
        if stop():
            raise KeyboardInterrupt
        before = upto[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(upto, before + pairs, side="right")))
        last = min(last, first + _PIECE)
        yield games_between(games, first, last)
        first = last


# Games of a log played through by a rating system: predicted, then rated, one after the other.


def play(
    system: System,
    values: Mapping[str, float],
    games: Games,
    players: Players,
    burn_in: int,
    played: Played,
) -> None:
    """Predict each game from what is known before it, then rate it."""
    kernel = kernel_of(_play_games, system.verbs, system.deviation if system.conservative else -1)
    numbers = np.asarray(system.numbers(values), np.float64)
    end = kernel(0, games.n_games, games, players, burn_in, numbers, played)
    if end < games.n_games:
        raise InputError(_out_of_range(system, games, players, end))


def _out_of_range(system: System, games: Games, players: Players, game: int) -> str:
    """Say that a game cannot be rated with finite numbers."""
    starts = games.side_starts[games.game_starts[game] : games.game_starts[game + 1] + 1]
    sides = [games.players[lo:hi] for lo, hi in pairwise(starts.tolist())]
    return (
        f"{system.name}: math range error in a game of players with {system.columns[0].name}"
        f" {[players.state[side, 0].tolist() for side in sides]}: too far apart for this system"
    )


strengths, chances, update = NO_VERBS
deviation = -1
"""What stands for the functions of a system, and for the column of the deviation by which it ranks
players (-1 for none), in `_play_games`."""


def _play_games(
    begin: int,
    end: int,
    games: Games,
    players: Players,
    burn_in: int,
    numbers: Floats,
    played: Played,
) -> int:
    """Play the games begin..end-1; return the first that cannot be rated, `end` if all can."""
    assessed = played.assessed
    for game in range(begin, end):
        first, last = games.game_starts[game], games.game_starts[game + 1]
        lo, hi = games.side_starts[first], games.side_starts[last]
        rows = 2  # of the tally: after the burn-in of all players, else the first alone
        for row in range(lo, hi):
            played.before[row] = _shown(games.players[row], players, deviation)
            if players.games[games.players[row]] < burn_in:
                rows = 1
        strengths(game, games, players, numbers, assessed)
        open_game(game, games, assessed)
        weight, loss = 2.0 / ((last - first) * (last - first - 1)), 0.0
        for a in range(first, last):
            for b in range(a + 1, last):
                expected, draw = chances(a, b, games, numbers, assessed)
                score = add_scores(a, b, expected, games, assessed)
                loss += weight * note_pair(played.tally, rows, expected, draw, score, weight)
        played.losses[game] = loss
        note_game(played.tally, rows, loss)
        if not update(game, games, players, numbers, assessed):
            return game
        for row in range(lo, hi):
            played.after[row] = _shown(games.players[row], players, deviation)
            players.games[games.players[row]] += 1
    return end


@part(inline=True)
def _shown(player: int, players: Players, deviation: int) -> float:
    """Return the rating by which a player is ranked."""
    mean: float = players.state[player, 0]
    return mean - 3.0 * players.state[player, deviation] if deviation >= 0 else mean


# Names of players and of games, numbered in the order in which they first come.


class Names(dict[str, int]):
    """The numbers of names, by the cells that stand for them."""

    def __init__(self, spelled: Callable[[str], str] = unmark) -> None:
        super().__init__()
        self.texts: list[str] = []  # the names by their numbers
        self.spelled = spelled  # returns the name that a cell stands for
        self._others: dict[str, int] = {}  # the numbers of names that as cells stand for others

    def __missing__(self, cell: str) -> int:
        number = self[cell] = self.number(self.spelled(cell))
        return number

    def number(self, name: str) -> int:
        """Return the number of a name."""
        known = self if self.spelled(name) == name else self._others
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
        firsts = np.arange(len(hashes))
        _, number, counts = np.unique(hashes, return_inverse=True, return_counts=True)
        alike = np.flatnonzero(counts[number.ravel()] > 1)
        first: dict[str, int] = {}
        for game, name in zip(alike.tolist(), self.texts(alike), strict=True):
            firsts[game] = first.setdefault(name, game)
        return firsts
