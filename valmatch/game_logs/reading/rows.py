"""The rows of a piece of a game log, their cells read as numbers, times, flags and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.game_logs.names import Names, same_bytes
from valmatch.game_logs.reading.cells import Cells, read_flags, read_numbers, read_results
from valmatch.game_logs.reading.columns import Facts, FurtherColumns
from valmatch.game_logs.reading.datetimes import read_times
from valmatch.kernels.arrays import Bools, Bytes, Floats, Ints
from valmatch.kernels.compilation import inlined, njit
from valmatch.ratings.games import Games
from valmatch.ratings.system import FAR, Largest
from valmatch.ratings.zonestats import score_per_hour

# Rows of a log turned into games, each checked.


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


_HEAVIEST = 1e12  # of weights and covariates, whose squares and sums keep their digits

DEFAULT_MINUTES = 20.0  # in a game whose minutes are unknown


class Rows:
    """The rows of a piece of a log.

    Shapes: `buffer` (bytes,).
    """

    def __init__(self, buffer: Bytes, cells: Cells, slots: Mapping[str, int], width: int) -> None:
        self._buffer = buffer
        self._cells = cells
        self._slot = slots
        # reasons, slots: (rows,): the first thing that is wrong with each row, and in which cell
        self.reasons = np.zeros(len(cells.widths), np.int64)
        self.slots = np.zeros(len(cells.widths), np.int64)
        self._note(cells.widths != width, Reason.WIDTH, 0)
        for meaning, slot in slots.items():
            if meaning != "team":
                self._note(cells.starts[:, slot] == cells.ends[:, slot], Reason.MISSING, slot)

    def long(self, game_rows: Ints, players: Names) -> Entries:
        """Return the entries of rows in long format."""
        score = self._scores("score")
        minutes = self._minutes()
        with np.errstate(all="ignore"):  # of rows that are wrong anyway
            rates = 60.0 * np.abs(score) / minutes
        self._note(~(rates <= FAR), Reason.RATE, self._slot["score"])
        enabled = self._flags("enabled", default=1)
        team = "team" if "team" in self._slot else "player"
        return self._entries(game_rows, players, ["player"], [team], score, minutes, score, enabled)

    def results(self, game_rows: Ints, players: Names) -> Entries:
        """Return the entries of rows in results format, the winner's and the loser's by turns."""
        drawn = self._drawn()
        sides = "winner", "loser"
        return self._pairs(game_rows, players, sides, ~drawn, np.zeros_like(drawn))

    def scores(self, game_rows: Ints, players: Names) -> Entries:
        """Return the entries of rows with the scores of home and away, by turns."""
        lead = self._scores("home_score") - self._scores("away_score")
        return self._pairs(game_rows, players, ("home", "away"), lead > 0.0, lead < 0.0)

    def outcomes(self, game_rows: Ints, players: Names) -> Entries:
        """Return the entries of rows with two players and the result, by turns."""
        slot = self._slot["result"]
        starts, ends = self._cells.starts[:, slot], self._cells.ends[:, slot]
        results = read_results(self._buffer, starts, ends, at_home="home" in self._slot)
        self._note(results < 0, Reason.OUTCOME, slot)
        sides = ("home", "away") if "home" in self._slot else ("player_a", "player_b")
        return self._pairs(game_rows, players, sides, results == 1, results == 0)

    def _pairs(
        self,
        game_rows: Ints,
        players: Names,
        sides: Sequence[str],
        first_won: Bools,
        second_won: Bools,
    ) -> Entries:
        """Return the entries of rows with two players each; the winner has the score 1."""
        scores = np.column_stack([first_won, second_won]).ravel().astype(np.float64)
        minutes = np.repeat(self._minutes(), 2)
        enabled = np.ones(len(scores), np.int64)
        recorded = self._recorded(sides)
        return self._entries(game_rows, players, sides, sides, scores, minutes, recorded, enabled)

    def _recorded(self, sides: Sequence[str]) -> Floats:
        """Return the scores of two sides by turns, NaN in logs without them."""
        columns = [f"{side}_score" for side in sides]
        if any(column not in self._slot for column in columns):
            return np.full(2 * len(self.reasons), np.nan)
        return np.column_stack([self._scores(column) for column in columns]).ravel()

    def times(self, kind: str | None) -> Floats:
        """Return the time of each row, see `read_times`; 0 where the log has none."""
        slot = self._slot.get("time")
        if slot is None:
            return np.zeros(len(self.reasons))
        starts, ends = self._cells.starts[:, slot], self._cells.ends[:, slot]
        values = read_times(kind, self._buffer, starts, ends)
        self._note(np.isnan(values), Reason.TIME, slot)
        return values

    def _entries(
        self,
        game_rows: Ints,
        players: Names,
        people: Sequence[str],
        teams: Sequence[str],
        scores: Floats,
        minutes: Floats,
        recorded: Floats,
        enabled: Ints,
    ) -> Entries:
        name_starts, name_ends = self._limits(people)
        team_starts, team_ends = self._limits(teams)
        return Entries(
            game_rows,
            len(people),
            self.reasons,
            self.slots,
            name_starts,
            name_ends,
            team_starts,
            team_ends,
            teams != people,
            players.numbers(self._buffer, name_starts, name_ends)[0],
            scores,
            minutes,
            recorded,
            enabled == 1,
            self._at_home(len(game_rows) - 1),
        )

    def _at_home(self, games: int) -> Bools:
        """Return whether the first entry of each game plays at home; in long format nobody does."""
        if "home" not in self._slot or "player" in self._slot:
            return np.zeros(games, np.bool_)
        neutral: Bools = self._flags("neutral", default=0) == 1
        return ~neutral

    def further(self, game_rows: Ints, columns: FurtherColumns, clusters: Sequence[Names]) -> Facts:
        """Return what else is known of the games, and note what differs within one.

        Shapes: `game_rows` (games + 1,).
        """
        first, n = game_rows[:-1], len(self.reasons)
        weights = np.ones(n)
        if columns.weight:
            slot = self._slot[columns.weight]
            weights = self._numbers(columns.weight)
            self._note((weights < 0.0) | (weights > _HEAVIEST), Reason.WEIGHT, slot)
            self._note_differing(game_rows, weights, slot)
        cells = np.empty((n, len(clusters)), np.int64)
        for k, (key, names) in enumerate(zip(columns.clusters, clusters, strict=True)):
            slot = self._slot[key]
            starts, ends = self._cells.starts[:, slot], self._cells.ends[:, slot]
            cells[:, k] = names.numbers(self._buffer, starts, ends)[0]
            self._note_differing(game_rows, cells[:, k], slot)
        homes = self._homes(game_rows)
        covariates = np.empty((len(homes), len(columns.covariates)))
        for k, keys in enumerate(columns.covariates):
            values = [self._covariate(key) for key in keys]
            if len(homes) > n and len(values) == 1:  # the lead of the first side
                values.append(np.zeros(n))
            covariates[:, k] = np.column_stack(values).ravel()
        return Facts(weights[first], cells[first], covariates, homes)

    def _covariate(self, key: str) -> Floats:
        values = self._numbers(key)
        self._note(np.abs(values) > _HEAVIEST, Reason.COVARIATE, self._slot[key])
        return values

    def _homes(self, game_rows: Ints) -> Floats:
        """Return 1 for each entry that plays at home, else 0."""
        neutral = self._flags("neutral", default=0)
        if "neutral" in self._slot:
            self._note_differing(game_rows, neutral, self._slot["neutral"])
        if "player" in self._slot:
            own: Bools = (self._flags("home", default=0) == 1) & (neutral != 1)
            return own.astype(np.float64)
        at_home = (neutral != 1) & ("home" in self._slot)
        both: Bools = np.column_stack([at_home, np.zeros_like(at_home)])
        return both.ravel().astype(np.float64)

    def _note_differing(self, game_rows: Ints, values: Floats | Ints, slot: int) -> None:
        """Note rows that contradict the first one of their game."""
        first = np.repeat(game_rows[:-1], np.diff(game_rows))
        self._note(values != values[first], Reason.DIFFERS, slot)

    def _limits(self, columns: Sequence[str]) -> tuple[Ints, Ints]:
        """Return the limits of the cells of some columns, row by row."""
        slots = [self._slot[column] for column in columns]
        return self._cells.starts[:, slots].ravel(), self._cells.ends[:, slots].ravel()

    def _numbers(self, column: str) -> Floats:
        slot = self._slot[column]
        starts, ends = self._cells.starts[:, slot], self._cells.ends[:, slot]
        values = read_numbers(self._buffer, starts, ends)
        self._note(np.isnan(values), Reason.NUMBER, slot)
        return values

    def _scores(self, column: str) -> Floats:
        """Return scores, of which neither sums nor differences overflow."""
        values = self._numbers(column)
        self._note(np.abs(values) > FAR, Reason.SCORE, self._slot[column])
        return np.clip(values, -FAR, FAR)

    def _minutes(self) -> Floats:
        if "minutes" not in self._slot:
            return np.full(len(self.reasons), DEFAULT_MINUTES)
        minutes = self._numbers("minutes")
        self._note(minutes <= 0.0, Reason.MINUTES, self._slot["minutes"])
        return minutes

    def _flags(self, column: str, default: int) -> Ints:
        slot = self._slot.get(column)
        if slot is None:
            return np.full(len(self.reasons), default)
        starts, ends = self._cells.starts[:, slot], self._cells.ends[:, slot]
        flags = read_flags(self._buffer, starts, ends)
        self._note(flags < 0, Reason.FLAG, slot)
        return flags

    def _drawn(self) -> NDArray[np.bool_]:
        """Return which games are drawn, and note scores that contradict it."""
        draw = self._flags("draw", default=-1)
        drawn: NDArray[np.bool_] = draw == 1
        if "winner_score" not in self._slot:
            return drawn
        lead = self._scores("winner_score") - self._scores("loser_score")
        if "draw" not in self._slot:
            drawn = lead == 0
        self._note((lead < 0) | drawn & (lead != 0), Reason.RESULT, self._slot["winner_score"])
        return drawn

    def _note(self, wrong: NDArray[np.bool_], reason: Reason, slot: int) -> None:
        """Note what is wrong with rows of which nothing is known yet."""
        first = wrong & (self.reasons == 0)
        self.reasons[first] = reason
        self.slots[first] = slot
