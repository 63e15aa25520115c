"""Some of the games in flat arrays, and games in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from valmatch.kernels.arrays import Ints
from valmatch.ratings.games import Games

_PIECE = 1 << 14  # games of a piece, at which working space does not matter


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


def part(games: Games, first: int, last: int) -> Games:
    """Return the games first..last-1."""
    sides = slice(games.game_starts[first], games.game_starts[last])
    rows = slice(games.side_starts[sides.start], games.side_starts[sides.stop])
    game_starts = games.game_starts[first : last + 1] - sides.start
    side_starts = games.side_starts[sides.start : sides.stop + 1] - rows.start
    return _taken(games, slice(first, last), sides, rows, game_starts, side_starts)


def _taken(
    games: Games,
    which: Ints | slice,
    sides: Ints | slice,
    rows: Ints | slice,
    game_starts: Ints,
    side_starts: Ints,
) -> Games:
    """Return some games, sides and rows of games."""
    return Games(
        games.names[which],
        games.times[which],
        games.homes[which],
        game_starts,
        side_starts,
        games.points[sides],
        games.players[rows],
        games.sides[rows],
        games.rates[rows],
        games.minutes[rows],
        games.scores[sides],
    )


def pieces(
    games: Games, stop: Callable[[], bool] = lambda: False, pairs: int = 1 << 40
) -> Iterator[Games]:
    """Yield the games in parts, until a signal comes: half a rating is of no use.

    Parts have at most so many pairs of players, unless a single game has more.
    """
    sizes = np.diff(games.side_starts[games.game_starts])
    upto = np.cumsum(sizes * (sizes - 1) // 2)
    first = 0
    while first < games.n_games:
        if stop():
            raise KeyboardInterrupt
        before = upto[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(upto, before + pairs, side="right")))
        last = min(last, first + _PIECE)
        yield part(games, first, last)
        first = last
