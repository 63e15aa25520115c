"""A game log: a CSV file of games, checked and read in blocks."""

from __future__ import annotations

import csv
import hashlib
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from valmatch.errors import InputError, option
from valmatch.game_logs.csv_rows import unmark_cells
from valmatch.game_logs.games import joined, pieces, reordered
from valmatch.game_logs.names import Names
from valmatch.game_logs.options import COMMON, LogFormat, LogOptions
from valmatch.game_logs.reading.aliases import NO_ALIASES, Aliases, Renamer
from valmatch.game_logs.reading.cells import Cells, split
from valmatch.game_logs.reading.columns import (
    LONG,
    NOTHING,
    OUTCOMES,
    PLAYERS,
    RESULTS,
    SCORES,
    WHOLE_FORMATS,
    Facts,
    Further,
    FurtherColumns,
    find_columns,
    joined_facts,
    place_further,
)
from valmatch.game_logs.reading.datetimes import NUMBERS, kind_of_times
from valmatch.game_logs.reading.rows import Arranged, Reason, Rows, arrange, starts_of_games
from valmatch.inputs.csv_reader import BadRows, as_text, open_text, temporary_copy
from valmatch.kernels.arrays import Bytes, Floats, Ints
from valmatch.ratings.games import Games
from valmatch.ratings.system import FAR, Largest

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


# Taking the parts of a log in a thread, one ahead of what is done with them.

T = TypeVar("T")


class Ahead:
    """A thread that reads while others work; most of reading is done without the GIL.

    Whoever takes the parts gets them in order, and an error in place of the part that it kept
    from being read.
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None

    def over(self, parts: Iterator[T]) -> Iterator[T]:
        """Yield the parts; the next one is read meanwhile."""
        from concurrent.futures import ThreadPoolExecutor  # of no use to short logs

        self._pool = self._pool or ThreadPoolExecutor(1, "reading")
        coming = self._pool.submit(_following, parts)
        while part := coming.result():
            coming = self._pool.submit(_following, parts)
            yield from part

    def close(self) -> None:
        """Wait for the part that is being read, and end the thread."""
        if self._pool:
            self._pool.shutdown()


def _following(parts: Iterator[T]) -> list[T]:
    """Return the next part; nothing where there is none."""
    return list(islice(parts, 1))


BLOCK = 1 << 20  # bytes read at a time
_MOST_ERRORS = 10

ANY = Largest()  # the largest game where nothing else limits it

_LABELS = {
    Reason.WIDTH: "wrong number of cells",
    Reason.MISSING: "missing cell",
    Reason.NUMBER: "not a number",
    Reason.MINUTES: "minutes not positive",
    Reason.FLAG: "neither yes nor no",
    Reason.TIME: "not a time",
    Reason.RESULT: "scores contradict the result",
    Reason.SPLIT: "split apart in the file",
    Reason.TWICE: "player twice in a game",
    Reason.ONE_SIDE: "one side only",
    Reason.SIZE: "too many players",
    Reason.OUTCOME: "not a result",
    Reason.SCORE: "score out of range",
    Reason.RATE: "too much for its minutes",
    Reason.WEIGHT: "no weight",
    Reason.COVARIATE: "covariate out of range",
    Reason.DIFFERS: "contradicts itself",
    Reason.SIDES: "too many sides",
}


_NAMES = {"game", "player", "winner", "loser", "home", "away", "player_a", "player_b"}


class _Block(NamedTuple):
    """A piece of the file that holds whole games."""

    text: bytes  # the bytes of the file, from which `buffer` was made
    line: int  # number of its first line
    # buffer, cells: its cells
    buffer: Bytes
    cells: Cells
    game_rows: Ints  # first row of each game, and the end of the last


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
        self._file, self._ahead = _opened(path), Ahead()
        self._further: FurtherColumns | None = None
        self._skip, self._most_bad = most_bad is not None, most_bad or 0.0
        self._largest = largest
        self._separator = format_.delimiter
        try:
            header, self._start, self._line = self._header()
            where = f"{self.name}:{self._line - 1}"
            if further is None:
                self.columns = find_columns(where, header, format_)  # which column is which
            else:
                used = further.names(header)
                found = find_columns(where, header, format_, WHOLE_FORMATS, used=used)
                self.columns, self._further = place_further(where, found, further)
        except InputError:
            self.close()
            raise
        self._read_rows = {
            form.name: read
            for form, read in (
                (LONG, Rows.long),
                (RESULTS, Rows.results),
                (SCORES, Rows.scores),
                (PLAYERS, Rows.outcomes),
                (OUTCOMES, Rows.outcomes),
            )
        }[self.columns.format.name]
        self._slots = np.full(len(header), -1, np.int64)
        self._slot = {meaning: slot for slot, meaning in enumerate(self.columns.places)}
        self._named = [slot for meaning, slot in self._slot.items() if meaning in _NAMES]
        self._slots[list(self.columns.places.values())] = range(len(self._slot))
        self.size = self._file.seek(0, 2)  # bytes of the file
        self.timed = "time" in self._slot  # whether games have times
        self.players = Names()  # names of players
        self._renamer = Renamer(aliases)
        people = {"player"} if "player" in self._slot else _NAMES - {"game"}
        self._people = [slot for meaning, slot in self._slot.items() if meaning in people]
        self._split: set[int] | None = None  # games in pieces, where they are left out
        # what times are, see `kind_of_times`; None as long as none has been read
        self.kind_of_times: str | None = None  # once one has been read
        self._reset()

    def _reset(self) -> None:
        # names of games; None without a column for it
        self.game_names: Names | None = Names() if "game" in self._slot else None
        self._clusters = [Names() for _ in self._further.clusters] if self._further else []
        self._left_out: set[int] = set()  # games in pieces that are in `bad`
        self.bad = BadRows(self.name, self._skip, self._most_bad, what="game")  # the games left out
        self.unrated = 0  # number of games with fewer than two sides of enabled players
        self._n_rows = 0

    def sha256(self) -> str:
        """Return the SHA-256 of the file."""
        self._file.seek(0)
        return hashlib.file_digest(self._file, "sha256").hexdigest()  # type: ignore[arg-type]

    def digests(self, sizes: Sequence[int]) -> list[str]:
        """Return the SHA-256 of the first so many bytes of the file, for sizes in order."""
        self._file.seek(0)
        found, done, digest = [], 0, hashlib.sha256()
        for size in sizes:
            while done < size:
                digest.update(self._file.read(min(BLOCK, size - done)))
                done = self._file.tell()
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
        """Whether times are moments, in seconds since 1970, as far as the log has been read."""
        return self.kind_of_times not in (None, NUMBERS)

    def close(self) -> None:
        """Close the file."""
        self._ahead.close()
        self._file.close()

    def games(self, progress: Callable[[int], None] = lambda done: None) -> Iterator[Games]:
        """Yield the games in play order, in parts; may be called again.

        Names may be known of players who come in the next part only: it is read meanwhile.
        """
        ordered = True
        if self.timed or (self._skip and self.game_names):
            ordered = self._survey()
        if ordered and self.size > BLOCK:
            yield from self._read_ahead(progress)
            return
        if ordered:
            yield from self._read(progress)
            return
        parts = list(self._read(progress))
        everything = joined(parts)
        everything = reordered(everything, np.argsort(everything.times, kind="stable"))
        yield from pieces(everything)

    def _survey(self) -> bool:
        """Read through the log for games in pieces; return whether its times are in order."""
        self._reset()
        ordered, last = True, -np.inf
        split: set[int] = set()
        for block in self._blocks(lambda done: None):
            names, fresh = self._names(block)
            split.update(names[~fresh].tolist())
            times = self._times(block, self._rows(block))
            times = np.concatenate([[last], times[~np.isnan(times)]])
            ordered &= bool((times[1:] >= times[:-1]).all())
            last = times[-1]
        self._split = split if self._skip else None
        return ordered

    def _read(self, progress: Callable[[int], None]) -> Iterator[Games]:
        """Yield the games in the order of the file."""
        for games, _ in self._with_facts(progress):
            yield games

    def _read_ahead(self, progress: Callable[[int], None]) -> Iterator[Games]:
        """Yield the games in the order of the file, of which the next are read meanwhile."""
        done: deque[int] = deque()
        for games in self._ahead.over(self._read(done.append)):
            while done:
                progress(done.popleft())
            yield games
        while done:
            progress(done.popleft())

    def whole(self, progress: Callable[[int], None]) -> tuple[Games, Facts]:
        """Return all games, and what else is known of them, in the order of the file."""
        if self._skip and self.game_names:
            self._survey()
        parts = list(self._with_facts(progress))
        if not any(games.n_games for games, _ in parts):
            raise InputError(f"{self.name}: holds no game that can be rated")
        games, facts = zip(*parts, strict=True)
        return joined(games), joined_facts(facts)

    def _with_facts(self, progress: Callable[[int], None]) -> Iterator[tuple[Games, Facts]]:
        """Yield the games in the order of the file, and what else is known of them."""
        self._reset()
        good = 0
        for block in self._blocks(progress):
            names, fresh = self._names(block)
            split = ~fresh if self._split is None else np.isin(names, list(self._split))
            rows = self._rows(block)
            entries = self._read_rows(rows, block.game_rows, self.players)
            times = self._times(block, rows)
            facts = None
            if self._further is not None:
                facts = rows.further(block.game_rows, self._further, self._clusters)
            arranged = arrange(block.buffer, entries, names, times, split, self._largest)
            self.unrated += arranged.unrated
            if arranged.reasons.any():
                self._judge(block, names, arranged)
            good += arranged.games.n_games
            known = facts.at(arranged.kept, arranged.entries) if facts else NOTHING
            yield arranged.games, known
        self.bad.check(good + self.unrated)
        self._renamer.check(self.name)

    def _rows(self, block: _Block) -> Rows:
        return Rows(block.buffer, block.cells, self._slot, len(self.columns.names))

    def _times(self, block: _Block, rows: Rows) -> Floats:
        """Return the time of each game."""
        if self.kind_of_times is None and self.timed:
            slot = self._slot["time"]
            starts, ends = block.cells.starts[:, slot], block.cells.ends[:, slot]
            self.kind_of_times = kind_of_times(block.buffer, starts, ends)
        times = rows.times(self.kind_of_times)
        return np.minimum.reduceat(times, block.game_rows[:-1])

    def _header(self) -> tuple[list[str], int, int]:
        """Return the column names, where the data start, and their first line."""
        self._file.seek(0)
        lines: list[bytes] = []

        def texts() -> Iterator[str]:
            for line in self._file:
                lines.append(line)
                yield line.decode("utf-8-sig" if len(lines) == 1 else "utf-8")

        try:
            header = next((row for row in self._csv(texts()) if row), [])
        except (UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{self.name}:1: is no CSV file in UTF-8: {error}") from None
        if not header:
            raise InputError(f"{self.name}: is empty (allowed: a CSV file with a header)")
        return [name.strip() for name in header], sum(map(len, lines)), len(lines) + 1

    def _csv(self, texts: Iterator[str]) -> Iterator[list[str]]:
        return csv.reader(texts, delimiter=self._separator, skipinitialspace=True)

    def _blocks(self, progress: Callable[[int], None]) -> Iterator[_Block]:
        """Yield the file in pieces of whole games."""
        self._file.seek(self._start)
        text, line = b"", self._line
        progress(self._start)
        while True:
            # A piece that holds no whole game grows until it does.
            more = self._file.read(max(BLOCK, len(text)))
            text += more
            if not text:
                return
            buffer = np.frombuffer(text, np.uint8).copy()
            cells = split(buffer, self._slots, not more, self._separator)
            for slot in self._named:
                unmark_cells(buffer, cells.starts[:, slot], cells.ends[:, slot])
            if cells.open_quote:
                at = self._place(text, line, int(cells.rows[-1]))
                raise InputError(f"{at}: a quoted cell of this row has no closing quote")
            game_rows = self._game_rows(buffer, cells, final=not more)
            buffer = self._renamed(buffer, cells)
            cells = _first_rows(cells, int(game_rows[-1]))
            end = int(cells.rows[-1])
            if len(cells.widths):
                self._check_encoding(text[:end], line)
                yield _Block(text, line, buffer, cells, game_rows)
            progress(end)
            line += text.count(b"\n", 0, end)
            text = text[end:]
            if not more:
                return

    def _renamed(self, buffer: Bytes, cells: Cells) -> Bytes:
        """Let cells with aliases hold the names, which stand at the end of the buffer returned."""
        starts, ends = cells.starts[:, self._people], cells.ends[:, self._people]
        buffer = self._renamer.renamed(buffer, starts, ends)
        cells.starts[:, self._people], cells.ends[:, self._people] = starts, ends
        return buffer

    def _game_rows(self, buffer: Bytes, cells: Cells, final: bool) -> Ints:
        """Return the first row of each whole game, and the end of the last at last."""
        if self.columns.format.name != LONG.name:
            return np.arange(len(cells.widths) + 1)
        slot = self._slot["game"]
        rows = starts_of_games(buffer, cells.starts[:, slot], cells.ends[:, slot])
        return rows if final else rows[: max(1, len(rows) - 1)]

    def _check_encoding(self, text: bytes, line: int) -> None:
        try:
            text.decode()
        except UnicodeDecodeError as error:
            at = self._place(text, line, error.start)
            raise InputError(f"{at}: is not UTF-8 (allowed: a CSV file in UTF-8)") from None

    def _names(self, block: _Block) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the number of each game's name, and whether the name is new."""
        first = block.game_rows[:-1]
        if self.game_names is None:
            rows = self._n_rows + first
            self._n_rows += len(first)
            return rows, np.ones(len(first), np.bool_)
        slot = self._slot["game"]
        starts, ends = block.cells.starts[first, slot], block.cells.ends[first, slot]
        return self.game_names.numbers(block.buffer, starts, ends)

    def _judge(self, block: _Block, names: Ints, arranged: Arranged) -> None:
        """Count the games that cannot be used, or raise."""
        bad = np.flatnonzero(arranged.reasons).tolist()
        if self._skip:
            self._count(block, names, arranged, bad)
            return
        lines = [self._complaint(block, arranged, game) for game in bad[:_MOST_ERRORS]]
        if len(bad) > _MOST_ERRORS:
            lines.append(f"... and at least {len(bad) - _MOST_ERRORS} more")
        lines[-1] += f"; {option('skip_bad_games=True')} leaves bad games out"
        raise InputError(*lines)

    def _count(self, block: _Block, names: Ints, arranged: Arranged, bad: Sequence[int]) -> None:
        """Count the games left out, one in pieces once."""
        for game in bad:
            name = int(names[game])
            if name in self._left_out:
                continue
            if self._split and name in self._split:
                self._left_out.add(name)
            kind = _LABELS[Reason(arranged.reasons[game])]
            self.bad.count(kind, partial(self._complaint, block, arranged, game))

    def _complaint(self, block: _Block, arranged: Arranged, game: int) -> str:
        """Say where and how a game is wrong."""
        reason = Reason(arranged.reasons[game])
        row, slot = int(arranged.rows[game]), int(arranged.slots[game])
        if reason is Reason.TWICE:
            slot = self._slot[self.columns.format.required[1]]
        elif reason in (Reason.SPLIT, Reason.ONE_SIDE, Reason.SIZE, Reason.SIDES):
            slot = self._slot.get("game", 0)
        meaning = list(self._slot)[slot]
        column = self.columns.names[self.columns.places[meaning]]
        start, end = int(block.cells.starts[row, slot]), int(block.cells.ends[row, slot])
        cell = block.buffer[start:end].tobytes().decode(errors="replace")
        width = int(block.cells.widths[row])
        what = {
            Reason.WIDTH: f"the row has {width} cells (allowed: {len(self.columns.names)})",
            Reason.MISSING: f"{column}: the cell is empty",
            Reason.NUMBER: f"{column}: {cell!r} (allowed: a finite number)",
            Reason.MINUTES: f"{column}: {cell!r} (allowed: a number of minutes > 0)",
            Reason.FLAG: f"{column}: {cell!r} (allowed: yes, no, true, false, 1, 0)",
            Reason.TIME: f"{column}: {cell!r} (allowed: {self._times_allowed()})",
            Reason.RESULT: f"{column}: {cell!r} contradicts the other score and the result"
            " (allowed: more than the loser's, as much in a draw)",
            Reason.OUTCOME: f"{column}: {cell!r} (allowed: {self._results()})",
            Reason.SCORE: f"{column}: {cell!r} (allowed: a number from {-FAR:g} to {FAR:g})",
            Reason.RATE: f"{column}: {cell!r} is too much for its minutes (allowed: up to"
            f" {FAR:g} an hour)",
            Reason.WEIGHT: f"{column}: {cell!r} (allowed: a number from 0 to 1e12)",
            Reason.COVARIATE: f"{column}: {cell!r} (allowed: a number from -1e12 to 1e12)",
            Reason.DIFFERS: f"{column}: {cell!r} is not what the first row of the game has"
            " (allowed: the same in all rows of a game)",
            Reason.SPLIT: f"{column}: game {cell!r} {self._apart()} (allowed: one run of rows a"
            " game)",
            Reason.TWICE: f"{column}: {cell!r} is in this game twice",
            Reason.ONE_SIDE: f"{column}: game {cell!r} has one side only (allowed: two or more)",
            Reason.SIZE: f"{column}: game {cell!r} has too many players (allowed:"
            f" {self._largest.players:,}, as all pairs of them are compared)",
            Reason.SIDES: f"{column}: game {cell!r} has too many sides (allowed:"
            f" {self._largest.sides}; {option('system')} openskill, elo or bradley_terry takes"
            " more)",
        }[reason]
        named = start >= len(block.text)  # the name of an alias
        at = int(block.cells.rows[row]) if reason is Reason.WIDTH or named else start
        return f"{self._place(block.text, block.line, at)}: {what}"

    def _apart(self) -> str:
        """Return what is wrong with a game in pieces: where all are known, with the first."""
        return "has been there before" if self._split is None else "comes again further on"

    def _results(self) -> str:
        """Return how a result may be written."""
        return "1-0, 0-1, 1/2-1/2" + (", or H, A, D" if self.at_home else "")

    def _times_allowed(self) -> str:
        """Return what times may be."""
        if self.kind_of_times is None:
            return "a date-time such as 2026-03-07T18:30, or a number"
        return f"{self.kind_of_times}, as in other rows"

    def _place(self, text: bytes, line: int, at: int) -> str:
        """Return ``file:line:column`` of a byte of a piece that starts at `line`."""
        line += text.count(b"\n", 0, at)
        before = text[text.rfind(b"\n", 0, at) + 1 : at]
        return f"{self.name}:{line}:{len(before.decode(errors='replace')) + 1}"


def _opened(path: Path) -> BinaryIO:
    """Open a file that can be read again and again; what gzip has packed is unpacked."""
    if str(path) != "-":
        return open_text(path)
    try:
        file = temporary_copy(sys.stdin.buffer)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return as_text(file, "standard input")


def _first_rows(cells: Cells, n: int) -> Cells:
    """Return the first `n` rows of some cells."""
    return Cells(
        cells.starts[:n], cells.ends[:n], cells.widths[:n], cells.rows[: n + 1], cells.open_quote
    )


def open_log(
    path: Path, options: LogOptions, largest: Largest = ANY, further: Further | None = None
) -> GameLog:
    """Return a log to be read as options say."""
    return GameLog(path, options.format, options.most_bad, largest, further, options.aliases)
