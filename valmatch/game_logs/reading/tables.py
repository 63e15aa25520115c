"""Files of games as tables: CSV, lines of JSON, or the tags of PGN."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from valmatch.errors import InputError
from valmatch.inputs.csv_reader import cell_starts, dividing, open_text, remembered
from valmatch.kernels.arrays import Bools
from valmatch.text.terminal import shown

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
