"""CSV files read row by row: the wanted cells of each row by column, typed, with their places."""

import csv
import gzip
import io
import math
import re
import sys
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

from valmatch.errors import InputError, RunError, option
from valmatch.inputs.files import MARKS_OF_UTF_16, readable, reason, regular, too_large
from valmatch.text.dates import moment_of_number, seconds_of
from valmatch.text.numerals import REAL, real_number
from valmatch.text.terminal import Notice, counted, shown

# What may stand between cells, by name.
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
SEPARATOR_NAMES = {separator: name for name, separator in SEPARATORS.items()}
# An item of a list of columns, in which commas may stand in quotes.
_ITEM = re.compile(r"""((?:"(?:[^"]|"")*"|[^,])*),""")
_QUOTED = re.compile(r'^\s*"((?:[^"]|"")*)"\s*$')
SEPARATES = ";"  # what stands between names in one cell


def joined_names(names: Sequence[str]) -> str:
    """Return names as one cell; one that could be taken for several stands in quotes, as in CSV."""
    return SEPARATES.join(
        '"{}"'.format(name.replace('"', '""'))
        if name.startswith('"') or any(character in name for character in f"{SEPARATES}\r\n")
        else name
        for name in names
    )


def cells_of(text: str) -> list[str]:
    """Return the cells of an option that is written as a row of CSV, without outer blanks."""
    rows = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    return [cell.strip() for row in rows for cell in row] or [""]


def parse_columns(
    text: str, example: str = "game=match_id", argument: str = "columns", form: str = "MEANING=NAME"
) -> dict[str, str]:
    """Return the names that ``game=match_id,rating="mmr, now"`` gives to columns, by meaning."""
    names: dict[str, str] = {}
    for written in _ITEM.findall(f"{text},") if text else ():
        item = _QUOTED.sub(lambda quoted: quoted[1].replace('""', '"'), written)
        meaning, equals, name = (piece.strip() for piece in item.partition("="))
        name = _QUOTED.sub(lambda quoted: quoted[1].replace('""', '"'), name).strip()
        if not (equals and meaning and name):
            raise InputError(
                f"{option(argument)}: {item!r} (allowed: {form}, such as {example}; a NAME with a"
                " comma in quotes)"
            )
        if meaning in names:
            raise InputError(f"{option(argument)}: {meaning} is given twice")
        names[meaning] = name
    return names


MAX_UNPACKED = 1 << 32  # bytes of what a gzip file holds: a small one may hold any number of them
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"

# What files are by their first bytes.
KINDS = {
    GZIP: "a gzip file in a gzip file",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"ORC": "an ORC file",
    b"Obj\x01": "an Avro file",
    b"SQLite format 3\0": "an SQLite database",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ\0": "an xz file",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"Rar!": "a RAR archive",
    b"%PDF-": "a PDF document",
}

# What a zip archive is that holds such a name.
ZIPPED = {
    "xl/": "an Excel workbook",
    "content.xml": "an OpenDocument file",
    "word/": "a Word document",
}


def open_text(path: Path | None, most: float = math.inf) -> BinaryIO:
    """Open CSV text, None for standard input, unpacked and in UTF-8, to be read again and again."""
    file, limit = None, min(most, MAX_UNPACKED)
    try:
        if path is None:
            file = _temporary_copy(_pieces(sys.stdin.buffer))
        else:
            file = regular(path, most).open("rb")
        if _first_bytes(file).startswith(GZIP):
            with file, gzip.GzipFile(fileobj=file) as packed:
                file = _temporary_copy(_pieces(packed), limit)
        if _first_bytes(file).startswith(MARKS_OF_UTF_16):
            with file, io.TextIOWrapper(file, "utf-16", newline="") as text:
                file = _temporary_copy((piece.encode() for piece in _pieces(text)), limit)
        if not (what := _not_text(file)):
            return file
        why = f"it is {what} (allowed: CSV text in UTF-8, plain or packed by gzip)"
    except EOFError:
        why = "the gzip file ends too early"
    except (gzip.BadGzipFile, zlib.error):
        why = "a damaged gzip file"
    except UnicodeDecodeError:
        why = "damaged text in UTF-16"
    except OSError as error:
        why = reason(error)
    if file:
        file.close()
    raise InputError(f"{path or 'standard input'}: cannot be read: {why}")


def other_separator(header: Sequence[str], separator: str) -> str:
    """Return the name of what divides a header into more cells, "" if nothing does."""
    text = separator.join(header)
    other = max(SEPARATORS.values(), key=text.count)
    return SEPARATOR_NAMES[other] if text.count(other) > text.count(separator) else ""


def _first_bytes(file: BinaryIO) -> bytes:
    file.seek(0)
    first = file.read(64)
    file.seek(0)
    return first


def _pieces(source: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield all that can be read of a file, bytes or text."""
    return iter(partial(source.read, 1 << 20), source.read(0))


def _temporary_copy(pieces: Iterable[bytes], most: float = math.inf) -> BinaryIO:
    """Return a temporary file, at its first byte, with what another holds."""
    with _room():
        copy = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by the caller
    try:
        left = most
        for piece in pieces:
            left -= len(piece)
            if left < 0:
                raise too_large(most)
            with _room():
                while piece:
                    piece = piece[copy.write(piece) :]
        copy.seek(0)
    except BaseException:
        copy.close()
        raise
    return io.BufferedReader(copy)


@contextmanager
def _room() -> Iterator[None]:
    """Let what cannot be written to a temporary file be a failed run."""
    try:
        yield
    except OSError as error:
        raise RunError(f"no room for a temporary file: {error.strerror} (see TMPDIR)") from None


def _not_text(file: BinaryIO) -> str:
    """Return what a file is that holds no text in UTF-8, as far as its beginning shows."""
    first = _first_bytes(file)
    if first.startswith(ZIP):
        names: list[str] = []
        with suppress(zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            names = zipfile.ZipFile(file).namelist()
        kinds = (what for part, what in ZIPPED.items() if any(n.startswith(part) for n in names))
        return next(kinds, "a zip archive")
    for magic, what in KINDS.items():
        if first.startswith(magic):
            return what
    # Without a mark at its beginning: every other byte of ASCII characters is zero.
    halves = first[::2], first[1::2]
    zeros = [half.count(0) for half in halves]
    wide = len(first) > 3 and 2 * max(zeros) > len(halves[1]) and min(zeros) == 0
    return "text in UTF-16 without its mark" if wide else ""


MOST = 0.05  # the share of all rows that may be left out, unless it is said otherwise


class RowError(InputError):
    """A row that cannot be used."""

    def __init__(self, *lines: str, kind: str = "") -> None:
        super().__init__(*lines)
        self.kind = kind  # what is wrong, in the same words for all such rows


class BadRows:
    """Bad rows of a file: the first ends the reading, or all are counted by kind."""

    def __init__(
        self, name: str, skip: bool, most: float, section: str = "", what: str = "row"
    ) -> None:
        self.counts: Counter[str] = Counter()  # number of bad rows by kind
        self._name, self._skip, self._most = name, skip, most
        self._section, self._what = section, what
        self._examples: dict[str, str] = {}

    def add(self, error: RowError) -> None:
        """Count a bad row, or raise what is wrong with it."""
        if not self._skip:
            argument = option(f"{self._section}skip_bad_{self._what}s=True")
            raise InputError(f"{error}; {argument} skips invalid {self._what}s")
        self.count(error.kind, str(error))

    def count(self, kind: str, example: str, rows: int = 1) -> None:
        """Count bad rows that may be left out; the first of their kind is the example."""
        self._examples.setdefault(kind, example)
        self.counts[kind] += rows

    def seen(self) -> str:
        """Say that there are bad rows, if there are."""
        n = self.counts.total()
        first = next(iter(self._examples.values()), "")
        return f"; {counted(n, f'invalid {self._what}')}, the first: {first}" if n else ""

    def check(self, good: int) -> None:
        """Refuse a log of which too large a part would be left out."""
        bad = self.counts.total()
        if bad <= self._most * (good + bad):
            return
        share = min(1.0, -(-1000 * bad // (good + bad)) / 1000)
        raise InputError(
            f"{self._name}: {bad:,} of {good + bad:,} {self._what}s are invalid"
            f" ({self._kinds()}), more than {100.0 * self._most:g} %:"
            f" {option(f'{self._section}max_bad_rows={share:g}')} skips them all the same",
            *self._examples.values(),
        )

    def remarks(self) -> list[Notice]:
        """Say how many rows were left out and why, with one row of each kind."""
        n = self.counts.total()
        if not n:
            return []
        (_, first), *others = self._examples.items()
        bad = counted(n, f"invalid {self._what}")
        left = f"{self._name}: {bad} skipped ({self._kinds()}), the first: {first}"
        examples = (
            Notice(f"skipped, too: {other}", "example", self.counts[kind]) for kind, other in others
        )
        return [Notice(left, f"{self._what}s_left_out", n), *examples]

    def _kinds(self) -> str:
        return ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.counts.items()))


# A spreadsheet takes for a formula what begins with =, +, -, @, or with a tab or carriage return
# before it; numbers are none. Names with apostrophes before such a character get one more, too, so
# that every name reads back as it was.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_MARKED = re.compile(r"'+[=+\-@\t\r]")


def mark(name: str) -> str:
    """Return a name as it is written: with one apostrophe more where a formula might begin."""
    return f"'{name}" if _FORMULA.match(name) and not REAL.fullmatch(name) else name


def unmark(cell: str) -> str:
    """Return the name that `mark` wrote as a cell."""
    return cell[1:] if _MARKED.match(cell) else cell


WIDTH = "number of cells"  # what is wrong with a row that has too many cells or too few

# What cells that say yes or no may hold, in any case.
FLAGS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}


class Row(NamedTuple):
    """The wanted cells of a row, and where it stands."""

    file: Path | str  # what messages call the file
    line: int  # number of its last line
    cells: Mapping[str, str]  # the cells by column, or by its meaning
    # what the file calls columns, where the cells go by their meaning
    names: Mapping[str, str] = {}
    # where in the line the cell of each column starts, from 1; empty where that is not told
    starts: Mapping[str, int] = {}

    @property
    def place(self) -> str:
        """What messages call the place of the row."""
        return f"{self.file}:{self.line}"

    def place_of(self, column: str) -> str:
        """Return what messages call the place of a cell: with its column, if that is told."""
        start = self.starts.get(column)
        return self.place if start is None else f"{self.place}:{start}"

    def wrong(self, column: str, what: str, kind: str = "") -> RowError:
        """Return the error that a cell is wrong, in a way that may have a name."""
        name = self.names.get(column, column)
        kind = f"{column} ({kind})" if kind else column
        return RowError(f"{self.place_of(column)}: {name}: {what}", kind=kind)

    def _refused(self, column: str, allowed: str) -> RowError:
        return self.wrong(column, f"{shown(self.cells[column])} (allowed: {allowed})")

    def text(self, column: str) -> str:
        """Return a cell that must not be empty."""
        cell = self.cells[column]
        if not cell:
            raise self.wrong(column, "the cell is empty")
        return cell

    def number(self, column: str, of: str = "") -> float:
        """Return a finite number, or say that a cell is not one `of` what it is to be."""
        cell = self.cells[column]
        value = real_number(cell.strip())
        if value is None:
            what = shown(cell) if cell.strip() else "empty"
            raise self.wrong(column, f"{what} (allowed: a finite number{of})")
        return value

    def number_within(self, column: str, low: float, high: float) -> float:
        """Return a number that is neither below `low` nor above `high`."""
        value = real_number(self.cells[column].strip())
        if value is None or not low <= value <= high:
            raise self._refused(column, f"a number from {low:g} to {high:g}")
        return value

    def whole(self, column: str, low: float, high: float) -> int:
        """Return a whole number that is neither below `low` nor above `high`."""
        value = self.number_within(column, low, high)
        if value != int(value):
            raise self._refused(column, "a whole number")
        return int(value)

    def time(self, column: str, guessed: bool = False) -> tuple[float, bool]:
        """Return a time, and whether it is in seconds since 1970; NaN of an empty cell."""
        # Numbers may be guessed to be moments: by their size or their digits.
        cell = self.cells.get(column, "")
        number = real_number(cell)
        if number is None:
            time = seconds_of(cell)
            if cell and math.isnan(time):
                raise self._refused(column, "a number or an ISO 8601 moment")
            return time, True
        moment = moment_of_number(number) if guessed else math.nan
        return (number, False) if math.isnan(moment) else (moment, True)

    def flag(self, column: str) -> bool:
        """Return what a cell says: yes or no."""
        if (flag := FLAGS.get(self.cells[column].lower())) is None:
            raise self._refused(column, "yes, no, true, false, 1, 0")
        return flag


def _raise(error: RowError) -> None:
    raise error


# Given the columns of a file, none of an empty one, and the place of its header, returns those to
# read, by name or by meaning; raises InputError without them.
Choose = Callable[[Sequence[str], str], Mapping[str, str] | Iterable[str]]


def read_rows(
    path: Path | None,
    choose: Choose,
    separator: str | None = ",",  # None for what divides the header, first of all commas
    *,
    trimmed: bool = False,  # whether blanks around cells do not count
    padded: bool = False,  # whether the last cells of a row may be missing; they are empty then
    placed: bool = False,  # whether faults are told with the place of their cell in the line
    most: float = math.inf,  # bytes of the file
    wrong: Callable[[RowError], None] = _raise,
) -> Iterator[Row]:
    """Yield the rows of a CSV file below its header, but blank lines."""
    name = str(path or "standard input")
    with _opened(path, most) as file:
        lines: list[str] = []
        rows = rows_of(remembered(file, lines) if placed else file, name, separator, trimmed)
        line, cells = next(rows, (1, []))
        header = [cell.strip() for cell in cells]
        chosen = choose(header, f"{name}:{line}")
        names = chosen if isinstance(chosen, Mapping) else {column: column for column in chosen}
        for column in names.values():
            if header.count(column) > 1:
                raise InputError(f"{name}:{line}: column {column} appears twice")
        indices = {meaning: header.index(column) for meaning, column in names.items()}
        for line, cells in rows:
            starts = cell_starts(lines[-1], separator) if lines else []
            if len(starts) != len(cells) + 1:  # not known of a row of several lines
                starts = []
            lines.clear()
            if len(cells) > len(header) or (len(cells) < len(header) and not padded):
                what = f"the row has {len(cells)} cells (allowed: {len(header)})"
                # The first cell too many, or where the next one is missing.
                start = f":{starts[min(len(cells), len(header))]}" if starts else ""
                wrong(RowError(f"{name}:{line}{start}: {what}", kind=WIDTH))
                continue
            cells += [""] * (len(header) - len(cells))
            wanted = {meaning: cells[index] for meaning, index in indices.items()}
            known = {key: starts[index] for key, index in indices.items() if index < len(starts)}
            yield Row(name, line, wanted, names, known)


def read_table(
    path: Path, required: Sequence[str], optional: Sequence[str] = (), *, what: str
) -> Iterator[Row]:
    """Yield the rows of a file with some columns, of which `what` says which it should have."""

    def choose(header: Sequence[str], place: str) -> Sequence[str]:
        if missing := [name for name in required if name not in header]:
            columns = ", ".join(header)
            raise InputError(f"{place}: no column {missing[0]} ({what}; found: {columns})")
        return [name for name in (*required, *optional) if name in header]

    return read_rows(path, choose, trimmed=True, placed=True)


def remembered(lines: Iterable[str], read: list[str]) -> Iterator[str]:
    """Yield lines, and add them to those that were read."""
    for line in lines:
        read.append(line)
        yield line


def cell_starts(text: str, separator: str | None) -> list[int]:
    """Return where each cell of a row starts in its text, from 1, and where one more would."""
    starts, quoted, begun = [1], False, False
    text = text.rstrip("\r\n")
    for at, letter in enumerate(text, 1):
        if letter == separator and not quoted:
            starts.append(at + 1)
            begun = False
        elif not begun and letter == " ":  # blanks before a cell do not count
            starts[-1] = at + 1
        else:
            begun = True
            quoted ^= letter == '"'
    return [*starts, len(text) + 1]


def read_header(path: Path, separator: str, most: int) -> list[str]:
    """Return the names of the columns of a CSV file; see `read_rows`."""
    with _opened(path, most) as file:
        _, cells = next(rows_of(file, str(path), separator), (1, []))
    return [cell.strip() for cell in cells]


@contextmanager
def _opened(path: Path | None, most: float) -> Iterator[TextIO]:
    """Open a file as text; what goes wrong with reading it is bad input."""
    with readable(path or "standard input"), closing(open_text(path, most)) as packed:
        yield io.TextIOWrapper(packed, encoding="utf-8-sig", newline="")


def rows_of(
    lines: Iterable[str],
    name: str,
    separator: str | None = ",",
    trimmed: bool = False,
    fault: str = "cannot be read",
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of CSV text that are not empty, unmarked, each with its last line's number."""
    lines, head = iter(lines), list[str]()
    try:
        while separator is None:
            head.append(next(lines, ""))
            if not head[-1] or head[-1].strip():
                separator = dividing(head[-1])
        how: Any = {"strict": True, "delimiter": separator, "skipinitialspace": trimmed}
        rows = csv.reader(chain(head, lines), **how)
        for cells in rows:
            if trimmed:
                cells = [cell.strip() for cell in cells]
            if "'" in "".join(cells):
                cells = [unmark(cell) for cell in cells]
            if cells:
                yield rows.line_num, cells
    except UnicodeDecodeError:
        raise InputError(f"{name}: {fault}: not a text file in UTF-8") from None
    except csv.Error as error:
        raise InputError(f"{name}:{rows.line_num}: {fault}: {error}") from None


def dividing(header: str) -> str:
    """Return what divides a header most often; a comma if nothing does more often."""
    return max(SEPARATORS.values(), key=re.sub(r'"[^"]*"', "", header).count)
