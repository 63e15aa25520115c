"""Some of the games in flat arrays, games in pieces, and names by number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress, pairwise
from operator import ne
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

_OF_GAMES, _OF_SIDES = ("names", "times", "homes"), ("points", "scores")
_STARTS = ("game_starts", "side_starts")


def games_at(games: Games, which: Ints | slice) -> Games:
    """Return some of the games, in the order in which they are wanted."""
    sides, game_starts = _members(games.game_starts, which)
    rows, side_starts = _members(games.side_starts, sides)
    index = dict.fromkeys(_OF_GAMES, which) | dict.fromkeys(_OF_SIDES, sides)
    columns: dict[str, Any] = games._asdict()
    columns |= {k: v[index.get(k, rows)] for k, v in columns.items() if k not in _STARTS}
    return Games(**columns | {"game_starts": game_starts, "side_starts": side_starts})


def _members(starts: Ints, groups: Ints | slice) -> tuple[Any, Ints]:
    """Return the members of some groups, with the starts of the groups among them."""
    if isinstance(groups, slice):
        inner = starts[groups.start : groups.stop + 1]
        return slice(inner[0], inner[-1]), inner - inner[0]
    sizes = starts[groups + 1] - starts[groups]
    ends = np.cumsum(sizes)
    members = np.arange(sizes.sum()) + np.repeat(starts[groups] - ends + sizes, sizes)
    return members, np.concatenate([[0], ends])


def joined(parts: Iterable[Games], most: int) -> Games:
    """Return the games of several parts, with so many rows at most."""
    # Into arrays made before: what is kept of many small ones would leave holes in memory.
    floats = ("times", "points", "rates", "minutes", "scores")
    columns: dict[str, Any] = {
        name: np.zeros(most + 1, np.float64 if name in floats else np.int64)
        for name in Games._fields
    }
    ends = dict.fromkeys(Games._fields, 0) | dict.fromkeys(_STARTS, 1)
    for games in parts:
        games = games._replace(
            game_starts=games.game_starts[1:] + ends["points"],
            side_starts=games.side_starts[1:] + ends["players"],
        )
        for name, column in games._asdict().items():
            columns[name][ends[name] : ends[name] + len(column)] = column
            ends[name] += len(column)
    return Games(**{name: column[: ends[name]] for name, column in columns.items()})


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
        yield games_at(games, slice(first, last))
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


# Names of players and of games.


class Names(dict[str, int]):
    """The numbers of names, in the order in which they first come, by the cells for them."""

    def __init__(self, spelled: Callable[[str], str] = unmark) -> None:
        super().__init__()
        self.spelled = spelled  # returns the name that a cell stands for
        self.texts: list[str] = []  # the names by their numbers
        self._numbers: dict[str, int] = {}  # by name

    def __missing__(self, cell: str) -> int:
        number = self[cell] = self.number(self.spelled(cell))
        return number

    def number(self, name: str) -> int:
        """Return the number of a name."""
        number = self._numbers.setdefault(name, len(self.texts))
        if number == len(self.texts):
            self.texts.append(name)
        return number

    def read(self, cells: Sequence[str]) -> Ints:
        """Return the numbers of the names in some cells."""
        return np.fromiter(map(self.__getitem__, cells), np.int64, len(cells))

    def ranks(self) -> Ints:
        """Return the rank of each name in the order of all, from 0."""
        ranks = np.empty(len(self.texts), np.int64)
        ranks[[self._numbers[name] for name in sorted(self.texts)]] = np.arange(len(ranks))
        return ranks


class GameNames(list[str]):
    """The names of the games of a log, in its order."""

    def __init__(self, runs: bool) -> None:
        super().__init__()
        self._runs = runs  # whether rows that follow each other belong to one game if named alike
        self._last: str | None = None

    def read(self, cells: Sequence[str]) -> Bools:
        """Return for some cells whether they are the first of a game."""
        first = np.ones(len(cells), np.bool_)
        if self._runs:
            first = np.fromiter(map(ne, cells, (self._last, *cells)), np.bool_, len(cells))
            self._last = cells[-1]
        self.extend(map(unmark, compress(cells, first)))
        return first

    def first_of_name(self) -> Ints:
        """Return for each game the first one of the same name."""
        known: dict[str, int] = {}
        firsts = (known.setdefault(name, game) for game, name in enumerate(self))
        return np.fromiter(firsts, np.int64, len(self))
