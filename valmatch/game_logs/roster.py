"""The players of a log, with what a rating system knows of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from valmatch.game_logs.games import Names, play
from valmatch.game_logs.reading.cells import time_text
from valmatch.game_logs.scores import Played, new_tally, unplayed
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import kernel
from valmatch.ratings.games import Games, Players
from valmatch.ratings.system import System
from valmatch.storage.result_files import ResultFiles

# Players of earlier ratings, as a ``ratings.csv`` has them.

RATINGS = "ratings.csv"

COUNTS = ("wins", "losses", "draws")
"""Columns of how many games a player's side won, was not among the best of, or shared the first
place of."""

LAST_GAME = "last_game"

CHANGES = "changes.csv"  # by how much ratings are higher than the earlier ones, in their order


class RatedPlayer(NamedTuple):
    """A player of previous ratings."""

    player: str  # the name
    state: Sequence[float]  # what the system keeps of a player
    games: int  # games rated before
    counts: Sequence[int]  # those of them by `COUNTS`, as far as that is known
    last: float  # time of the last; NaN if it is not known
    dated: bool  # whether that is a moment, in seconds since 1970


_WON, _LOST, _DRAWN = range(3)


@dataclass(frozen=True)
class Ranking:
    """All rated players, the best first."""

    ranks: list[int]  # 1 for the best; equal ratings share a rank
    players: list[str]  # names; equal ratings stand by name
    ratings: list[float]  # ratings
    # games, wins, losses, draws: games rated, earlier ones included, and how they ended, see
    # `COUNTS`
    games: list[int]
    wins: list[int]
    losses: list[int]
    draws: list[int]
    last_game: list[str]  # time of the last game; all are empty where the log has no times
    # by how much the rating is higher than the earlier one; None for new players
    change: list[float | None]
    state: dict[str, list[float]]  # further columns of the system

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each player, the best first."""
        return {
            "rank": self.ranks,
            "player": self.players,
            "rating": self.ratings,
            "games": self.games,
            **{name: getattr(self, name) for name in (*COUNTS, LAST_GAME, "change")},
            **self.state,
        }


def read_ranking(files: ResultFiles, system: System) -> Ranking:
    """Return the ranking that a folder holds."""
    header = files.header(RATINGS)
    more = [column.name for column in system.columns if column.name != "rating"]
    last = [LAST_GAME] if LAST_GAME in header else []
    names = ("rank", "rating", "games", *COUNTS, *more)
    table = files.table(RATINGS, names, ("player", *last))
    numbers = {name: column.tolist() for name, column in table.numbers.items()}
    players, blank = table.texts["player"], [""] * len(table)
    changes = [math.nan] * len(table)
    if files.has(CHANGES):
        changes = files.table(CHANGES, ("change",)).numbers["change"].tolist()
    counts = {name: [int(n) for n in numbers[name]] for name in ("games", *COUNTS)}
    return Ranking(
        ranks=[int(rank) for rank in numbers["rank"]],
        players=players,
        ratings=numbers["rating"],
        **counts,
        last_game=table.texts.get(LAST_GAME, blank),
        change=[None if math.isnan(x) else x for x in changes],
        state={name: numbers[name] for name in more},
    )


class Roster:
    """Players who play through a log under one system."""

    def __init__(
        self,
        system: System,
        values: Mapping[str, float],
        names: Names,
        known: Sequence[RatedPlayer],
        timed: bool = False,
    ) -> None:
        # system, values, names, known: as given
        self.system, self.values = system, values
        self.names, self.known = names, known
        self._timed = timed
        self._numbers = np.array([names.number(player.player) for player in known], np.int64)
        n = len(names.texts)
        self._players = Players(
            np.tile(np.array(system.newcomer(values), np.float64), (n, 1)), np.zeros(n, np.int64)
        )
        self._counts = np.zeros((n, len(COUNTS)), np.int64)
        self._last = np.full(n, np.nan)
        for number, player in zip(self._numbers.tolist(), known, strict=True):
            self._players.state[number] = player.state
            self._players.games[number] = player.games
            self._counts[number] = player.counts
            self._last[number] = player.last
        self._before = self.ratings()
        self.tally = new_tally()  # sums over predictions, see `valmatch.game_logs.scores`

    def restarted(self, values: Mapping[str, float]) -> Roster:
        """Return the players as they were at the start, under other values of the parameters."""
        return Roster(self.system, values, self.names, self.known, self._timed)

    def play(self, games: Games, burn_in: int) -> Played:
        """Predict and rate the next games."""
        played = unplayed(games, self.tally)
        play(self.system, self.values, games, self._players, burn_in, played)
        _count(games, self._timed, self._counts, self._last)
        return played

    def ratings(self) -> Floats:
        """Return the (players,) ratings; NaN of who has not played nor was known before."""
        present = self._players.games > 0
        present[self._numbers] = True
        return np.where(present, self.system.shown(self._players.state), np.nan)

    def ranking(self, dated: bool = False) -> Ranking:
        """Rank the players who have played or were known before."""
        ratings = self.ratings()
        numbers = np.flatnonzero(~np.isnan(ratings))
        numbers = numbers[np.lexsort((self.names.ranks()[numbers], -ratings[numbers]))]
        shown: Floats = ratings[numbers]
        # The rank of a rating is one more than the number of higher ones.
        ranks = 1 + np.searchsorted(-shown, -shown, side="left")
        counts = self._counts[numbers].T.tolist()
        last = [time_text(value, dated) for value in self._last[numbers].tolist()]
        return Ranking(
            ranks=ranks.tolist(),
            players=[self.names.texts[number] for number in numbers.tolist()],
            ratings=shown.tolist(),
            games=self._players.games[numbers].tolist(),
            **dict(zip(COUNTS, counts, strict=True)),
            last_game=last,
            change=[None if math.isnan(x) else x for x in (shown - self._before[numbers]).tolist()],
            state={
                column.name: self._players.state[numbers, k].tolist()
                for k, column in enumerate(self.system.columns)
                if column.name != "rating"
            },
        )


@kernel(allocates=True)
def _count(games: Games, timed: bool, counts: Ints, last: Floats) -> None:
    """Note how games ended for their players, and when they were."""
    for game in range(len(games.names)):
        first, end = games.game_starts[game], games.game_starts[game + 1]
        best, n_best = games.points[first], 0
        for side in range(first, end):
            best = max(best, games.points[side])
        for side in range(first, end):
            n_best += games.points[side] == best
        for side in range(first, end):
            won = _WON if n_best == 1 else _DRAWN
            column = won if games.points[side] == best else _LOST
            for row in range(games.side_starts[side], games.side_starts[side + 1]):
                player = games.players[row]
                counts[player, column] += 1
                last[player] = games.times[game] if timed else math.nan
