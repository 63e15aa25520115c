"""A game log: a file of games, read and checked."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from operator import not_
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.errors import InputError, option
from valmatch.game_logs.options import Further, LogOptions
from valmatch.game_logs.reading import tables as t
from valmatch.game_logs.reading.columns import CLOCK, LONG, find_columns
from valmatch.inputs.csv_reader import SEPARATOR_NAMES, BadRows, unmark
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.games import Games
from valmatch.ratings.system import FAR, MOST_PLAYERS
from valmatch.text.terminal import VALUE, Note, Notice, shortened, shown

# What may be wrong, in a few words, and where its cell is shown.
_REASONS = {
    "wrong number of cells": "the row has {width} cells (allowed: {columns})",
    "missing cell": "the cell is empty",
    "not a number": "{cell!r} (allowed: a finite number)",
    "minutes not positive": "{cell!r} (allowed: a number of minutes > 0)",
    "neither yes nor no": "{cell!r} (allowed: yes, no, true, false, 1, 0)",
    "not a time": "{cell!r} (allowed: {times})",
    "scores contradict the result": "{cell!r} contradicts the other score and the result (allowed:"
    " more than the loser's, as much in a draw)",
    "split apart in the file": "game {cell!r} {apart} (allowed: one run of rows a game)",
    "player twice in a game": "{cell!r} is in this game twice",
    "one side only": "game {cell!r} has one side only (allowed: two or more)",
    "too many players": "game {cell!r} has too many players (allowed: {players:,}, as all pairs of"
    " them are compared)",
    "not a result": "{cell!r} (allowed: 1-0, 0-1, 1/2-1/2{results}, or a word that {option} has)",
    "no result": "{cell!r}",
    "score out of range": f"{{cell!r}} (allowed: a number from {-FAR:g} to {FAR:g})",
    "too much for its minutes": "{cell!r} is too much for its minutes (allowed: up to"
    f" {FAR:g} an hour)",
    "no weight": "{cell!r} (allowed: a number from 0 to 1e12)",
    "covariate out of range": "{cell!r} (allowed: a number from -1e12 to 1e12)",
    "contradicts itself": "{cell!r} is not what the first row of the game has (allowed: the same in"
    " all rows of a game)",
}


class Faults(NamedTuple):
    """The first thing that is wrong with each row, or with each game."""

    codes: NDArray[Any]  # (rows,) or (games,) what it is, as in `kinds`; 0 for nothing
    rows: Ints  # the row in which it is
    kinds: dict[tuple[str, str], int]  # numbers of reasons and meanings of columns

    def note(self, wrong: Bools, reason: str, meaning: str = "", rows: Ints | None = None) -> None:
        """Note what is wrong where nothing is known yet, if need be in which rows."""
        first = wrong & (self.codes == 0)
        self.codes[first] = self.kinds.setdefault((reason, meaning), len(self.kinds) + 1)
        if rows is not None:
            self.rows[first] = rows[first]

    def of_games(self, first_rows: Ints) -> "Faults":
        """Return the first fault of each game."""
        rows = first_rows[:-1].copy()
        wrong = np.flatnonzero(self.codes)
        games, at = np.unique(np.searchsorted(first_rows, wrong, "right") - 1, return_index=True)
        rows[games] = wrong[at]
        return Faults(self.codes[rows], rows, self.kinds)


_HEAVIEST = 1e12  # of weights and covariates, whose squares and sums keep their digits
DEFAULT_MINUTES = 20.0  # in a game whose minutes are unknown
_PEOPLE = ("player", "winner", "loser", "home", "away", "player_a", "player_b")
Read = Callable[[Sequence[str]], NDArray[Any]]  # of cells without outer blanks


class GameFacts(NamedTuple):
    """What else is known of some games."""

    weights: Floats  # (games,) 1 without a column for them
    clusters: Ints  # (games, columns) numbers of the cells
    covariates: Floats  # (rows, covariates) of the side of each row
    homes: Bools  # (rows,) who is at home
    named_first: Bools  # (rows,) who is named first in a row of a pair


class Entries(NamedTuple):
    """What rows say of players; a row has one entry, or two of a pair."""

    per_row: int  # entries of a row
    # (entries,) each
    players: Ints  # number of the player
    scores: Floats
    minutes: Floats
    recorded: Floats  # the score in the log; NaN where it only says how the game ended
    enabled: Bools  # whether the player is rated
    at_home: Bools  # whether the player is on the side at home
    # number of the team, another one for each who has none; None: everybody plays alone
    teams: Ints | None = None


class Rows:
    """The rows of a log, checked one column after the other."""

    def __init__(
        self, columns: dict[str, NDArray[Any]], empty: dict[str, Bools], wrong_width: Bools
    ) -> None:
        # columns, empty: (rows,) the cells by meaning, and whether they are empty
        self.columns, self._empty, self._n = columns, empty, len(wrong_width)
        self.first_rows = np.arange(self._n + 1)  # of each game
        if "game" in columns:
            self.first_rows = np.append(np.flatnonzero(columns["game"]), self._n)
        self.faults = Faults(np.zeros(self._n, np.int32), np.arange(0), {})
        self.faults.note(wrong_width, "wrong number of cells")
        if "result" in columns:
            self.faults.note(columns["result"] == t.UNFINISHED, "no result", "result")
        for meaning in empty:
            if meaning not in ("team", CLOCK):
                self.faults.note(empty[meaning], "missing cell", meaning)

    def entries(self) -> Entries:
        """Return the entries of all rows."""
        neutral = self._flags("neutral")
        if "neutral" in self.columns:
            self._note_differing(neutral, "neutral")
        of_rows = self._of_players if "player" in self.columns else self._of_pairs
        entries = of_rows(~neutral)
        if "time" in self.columns:
            self.faults.note(np.isnan(self.columns["time"]), "not a time", "time")
        return entries

    def _of_players(self, with_home: Bools) -> Entries:
        """Return the entries of rows with a player each."""
        at_home = self._flags("home") & with_home
        score = self._numbers("score", -FAR, FAR, "score out of range")
        minutes = self._minutes(1)
        with np.errstate(all="ignore"):  # of rows that are wrong anyway
            rates = 60.0 * np.abs(score) / minutes
        self.faults.note(~(rates <= FAR), "too much for its minutes", "score")
        enabled, teams = self._flags("enabled", otherwise=True), None
        if "team" in self.columns:
            teams, alone = self.columns["team"], np.flatnonzero(self._empty["team"])
            teams[alone] = teams.max(initial=0) + 1 + np.arange(len(alone))
        return Entries(1, self.columns["player"], score, minutes, score, enabled, at_home, teams)

    def _of_pairs(self, with_home: Bools) -> Entries:
        """Return the entries of rows with two players each; the winner has the score 1."""
        pairs = (("winner", "loser"), ("home", "away"), ("player_a", "player_b"))
        sides = next(pair for pair in pairs if pair[0] in self.columns)
        drawn = self._flags("draw")
        lead, recorded = np.where(drawn, 0, 1), np.broadcast_to(np.nan, 2 * self._n)
        if f"{sides[0]}_score" in self.columns:
            why = "score out of range"
            scores = [self._numbers(f"{side}_score", -FAR, FAR, why) for side in sides]
            recorded = np.column_stack(scores).ravel()
            ahead = scores[0] - scores[1]
            if sides[0] == "winner":
                if "draw" not in self.columns:
                    lead, drawn = np.where(ahead == 0.0, 0, 1), ahead == 0.0
                wrong = (ahead < 0.0) | drawn & (ahead != 0.0)
                self.faults.note(wrong, "scores contradict the result", "winner_score")
            else:
                lead = np.sign(ahead)
        elif "result" in self.columns:
            results = self.columns["result"]
            self.faults.note(results == t.UNKNOWN, "not a result", "result")
            lead = np.select([results == t.FIRST, results == t.SECOND], [1, -1])
        first_home = with_home & ("home" in self.columns)
        return Entries(
            2,
            np.column_stack([self.columns[side] for side in sides]).ravel(),
            np.column_stack([lead > 0, lead < 0]).ravel().astype(np.float64),
            self._minutes(2),
            recorded,
            np.broadcast_to(np.True_, 2 * self._n),
            np.column_stack([first_home, np.zeros_like(first_home)]).ravel(),
        )

    def facts(self, further: Further, per_row: int) -> tuple[Floats, Ints, Floats]:
        """Return weights, clusters, covariates of entries; note what differs within a game."""
        first, n = self.first_rows[:-1], self._n
        weights = np.ones(n)
        if further.weight:
            key = f"weight {further.weight}"
            weights = self._numbers(key, 0.0, _HEAVIEST, "no weight")
            self._note_differing(weights, key)
        cells = np.empty((n, len(further.clusters)), np.int64)
        for k, key in enumerate(f"cluster {name}" for name in further.clusters):
            cells[:, k] = self.columns[key]
            self._note_differing(cells[:, k], key)
        covariates, why = np.empty((per_row * n, len(further.covariates))), "covariate out of range"
        for k, name in enumerate(further.covariates):
            keys = (f"covariate {name}{side}" for side in ("", "_a", "_b"))
            there = (key for key in keys if key in self.columns)
            values = [self._numbers(key, -_HEAVIEST, _HEAVIEST, why) for key in there]
            if per_row > len(values):  # the lead of the first side
                values.append(np.zeros(n))
            covariates[:, k] = np.column_stack(values).ravel()
        return weights[first], cells[first], covariates

    def _numbers(self, meaning: str, low: float, high: float, reason: str) -> Floats:
        """Return numbers within limits, in which others are put for a reason."""
        values: Floats = self.columns[meaning]
        self.faults.note(np.isnan(values), "not a number", meaning)
        self.faults.note((values < low) | (values > high), reason, meaning)
        return np.clip(values, low, high)

    def _minutes(self, times: int) -> Floats:
        """Return the minutes of all entries, of which a row has so many."""
        if "minutes" not in self.columns:
            return np.broadcast_to(DEFAULT_MINUTES, times * self._n)
        least = 5e-324  # the smallest number above 0
        return np.repeat(self._numbers("minutes", least, math.inf, "minutes not positive"), times)

    def _flags(self, meaning: str, otherwise: bool = False) -> Bools:
        """Return where rows say yes, or the same everywhere without a column."""
        if meaning not in self.columns:
            return np.full(self._n, otherwise)
        self.faults.note(self.columns[meaning] < 0, "neither yes nor no", meaning)
        flags: Bools = self.columns[meaning] == 1
        return flags

    def _note_differing(self, values: NDArray[Any], meaning: str) -> None:
        """Note rows that contradict the first one of their game."""
        first = np.repeat(self.first_rows[:-1], np.diff(self.first_rows))
        self.faults.note(values != values[first], "contradicts itself", meaning)


def _note_sides(entries: Entries, starts: Ints, game: Ints, order: Ints, faults: Faults) -> None:
    """Note games that hold a player twice, or one side alone."""
    # Of players who are twice in a game the first one by name is named, in the later row.
    entry, later = order[:-1], order[1:]
    same = (game[entry] == game[later]) & (entries.players[entry] == entries.players[later])
    again = np.flatnonzero(same)[::-1]
    rows, lines = np.full(len(starts) - 1, -1), entries.per_row
    rows[game[entry[again]]] = np.maximum(entry[again], later[again]) // lines
    since = faults.rows - starts[:-1] // lines
    faults.note(rows >= 0, "player twice in a game", rows=since + rows)
    sizes = np.diff(starts)
    one_side: Bools = sizes == 1
    if entries.teams is not None:
        other = entries.teams != entries.teams[np.repeat(starts[:-1], sizes)]
        one_side = ~np.logical_or.reduceat(other, starts[:-1])
    faults.note(one_side, "one side only")


def group_games(
    entries: Entries, starts: Ints, ranks: Ints, faults: Faults, most_players: int
) -> tuple[Games, Ints]:
    """Return the good games of two or more enabled sides, and the entry of each of their rows."""
    n, sizes = len(starts) - 1, np.diff(starts)
    game = np.repeat(np.arange(n), sizes)
    lead = ranks[entries.players]  # by name, of the first player of the side
    order = np.argsort(game * len(ranks) + lead, kind="stable")
    faults.note(sizes > most_players, "too many players")
    _note_sides(entries, starts, game, order, faults)
    order = order[entries.enabled[order] & (faults.codes[game[order]] == 0)]
    if entries.teams is not None:
        _, side = np.unique(
            game * (1 + entries.teams.max(initial=0)) + entries.teams, return_inverse=True
        )
        least = np.full(len(side), len(ranks))
        np.minimum.at(least, side.ravel()[order], lead[order])
        lead = least[side.ravel()]
    key = game * len(ranks) + lead
    order = order[np.argsort(key[order], kind="stable")]
    first = np.append(True, np.diff(key[order]) != 0)[: len(order)]  # of a side
    counts = np.bincount(game[order[first]], minlength=n)  # sides of each game
    kept = (faults.codes == 0) & (counts >= 2)
    used = kept[game[order]]
    order, first = order[used], first[used]

    game_starts = np.concatenate([[0], np.cumsum(counts[kept])])
    game = (np.cumsum(kept) - 1)[game[order]]  # among those that are kept
    side = np.cumsum(first) - 1
    sides = side - game_starts[game]
    minutes = entries.minutes[order]
    rates = 60.0 * entries.scores[order] / minutes
    # Sides of one compare as equation 2 compares players; a team wins by its score.
    alone = np.bincount(game, minlength=len(game_starts) - 1) == counts[kept]
    points = np.where(alone[game], rates, entries.scores[order])
    at_home = entries.at_home[order]
    homes = np.full(len(alone), -1)  # also where more than one side is at home
    homes[game[at_home]] = sides[at_home]
    homes[game[at_home][homes[game[at_home]] != sides[at_home]]] = -1
    games = Games(
        names=np.flatnonzero(kept),
        times=np.zeros(len(alone)),
        homes=homes,
        game_starts=game_starts,
        side_starts=np.append(np.flatnonzero(first), len(order)),
        points=np.bincount(side, points, game_starts[-1]).astype(np.float64),
        players=entries.players[order],
        sides=sides,
        rates=rates,
        minutes=minutes,
        scores=np.bincount(side, entries.recorded[order], game_starts[-1]).astype(np.float64),
    )
    return games, order


_OF_GAMES, _OF_SIDES = ("names", "times", "homes"), ("points", "scores")
_STARTS = ("game_starts", "side_starts")


def games_at(games: Games, which: Ints | slice) -> Games:
    """Return some of the games, in the order in which they are wanted."""
    sides, game_starts = _members(games.game_starts, which)
    rows, side_starts = _members(games.side_starts, sides)
    index = dict.fromkeys(_OF_GAMES, which) | dict.fromkeys(_OF_SIDES, sides)
    columns: dict[str, Any] = games._asdict()
    columns |= {k: v[index.get(k, rows)] for k, v in columns.items() if k not in _STARTS}
    return Games(**columns | {"game_starts": game_starts, "side_starts": side_starts})


def _members(starts: Ints, groups: Ints | slice) -> tuple[Any, Ints]:
    """Return the members of some groups, with the starts of the groups among them."""
    if isinstance(groups, slice):
        inner = starts[groups.start : groups.stop + 1]
        return slice(inner[0], inner[-1]), inner - inner[0]
    sizes = starts[groups + 1] - starts[groups]
    ends = np.cumsum(sizes)
    members = np.arange(sizes.sum()) + np.repeat(starts[groups] - ends + sizes, sizes)
    return members, np.concatenate([[0], ends])


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
        self.file = file = t.GameFile(path, options.separator)
        self.path, self.name, self.size = file.path, file.name, file.size
        if before:  # as an earlier log was read, where the options do not say
            names = {m: name for m, name in before["columns"].items() if m not in before["guessed"]}
            options = replace(
                options,
                columns=options.columns or (names if {*names.values()} <= {*file.header} else {}),
                results=options.results or before["results"],
                date_format=options.date_format or before["date_format"],
            )
        self._options, self._most_players, self._further = options, most_players, further
        self.columns = find_columns(  # which column is which
            file.where, file.header, options, further=further, unused=unused, sample=file.sample
        )
        self._long = self.columns.format.name == LONG.name
        self.timed = "time" in self.columns.places  # whether games have times
        self.at_home = "home" in self.columns.places  # whether a side plays at home
        scores = {"score", "home_score", "winner_score"}
        self.scored = not scores.isdisjoint(self.columns.places)  # not only results
        dates = file.sample(self._column("time")) if self.timed else []
        if CLOCK in self.columns.places:
            clocks = file.sample(self._column(CLOCK))
            dates = list(map(" ".join, zip(dates, clocks, strict=False))) or dates
        self._times = t.Times(dates, options.date_format)
        self._results = t.Results(options.results, self.at_home)
        self.players = t.Names(options.spelled)  # names of players
        # names of games; None without a column for it
        self.game_names = t.GameNames(self._long) if "game" in self.columns.places else None
        self._skip = options.most_bad is not None
        # the games left out
        self.bad = BadRows(self.name, self._skip, options.most_bad or 0.0, what="game")
        self.unrated = 0  # number of games with fewer than two sides of enabled players
        self.unfinished = 0  # number of games without a result
        self.undated = 0  # number of rows without a time in a column that was taken for times

    @property
    def dated(self) -> bool:
        """Whether times are moments, in seconds since 1970."""
        return self.timed and self._times.kind not in (None, t.NUMBERS)

    @property
    def reading(self) -> dict[str, Any]:
        """How the file was understood, once it is read; a later log may be read so, too."""
        return {
            "format": self.file.format,
            "separator": self.file.separator if self.file.format == t.CSV else None,
            "columns": {m: self.columns.names[at] for m, at in self.columns.places.items()},
            "guessed": list(self.columns.guessed),
            "results": dict(self._options.results),
            "words": self._results.described,
            "times": self._times.kind if self.timed else None,
            "date_format": self._times.order if self.timed else None,
        }

    def warnings(self) -> list[Notice]:
        """Return what to know of how the log was read, and of its games that were not rated."""
        warnings = [*self.bad.remarks(), *self._understood()]
        if n := self.undated:
            text = f"{self.name}: {n} row{'s' * (n != 1)} without a time: games keep their order"
            warnings.append(Note(text, "rows_without_time", n))
        if n := self.unfinished:
            text = f"{n} game{'s' * (n != 1)} skipped: no result (*)"
            warnings.append(Notice(text, "games_without_result", n))
        if n := self.unrated:
            why = "fewer than two sides with enabled players"
            text = f"{n} game{'s' * (n != 1)} not rated: {why}"
            warnings.append(Notice(text, "games_not_rated", n))
        return warnings

    def _understood(self) -> list[Note]:
        """Say how the file was understood, once it is read, if anything of it was guessed."""
        reading, words = self.reading, self._results.described
        kind, separator = reading["times"], reading["separator"]
        usual = kind in (None, t.NUMBERS, t.DATES) or self._options.date_format
        guessed = [m for m in self.columns.guessed if m in self.columns.places]
        plain = separator in (",", self._options.separator) and reading["format"] == t.CSV
        if plain and usual and not (guessed or words):
            return []
        parts = [reading["format"]]
        if separator not in (",", None):
            parts.append(f"separator {SEPARATOR_NAMES[separator]}")
        for meaning, name in reading["columns"].items():
            more = words if meaning == "result" else kind if meaning == "time" else ""
            if meaning in guessed or (more and more != t.DATES):
                column = f"{meaning}: {shortened(name, VALUE)}"
                parts.append(f"{column} ({more})" if more else column)
        return [Note(f"{self.name}: read as {', '.join(parts)}", "guessed_format")]

    def _column(self, meaning: str) -> str:
        return self.columns.names[self.columns.places[meaning]]

    def games(self) -> Games:
        """Return the games in play order."""
        games, _ = self._read()
        if (np.diff(games.times) >= 0.0).all():
            return games
        return games_at(games, np.argsort(games.times, kind="stable"))

    def games_with_facts(self) -> tuple[Games, GameFacts]:
        """Return the games in the order of the file, one at least, and what is known of them."""
        games, facts = self._read()
        if not games.n_games:
            raise InputError(f"{self.name}: holds no game that can be rated")
        assert facts is not None
        return games, facts

    def _read(self) -> tuple[Games, GameFacts | None]:
        """Return the games in the order of the file, and what else is to be known of them."""
        rows = self._rows()
        entries, first_rows = rows.entries(), rows.first_rows
        facts = rows.facts(self._further, entries.per_row) if self._further else None
        first = np.arange(len(first_rows) - 1)  # of each game the first one of its name
        if self.game_names is not None:
            first = self.game_names.first_of_name()
        faults, times = rows.faults.of_games(first_rows), np.zeros(len(first))
        if self.timed and len(first):
            times = np.minimum.reduceat(rows.columns["time"], first_rows[:-1])
        del rows
        again = first != np.arange(len(first))
        # The first piece of a game is all right, unless bad games are left out: then none is.
        split_apart = np.isin(first, first[again]) if self._skip else again
        faults.note(split_apart, "split apart in the file")
        ranks, starts = self.players.ranks(), first_rows * entries.per_row
        games, order = group_games(entries, starts, ranks, faults, self._most_players)
        games = games._replace(times=times[games.names])
        no_result = faults.codes == faults.kinds.get(("no result", "result"), -1)
        self.unfinished = int(no_result.sum())
        self._judge(faults, np.flatnonzero((faults.codes != 0) & ~no_result), first)
        self.unrated = int((faults.codes == 0).sum()) - games.n_games
        self.bad.check(games.n_games + self.unrated)
        cells = set(map(unmark, self.players)) if self._options.aliases else set()
        for alias, row in self._options.aliases.items():
            if alias not in cells:
                raise row.wrong("alias", f"{shown(alias)} is no player of {self.name}")
        if not facts:
            return games, None
        weights, clusters, covariates = facts
        of_rows = covariates[order], entries.at_home[order], order % 2 == 0
        return games, GameFacts(weights[games.names], clusters[games.names], *of_rows)

    def _rows(self) -> Rows:
        """Return the columns that are read."""
        places = self.columns.places
        readers: dict[str, Read] = dict.fromkeys(_PEOPLE, self.players.read)
        readers |= dict.fromkeys(("enabled", "draw", "neutral"), t.read_flags)
        readers["team"] = t.Names(str).read
        readers |= {"result": self._results.read, "time": self._times.read}
        if self._long:
            readers["home"] = t.read_flags
        if self.game_names is not None:
            readers["game"] = self.game_names.read
        for name in self._further.clusters if self._further else ():
            readers[f"cluster {name}"] = t.Names(self.players.spelled).read
        read = {m: readers.get(m, t.read_numbers) for m in places if m != CLOCK}
        columns: dict[str, list[NDArray[Any]]] = {meaning: [] for meaning in read}
        empty: dict[str, list[Bools]] = {meaning: [] for meaning in places}
        wrong_widths: list[Bools] = []
        for texts, wrong_width in self.file.blocks(self._options.progress):
            wrong_widths.append(wrong_width)
            cells = {m: list(map(str.strip, texts[at])) for m, at in places.items()}
            for meaning, column in cells.items():
                empty[meaning].append(np.fromiter(map(not_, column), np.bool_, len(column)))
            if CLOCK in cells:
                moments = zip(cells["time"], cells[CLOCK], strict=True)
                cells["time"] = [f"{date} {clock}".rstrip() for date, clock in moments]
            for meaning, read_cells in read.items():
                columns[meaning].append(read_cells(cells[meaning]))
        no_row = np.zeros(0, np.bool_)
        table = {key: np.concatenate(columns.pop(key) or [np.zeros(0, np.int64)]) for key in read}
        is_empty = {key: np.concatenate(parts or [no_row]) for key, parts in empty.items()}
        if "result" in places:
            sides = ("home", "away") if self.at_home else ("player_a", "player_b")
            blank, numbers = t.UNKNOWN, [table[side] for side in sides]
            if self.file.format == t.JSON and self._column("result").endswith("winner"):
                blank, is_empty["result"][:] = t.DRAWN, False
            words = table["result"]
            table["result"] = self._results.outcomes(words, numbers, self.players, blank)
        if self.timed:
            table["time"] = self._understood_times(table["time"])
        used = self.columns.places  # without times that are not there after all
        table = {meaning: column for meaning, column in table.items() if meaning in used}
        is_empty = {meaning: is_empty[meaning] for meaning in used}
        return Rows(table, is_empty, np.concatenate(wrong_widths or [no_row]))

    def _understood_times(self, read: Floats) -> Floats:
        """Return times as seconds or numbers; a column that was only taken for times has all."""
        times = self._times.settled(read)
        if (row := self._times.unsettled) is not None:
            text, at = self.file.rows_at({row})[row], self.columns.places["time"]
            raise InputError(
                f"{self.name}:{self.file.position(text, at)}: {self._column('time')}:"
                f" {shown(self.file.cell(text, at))} is day, month, year or month, day, year, and"
                f" no date shows which ({option('date_format')} dmy or mdy says so;"
                f" {option('columns')} time=- reads no times)"
            )
        undated = int(np.isnan(times).sum())
        timed_by = self._further and self._further.timed_by
        if undated and "time" in self.columns.guessed and not timed_by:
            self.undated, self.timed = undated, False
            places = {m: at for m, at in self.columns.places.items() if m not in ("time", CLOCK)}
            self.columns = self.columns._replace(places=places)
        return times

    def _judge(self, faults: Faults, bad: Ints, first: Ints) -> None:
        """Count the games that cannot be used, one in pieces once; or raise."""
        if len(bad) and not self._skip:
            lines = self._complaints(faults, bad[:_MOST_ERRORS])
            if len(bad) > _MOST_ERRORS:
                lines.append(f"... and {len(bad) - _MOST_ERRORS:,} more")
            lines[-1] += f"; {option('skip_bad_games=True')} skips invalid games"
            raise InputError(*lines)
        # Of the pieces of a game the first that is bad stands for all.
        bad = bad[np.unique(first[bad], return_index=True)[1]]
        codes, at, counts = np.unique(faults.codes[bad], return_index=True, return_counts=True)
        examples, kinds = self._complaints(faults, bad[at]), list(faults.kinds)
        for k in np.argsort(at).tolist():
            self.bad.count(kinds[codes[k] - 1][0], examples[k], int(counts[k]))

    def _complaints(self, faults: Faults, games: Ints) -> list[str]:
        """Say where and how some games are wrong."""
        rows = self.file.rows_at({*faults.rows[games].tolist()}) if len(games) else {}
        kinds = list(faults.kinds)
        some = zip(faults.codes[games].tolist(), faults.rows[games].tolist(), strict=True)
        return [self._complaint(kinds[code - 1], rows[row]) for code, row in some]

    def _complaint(self, fault: tuple[str, str], row: t.Row) -> str:
        """Say where and how a game is wrong."""
        reason, meaning = fault[0], fault[1] or next(iter(self.columns.places))
        if reason == "player twice in a game":
            meaning = self.columns.format.required[1]
        elif "game {cell!r}" in _REASONS[reason] and self.game_names is not None:
            meaning = "game"
        column = self.columns.places[meaning]
        name = cell = self.file.cell(row, column)
        if meaning in _PEOPLE:
            name = self.players.spelled(cell)
        elif meaning == "game":
            name = unmark(cell)
        kind, name_of_column = self._times.kind, f"{self.columns.names[column]}: "
        moment = "a date-time such as 2026-03-07T18:30, or a number"
        if reason == "wrong number of cells":
            column, name_of_column = 0, ""
        sentence = _REASONS[reason].format(
            columns=len(self.columns.names),
            width=len(row.cells),
            cell=name,
            apart="comes again further on" if self._skip else "has been there before",
            results=", or H, A, D" if self.at_home else "",
            option=option("results"),
            times=f"{kind}, as in other rows" if kind else moment,
            players=self._most_players,
        )
        return f"{self.name}:{self.file.position(row, column)}: {name_of_column}{sentence}"
