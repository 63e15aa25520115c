"""Parts of games in flat arrays, and games put together of parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from valmatch.kernels.arrays import Ints
from valmatch.kernels.compilation import njit
from valmatch.ratings.games import Games

_PIECE = 1 << 14  # games


def part(games: Games, first: int, last: int) -> Games:
    """Return the games first..last-1."""
    sides = slice(games.game_starts[first], games.game_starts[last])
    rows = slice(games.side_starts[sides.start], games.side_starts[sides.stop])
    return Games(
        games.names[first:last],
        games.times[first:last],
        games.homes[first:last],
        games.game_starts[first : last + 1] - sides.start,
        games.side_starts[sides.start : sides.stop + 1] - rows.start,
        games.points[sides],
        games.players[rows],
        games.sides[rows],
        games.rates[rows],
        games.minutes[rows],
        games.scores[sides],
    )


def pieces(games: Games, pairs: int = 1 << 40) -> Iterator[Games]:
    """Yield the games in parts of a size at which working space does not matter.

    They have at most so many pairs of players, unless a single game has more.
    """
    sizes = np.diff(games.side_starts[games.game_starts])
    upto = np.cumsum(sizes * (sizes - 1) // 2)
    first = 0
    while first < games.n_games:
        before = upto[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(upto, before + pairs, side="right")))
        last = min(last, first + _PIECE)
        yield part(games, first, last)
        first = last


def until_stopped(parts: Iterable[Games], stop: Callable[[], bool]) -> Iterator[Games]:
    """Pass parts on until a signal comes; half a rating is of no use."""
    for games in parts:
        if stop():
            raise KeyboardInterrupt
        yield games


def joined(parts: Sequence[Games]) -> Games:
    """Return all games of at least one part, one part after the other."""
    names, times, homes, _, _, points, players, sides, rates, minutes, scores = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    return Games(
        names,
        times,
        homes,
        _joined_starts([games.game_starts for games in parts]),
        _joined_starts([games.side_starts for games in parts]),
        points,
        players,
        sides,
        rates,
        minutes,
        scores,
    )


def _joined_starts(parts: Sequence[Ints]) -> Ints:
    lengths = np.concatenate([np.diff(starts) for starts in parts])
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def reordered(games: Games, order: Ints) -> Games:
    """Return the games in another order."""
    sides, game_starts = _gathered(games.game_starts, order)
    rows, side_starts = _gathered(games.side_starts, sides)
    return Games(
        games.names[order],
        games.times[order],
        games.homes[order],
        game_starts,
        side_starts,
        games.points[sides],
        games.players[rows],
        games.sides[rows],
        games.rates[rows],
        games.minutes[rows],
        games.scores[sides],
    )


@njit
def _gathered(starts: Ints, order: Ints) -> tuple[Ints, Ints]:
    """Return the members of the groups in `order`, with the starts of the groups among them."""
    new_starts = np.zeros(len(order) + 1, np.int64)
    for k in range(len(order)):
        new_starts[k + 1] = new_starts[k] + starts[order[k] + 1] - starts[order[k]]
    members = np.empty(new_starts[-1], np.int64)
    for k in range(len(order)):
        for m in range(new_starts[k + 1] - new_starts[k]):
            members[new_starts[k] + m] = starts[order[k]] + m
    return members, new_starts
