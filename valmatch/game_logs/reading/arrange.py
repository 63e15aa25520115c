"""Rows of a log turned into games, each checked."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from valmatch.game_logs.names import same_bytes
from valmatch.kernels.arrays import Bools, Bytes, Floats, Ints
from valmatch.kernels.compilation import inlined, njit
from valmatch.ratings.games import Games
from valmatch.ratings.system import Largest
from valmatch.ratings.zonestats import score_per_hour


class Reason(IntEnum):
    """What is wrong with a game."""

    NONE = 0
    WIDTH = 1
    MISSING = 2
    NUMBER = 3
    MINUTES = 4
    FLAG = 5
    TIME = 6
    RESULT = 7
    SPLIT = 8
    TWICE = 9
    ONE_SIDE = 10
    SIZE = 11
    OUTCOME = 12
    SCORE = 13
    RATE = 14
    WEIGHT = 15
    COVARIATE = 16
    DIFFERS = 17
    SIDES = 18


class Entries(NamedTuple):
    """What rows of whole games say of players; a row has one entry, or two in results format."""

    game_rows: Ints  # (games + 1,): first row of each game
    per_row: int  # entries of a row
    # reasons, slots: (rows,): what is wrong with each row by itself, and in which cell
    reasons: Ints
    slots: Ints
    # name_starts, name_ends: (entries,): limits of the player's name
    name_starts: Ints
    name_ends: Ints
    # team_starts, team_ends: (entries,): limits of the team's name; the player's in a log without
    # teams. Whoever's team has no name plays alone
    team_starts: Ints
    team_ends: Ints
    teams: bool  # whether teams are given
    players: Ints  # (entries,): number of the player
    # scores, minutes: (entries,)
    scores: Floats
    minutes: Floats
    recorded: Floats  # (entries,): the score in the log; NaN where it only says how the game ended
    enabled: Bools  # (entries,): whether the player is rated
    home: Bools  # (games,): whether the first entry of the game plays at home; else nobody does


class Arranged(NamedTuple):
    """Games in arrays."""

    games: Games  # the good games with two or more enabled sides
    reasons: Ints  # (all games,): what is wrong with each game
    # rows, slots: (all games,): in which row and cell
    rows: Ints
    slots: Ints
    unrated: int  # number of good games with fewer than two enabled sides
    kept: Ints  # (good games,): which of all games they are
    entries: Ints  # (rows of the good games,): entry of each


@njit
def starts_of_games(buffer: Bytes, starts: Ints, ends: Ints) -> Ints:
    """Return the first row of each run of equal names, and the number of rows at last."""
    rows = np.empty(len(starts) + 1, np.int64)
    n = 0
    for row in range(len(starts)):
        if row == 0 or not same_bytes(
            buffer, starts[row], ends[row], buffer, starts[row - 1], ends[row - 1]
        ):
            rows[n] = row
            n += 1
    rows[n] = len(starts)
    return rows[: n + 1]


def arrange(
    buffer: Bytes,
    entries: Entries,
    names: Ints,
    times: Floats,
    split: Bools,
    largest: Largest,
) -> Arranged:
    """Check games and put their enabled players in order.

    Shapes: `buffer` (bytes,); `names` (games,); `times` (games,); `split` (games,).
    """
    n_games, n_entries = len(names), len(entries.players)
    faults = np.zeros((3, n_games), np.int64)
    taken = np.empty(n_games, np.int64)
    room = Games(
        names,
        times,
        np.full(n_games, -1),
        np.zeros(n_games + 1, np.int64),
        np.zeros(n_entries + 1, np.int64),
        np.empty(n_entries),
        np.empty(n_entries, np.int64),
        np.empty(n_entries, np.int64),
        np.empty(n_entries),
        np.empty(n_entries),
        np.empty(n_entries),
    )
    chosen = np.empty(n_entries, np.int64)
    n, unrated = _arrange(buffer, entries, split, largest, faults, taken, chosen, room)
    usable = taken[:n]
    n_sides = int(room.game_starts[n])
    rows = slice(0, int(room.side_starts[n_sides]))
    games = Games(
        names[usable],
        times[usable],
        room.homes[:n],
        room.game_starts[: n + 1],
        room.side_starts[: n_sides + 1],
        room.points[:n_sides],
        room.players[rows],
        room.sides[rows],
        room.rates[rows],
        room.minutes[rows],
        room.scores[:n_sides],
    )
    reasons, places, slots = faults
    return Arranged(games, reasons, places, slots, int(unrated), usable, chosen[rows])


@njit
def _arrange(
    buffer: Bytes,
    entries: Entries,
    split: Bools,
    largest: Largest,
    faults: Ints,
    taken: Ints,
    chosen: Ints,
    games: Games,
) -> tuple[int, int]:
    """Fill the arrays; return the number of games kept and of those without two enabled sides.

    `taken` becomes which games are kept, `chosen` the entries of their rows; `games` has room for
    all, its names and times stay.
    """
    n, n_sides, n_rows, unrated = 0, 0, 0, 0
    order = np.empty(len(entries.players), np.int64)
    side_of = np.empty(len(entries.players), np.int64)
    heads = np.empty(len(entries.players), np.int64)
    for game in range(len(split)):
        lo = entries.game_rows[game] * entries.per_row
        hi = entries.game_rows[game + 1] * entries.per_row
        if _row_fault(entries, game, faults):
            continue
        if split[game]:
            faults[0, game], faults[1, game] = Reason.SPLIT, entries.game_rows[game]
            continue
        if hi - lo > largest.players:
            faults[0, game], faults[1, game] = Reason.SIZE, entries.game_rows[game]
            continue
        _sort_by_name(buffer, entries, lo, hi, order)
        if _game_fault(buffer, entries, game, lo, hi, order, faults):
            continue
        size = _enabled(entries, hi - lo, order)
        count = _number_sides(buffer, entries, size, order, side_of, heads)
        if count < 2:
            unrated += 1
            continue
        if count > largest.sides:
            faults[0, game], faults[1, game] = Reason.SIDES, entries.game_rows[game]
            continue
        _sort_by_side(size, order, side_of)
        for k in range(size):
            entry, row = order[k], n_rows + k
            chosen[row] = entry
            if entries.home[game] and entry == lo:
                games.homes[n] = side_of[k]
            rate = score_per_hour(entries.scores[entry], entries.minutes[entry])
            games.players[row], games.sides[row] = entries.players[entry], side_of[k]
            games.rates[row], games.minutes[row] = rate, entries.minutes[entry]
            side = n_sides + side_of[k]
            if k == 0 or side_of[k] != side_of[k - 1]:
                games.side_starts[side] = row
                games.points[side] = games.scores[side] = 0.0
            games.scores[side] += entries.recorded[entry]
            # Sides of one compare as equation 2 compares players; a team wins by its score.
            games.points[side] += rate if count == size else entries.scores[entry]
        n_rows += size
        n_sides += count
        games.side_starts[n_sides] = n_rows
        taken[n] = game
        n += 1
        games.game_starts[n] = n_sides
    return n, unrated


@inlined
def _row_fault(entries: Entries, game: int, faults: Ints) -> bool:
    """Note the first row of a game that is wrong by itself; return whether there is one."""
    for row in range(entries.game_rows[game], entries.game_rows[game + 1]):
        if entries.reasons[row]:
            faults[0, game], faults[1, game] = entries.reasons[row], row
            faults[2, game] = entries.slots[row]
            return True
    return False


@inlined
def _game_fault(
    buffer: Bytes,
    entries: Entries,
    game: int,
    lo: int,
    hi: int,
    order: Ints,
    faults: Ints,
) -> bool:
    """Note a player who is there twice, or that there is one side only; return whether."""
    for k in range(1, hi - lo):
        if entries.players[order[k]] == entries.players[order[k - 1]]:
            faults[0, game] = Reason.TWICE
            faults[1, game] = max(order[k], order[k - 1]) // entries.per_row
            return True
    for entry in range(lo + 1, hi):
        if not _same_team(buffer, entries, entry, lo):
            return False
    faults[0, game], faults[1, game] = Reason.ONE_SIDE, entries.game_rows[game]
    return True


@inlined
def _same_team(buffer: Bytes, entries: Entries, a: int, b: int) -> bool:
    starts, ends = entries.team_starts, entries.team_ends
    named = starts[a] < ends[a]
    return named and same_bytes(buffer, starts[a], ends[a], buffer, starts[b], ends[b])


@inlined
def _before(buffer: Bytes, entries: Entries, a: int, b: int) -> bool:
    """Return whether the name of entry `a` comes before that of `b`, byte by byte."""
    at_a, at_b = entries.name_starts[a], entries.name_starts[b]
    end_a, end_b = entries.name_ends[a], entries.name_ends[b]
    while at_a < end_a and at_b < end_b:
        if buffer[at_a] != buffer[at_b]:
            return bool(buffer[at_a] < buffer[at_b])
        at_a += 1
        at_b += 1
    return bool(end_a - at_a < end_b - at_b)


@inlined
def _sort_by_name(buffer: Bytes, entries: Entries, lo: int, hi: int, order: Ints) -> None:
    """Put the entries lo..hi-1 into `order` by name."""
    for k in range(hi - lo):
        at = k
        while at > 0 and _before(buffer, entries, lo + k, order[at - 1]):
            order[at] = order[at - 1]
            at -= 1
        order[at] = lo + k


@inlined
def _enabled(entries: Entries, size: int, order: Ints) -> int:
    """Keep the enabled entries in `order`; return their number."""
    n = 0
    for k in range(size):
        if entries.enabled[order[k]]:
            order[n] = order[k]
            n += 1
    return n


@inlined
def _number_sides(
    buffer: Bytes,
    entries: Entries,
    size: int,
    order: Ints,
    side_of: Ints,
    heads: Ints,
) -> int:
    """Fill `side_of` in the order of the sides' first entries; return how many there are."""
    count = 0
    for k in range(size):
        side = count
        if entries.teams:
            side = 0
            while side < count and not _same_team(buffer, entries, order[k], heads[side]):
                side += 1
        if side == count:
            heads[count] = order[k]
            count += 1
        side_of[k] = side
    return count


@inlined
def _sort_by_side(size: int, order: Ints, side_of: Ints) -> None:
    """Bring the entries of a side together; within it they stay by name."""
    for k in range(1, size):
        entry, side, at = order[k], side_of[k], k
        while at > 0 and side_of[at - 1] > side:
            order[at], side_of[at] = order[at - 1], side_of[at - 1]
            at -= 1
        order[at], side_of[at] = entry, side
