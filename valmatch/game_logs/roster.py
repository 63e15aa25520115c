"""The players of a log with what is known of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.game_logs.csv_text import numerals, words
from valmatch.game_logs.games import Games
from valmatch.game_logs.names import Names, Texts
from valmatch.game_logs.scores import new_tally
from valmatch.game_logs.system import Played, Players, System

__all__ = ["Known", "Ranking", "Roster"]


class Known(NamedTuple):
    """A player of an earlier rating.

    Attributes
    ----------
    player : str
        The name.
    state : sequence of float
        What the system keeps of a player.
    games : int
        Games rated before.
    """

    player: str
    state: Sequence[float]
    games: int


@dataclass(frozen=True)
class Ranking:
    """All rated players, the best first.

    Attributes
    ----------
    ranks : list of int
        1 for the best; equal ratings share a rank.
    players : list of str
        Names; equal ratings stand by name.
    ratings : list of float
        Ratings.
    games : list of int
        Games rated, earlier ones included.
    state : dict of str to list of float
        Further columns of the system.
    printed : tuple of str
        Those of them that people want to see.
    """

    ranks: list[int]
    players: list[str]
    ratings: list[float]
    games: list[int]
    state: dict[str, list[float]]
    printed: tuple[str, ...]

    def columns(self) -> dict[str, Texts]:
        """Return the columns of ``ratings.csv``; needs a player."""
        return {
            "rank": numerals(np.array(self.ranks)),
            "player": words(self.players),
            "rating": numerals(np.array(self.ratings)),
            "games": numerals(np.array(self.games)),
            **{name: numerals(np.array(column)) for name, column in self.state.items()},
        }


class Roster:
    """Players who play through a log under one system.

    Parameters
    ----------
    system : System
        The rating system.
    values : mapping
        Values of its parameters.
    names : Names
        Numbers of the players; may grow between games.
    known : sequence of Known
        Where some players start.

    Attributes
    ----------
    tally : numpy.ndarray
        Sums over predictions, see `valmatch.game_logs.scores`.
    """

    def __init__(
        self, system: System, values: Mapping[str, float], names: Names, known: Sequence[Known]
    ) -> None:
        self._system = system
        self._values = values
        self._names = names
        self._players = Players(np.empty((0, len(system.columns))), np.empty(0, np.int64))
        self._known = [names.number(one.player) for one in known]
        self._grow()
        for number, one in zip(self._known, known, strict=True):
            self._players.state[number] = one.state
            self._players.games[number] = one.games
        self.tally = new_tally()

    def _grow(self) -> None:
        """Make room for all names."""
        state, games = self._players
        if self._names.count > len(games):
            more = max(self._names.count, 2 * len(games)) - len(games)
            newcomers = np.tile(self._system.newcomer(self._values), (more, 1))
            self._players = Players(
                np.concatenate([state, newcomers]),
                np.concatenate([games, np.zeros(more, np.int64)]),
            )

    def play(self, games: Games, burn_in: int) -> Played:
        """Predict and rate the next games."""
        self._grow()
        n_sides, n_rows = len(games.points), len(games.players)
        sides, rows = (n_sides,) * 4, (n_rows,) * 3
        sizes = (games.n_games, *sides, *rows, games.n_games)
        played = Played(self.tally, *map(np.empty, sizes))
        self._system.play(self._values, games, self._players, burn_in, played)
        return played

    def ratings(self) -> NDArray[np.float64]:
        """Return the (players,) ratings; NaN of who has not played nor was known before."""
        present = self._players.games > 0
        present[self._known] = True
        return np.where(present, self._system.shown(self._players.state), np.nan)

    def ranking(self) -> Ranking:
        """Rank the players who have played or were known before."""
        ratings = self.ratings()
        numbers = np.flatnonzero(~np.isnan(ratings))
        ratings = ratings[numbers]
        names = self._names.texts(numbers.tolist())
        by_name = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
        order = by_name[np.argsort(-ratings[by_name], kind="stable")]
        shown: NDArray[np.float64] = ratings[order]
        # The rank of a rating is one more than the number of higher ones.
        ranks = 1 + np.searchsorted(-shown, -shown, side="left")
        columns = [column.name for column in self._system.columns]
        own = [(k, name) for k, name in enumerate(columns) if name != "rating"]
        return Ranking(
            ranks=ranks.tolist(),
            players=[names[k] for k in order],
            ratings=shown.tolist(),
            games=self._players.games[numbers][order].tolist(),
            state={c: self._players.state[numbers, k][order].tolist() for k, c in own},
            printed=tuple(
                column.name
                for column in self._system.columns
                if column.printed and column.name != "rating"
            ),
        )
