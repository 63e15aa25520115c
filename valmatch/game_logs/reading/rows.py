"""The rows of a game log: their cells read as numbers, times, flags and results, and as games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from valmatch.game_logs.games import Names
from valmatch.game_logs.reading.cells import CLOCK, Read, Table, read_flags, read_numbers
from valmatch.game_logs.reading.columns import Further, GameFacts, further_key
from valmatch.game_logs.reading.results import FIRST, SECOND, UNFINISHED, UNKNOWN
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.games import Games
from valmatch.ratings.system import FAR


class Reason(IntEnum):
    """What is wrong with a game: in a few words, and where its cell is shown."""

    label: str
    sentence: str

    def __new__(cls, label: str, sentence: str) -> Reason:
        """Return the next reason; they are numbered from 1."""
        reason = int.__new__(cls, len(cls.__members__) + 1)
        reason._value_ = int(reason)
        reason.label, reason.sentence = label, sentence
        return reason

    WIDTH = "wrong number of cells", "the row has {width} cells (allowed: {columns})"
    MISSING = "missing cell", "{column}: the cell is empty"
    NUMBER = "not a number", "{column}: {cell!r} (allowed: a finite number)"
    MINUTES = "minutes not positive", "{column}: {cell!r} (allowed: a number of minutes > 0)"
    FLAG = "neither yes nor no", "{column}: {cell!r} (allowed: yes, no, true, false, 1, 0)"
    TIME = "not a time", "{column}: {cell!r} (allowed: {times})"
    RESULT = (
        "scores contradict the result",
        "{column}: {cell!r} contradicts the other score and the result (allowed: more than the"
        " loser's, as much in a draw)",
    )
    SPLIT = (
        "split apart in the file",
        "{column}: game {cell!r} {apart} (allowed: one run of rows a game)",
    )
    TWICE = "player twice in a game", "{column}: {cell!r} is in this game twice"
    ONE_SIDE = "one side only", "{column}: game {cell!r} has one side only (allowed: two or more)"
    SIZE = (
        "too many players",
        "{column}: game {cell!r} has too many players (allowed: {players:,}, as all pairs of them"
        " are compared)",
    )
    OUTCOME = (
        "not a result",
        "{column}: {cell!r} (allowed: 1-0, 0-1, 1/2-1/2{results}, or a word that {option} has)",
    )
    UNFINISHED = "no result", "{column}: {cell!r}"
    SCORE = (
        "score out of range",
        f"{{column}}: {{cell!r}} (allowed: a number from {-FAR:g} to {FAR:g})",
    )
    RATE = (
        "too much for its minutes",
        f"{{column}}: {{cell!r}} is too much for its minutes (allowed: up to {FAR:g} an hour)",
    )
    WEIGHT = "no weight", "{column}: {cell!r} (allowed: a number from 0 to 1e12)"
    COVARIATE = (
        "covariate out of range",
        "{column}: {cell!r} (allowed: a number from -1e12 to 1e12)",
    )
    DIFFERS = (
        "contradicts itself",
        "{column}: {cell!r} is not what the first row of the game has (allowed: the same in all"
        " rows of a game)",
    )


_HEAVIEST = 1e12  # of weights and covariates, whose squares and sums keep their digits

DEFAULT_MINUTES = 20.0  # in a game whose minutes are unknown


class Entries(NamedTuple):
    """What rows of whole games say of players; a row has one entry, or two of a pair."""

    per_row: int  # entries of a row
    players: Ints  # (entries,) number of the player
    # (entries,) number of the team, another one for each who has none; None: everybody plays alone
    teams: Ints | None
    # scores, minutes: (entries,)
    scores: Floats
    minutes: Floats
    recorded: Floats  # (entries,) the score in the log; NaN where it only says how the game ended
    enabled: Bools  # (entries,) whether the player is rated
    at_home: Bools  # (entries,) whether the player is on the side at home


PEOPLE = ("player", "winner", "loser", "home", "away", "player_a", "player_b")
_NUMBERS = ("score", "minutes", *(f"{side}_score" for side in ("home", "away", "winner", "loser")))
_FLAGS = ("enabled", "draw", "neutral")


def readers(places: Mapping[str, int], further: Further, players: Names) -> dict[str, Read]:
    """Return what reads each column of a log but games, results and times, by its meaning."""
    covariates = [f"{name}{side}" for name in further.covariates for side in _SIDES]
    found: dict[str, Read] = dict.fromkeys(_NUMBERS, read_numbers)
    found |= dict.fromkeys((further_key("covariate", name) for name in covariates), read_numbers)
    found[further_key("weight", further.weight)] = read_numbers
    found |= dict.fromkeys(PEOPLE, players.read) | dict.fromkeys(_FLAGS, read_flags)
    if "player" in places:
        found["home"] = read_flags
    found["team"] = Names(str).read
    for name in further.clusters:
        found[further_key("cluster", name)] = Names(players.spelled).read
    return {meaning: read for meaning, read in found.items() if meaning in places}


_SIDES = ("", "_a", "_b")  # what names of columns of covariates end with


class Rows:
    """Some rows of a log, of whole games."""

    def __init__(self, table: Table, slots: Mapping[str, int], times: Floats) -> None:
        self._columns, self._empty = table.columns, table.empty
        self._slot, self._n = slots, len(table.wrong_width)
        # reasons, slots: (rows,) the first thing that is wrong with each row, and in which cell
        self.reasons, self.slots = np.zeros((2, self._n), np.int64)
        self._note(table.wrong_width, Reason.WIDTH)
        if "result" in slots:
            self._note(table.columns["result"] == UNFINISHED, Reason.UNFINISHED, "result")
        for meaning in slots:
            if meaning not in ("team", CLOCK) and len(table.empty[meaning]):
                empty = np.zeros(self._n, np.bool_)
                empty[table.empty[meaning]] = True
                self._note(empty, Reason.MISSING, meaning)
        self.times = times  # (rows,) NaN where a time is none

    def entries(self, game_rows: Ints) -> Entries:
        """Return the entries of all rows; games begin at some of them."""
        homes = self._homes(game_rows)
        if "player" in self._slot:
            found = self._long(homes)
        elif "winner" in self._slot:
            drawn = self._drawn()
            found = self._pairs(homes, ("winner", "loser"), ~drawn, np.zeros_like(drawn))
        else:
            sides = ("home", "away") if "home" in self._slot else ("player_a", "player_b")
            if "result" in self._slot:
                results = self._columns["result"]
                self._note(results == UNKNOWN, Reason.OUTCOME, "result")
                found = self._pairs(homes, sides, results == FIRST, results == SECOND)
            else:
                lead = self._scores("home_score") - self._scores("away_score")
                found = self._pairs(homes, sides, lead > 0.0, lead < 0.0)
        self._note(np.isnan(self.times), Reason.TIME, "time")
        return found

    def _long(self, homes: Bools) -> Entries:
        """Return the entries of rows with a player each."""
        score = self._scores("score")
        minutes = self._minutes()
        with np.errstate(all="ignore"):  # of rows that are wrong anyway
            rates = _per_hour(np.abs(score), minutes)
        self._note(~(rates <= FAR), Reason.RATE, "score")
        enabled = self._flags("enabled", default=1) == 1
        teams = None
        if "team" in self._slot:
            teams = self._columns["team"].copy()
            alone = self._empty["team"]
            teams[alone] = teams.max(initial=0) + 1 + np.arange(len(alone))
        return Entries(1, self._columns["player"], teams, score, minutes, score, enabled, homes)

    def _pairs(
        self, homes: Bools, sides: Sequence[str], first_won: Bools, second_won: Bools
    ) -> Entries:
        """Return the entries of rows with two players each; the winner has the score 1."""
        scores = np.column_stack([first_won, second_won]).ravel().astype(np.float64)
        minutes, recorded = np.repeat(self._minutes(), 2), np.full(len(scores), np.nan)
        columns = [f"{side}_score" for side in sides]
        if all(column in self._slot for column in columns):
            recorded = np.column_stack([self._scores(column) for column in columns]).ravel()
        numbers = np.column_stack([self._columns[side] for side in sides]).ravel()
        everybody = np.ones(len(scores), np.bool_)
        return Entries(2, numbers, None, scores, minutes, recorded, everybody, homes)

    def further(self, game_rows: Ints, further: Further, homes: Bools) -> GameFacts:
        """Return what else is known of the games, and note what differs within one."""
        first, n = game_rows[:-1], self._n
        weights = np.ones(n)
        if further.weight:
            key = further_key("weight", further.weight)
            weights = self._numbers(key)
            self._note((weights < 0.0) | (weights > _HEAVIEST), Reason.WEIGHT, key)
            self._note_differing(game_rows, weights, key)
        cells = np.empty((n, len(further.clusters)), np.int64)
        for k, key in enumerate(further_key("cluster", name) for name in further.clusters):
            cells[:, k] = self._columns[key]
            self._note_differing(game_rows, cells[:, k], key)
        covariates = np.empty((len(homes), len(further.covariates)))
        for k, name in enumerate(further.covariates):
            single, *pair = (further_key("covariate", f"{name}{side}") for side in _SIDES)
            of_sides = "player" not in self._slot and pair[0] in self._slot
            values = [self._covariate(key) for key in (pair if of_sides else [single])]
            if len(homes) > n and len(values) == 1:  # the lead of the first side
                values.append(np.zeros(n))
            covariates[:, k] = np.column_stack(values).ravel()
        return GameFacts(weights[first], cells[first], covariates, homes.astype(np.float64))

    def _covariate(self, key: str) -> Floats:
        values = self._numbers(key)
        self._note(np.abs(values) > _HEAVIEST, Reason.COVARIATE, key)
        return values

    def _homes(self, game_rows: Ints) -> Bools:
        """Return which entries play at home."""
        neutral = self._flags("neutral", default=0)
        if "neutral" in self._slot:
            self._note_differing(game_rows, neutral, "neutral")
        if "player" in self._slot:
            at_home: Bools = (self._flags("home", default=0) == 1) & (neutral != 1)
            return at_home
        first = (neutral != 1) & ("home" in self._slot)
        return np.column_stack([first, np.zeros_like(first)]).ravel()

    def _numbers(self, meaning: str) -> Floats:
        values: Floats = self._columns[meaning]
        self._note(np.isnan(values), Reason.NUMBER, meaning)
        return values

    def _scores(self, meaning: str) -> Floats:
        """Return scores, of which neither sums nor differences overflow."""
        values = self._numbers(meaning)
        self._note(np.abs(values) > FAR, Reason.SCORE, meaning)
        return np.clip(values, -FAR, FAR)

    def _minutes(self) -> Floats:
        if "minutes" not in self._slot:
            return np.full(self._n, DEFAULT_MINUTES)
        minutes = self._numbers("minutes")
        self._note(minutes <= 0.0, Reason.MINUTES, "minutes")
        return minutes

    def _flags(self, meaning: str, default: int) -> Ints:
        if meaning not in self._slot:
            return np.full(self._n, default)
        flags: Ints = self._columns[meaning]
        self._note(flags < 0, Reason.FLAG, meaning)
        return flags

    def _drawn(self) -> Bools:
        """Return which games are drawn, and note scores that contradict it."""
        drawn: Bools = self._flags("draw", default=-1) == 1
        if "winner_score" not in self._slot:
            return drawn
        lead = self._scores("winner_score") - self._scores("loser_score")
        if "draw" not in self._slot:
            drawn = lead == 0
        self._note((lead < 0) | drawn & (lead != 0), Reason.RESULT, "winner_score")
        return drawn

    def _note(self, wrong: Bools, reason: Reason, meaning: str = "") -> None:
        """Note what is wrong with rows of which nothing is known yet."""
        first = wrong & (self.reasons == 0)
        self.reasons[first] = reason
        self.slots[first] = self._slot.get(meaning, 0)

    def _note_differing(self, game_rows: Ints, values: Floats | Ints, meaning: str) -> None:
        """Note rows that contradict the first one of their game."""
        first = np.repeat(game_rows[:-1], np.diff(game_rows))
        self._note(values != values[first], Reason.DIFFERS, meaning)


def _per_hour(scores: Floats, minutes: Floats) -> Floats:
    """Return `valmatch.ratings.zonestats.score_per_hour` of many."""
    return 60.0 * scores / minutes


class Faults(NamedTuple):
    """What is wrong with each game: the reason, 0 for none, in which row and cell."""

    # (games,) each
    rows: Ints
    reasons: Ints
    slots: Ints

    @classmethod
    def of(cls, rows: Rows, game_rows: Ints) -> Faults:
        """Return what is wrong with the rows of games, which start at some of them."""
        faults = cls(game_rows[:-1].copy(), *np.zeros((2, len(game_rows) - 1), np.int64))
        wrong = np.flatnonzero(rows.reasons)[::-1]  # so that the first row of a game comes last
        games = np.searchsorted(game_rows, wrong, "right") - 1
        faults.reasons[games], faults.slots[games] = rows.reasons[wrong], rows.slots[wrong]
        faults.rows[games] = wrong
        return faults

    def note(self, wrong: Bools, reason: Reason, rows: Ints | None = None) -> None:
        """Note what is wrong with games of which nothing is known yet, if need be in which row."""
        first = wrong & (self.reasons == 0)
        self.reasons[first] = reason
        if rows is not None:
            self.rows[first] = rows[first]


class GroupedGames(NamedTuple):
    """The games of a log."""

    games: Games  # the good games with two or more enabled sides
    unrated: int  # number of good games with fewer
    kept: Ints  # (good games,) which of all games they are
    entries: Ints  # (rows of the good games,) entry of each


def group_games(
    entries: Entries,
    starts: Ints,
    ranks: Ints,
    names: Ints,
    times: Floats,
    most_players: int,
    faults: Faults,
) -> GroupedGames:
    """Check games, and put their enabled players in order; what is wrong is added to `faults`.

    Game k has the entries from ``starts[k]`` up to ``starts[k + 1]``, `ranks` are those of the
    players' names.
    """
    n, sizes = len(names), np.diff(starts)
    game = np.repeat(np.arange(n), sizes)
    order = np.argsort(game * len(ranks) + ranks[entries.players], kind="stable")
    faults.note(sizes > most_players, Reason.SIZE)
    _note_twice(entries, game, order, faults)
    one_side: Bools = sizes == 1
    if entries.teams is not None and n:
        other = entries.teams != entries.teams[np.repeat(starts[:-1], sizes)]
        one_side = ~np.logical_or.reduceat(other, starts[:-1])
    faults.note(one_side, Reason.ONE_SIDE)

    order = order[entries.enabled[order] & (faults.reasons[game[order]] == 0)]
    order, first = _by_side(entries.teams, game, order)
    counts = np.bincount(game[order[first]], minlength=n)  # sides of each game
    unrated = int(((faults.reasons == 0) & (counts < 2)).sum())
    kept = (faults.reasons == 0) & (counts >= 2)
    used = kept[game[order]]
    order, first = order[used], first[used]

    game_starts = _starts(counts[kept])
    game = (np.cumsum(kept) - 1)[game[order]]  # among those that are kept
    side = np.cumsum(first) - 1
    rates = _per_hour(entries.scores[order], entries.minutes[order])
    # Sides of one compare as equation 2 compares players; a team wins by its score.
    alone = np.bincount(game, minlength=len(game_starts) - 1) == counts[kept]
    points = np.where(alone[game], rates, entries.scores[order])
    sides = side - game_starts[game]
    homes = _sides_at_home(game, sides, entries.at_home[order], len(alone))
    games = Games(
        names[kept],
        times[kept],
        homes,
        game_starts,
        np.append(np.flatnonzero(first), len(order)),
        np.bincount(side, points, game_starts[-1]).astype(np.float64),
        entries.players[order],
        sides,
        rates,
        entries.minutes[order],
        np.bincount(side, entries.recorded[order], game_starts[-1]).astype(np.float64),
    )
    return GroupedGames(games, unrated, np.flatnonzero(kept), order)


def _sides_at_home(game: Ints, sides: Ints, at_home: Bools, games: int) -> Ints:
    """Return the side of each game that plays at home; -1 where none does, or more than one."""
    game, sides = game[at_home], sides[at_home]
    homes = np.full(games, -1)
    homes[game] = sides
    homes[game[homes[game] != sides]] = -1
    return homes


def _starts(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _note_twice(entries: Entries, game: Ints, order: Ints, faults: Faults) -> None:
    """Note games that hold a player twice, in the later row of the first such player by name."""
    one, other = order[:-1], order[1:]
    again = (game[one] == game[other]) & (entries.players[one] == entries.players[other])
    again = np.flatnonzero(again)[::-1]
    twice, rows = np.zeros(len(faults.rows), np.bool_), faults.rows.copy()
    twice[game[one[again]]] = True
    rows[game[one[again]]] = np.maximum(one[again], other[again]) // entries.per_row
    faults.note(twice, Reason.TWICE, rows)


def _by_side(teams: Ints | None, game: Ints, order: Ints) -> tuple[Ints, Bools]:
    """Bring the entries of a side together, and say which are the first of their side.

    Sides stand in the order of their first entries, within them the entries stay in their order.
    """
    if teams is None or not len(order):
        return order, np.ones(len(order), np.bool_)
    keys = game[order] * (int(teams.max()) + 1) + teams[order]
    _, heads, side = np.unique(keys, return_index=True, return_inverse=True)
    heads = heads[side.ravel()]
    by_side = np.argsort(heads, kind="stable")
    first = np.ones(len(order), np.bool_)
    first[1:] = np.diff(heads[by_side]) != 0
    return order[by_side], first
