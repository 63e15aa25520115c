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
from valmatch.kernels.arrays import Floats
from valmatch.ratings.games import Games, Players
from valmatch.ratings.system import System
from valmatch.storage.result_files import ResultFiles

RATINGS = "ratings.csv"

COUNTS = ("wins", "losses", "draws")
"""Columns of how many games a player's side won, was not among the best of, or shared the first
place of."""

_WON, _LOST, _DRAWN = range(3)

LAST_GAME = "last_game"

CHANGES = "changes.csv"  # by how much ratings are higher than the earlier ones, in their order


def nobody_at_home(values: Mapping[str, float], at_home: bool, neutral: bool = False) -> str:
    """Say that an advantage of playing at home counts in no game; or nothing."""
    advantage = values.get("home_advantage", 0.0)
    if at_home or not advantage:
        return ""
    why = "all are on neutral ground" if neutral else "there are no columns home and away"
    return f"home_advantage = {advantage!r} counts in no game: {why}"


class RatedPlayer(NamedTuple):
    """A player of previous ratings, as a ``ratings.csv`` has them."""

    player: str  # the name
    state: Sequence[float]  # what the system keeps of a player
    games: int  # games rated before
    counts: Sequence[int]  # those of them by `COUNTS`, as far as that is known
    last: float  # time of the last; NaN if it is not known
    dated: bool  # whether that is a moment, in seconds since 1970


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
        others = ("games", *COUNTS, LAST_GAME, "change")
        return {
            **{"rank": self.ranks, "player": self.players, "rating": self.ratings},
            **{name: getattr(self, name) for name in others},
            **self.state,
        }


def read_ranking(files: ResultFiles, system: System) -> Ranking:
    """Return the ranking that a folder holds."""
    more = [column.name for column in system.columns if column.name != "rating"]
    last = [LAST_GAME] if LAST_GAME in files.header(RATINGS) else []
    counts = ("games", *COUNTS)
    table = files.table(RATINGS, ("rank", "rating", *counts, *more), ("player", *last))
    numbers = {name: column.tolist() for name, column in table.numbers.items()}
    changes = [math.nan] * len(table)
    if files.has(CHANGES):
        changes = files.table(CHANGES, ("change",)).numbers["change"].tolist()
    return Ranking(
        ranks=list(map(int, numbers["rank"])),
        players=table.texts["player"],
        ratings=numbers["rating"],
        **{name: list(map(int, numbers[name])) for name in counts},
        last_game=table.texts.get(LAST_GAME, [""] * len(table)),
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
        state = np.tile(np.array(system.newcomer(values), np.float64), (n, 1))
        self._players = Players(state, np.zeros(n, np.int64))
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
        """Predict and rate the next games, at least one."""
        played = unplayed(games, self.tally)
        play(self.system, self.values, games, self._players, burn_in, played)
        n_sides, sizes = np.diff(games.game_starts), np.diff(games.side_starts)
        best = np.maximum.reduceat(games.points, games.game_starts[:-1])
        is_best = games.points == np.repeat(best, n_sides)
        shared = np.repeat(np.add.reduceat(is_best, games.game_starts[:-1], dtype=int) > 1, n_sides)
        results = np.where(is_best, np.where(shared, _DRAWN, _WON), _LOST)
        cells = len(COUNTS) * games.players + np.repeat(results, sizes)
        np.add.at(self._counts.ravel(), cells, 1)
        if self._timed:  # of a player's games the last one counts
            self._last[games.players] = np.repeat(np.repeat(games.times, n_sides), sizes)
        else:
            self._last[games.players] = np.nan
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
        changes = (shown - self._before[numbers]).tolist()
        state = self._players.state[numbers]
        columns = enumerate(column.name for column in self.system.columns)
        return Ranking(
            ranks=ranks.tolist(),
            players=[self.names.texts[number] for number in numbers.tolist()],
            ratings=shown.tolist(),
            games=self._players.games[numbers].tolist(),
            **dict(zip(COUNTS, self._counts[numbers].T.tolist(), strict=True)),
            last_game=[time_text(value, dated) for value in self._last[numbers].tolist()],
            change=[None if math.isnan(x) else x for x in changes],
            state={name: state[:, k].tolist() for k, name in columns if name != "rating"},
        )
