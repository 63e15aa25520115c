"""Files of games as tables (CSV, lines of JSON, tags of PGN), and what their cells say."""

import csv
import hashlib
import io
import json
import math
import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import chain, compress, islice
from operator import ne
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.errors import InputError, option
from valmatch.inputs.csv_reader import FLAGS, cell_starts, dividing, open_text, remembered, unmark
from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.text import dates as d
from valmatch.text.numerals import real_number
from valmatch.text.terminal import VALUE, shortened, shown, some_of

BLOCK = 1 << 11  # rows that are read at once: so few that their cells stay in the cache
_SAMPLE, _SAMPLE_CELLS = 1000, 1 << 17  # rows and cells by which names and times are guessed
MOST_COLUMNS = 10_000
# The formats of files; the last one is not read.
CSV, JSON, PGN, _LIST = "CSV", "JSON lines", "PGN", "a list of JSON"
# How the first line of each format begins.
_STARTS = {JSON: r"\s*\{", _LIST: r"\s*\[\s*(\{|$)", PGN: r'\s*\[\s*\w+\s+"', CSV: ""}
_END = "\0end of the file"  # a cell behind the text, which a quote without an end swallows


class Row(NamedTuple):
    """A row of a file as it stands there."""

    line: int  # where it begins, from 1
    text: str  # its lines
    cells: Mapping[str, str] | list[str]  # by name; of CSV in the order of the header


def csv_rows(name: str, lines: Iterable[str], separator: str, line: int = 1) -> Iterator[Row]:
    """Yield the rows of CSV text but blank ones; its first line has a number."""
    read: list[str] = []
    ended = remembered(chain(lines, ["\n", _END]), read)
    rows = csv.reader(ended, delimiter=separator, skipinitialspace=True)
    try:
        for cells in rows:
            if cells == [_END]:
                return
            if cells and cells[-1].endswith(_END):
                raise InputError(f"{name}:{line}:1: a quoted cell of this row has no closing quote")
            if len(cells) > 1 or "".join(cells).strip():
                yield Row(line, "".join(read), cells)
            line += len(read)
            read.clear()
    except csv.Error as error:  # such as a cell of more characters than the reader takes
        raise InputError(f"{name}:{line}:1: cannot be read: {error}") from None


def json_rows(name: str, lines: Iterable[str]) -> Iterator[Row]:
    """Yield the objects of lines of JSON; what is nested goes by dotted names."""
    for line, text in enumerate(lines, 1):
        if not text.strip():
            continue
        cells, at = dict[str, str](), f"{name}:{line}"
        try:
            value = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
            _flatten("", value, cells)
            "".join((*cells, *cells.values())).encode()
        except json.JSONDecodeError as error:
            raise InputError(f"{at}:{error.pos + 1}: is no JSON: {error.msg}") from None
        except RecursionError:
            raise InputError(f"{at}:1: nested too deeply") from None
        except UnicodeEncodeError:
            raise InputError(f"{at}:1: holds half a character (a surrogate)") from None
        if not isinstance(value, dict):
            raise InputError(f"{at}:1: {shown(value)} (allowed: a JSON object on each line)")
        if len(cells) > MOST_COLUMNS:
            raise InputError(f"{at}:1: {len(cells):,} columns (allowed: {MOST_COLUMNS:,})")
        # lichess writes no winner of draws, nor of games that were not played to an end.
        if cells.get("status") in ("aborted", "noStart", "created", "started", "unknownFinish"):
            cells.setdefault("winner", "*")
        yield Row(line, text, cells)


def _flatten(name: str, value: Any, cells: dict[str, str]) -> None:  # noqa: ANN401
    """Add the cells of a value of JSON by their dotted names."""
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            _flatten(f"{name}.{key}" if name else str(key), part, cells)
    else:
        cells[name] = "" if value is None else str(value)


_TAG = re.compile(r'\s*\[\s*(\w+)\s+"((?:[^"\\\n]|\\.)*)"\s*\]\s*')


def pgn_rows(name: str, lines: Iterable[str]) -> Iterator[Row]:
    """Yield the tags of games in PGN; moves and comments are skipped."""
    tags, read, first, moves, comment = dict[str, str](), list[str](), 1, False, 0
    before, open_comment = "", "a comment begins in this line that has no end"
    for line, text in enumerate(lines, 1):
        if comment and _TAG.fullmatch(text) and not before.strip():  # as games begin
            raise InputError(f"{name}:{comment}:1: {open_comment}")
        before = text
        if comment or not text.lstrip().startswith("["):
            if not moves:
                read.append(text)
                moves = bool(text.strip())
            if not (text.startswith("%") or (comment and "}" not in text)):
                begun, opened, _ = text[text.rfind("}") + 1 :].partition("{")
                comment = line if opened and ";" not in begun else 0
            continue
        end = 0
        while match := _TAG.match(text, end):
            if moves or match[1] in tags:
                if tags:
                    yield Row(first, "".join(read), tags)
                tags, read, first, moves = {}, [], line, False
            tags[match[1]] = re.sub(r"\\(.)", r"\1", match[2])
            end = match.end()
        if text[end:].strip():
            tag = shown(text[end:].strip())
            raise InputError(f"{name}:{line}:{end + 1}: {tag} is no tag of PGN")
        read.append(text)
    if comment:
        raise InputError(f"{name}:{comment}:1: {open_comment}")
    if tags:
        yield Row(first, "".join(read), tags)


Columns = Sequence[Sequence[str]]  # of some rows of a file


def plain_columns(lines: Sequence[str], separator: str, width: int) -> Columns | None:
    """Return rows of so many cells of which none is quoted; None if there are others among them."""
    text, n = "".join(lines), len(lines)
    cells = text.replace("\n", f"{separator}\n{separator}").split(separator)
    if '"' in text or len(cells) != n * (width + 1) + 1 or cells[width :: width + 1] != ["\n"] * n:
        return None
    cells.pop()
    return [cells[at :: width + 1] for at in range(width)]


class GameFile:
    """A file of games: its format, the names of its columns, and its rows."""

    def __init__(self, path: Path, separator: str | None) -> None:
        self.path = None if str(path) == "-" else path  # None for standard input
        self.name = str(path) if self.path else "standard input"  # what messages call it
        if path.is_dir() and self.path:
            what = "a file of games: CSV, JSON lines or PGN, also packed by gzip"
            raise InputError(f"{self.name}: is a folder (allowed: {what})")
        self._file = open_text(self.path)
        self._text = io.TextIOWrapper(self._file, "utf-8-sig", newline="")
        weakref.finalize(self, self._text.close)
        self.size = self._file.seek(0, io.SEEK_END)  # bytes of the file
        first = next((line for line in self._lines() if line.strip()), "")
        self.format = next(name for name, start in _STARTS.items() if re.match(start, first))
        self.format = CSV if separator else self.format
        if self.format == _LIST:
            allowed = "JSON lines, an object a line, as from jq -c '.[]'"
            raise InputError(f"{self.name}:1: is one list of JSON (allowed: {allowed})")
        self.separator = separator or dividing(first)
        self.header: list[str] = []  # the names of all columns
        self._header_lines = 0  # lines up to its end
        rows = self._rows(self._lines())
        if self.format == CSV and (row := next(rows, None)) is not None:
            self.header = [cell.strip() for cell in row.cells]
            self._header_lines = row.line + row.text.rstrip("\r\n").count("\n")
        most = 1 + _SAMPLE_CELLS // max(len(self.header), 1)
        some = [row.cells for row in islice(rows, min(_SAMPLE, most))]
        if self.format != CSV:
            self.header = list(dict.fromkeys(name for cells in some for name in cells))
        # what messages call the place of the header
        self.where = f"{self.name}:{max(self._header_lines, 1)}"
        if not self.header:
            raise InputError(f"{self.name}: is empty (allowed: a table of games)")
        if len(self.header) > MOST_COLUMNS:
            what = f"{len(self.header):,} columns (allowed: {MOST_COLUMNS:,})"
            raise InputError(f"{self.where}: {what}")
        self._sample = list(map(self._cells, some))

    def sample(self, name: str) -> list[str]:
        """Return the cells of a column in the first rows, but empty ones."""
        at = self.header.index(name)
        column = (cells[at].strip() for cells in self._sample if at < len(cells))
        return [cell for cell in column if cell]

    def digests(self, sizes: Sequence[int]) -> list[str]:
        """Return the SHA-256 of the first so many bytes of the file, for each size in order."""
        digests, digest, done = [], hashlib.sha256(), 0
        self._file.seek(0)
        for size in sizes:
            while done < size and (piece := self._file.read(min(size - done, 1 << 20))):
                digest.update(piece)
                done += len(piece)
            digests.append(digest.hexdigest())
        return digests

    def blocks(self, progress: Callable[[int], None]) -> Iterator[tuple[Columns, Bools]]:
        """Yield the columns of some rows at a time, and which rows lack cells or have too many."""
        lines, width, line = self._lines(progress), len(self.header), 1
        if self.format == CSV:
            next(self._rows(lines))
            line, some = self._header_lines + 1, list(islice(lines, BLOCK))
            while some and (columns := plain_columns(some, self.separator, width)):
                yield columns, np.zeros(len(some), np.bool_)
                line += len(some)
                some = list(islice(lines, BLOCK))
            lines = chain(some, lines)
        rows = self._rows(lines, line)
        while cells := [self._cells(row.cells) for row in islice(rows, BLOCK)]:
            wrong_width = np.fromiter(map(len, cells), np.int64, len(cells)) != width
            for k in np.flatnonzero(wrong_width).tolist():
                cells[k] = (cells[k] + [""] * width)[:width]
            yield list(zip(*cells, strict=True)), wrong_width

    def rows_at(self, wanted: set[int]) -> dict[int, Row]:
        """Return some rows below the header, by their numbers."""
        rows = enumerate(self._rows(self._lines()), -1 if self.format == CSV else 0)
        return {number: row for number, row in rows if number in wanted}

    def cell(self, row: Row, column: int) -> str:
        """Return a cell of a row as it stands there; nothing of one that it lacks."""
        return "".join(self._cells(row.cells)[column : column + 1]).strip()

    def position(self, row: Row, column: int) -> str:
        """Return line and column of a cell; of the row, if it has too few cells."""
        at, name = 0, self.header[column]
        if self.format == CSV:
            starts = cell_starts(row.text, self.separator)
            at = starts[column] - 1 if column < len(row.cells) == len(starts) - 1 else 0
        elif self.format == JSON:
            at = max(0, row.text.find(json.dumps(name.rpartition(".")[2], ensure_ascii=False)))
        elif match := re.search(rf"\[\s*{name}\s", row.text):
            at = match.start()
        before = row.text[:at]
        return f"{row.line + before.count(chr(10))}:{at - before.rfind(chr(10))}"

    def _cells(self, cells: Mapping[str, str] | list[str]) -> list[str]:
        """Return the cells of a row in the order of the header."""
        return cells if isinstance(cells, list) else [cells.get(name, "") for name in self.header]

    def _lines(self, progress: Callable[[int], None] = lambda _: None) -> Iterator[str]:
        """Yield the lines of the file."""
        done = self._text.seek(0)
        try:
            while lines := list(islice(self._text, BLOCK)):
                progress(self._file.tell() - done)
                done = self._file.tell()
                yield from lines
        except UnicodeDecodeError:
            self._file.seek(0)
            text = self._file.read().decode("utf-8-sig", "surrogateescape")
            before = re.split("[\udc80-\udcff]", text, maxsplit=1)[0]
            at = f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
            helps = "iconv -f latin1 -t utf8 converts one of western Europe"
            what = f"is not UTF-8 (allowed: a text file in UTF-8; {helps})"
            raise InputError(f"{self.name}:{at}: {what}") from None

    def _rows(self, lines: Iterable[str], line: int = 1) -> Iterator[Row]:
        """Return the rows of the lines of the file from one on."""
        if self.format == CSV:
            return csv_rows(self.name, lines, self.separator, line)
        return (json_rows if self.format == JSON else pgn_rows)(self.name, lines)


def read_each(cells: Sequence[str], read: Callable[[str], Any], dtype: type[Any]) -> NDArray[Any]:
    """Return what each cell is read as; equal ones are read once."""
    known = {cell: read(cell) for cell in set(cells)}
    return np.fromiter(map(known.__getitem__, cells), dtype, len(cells))


def _number(cell: str) -> float:
    value = real_number(cell)
    return math.nan if value is None else value


def read_numbers(cells: Sequence[str]) -> Floats:
    """Return the numbers in some cells; NaN where there is none."""
    return read_each(cells, _number, np.float64)


def read_flags(cells: Sequence[str]) -> NDArray[np.int8]:
    """Return which cells say yes (1) or no (0), in any case; -1 for another word."""
    return read_each(cells, lambda cell: FLAGS.get(cell.lower(), -1), np.int8)


class Names(dict[str, int]):
    """The numbers of names, in the order in which they first come, by the cells for them."""

    def __init__(self, spelled: Callable[[str], str] = unmark) -> None:
        super().__init__()
        self.spelled = spelled  # returns the name that a cell stands for
        self.texts: list[str] = []  # the names by their numbers
        self._numbers: dict[str, int] = {}  # by name

    def __missing__(self, cell: str) -> int:
        number = self[cell] = self.number(self.spelled(cell))
        return number

    def number(self, name: str) -> int:
        """Return the number of a name."""
        number = self._numbers.setdefault(name, len(self.texts))
        if number == len(self.texts):
            self.texts.append(name)
        return number

    def read(self, cells: Sequence[str]) -> Ints:
        """Return the numbers of the names in some cells."""
        return np.fromiter(map(self.__getitem__, cells), np.int64, len(cells))

    def ranks(self) -> Ints:
        """Return the rank of each name in the order of all, from 0."""
        ranks = np.empty(len(self.texts), np.int64)
        ranks[[self._numbers[name] for name in sorted(self.texts)]] = np.arange(len(ranks))
        return ranks


class GameNames(list[str]):
    """The names of the games of a log, in its order."""

    def __init__(self, runs: bool) -> None:
        super().__init__()
        self._runs = runs  # whether rows that follow each other belong to one game if named alike
        self._last: str | None = None

    def read(self, cells: Sequence[str]) -> Bools:
        """Return for some cells whether they are the first of a game."""
        first = np.ones(len(cells), np.bool_)
        if self._runs:
            first = np.fromiter(map(ne, cells, (self._last, *cells)), np.bool_, len(cells))
            self._last = cells[-1]
        self.extend(map(unmark, compress(cells, first)))
        return first

    def first_of_name(self) -> Ints:
        """Return for each game the first one of the same name."""
        known: dict[str, int] = {}
        firsts = (known.setdefault(name, game) for game, name in enumerate(self))
        return np.fromiter(firsts, np.int64, len(self))


# What times may be, besides seconds and milliseconds since 1970.
NUMBERS, DATES, DIGITS = "plain numbers", "date-times", "dates such as 20240131"
_EITHER = "dates of which the order has to show"
_LAST = 253_402_300_800.0  # seconds since 1970 at the end of the year 9999
_PLAIN = re.compile(r"((?!0000)\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?Z?)?\n)+", re.ASCII)


def _kind_of_time(cell: str) -> str | None:
    """Return what a cell may be: a number, a moment, or a date in some order; None if none."""
    if real_number(cell) is not None:
        return NUMBERS
    if not math.isnan(d.moment_of(cell)):
        return DATES
    readings = (d.moment_by(cell, order) for order in ("dmy", "mdy"))
    return None if all(map(math.isnan, readings)) else _EITHER


class Times:
    """The times of a log, read some at a time; of dates in either order both readings are kept."""

    def __init__(self, sample: Sequence[str], date_format: str | None) -> None:
        # how dates are written, as the option has it; None where they need none
        self.order = date_format
        self.kind: str | None = DATES  # what times are; None where none can be read
        # the first row of a date whose order no date of the log shows, if there is one
        self.unsettled: int | None = None
        if date_format == "numbers":
            self.kind = NUMBERS
        elif date_format is None:
            self.kind = next(filter(None, map(_kind_of_time, sample)), None)

    def read(self, cells: Sequence[str]) -> Floats:
        """Return times as they stand; of dates in either order, those by both. NaN for none."""
        if self.kind is None:
            return np.full(len(cells), np.nan)
        if self.kind == NUMBERS:
            return read_numbers(cells)
        if self.order is None and self.kind != _EITHER:
            return read_moments(cells)
        orders = ("dmy", "mdy") if self.order is None else (self.order,)
        columns = [
            read_each(cells, partial(d.moment_by, order=order), np.float64) for order in orders
        ]
        return np.column_stack(columns) if len(columns) > 1 else columns[0]

    def settled(self, times: Floats) -> Floats:
        """Return all times of the log in one unit: seconds since 1970, or numbers as they stand."""
        if self.kind == NUMBERS and self.order is None:
            numbers = np.sort(times)  # NaN at last
            middle = float(numbers[np.count_nonzero(numbers == numbers) // 2])
            self.kind = d.unit_since_1970(middle) or NUMBERS
            if d.date_of_digits(middle, d.SINCE):
                self.kind = DIGITS
                values, index = np.unique(times, return_inverse=True)
                return np.array([d.moment_of_digits(x) for x in values.tolist()])[index]
            if unit := d.PER_SECOND.get(self.kind):
                seconds = times / unit
                most = d.LEAST[d.MILLISECONDS] if self.kind == d.SINCE_1970 else _LAST
                return np.where((times >= d.LEAST[self.kind]) & (seconds < most), seconds, np.nan)
            return times
        if times.ndim > 1:
            days_first, months_first = np.count_nonzero(times == times, axis=0).tolist()
            differ = np.flatnonzero(times[:, 0] != times[:, 1])
            if len(differ) and days_first == months_first:
                self.unsettled = int(differ[0])
            self.order, column = ("dmy", 0) if days_first >= months_first else ("mdy", 1)
            times = times[:, column]
        if self.order in d.ORDERS:
            self.kind = f"dates as {d.ORDERS[self.order]}"
        return times


def read_moments(cells: Sequence[str]) -> Floats:
    """Return the seconds since 1970 of moments, UTC where no zone is given; or NaN."""
    text = "\n".join([*cells, ""])
    if _PLAIN.fullmatch(text):
        if "Z" in text:
            cells = [cell.removesuffix("Z") for cell in cells]
        with suppress(ValueError):  # no such day or hour
            return np.array(cells, "M8[s]").astype(np.float64)
    return read_each(cells, d.moment_of, np.float64)


def time_text(value: float, dated: bool) -> str:
    """Return the time of a game: a number, or a moment in UTC (a day starts at 0:00)."""
    if value != value:
        return ""
    if not dated:
        return repr(value)
    moment = datetime.fromtimestamp(value, UTC).replace(tzinfo=None)
    return str(moment).removesuffix(" 00:00:00")


# Who won a game; a game that was not played to its end is none.
SECOND, FIRST, DRAWN, UNFINISHED, UNKNOWN = 0, 1, 2, 3, -1
_WRITTEN = {FIRST: "1-0", SECOND: "0-1", DRAWN: "1/2-1/2", UNFINISHED: "*"}

# Words in lower case and without blanks.
_WORDS = {
    **dict.fromkeys(("w", "win", "won", "white", "h", "home", "a", "first"), FIRST),
    **dict.fromkeys(("l", "lose", "loss", "lost", "black", "away", "b", "second"), SECOND),
    **dict.fromkeys(("d", "draw", "drawn", "tie", "tied", "remis", "bothbad", "both_bad"), DRAWN),
    **dict.fromkeys(("1/2-1/2", "½-½", "1/2", "½", "tie(bothbad)"), DRAWN),
    "*": UNFINISHED,
}

_SIDE = re.compile(r"(?:model|player|team|side|competitor|engine)_?([ab12])")
_SCORE = re.compile(r"(\d+(?:\.\d+)?)[-:](\d+(?:\.\d+)?)", re.ASCII)
_NAMED = 4  # words of one result that are named


def check_results(name: str, meanings: Mapping[str, str]) -> dict[str, str]:
    """Return the results of words, each as 1-0, 0-1, 1/2-1/2 or *."""
    results = {}
    for word, result in meanings.items():
        outcome = _meaning(_folded(str(result)), frozenset(), False)
        if outcome == UNKNOWN:
            allowed = ", ".join(_WRITTEN.values())
            raise InputError(f"{option(name)}: {word}={shown(result)} (allowed: {allowed})")
        results[str(word)] = _WRITTEN[outcome]
    return results


def _folded(word: str) -> str:
    """Return a word as it is looked up."""
    plain = re.sub(r"\s+", "", word.casefold())
    return plain.replace("\N{EN DASH}", "-").replace(",", ".")  # .5 with a decimal comma


def _meaning(word: str, others: frozenset[str], at_home: bool) -> int:
    """Return what a word means among the others of its column."""
    if word == "a" and ("h" in others or (at_home and "b" not in others)):
        return SECOND
    if word == "x" and {"1", "2"} <= others:
        return DRAWN
    if word in _WORDS:
        return _WORDS[word]
    if side := _SIDE.fullmatch(word):
        return FIRST if side[1] in "a1" else SECOND
    if score := _SCORE.fullmatch(word):
        first, second = float(score[1]), float(score[2])
        return DRAWN if first == second else FIRST if first > second else SECOND
    known = {1.0: FIRST, 0.5: DRAWN, 0.0: SECOND, -1.0: SECOND}
    if others & {"-1", "-1.0"}:
        known[0.0] = DRAWN
    elif others & {"2", "2.0"}:  # the side that won, unless 0 says that it may be something else
        known = {} if others & {"0", "0.0"} else {1.0: FIRST, 2.0: SECOND}
    return known.get(_number(word), UNKNOWN)


class Results:
    """The words for results of a log, understood when all are known."""

    def __init__(self, explained: Mapping[str, str], at_home: bool) -> None:
        self._explained = {_folded(word): _folded(result) for word, result in explained.items()}
        self._at_home = at_home
        self._words = Names(str)
        self.read = self._words.read  # returns the numbers of the words in some cells
        self.described = ""  # what the words mean; nothing of those that everybody knows

    def outcomes(
        self, words: Ints, sides: Sequence[Ints], players: Names, blank: int
    ) -> NDArray[np.int8]:
        """Return who won each game; names are winners where most decided games name a side."""
        texts = [*self._words.texts]
        folded = list(map(_folded, texts))
        others = frozenset(folded)
        explained = [self._explained.get(word, word) for word in folded]
        meanings = [_meaning(word, others, self._at_home) if word else blank for word in explained]
        outcomes = np.array(meanings, np.int8)[words]
        winners = np.array([players.get(text, -1) for text in texts], np.int64)[words]
        won, lost = winners == sides[0], winners == sides[1]
        decided = (outcomes != DRAWN) & (outcomes != UNFINISHED)
        named: Bools = (won | lost) & decided
        by_name = 2 * int(named.sum()) > int(decided.sum())
        if by_name:
            known = np.array([word in self._explained for word in folded])[words]
            outcomes[decided & ~known] = UNKNOWN
            outcomes[won & decided], outcomes[lost & decided] = FIRST, SECOND
        parts = ["the winner's name"] if by_name else []
        for result, written in _WRITTEN.items():
            named_words = [
                shortened(text, VALUE) or "nothing"
                for text, word, meaning in zip(texts, folded, meanings, strict=True)
                if meaning == result
                and word != written
                and not (by_name and result in (FIRST, SECOND) and word not in self._explained)
            ]
            if named_words:
                parts.append(f"{some_of(named_words, _NAMED)} = {written}")
        self.described = "; ".join(parts)
        return outcomes
