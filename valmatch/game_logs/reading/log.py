"""A game log: a CSV file of games, read and checked."""

from __future__ import annotations

import csv
import hashlib
import io
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

import numpy as np

from valmatch.errors import InputError, option
from valmatch.game_logs.games import Names, Titles, joined, reordered
from valmatch.game_logs.options import LogOptions
from valmatch.game_logs.reading.cells import (
    BLOCK,
    NUMBERS,
    Block,
    Table,
    Times,
    block_of,
    in_seconds,
    plain_block,
    read_table,
)
from valmatch.game_logs.reading.columns import (
    LONG,
    WHOLE_FORMATS,
    Further,
    FurtherColumns,
    GameFacts,
    find_columns,
    joined_facts,
    place_further,
)
from valmatch.game_logs.reading.rows import (
    NAME,
    PEOPLE,
    TIME,
    Faults,
    Reason,
    Rows,
    group_games,
    readers,
)
from valmatch.inputs.csv_reader import (
    BadRows,
    as_text,
    cell_starts,
    open_text,
    remembered,
    temporary_copy,
    unmark,
)
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.ratings.games import Games
from valmatch.ratings.system import MOST_PLAYERS

_MOST_ERRORS = 10

_END = "\0end of the file"  # a cell behind the text, which a quote without an end swallows


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
        options: LogOptions = LogOptions(),  # noqa: B008 - never changed
        most_players: int = MOST_PLAYERS,
        further: Further | None = None,
    ) -> None:
        self.path = None if str(path) == "-" else path  # the file; None for standard input
        self.name = str(path) if self.path else "standard input"  # what messages call it
        self._file = _opened(path)
        self._text = io.TextIOWrapper(self._file, "utf-8-sig", newline="")
        weakref.finalize(self, self._text.close)
        self.size = self._file.seek(0, io.SEEK_END)  # bytes of the file
        self._separator, self._most_players = options.separator, most_players
        lines: list[str] = []
        header = [cell.strip() for cell in next(self._rows(remembered(self._lines(), lines)), [])]
        if not header:
            raise InputError(f"{self.name}: is empty (allowed: a CSV file with a header)")
        self._header_lines = len(lines)
        where = f"{self.name}:{self._header_lines}"
        self._further: FurtherColumns | None = None
        if further is None:
            self.columns = find_columns(where, header, options)  # which column is which
        else:
            used = further.names(header)
            columns = find_columns(where, header, options, WHOLE_FORMATS, used=used)
            self.columns, self._further = place_further(where, columns, further)
        self._slot = {meaning: slot for slot, meaning in enumerate(self.columns.places)}
        self.timed = "time" in self._slot  # whether games have times
        # what times are, see `Times`; None before the log is read, and where none can be
        self.kind_of_times: str | None = None
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

    def sha256(self) -> str:
        """Return the SHA-256 of the file."""
        return self.digests([self.size])[0]

    def digests(self, sizes: Sequence[int]) -> list[str]:
        """Return the SHA-256 of the first so many bytes of the file, for each size in order."""
        found, digest, done = [], hashlib.sha256(), 0
        self._file.seek(0)
        for size in sizes:
            while done < size and (piece := self._file.read(min(size - done, 1 << 20))):
                digest.update(piece)
                done += len(piece)
            found.append(digest.hexdigest())
        return found

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
            entries = rows.entries(starts[:-1])
            of_games = rows.further(starts, self._further) if self._further else None
            wrong = Faults.of(rows, starts)
            wrong.note(split_apart[lo:hi], Reason.SPLIT)
            of_rows = np.minimum.reduceat(rows.times, starts[:-1])
            names, starts = np.arange(lo, hi), starts * entries.per_row
            grouped = group_games(entries, starts, ranks, names, of_rows, self._most_players, wrong)
            for column, own in zip(faults, wrong._replace(rows=wrong.rows + row), strict=True):
                column[lo:hi] = own
            parts.append(grouped.games)
            unrated += grouped.unrated
            if of_games is not None:
                facts.append(of_games.at(grouped.kept, grouped.entries))
        del table, times
        self._judge(faults, first, split_apart)
        self.unrated = unrated
        games = joined(parts)
        self.bad.check(games.n_games + unrated)
        self._aliases.check(self.name, self.players)
        return games, joined_facts(facts) if facts else None

    def _table(self, progress: Callable[[int], None]) -> tuple[Table, Floats]:
        """Return the columns that are wanted, and the time of each row."""
        further = self._further or FurtherColumns()
        wanted, times = readers(self.columns.places, further, self.players), Times()
        if self.game_names is not None:
            wanted["game", NAME] = self.game_names.read
        if self.timed:
            wanted["time", TIME] = times.read
        table = read_table(self._blocks(progress), self.columns.places, wanted)
        if not self.timed:
            return table, np.zeros(len(table.wrong_width))
        read = table.columns.pop(("time", TIME))
        self.kind_of_times = times.kind(read)
        return table, in_seconds(self.kind_of_times, read)

    def _blocks(self, progress: Callable[[int], None]) -> Iterator[Block]:
        """Yield the rows below the header, some at a time."""
        lines, width = self._lines(progress), len(self.columns.names)
        next(self._rows(lines))
        line, some = self._header_lines, list(islice(lines, BLOCK))
        while some and (block := plain_block(some, self._separator, width)):
            yield block
            line += len(some)
            some = list(islice(lines, BLOCK))
        rows = self._rows(chain(some, lines), line)
        while found := list(islice(rows, BLOCK)):
            yield block_of(found, width)

    def _lines(self, progress: Callable[[int], None] = lambda _: None) -> Iterator[str]:
        """Yield the lines of the file."""
        done = self._text.seek(0)
        while lines := list(islice(self._text, BLOCK)):
            progress(self._file.tell() - done)
            done = self._file.tell()
            yield from lines

    def _rows(self, lines: Iterable[str], before: int = 0) -> Iterator[list[str]]:
        """Yield the cells of all rows of lines, which follow some others, but blank ones."""
        ended = chain(lines, ["\n", _END])
        rows = csv.reader(ended, delimiter=self._separator, skipinitialspace=True)
        at = end = before  # lines before the row, and up to its end
        try:
            for cells in rows:
                at, end = end, before + rows.line_num
                if len(cells) > 1:
                    yield cells
                elif cells == [_END]:
                    return
                elif "".join(cells).strip():
                    yield cells
        except csv.Error:
            at = end
        except UnicodeDecodeError:
            self._refuse_bytes()
        what = "a quoted cell of this row has no closing quote"
        raise InputError(f"{self.name}:{at + 1}:1: {what}")

    def _refuse_bytes(self) -> NoReturn:
        """Refuse a file that is no text, with the place of the first byte that is none."""
        self._file.seek(0)
        content = self._file.read()
        try:
            content.decode()
        except UnicodeDecodeError as error:
            text = content[: error.start].decode("utf-8-sig")
        place = f"{text.count(chr(10)) + 1}:{len(text) - text.rfind(chr(10))}"
        raise InputError(f"{self.name}:{place}: is not UTF-8 (allowed: a CSV file in UTF-8)")

    def _games_of(self, table: Table) -> tuple[Ints, Ints]:
        """Return the first row of each game and the number of rows, and the first of its name."""
        rows = np.arange(len(table.wrong_width) + 1)
        if self.game_names is None:
            return rows, rows[:-1]
        begins = table.columns["game", NAME]
        return np.append(np.flatnonzero(begins), len(begins)), self.game_names.first_of_name()

    def _judge(self, faults: Faults, first: Ints, split_apart: Bools) -> None:
        """Count the games that cannot be used, one in pieces once; or raise."""
        bad = np.flatnonzero(faults.reasons).tolist()
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
        rows = self._rows_at(wanted) if wanted else {}
        return {game: self._complaint(faults, game, rows[int(faults.rows[game])]) for game in games}

    def _complaint(self, faults: Faults, game: int, row: _TextRow) -> str:
        """Say where and how a game is wrong."""
        reason, slot = list(Reason)[faults.reasons[game] - 1], int(faults.slots[game])
        if reason is Reason.TWICE:
            slot = self._slot[self.columns.format.required[1]]
        elif reason in (Reason.SPLIT, Reason.ONE_SIDE, Reason.SIZE):
            slot = self._slot.get("game", 0)
        meaning, column = list(self.columns.places.items())[slot]
        name = cell = (row.cells[column] if column < len(row.cells) else "").strip()
        if meaning in PEOPLE:
            name = self._aliases.spelled(cell)
        elif meaning == "game":
            name = unmark(cell)
        kind = self.kind_of_times
        details = {
            "column": self.columns.names[column],
            "columns": len(self.columns.names),
            "width": len(row.cells),
            "cell": name,
            "apart": "comes again further on" if self._skip else "has been there before",
            "results": "1-0, 0-1, 1/2-1/2" + (", or H, A, D" if self.at_home else ""),
            "times": f"{kind}, as in other rows"
            if kind
            else "a date-time such as 2026-03-07T18:30, or a number",
            "players": self._most_players,
        }
        place = row.place(0 if reason is Reason.WIDTH else column, self._separator)
        return f"{self.name}:{place}: {reason.sentence.format(**details)}"

    def _rows_at(self, wanted: set[int]) -> dict[int, _TextRow]:
        """Return some rows below the header with their text."""
        lines, line, found = list[str](), 1, {}
        for number, cells in enumerate(self._rows(remembered(self._lines(), lines)), -1):
            while not lines[0].strip():
                del lines[0]
                line += 1
            if number in wanted:
                found[number] = _TextRow(line, "".join(lines), cells)
            line += len(lines)
            lines.clear()
        return found


class _TextRow(NamedTuple):
    """A row of a file as it stands there."""

    line: int  # where it begins
    text: str  # its lines
    cells: list[str]

    def place(self, column: int, separator: str) -> str:
        """Return line and column of a cell; of the row, if it has too few cells."""
        starts = cell_starts(self.text, separator)
        at = starts[column] - 1 if column < len(self.cells) == len(starts) - 1 else 0
        before = self.text[:at]
        return f"{self.line + before.count(chr(10))}:{at - before.rfind(chr(10))}"


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


def _opened(path: Path) -> BinaryIO:
    """Return a file that can be read again and again; what gzip has packed is unpacked."""
    if str(path) != "-":
        return open_text(path)
    try:
        copy = temporary_copy(sys.stdin.buffer)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return as_text(copy, "standard input")
