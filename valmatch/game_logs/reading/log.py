"""A game log: a CSV file of games, read and checked."""

from __future__ import annotations

import csv
import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.csv_rows import unmark_cells
from valmatch.game_logs.games import reordered
from valmatch.game_logs.names import Names
from valmatch.game_logs.options import COMMON, LogFormat, LogOptions
from valmatch.game_logs.reading.aliases import NO_ALIASES, Aliases, Renamer
from valmatch.game_logs.reading.cells import Cells, split
from valmatch.game_logs.reading.columns import (
    LONG,
    WHOLE_FORMATS,
    Further,
    FurtherColumns,
    GameFacts,
    find_columns,
    place_further,
)
from valmatch.game_logs.reading.datetimes import NUMBERS, kind_of_times
from valmatch.game_logs.reading.rows import Faults, Reason, Rows, group_games
from valmatch.inputs.csv_reader import BadRows, as_text, open_text, temporary_copy
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.games import Games
from valmatch.ratings.system import Largest

_MOST_ERRORS = 10

ANY = Largest()  # the largest game where nothing else limits it

_NAMES = {"game", "player", "winner", "loser", "home", "away", "player_a", "player_b"}


class GameLog:
    """A CSV file of games, in long format (a row a player) or with a row a game.

    Long format: `game`, `player`, `score`, optional `team` (without it everyone plays for
    himself, and so does whoever's cell is empty), `minutes` (without it 20 for everyone),
    `enabled`, `time`. Results format: `winner`, `loser`, optional `game`, `winner_score` and
    `loser_score`, `draw`, `minutes`, `time`; a game is drawn if `draw` says so or, without that
    column, if the scores are equal. Or a row a game with `home`, `away`, `home_score` and
    `away_score`, of which the greater one wins; or with `player_a`, `player_b`, or again `home`,
    `away`, and `result` (1-0, 0-1, 1/2-1/2; with `home` also H, A, D); all with optional `game`,
    `minutes`, `time`. Somebody plays at home in logs with a column `home` alone, but where the
    optional column `neutral` says that the game was on neutral ground.

    In long format the winner is who has the most points for each hour played, as ZoneStats compares
    players; if a side has more than one player, the side with the most points.

    The rows of a game stand together, in any order. Games are in play order, or else have a
    `time`, all of one kind: ISO 8601 moments, UTC where no zone is given, dates such as 20240131,
    seconds or milliseconds since 1970 (numbers from 1e8 and from 1e11 on), or other numbers. In
    long format the earliest of a game's rows counts; equal times leave the order of the file.
    """

    def __init__(
        self,
        path: Path,
        format_: LogFormat = COMMON,
        most_bad: float | None = None,
        largest: Largest = ANY,
        further: Further | None = None,
        aliases: Aliases = NO_ALIASES,
    ) -> None:
        self.path = None if str(path) == "-" else path  # the file; None for standard input
        self.name = str(path) if self.path else "standard input"  # what messages call it
        self._bytes = _bytes_of(path)
        self.size = len(self._bytes)  # bytes of the file
        self._separator, self._largest = format_.delimiter, largest
        header, self._start, self._line = self._header()
        where = f"{self.name}:{self._line - 1}"
        self._further: FurtherColumns | None = None
        if further is None:
            self.columns = find_columns(where, header, format_)  # which column is which
        else:
            used = further.names(header)
            columns = find_columns(where, header, format_, WHOLE_FORMATS, used=used)
            self.columns, self._further = place_further(where, columns, further)
        self._slot = {meaning: slot for slot, meaning in enumerate(self.columns.places)}
        self.timed = "time" in self._slot  # whether games have times
        # what times are, see `kind_of_times`; None before the log is read, and where none can be
        self.kind_of_times: str | None = None
        self.players = Names()  # names of players
        # names of games; None without a column for it
        self.game_names: Names | None = Names() if "game" in self._slot else None
        self._skip, self._renamer = most_bad is not None, Renamer(aliases)
        # the games left out
        self.bad = BadRows(self.name, self._skip, most_bad or 0.0, what="game")
        self.unrated = 0  # number of games with fewer than two sides of enabled players

    def sha256(self) -> str:
        """Return the SHA-256 of the file."""
        return hashlib.sha256(self._bytes).hexdigest()

    def digests(self, sizes: Sequence[int]) -> list[str]:
        """Return the SHA-256 of the first so many bytes of the file, for each size."""
        return [hashlib.sha256(self._bytes[:size]).hexdigest() for size in sizes]

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
        return self.kind_of_times not in (None, NUMBERS)

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
        cells = self._cells()
        progress(self.size)
        game_rows, names, split_apart = self._named_games(cells)
        rows = Rows(cells, self._slot, len(self.columns.names))
        entries = rows.entries(game_rows[:-1], self.players)
        times = self._times(cells, rows, game_rows)
        clusters = [Names() for _ in self._further.clusters] if self._further else []
        facts = rows.further(game_rows, self._further, clusters) if self._further else None
        faults = Faults(rows, game_rows)
        faults.note(split_apart, Reason.SPLIT)
        starts, ranks = game_rows * entries.per_row, self.players.ranks()
        grouped = group_games(entries, starts, ranks, names, times, self._largest, faults)
        self._judge(cells, names, split_apart, faults)
        self.unrated = grouped.unrated
        self.bad.check(grouped.games.n_games + self.unrated)
        self._renamer.check(self.name)
        return grouped.games, facts.at(grouped.kept, grouped.entries) if facts else None

    def _header(self) -> tuple[list[str], int, int]:
        """Return the column names, where the data start, and their first line."""
        lines: list[bytes] = []

        def texts() -> Iterator[str]:
            start = 0
            while start < self.size:
                end = self._bytes.find(b"\n", start) + 1 or self.size
                lines.append(self._bytes[start:end])
                yield lines[-1].decode("utf-8" if start else "utf-8-sig")
                start = end

        try:
            rows = csv.reader(texts(), delimiter=self._separator, skipinitialspace=True)
            header = next((row for row in rows if row), [])
        except (UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{self.name}:1: is no CSV file in UTF-8: {error}") from None
        if not header:
            raise InputError(f"{self.name}: is empty (allowed: a CSV file with a header)")
        return [name.strip() for name in header], sum(map(len, lines)), len(lines) + 1

    def _cells(self) -> Cells:
        """Return the wanted cells, with names in place of aliases."""
        slots = np.full(len(self.columns.names), -1, np.int64)
        slots[list(self.columns.places.values())] = range(len(self._slot))
        cells = split(self._bytes, self._start, slots, self._separator)
        for meaning in _NAMES & self._slot.keys():
            unmark_cells(cells.column(self._slot[meaning]))
        if cells.unclosed >= 0:
            where = self._place(cells.unclosed)
            raise InputError(f"{where}: a quoted cell of this row has no closing quote")
        try:
            self._bytes.decode()
        except UnicodeDecodeError as error:
            where = self._place(error.start)
            raise InputError(f"{where}: is not UTF-8 (allowed: a CSV file in UTF-8)") from None
        people = {"player"} if "player" in self._slot else _NAMES - {"game"}
        return self._renamer.renamed(cells, [self._slot[m] for m in people & self._slot.keys()])

    def _named_games(self, cells: Cells) -> tuple[Ints, Ints, Bools]:
        """Return the first row of each game and the number of rows, names, who is in pieces.

        The first piece of a game is all right, unless bad games are left out: then none is.
        """
        n = len(cells.widths)
        rows, fresh = np.arange(n + 1), np.ones(n, np.bool_)
        names = rows[:-1]
        if self.game_names is not None:
            names, fresh = self.game_names.numbers(cells.column(self._slot["game"]))
        if self.columns.format.name == LONG.name:
            rows = np.append(np.flatnonzero(np.diff(names, prepend=-1)), n)
        names, again = names[rows[:-1]], ~fresh[rows[:-1]]
        return rows, names, np.isin(names, names[again]) if self._skip else again

    def _times(self, cells: Cells, rows: Rows, game_rows: Ints) -> Floats:
        """Return the time of each game, that of its earliest row."""
        if self.timed:
            self.kind_of_times = kind_of_times(cells.column(self._slot["time"]))
        times = rows.times(self.kind_of_times)
        return np.minimum.reduceat(times, game_rows[:-1]) if len(times) else times

    def _judge(self, cells: Cells, names: Ints, split_apart: Bools, faults: Faults) -> None:
        """Count the games that cannot be used, one in pieces once; or raise."""
        bad = np.flatnonzero(faults.reasons).tolist()
        complaints = [partial(self._complaint, cells, faults, game) for game in bad]
        if bad and not self._skip:
            lines = [complaint() for complaint in complaints[:_MOST_ERRORS]]
            if len(bad) > _MOST_ERRORS:
                lines.append(f"... and {len(bad) - _MOST_ERRORS:,} more")
            lines[-1] += f"; {option('skip_bad_games=True')} leaves bad games out"
            raise InputError(*lines)
        counted: set[int] = set()
        for game, complaint in zip(bad, complaints, strict=True):
            name = int(names[game])
            if name not in counted:
                self.bad.count(list(Reason)[faults.reasons[game] - 1].label, complaint)
            if split_apart[game]:
                counted.add(name)

    def _complaint(self, cells: Cells, faults: Faults, game: int) -> str:
        """Say where and how a game is wrong."""
        reason = list(Reason)[faults.reasons[game] - 1]
        row, slot = int(faults.rows[game]), int(faults.slots[game])
        if reason is Reason.TWICE:
            slot = self._slot[self.columns.format.required[1]]
        elif reason in (Reason.SPLIT, Reason.ONE_SIDE, Reason.SIZE, Reason.SIDES):
            slot = self._slot.get("game", 0)
        start = int(cells.starts[slot, row])
        renamed = start >= self.size  # the name of an alias stands behind the text
        where = self._place(int(cells.rows[row]) if reason is Reason.WIDTH or renamed else start)
        kind = self.kind_of_times
        details = {
            "column": self.columns.names[list(self.columns.places.values())[slot]],
            "columns": len(self.columns.names),
            "width": int(cells.widths[row]),
            "cell": cells.column(slot).text(row),
            "apart": "comes again further on" if self._skip else "has been there before",
            "results": "1-0, 0-1, 1/2-1/2" + (", or H, A, D" if self.at_home else ""),
            "times": f"{kind}, as in other rows"
            if kind
            else "a date-time such as 2026-03-07T18:30, or a number",
            "players": self._largest.players,
            "sides": self._largest.sides,
            "system": option("system"),
        }
        return f"{where}: {reason.sentence.format(**details)}"

    def _place(self, at: int) -> str:
        """Return ``file:line:column`` of a byte of the rows."""
        line = self._line + self._bytes.count(b"\n", self._start, at)
        before = self._bytes[self._bytes.rfind(b"\n", 0, at) + 1 : at]
        return f"{self.name}:{line}:{len(before.decode(errors='replace')) + 1}"


def _bytes_of(path: Path) -> bytes:
    """Return what a file holds; what gzip has packed is unpacked."""
    if str(path) != "-":
        with open_text(path) as file:
            return file.read()
    try:
        copy = temporary_copy(sys.stdin.buffer)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    with as_text(copy, "standard input") as file:
        return file.read()


def open_log(
    path: Path, options: LogOptions, largest: Largest = ANY, further: Further | None = None
) -> GameLog:
    """Return a log to be read as options say."""
    return GameLog(path, options.format, options.most_bad, largest, further, options.aliases)
