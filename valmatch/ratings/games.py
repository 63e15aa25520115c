"""Games as flat arrays, and what a rating system works out of them."""

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.compilation import macro


class Games(NamedTuple):
    """Games in play order, of enabled players alone, with at least two sides each."""

    # In a log, sides stand in the order of their alphabetically first player, players of a side in
    # that of their names, so that nothing depends on the order of rows in a file.

    names: Ints  # (games,): number of each game's name
    times: Floats  # (games,): moment of each game; 0 where the log has no times
    # (games,): the side that plays at home, counted from 0 in each game; -1 where none does
    homes: Ints
    game_starts: Ints  # (games + 1,): first side of each game
    side_starts: Ints  # (sides + 1,): first row of each side
    points: Floats  # (sides,): what decides the game: the greater number wins, equal numbers draw
    players: Ints  # (rows,): number of each row's player
    sides: Ints  # (rows,): side of each row, counted from 0 in each game
    rates: Floats  # (rows,): scores per hour
    minutes: Floats  # (rows,): minutes in the game
    # (sides,): the score of each side as it was recorded; NaN where only the result is known
    scores: Floats

    @property
    def n_games(self) -> int:
        """Number of games."""
        return len(self.names)


class Players(NamedTuple):
    """What is known of the players, by number."""

    state: Floats  # (players, columns of the system) float64
    games: Ints  # (players,) int64, games rated


class Assessment(NamedTuple):
    """What a rating system works out of some games, filled game by game."""

    strengths: Floats  # (sides,) strength of each side before the game
    spreads: Floats  # (sides,) uncertainty of that strength, as a variance
    expected: Floats  # (sides,) sum of the expected scores against the other sides
    scored: Floats  # (sides,) sum of the scores against the other sides
    gains: Floats  # (rows,) zonestats alone: points of each player
    offsets: Floats  # (rows,) zonestats alone: sum of each player's points before the cap
    scales: Floats  # (games,) zonestats alone: factor of the cap
    work: Floats  # (sides, `WORK`) memory of a system while it rates a game


WORK = 7  # numbers that a system may remember of each side while it rates a game


def unassessed(games: Games) -> Assessment:
    """Return the arrays for what will be worked out of some games."""
    sides, rows = len(games.points), len(games.players)
    sizes = (sides, sides, sides, sides, rows, rows, games.n_games, (sides, WORK))
    return Assessment._make(map(np.empty, sizes))


def one_game(sizes: Ints) -> Games:
    """Return a game of so many players a side, numbered side by side; nobody has scored yet."""
    n = int(sizes.sum())
    return Games(
        names=np.zeros(1, np.int64),
        times=np.zeros(1),
        homes=np.full(1, -1),
        game_starts=np.array([0, len(sizes)]),
        side_starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        points=np.zeros(len(sizes)),
        players=np.arange(n),
        sides=np.repeat(np.arange(len(sizes)), sizes),
        rates=np.zeros(n),
        minutes=np.ones(n),
        scores=np.full(len(sizes), np.nan),
    )


@macro
def score_of(games: Games, a: int, b: int) -> float:
    """Return the score of side `a` against side `b`: 1, 0.5 or 0."""
    if games.points[a] == games.points[b]:
        return 0.5
    return 1.0 if games.points[a] > games.points[b] else 0.0


@macro
def order_sides(first: int, last: int, games: Games, work: Floats) -> None:
    """Put the sides of a game in the first column of `work`, the best first; ties keep order."""
    for side in range(first, last):
        position = side
        while position > first and games.points[int(work[position - 1, 0])] < games.points[side]:
            work[position, 0] = work[position - 1, 0]
            position -= 1
        work[position, 0] = side


@macro
def open_game(game: int, games: Games, sums: Assessment) -> None:
    """Begin a game: no side has an expected score or a score yet."""
    for side in range(games.game_starts[game], games.game_starts[game + 1]):
        sums.expected[side] = sums.scored[side] = 0.0


@macro
def add_scores(a: int, b: int, expected: float, games: Games, sums: Assessment) -> float:
    """Add the scores of two sides against each other; return that of side `a`."""
    score = score_of(games, a, b)
    sums.expected[a] += expected
    sums.expected[b] += 1.0 - expected
    sums.scored[a] += score
    sums.scored[b] += 1.0 - score
    return score
