"""A game log: a file of games, read and checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.games import Names, Titles, joined, reordered
from valmatch.game_logs.options import LogOptions
from valmatch.game_logs.reading.cells import (
    CLOCK,
    DATES,
    DRAWN,
    FIRST,
    NUMBERS,
    SECOND,
    UNFINISHED,
    UNKNOWN,
    Read,
    Results,
    Table,
    Times,
    read_flags,
    read_numbers,
    read_table,
    with_clock,
)
from valmatch.game_logs.reading.columns import (
    LONG,
    Further,
    GameFacts,
    find_columns,
    further_key,
    place_further,
)
from valmatch.game_logs.reading.tables import CSV, JSON, GameFile, Row
from valmatch.inputs.csv_reader import SEPARATORS, BadRows, unmark
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.games import Games
from valmatch.ratings.system import FAR, MOST_PLAYERS
from valmatch.text.terminal import VALUE, Note, shortened, shown

# The rows of a game log: their cells read as numbers, times, flags and results, and as games.


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
    known: dict[str, Read] = dict.fromkeys(_NUMBERS, read_numbers)
    known |= dict.fromkeys((further_key("covariate", name) for name in covariates), read_numbers)
    known[further_key("weight", further.weight)] = read_numbers
    known |= dict.fromkeys(PEOPLE, players.read) | dict.fromkeys(_FLAGS, read_flags)
    if "player" in places:
        known["home"] = read_flags
    known["team"] = Names(str).read
    for name in further.clusters:
        known[further_key("cluster", name)] = Names(players.spelled).read
    return {meaning: read for meaning, read in known.items() if meaning in places}


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
            entries = self._long(homes)
        elif "winner" in self._slot:
            drawn = self._drawn()
            entries = self._pairs(homes, ("winner", "loser"), ~drawn, np.zeros_like(drawn))
        else:
            sides = ("home", "away") if "home" in self._slot else ("player_a", "player_b")
            if "result" in self._slot:
                results = self._columns["result"]
                self._note(results == UNKNOWN, Reason.OUTCOME, "result")
                won, lost = results == FIRST, results == SECOND
            else:
                lead = self._scores("home_score") - self._scores("away_score")
                won, lost = lead > 0.0, lead < 0.0
            entries = self._pairs(homes, sides, won, lost)
        self._note(np.isnan(self.times), Reason.TIME, "time")
        return entries

    def _long(self, homes: Bools) -> Entries:
        """Return the entries of rows with a player each."""
        score = self._scores("score")
        minutes = self._minutes()
        with np.errstate(all="ignore"):  # of rows that are wrong anyway
            rates = 60.0 * np.abs(score) / minutes
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
            keys = pair if of_sides else [single]
            values = list(map(self._numbers, keys))
            for key, column in zip(keys, values, strict=True):
                self._note(np.abs(column) > _HEAVIEST, Reason.COVARIATE, key)
            if len(homes) > n and len(values) == 1:  # the lead of the first side
                values.append(np.zeros(n))
            covariates[:, k] = np.column_stack(values).ravel()
        return GameFacts(weights[first], cells[first], covariates, homes.astype(np.float64))

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
    """Check games, and put their enabled players in order; what is wrong is added to `faults`."""
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

    game_starts = np.concatenate([[0], np.cumsum(counts[kept])])
    game = (np.cumsum(kept) - 1)[game[order]]  # among those that are kept
    side = np.cumsum(first) - 1
    rates = 60.0 * entries.scores[order] / entries.minutes[order]
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


def _note_twice(entries: Entries, game: Ints, order: Ints, faults: Faults) -> None:
    """Note games that hold a player twice, in the later row of the first such player by name."""
    entry, later = order[:-1], order[1:]
    again = (game[entry] == game[later]) & (entries.players[entry] == entries.players[later])
    again = np.flatnonzero(again)[::-1]
    twice, rows = np.zeros(len(faults.rows), np.bool_), faults.rows.copy()
    twice[game[entry[again]]] = True
    rows[game[entry[again]]] = np.maximum(entry[again], later[again]) // entries.per_row
    faults.note(twice, Reason.TWICE, rows)


def _by_side(teams: Ints | None, game: Ints, order: Ints) -> tuple[Ints, Bools]:
    """Bring the entries of a side together, and say which are the first of their side."""
    if teams is None or not len(order):
        return order, np.ones(len(order), np.bool_)
    keys = game[order] * (int(teams.max()) + 1) + teams[order]
    _, heads, side = np.unique(keys, return_index=True, return_inverse=True)
    heads = heads[side.ravel()]
    by_side = np.argsort(heads, kind="stable")
    first = np.ones(len(order), np.bool_)
    first[1:] = np.diff(heads[by_side]) != 0
    return order[by_side], first


_MOST_ERRORS = 10


class GameLog:
    """A file of games, read and checked; `valmatch rate --help` says what it may hold."""

    def __init__(
        self,
        path: Path,
        options: LogOptions = LogOptions(),  # noqa: B008 - never changed
        most_players: int = MOST_PLAYERS,
        further: Further | None = None,
        *,
        unused: Collection[str] = (),
        before: Mapping[str, Any] | None = None,
    ) -> None:
        self.file = file = GameFile(path, options.separator)
        self.path, self.name, self.size = file.path, file.name, file.size
        if before:
            options = _with_earlier(file.header, options, before)
        self._most_players = most_players
        used: Sequence[str] = ()
        if further:
            used = further.names(file.header)
            unused = {*unused, "minutes", *(() if further.timed_by else ("time", CLOCK))}
        self.columns = find_columns(  # which column is which
            file.where, file.header, options, used=used, unused=unused, sample=file.sample
        )
        self._further = further
        if further:
            self.columns = place_further(file.where, self.columns, further)
        self._slot = {meaning: slot for slot, meaning in enumerate(self.columns.places)}
        self.timed = "time" in self._slot  # whether games have times
        self._options = options
        self._times, self._results = Times((), None), Results(options.results, self.at_home)
        if self.timed:
            dates = file.sample(self._column("time"))
            if CLOCK in self._slot:
                clocks = [*file.sample(self._column(CLOCK)), *len(dates) * [""]]
                dates = with_clock(dates, clocks[: len(dates)])
            self._times = Times(dates, options.date_format)
        self.players = Names(options.aliases.spelled)  # names of players
        # names of games; None without a column for it
        self.game_names: Titles | None = None
        if "game" in self._slot:
            self.game_names = Titles(runs=self.columns.format.name == LONG.name)
        most_bad, self._aliases = options.most_bad, options.aliases
        self._skip = most_bad is not None
        # the games left out
        self.bad = BadRows(self.name, self._skip, most_bad or 0.0, what="game")
        self.unrated = 0  # number of games with fewer than two sides of enabled players
        self.unfinished = 0  # number of games without a result
        self.undated = 0  # number of rows without a time in a column that was taken for times

    @property
    def at_home(self) -> bool:
        """Whether games have a side that plays at home."""
        return "home" in self._slot

    @property
    def scored(self) -> bool:
        """Whether games have scores, and not only results."""
        return any(name in self._slot for name in ("score", "home_score", "winner_score"))

    @property
    def dated(self) -> bool:
        """Whether times are moments, in seconds since 1970."""
        return self.timed and self._times.kind not in (None, NUMBERS)

    @property
    def reading(self) -> dict[str, Any]:
        """How the file was understood, once it is read; a later log may be read so, too."""
        return {
            "format": self.file.format,
            "separator": self.file.separator if self.file.format == CSV else None,
            "columns": {m: self.columns.names[at] for m, at in self.columns.places.items()},
            "guessed": list(self.columns.guessed),
            "results": dict(self._options.results),
            "words": self._results.described(),
            "times": self._times.kind if self.timed else None,
            "date_format": self._times.order if self.timed else None,
        }

    def understood(self) -> list[Note]:
        """Say how the file was understood, once it is read, if anything of it was guessed."""
        reading, words = self.reading, self._results.described()
        kind, separator = reading["times"], reading["separator"]
        usual = kind in (None, NUMBERS, DATES) or self._options.date_format
        guessed = [m for m in self.columns.guessed if m in self.columns.places]
        plain = separator in (",", self._options.separator) and reading["format"] == CSV
        if plain and usual and not (guessed or words):
            return []
        parts = [reading["format"]]
        if separator not in (",", None):
            named = (name for name, between in SEPARATORS.items() if between == separator)
            parts.append(f"separator {next(named)}")
        for meaning, name in reading["columns"].items():
            more = words if meaning == "result" else kind if meaning == "time" else ""
            if meaning in guessed or (more and more != DATES):
                column = f"{meaning}: {shortened(name, VALUE)}"
                parts.append(f"{column} ({more})" if more else column)
        return [Note(f"{self.name}: read as {', '.join(parts)}", "guessed_format")]

    def _column(self, meaning: str) -> str:
        return self.columns.names[self.columns.places[meaning]]

    def games(self, progress: Callable[[int], None]) -> Games:
        """Return the games in play order."""
        games, _ = self._read(progress)
        if (np.diff(games.times) >= 0.0).all():
            return games
        return reordered(games, np.argsort(games.times, kind="stable"))

    def games_with_facts(self, progress: Callable[[int], None]) -> tuple[Games, GameFacts]:
        """Return the games in the order of the file, one at least, and what is known of them."""
        games, facts = self._read(progress)
        if not games.n_games:
            raise InputError(f"{self.name}: holds no game that can be rated")
        assert facts is not None
        return games, facts

    def _read(self, progress: Callable[[int], None]) -> tuple[Games, GameFacts | None]:
        """Return the games in the order of the file, and what else is to be known of them."""
        table, times = self._table(progress)
        first_rows, first = self._games_of(table)
        n = len(first_rows) - 1
        again = first != np.arange(n)
        # The first piece of a game is all right, unless bad games are left out: then none is.
        split_apart = np.isin(first, first[again]) if self._skip else again
        faults, ranks, unrated = Faults(*np.zeros((3, n), np.int64)), self.players.ranks(), 0
        parts, facts = list[Games](), list[GameFacts]()
        for lo, hi in _pieces(first_rows):
            row, end = int(first_rows[lo]), int(first_rows[hi])
            rows = Rows(table.part(row, end), self._slot, times[row:end])
            starts = first_rows[lo : hi + 1] - row
            entries, of_games = rows.entries(starts), None
            if self._further:
                of_games = rows.further(starts, self._further, entries.at_home)
            wrong = Faults.of(rows, starts)
            wrong.note(split_apart[lo:hi], Reason.SPLIT)
            of_rows = np.minimum.reduceat(rows.times, starts[:-1])
            names, starts = np.arange(lo, hi), starts * entries.per_row
            grouped = group_games(entries, starts, ranks, names, of_rows, self._most_players, wrong)
            for column, part in zip(faults, wrong._replace(rows=wrong.rows + row), strict=True):
                column[lo:hi] = part
            parts.append(grouped.games)
            unrated += grouped.unrated
            if of_games is not None:
                facts.append(of_games.at(grouped.kept, grouped.entries))
        del table, times
        self.unfinished = int((faults.reasons == Reason.UNFINISHED).sum())
        self._judge(faults, first, split_apart)
        self.unrated = unrated
        games = joined(parts)
        self.bad.check(games.n_games + unrated)
        self._aliases.check(self.name, self.players)
        return games, GameFacts(*map(np.concatenate, zip(*facts, strict=True))) if facts else None

    def _table(self, progress: Callable[[int], None]) -> tuple[Table, Floats]:
        """Return the columns that are wanted, and the time of each row."""
        wanted = readers(self.columns.places, self._further or Further(), self.players)
        if self.game_names is not None:
            wanted["game"] = self.game_names.read
        if "result" in self._slot:
            wanted["result"] = self._results.read
        if self.timed:
            wanted["time"] = self._times.read
        table = read_table(self.file.blocks(progress), self.columns.places, wanted)
        if "result" in self._slot:
            self._understand_results(table)
        if not self.timed:
            return table, np.zeros(len(table.wrong_width))
        return table, self._understood_times(table)

    def _understand_results(self, table: Table) -> None:
        """Turn the words of results into who won."""
        sides = ("home", "away") if self.at_home else ("player_a", "player_b")
        blank = UNKNOWN
        if self.file.format == JSON and self._column("result").endswith("winner"):
            blank, table.empty["result"] = DRAWN, table.empty["result"][:0]
        words = table.columns["result"].astype(np.int32, copy=False)
        numbers = [table.columns[side] for side in sides]
        table.columns["result"] = self._results.outcomes(words, numbers, self.players, blank)

    def _understood_times(self, table: Table) -> Floats:
        """Return the time of each row; of a column that was only taken for times, if all are."""
        read = table.columns.pop("time")
        if (row := self._times.unsettled(read)) is not None:
            text, at = self.file.rows_at({row})[row], self.columns.places["time"]
            raise InputError(
                f"{self.name}:{self.file.place(text, at)}: {self._column('time')}:"
                f" {shown(self.file.cell(text, at))} is day, month, year or month, day, year, and"
                f" no date shows which ({option('date_format')} dmy or mdy says so;"
                f" {option('columns')} time=- reads no times)"
            )
        times = self._times.settled(read)
        self.undated = int(np.isnan(times).sum())
        timed_by = self._further and self._further.timed_by
        if "time" not in self.columns.guessed or not self.undated or timed_by:
            self.undated = 0
            return times
        self.timed = False
        places = {m: at for m, at in self.columns.places.items() if m not in ("time", CLOCK)}
        self.columns = replace(self.columns, places=places)
        self._slot = {meaning: slot for slot, meaning in enumerate(places)}
        return np.zeros(len(times))

    def _games_of(self, table: Table) -> tuple[Ints, Ints]:
        """Return the first row of each game and the number of rows, and the first of its name."""
        rows = np.arange(len(table.wrong_width) + 1)
        if self.game_names is None:
            return rows, rows[:-1]
        begins = table.columns["game"]
        return np.append(np.flatnonzero(begins), len(begins)), self.game_names.first_of_name()

    def _judge(self, faults: Faults, first: Ints, split_apart: Bools) -> None:
        """Count the games that cannot be used, one in pieces once; or raise."""
        wrong = (faults.reasons != 0) & (faults.reasons != Reason.UNFINISHED)
        bad = np.flatnonzero(wrong).tolist()
        if bad and not self._skip:
            lines = list(self._complaints(faults, bad[:_MOST_ERRORS]).values())
            if len(bad) > _MOST_ERRORS:
                lines.append(f"... and {len(bad) - _MOST_ERRORS:,} more")
            lines[-1] += f"; {option('skip_bad_games=True')} leaves bad games out"
            raise InputError(*lines)
        counted: set[int] = set()
        kinds: dict[int, list[int]] = {}
        for game in bad:
            name = int(first[game])
            if name not in counted:
                kinds.setdefault(int(faults.reasons[game]), []).append(game)
            if split_apart[game]:
                counted.add(name)
        examples = self._complaints(faults, [games[0] for games in kinds.values()])
        for reason, games in kinds.items():
            self.bad.count(list(Reason)[reason - 1].label, examples[games[0]], len(games))

    def _complaints(self, faults: Faults, games: Sequence[int]) -> dict[int, str]:
        """Say where and how some games are wrong."""
        wanted = {int(faults.rows[game]) for game in games}
        rows = self.file.rows_at(wanted) if wanted else {}
        return {game: self._complaint(faults, game, rows[int(faults.rows[game])]) for game in games}

    def _complaint(self, faults: Faults, game: int, row: Row) -> str:
        """Say where and how a game is wrong."""
        reason, slot = list(Reason)[faults.reasons[game] - 1], int(faults.slots[game])
        if reason is Reason.TWICE:
            slot = self._slot[self.columns.format.required[1]]
        elif reason in (Reason.SPLIT, Reason.ONE_SIDE, Reason.SIZE):
            slot = self._slot.get("game", 0)
        meaning, column = list(self.columns.places.items())[slot]
        name = cell = self.file.cell(row, column)
        if meaning in PEOPLE:
            name = self._aliases.spelled(cell)
        elif meaning == "game":
            name = unmark(cell)
        kind = self._times.kind
        details = {
            "column": self.columns.names[column],
            "columns": len(self.columns.names),
            "width": len(row.cells),
            "cell": name,
            "apart": "comes again further on" if self._skip else "has been there before",
            "results": ", or H, A, D" if self.at_home else "",
            "option": option("results"),
            "times": f"{kind}, as in other rows"
            if kind
            else "a date-time such as 2026-03-07T18:30, or a number",
            "players": self._most_players,
        }
        at = self.file.place(row, 0 if reason is Reason.WIDTH else column)
        return f"{self.name}:{at}: {reason.sentence.format(**details)}"


def _with_earlier(
    header: Sequence[str], options: LogOptions, before: Mapping[str, Any]
) -> LogOptions:
    """Return options with how an earlier log was read, where they say nothing of it."""
    names = {m: name for m, name in before["columns"].items() if m not in before["guessed"]}
    columns = options.columns or (names if {*names.values()} <= {*header} else {})
    results = options.results or before["results"]
    date_format = options.date_format or before["date_format"]
    return replace(options, columns=columns, results=results, date_format=date_format)


_PIECE = 1 << 14  # rows that are put into games at once


def _pieces(first_rows: Ints) -> Iterator[tuple[int, int]]:
    """Yield the first game and the last, exclusive, of pieces of a log."""
    n = len(first_rows) - 1
    lo = 0
    while lo < n:
        hi = int(np.searchsorted(first_rows, first_rows[lo] + _PIECE, "right")) - 1
        hi = min(max(hi, lo + 1), n)
        yield lo, hi
        lo = hi
