"""A game log: a file of games, read and checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.games import Names, NewGames, Titles, reordered
from valmatch.game_logs.options import LogOptions
from valmatch.game_logs.reading.cells import (
    CLOCK,
    DATES,
    NUMBERS,
    Table,
    Times,
    read_table,
    with_clock,
)
from valmatch.game_logs.reading.columns import (
    LONG,
    Further,
    GameFacts,
    find_columns,
    joined_facts,
    place_further,
)
from valmatch.game_logs.reading.results import DRAWN, UNKNOWN, Results
from valmatch.game_logs.reading.rows import (
    PEOPLE,
    Faults,
    Reason,
    Rows,
    group_games,
    readers,
)
from valmatch.game_logs.reading.tables import CSV, JSON, GameFile, Row
from valmatch.inputs.csv_reader import SEPARATORS, BadRows, unmark
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.games import Games
from valmatch.ratings.system import MOST_PLAYERS
from valmatch.text.terminal import VALUE, Note, shortened, shown

_MOST_ERRORS = 10


class GameLog:
    """A file of games, in long format (a row a player) or with a row a game.

    Long format: `game`, `player`, `score`, optional `team` (without it everyone plays for
    themselves, and so does whoever's cell is empty), `minutes` (without it 20 for everyone),
    `enabled`, `home` (whether the player's side plays at home), `time`. Results format: `winner`,
    `loser`, optional `game`, `winner_score` and `loser_score`, `draw`, `minutes`, `time`; a game is
    drawn if `draw` says so or, without that column, if the scores are equal. Or a row a game with
    `home`, `away`, `home_score` and `away_score`, of which the greater one wins; or with
    `player_a`, `player_b`, or again `home`, `away`, and `result`, see `reading.results`; all with
    optional `game`, `minutes`, `time`. An optional column `neutral` says which games were on
    neutral ground.

    In long format the winner is who has the most points for each hour played, as ZoneStats compares
    players; if a side has more than one player, the side with the most points.

    The rows of a game stand together, in any order. Games are in play order, or else have a `time`,
    all of one kind, see `reading.cells.Times`. In long format the earliest of a game's rows counts;
    equal times leave the order of the file.
    """

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
        self._given = options
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

    def sha256(self) -> str:
        """Return the SHA-256 of the file."""
        return self.file.digests([self.size])[0]

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
            "results": dict(self._given.results),
            "words": self._results.described(),
            "times": self._times.kind if self.timed else None,
            "date_format": self._times.order if self.timed else None,
        }

    def understood(self) -> list[Note]:
        """Say how the file was understood, once it is read, if anything of it was guessed."""
        found, words = self.reading, self._results.described()
        kind, separator = found["times"], found["separator"]
        usual = kind in (None, NUMBERS, DATES) or self._given.date_format
        guessed = [m for m in self.columns.guessed if m in self.columns.places]
        plain = separator in (",", self._given.separator) and found["format"] == CSV
        if plain and usual and not (guessed or words):
            return []
        parts = [found["format"]]
        if separator not in (",", None):
            named = (name for name, between in SEPARATORS.items() if between == separator)
            parts.append(f"separator {next(named)}")
        for meaning, name in found["columns"].items():
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
        """Return the games in the order of the file, one at least, and what else is known of them.

        For logs that are opened with `further`.
        """
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
        games, facts = NewGames(n, 2 * len(times)), list[GameFacts]()
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
            for column, own in zip(faults, wrong._replace(rows=wrong.rows + row), strict=True):
                column[lo:hi] = own
            games.add(grouped.games)
            unrated += grouped.unrated
            if of_games is not None:
                facts.append(of_games.at(grouped.kept, grouped.entries))
        del table, times
        self.unfinished = int((faults.reasons == Reason.UNFINISHED).sum())
        self._judge(faults, first, split_apart)
        self.unrated = unrated
        self.bad.check(games.count + unrated)
        self._aliases.check(self.name, self.players)
        return games.done(), joined_facts(facts) if facts else None

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
            found = self.file.rows_at({row})[row]
            at = self.columns.places["time"]
            raise InputError(
                f"{self.name}:{self.file.place(found, at)}: {self._column('time')}:"
                f" {shown(self.file.cell(found, at))} is day, month, year or month, day, year, and"
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
        place = self.file.place(row, 0 if reason is Reason.WIDTH else column)
        return f"{self.name}:{place}: {reason.sentence.format(**details)}"


def _with_earlier(
    header: Sequence[str], options: LogOptions, before: Mapping[str, Any]
) -> LogOptions:
    """Return options with how an earlier log was read, where they say nothing of it."""
    given = {m: name for m, name in before["columns"].items() if m not in before["guessed"]}
    columns = options.columns or (given if {*given.values()} <= {*header} else {})
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
