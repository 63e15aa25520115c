"""Files of replications, from which an interrupted study goes on."""

from __future__ import annotations

import re
from collections import UserDict
from collections.abc import ItemsView, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from valmatch.errors import InputError, RunError
from valmatch.execution.shards import shard_files
from valmatch.optimization.evaluation import Address, Row, Rows
from valmatch.optimization.problem import Problem
from valmatch.storage.output import cell, numbers, read_lines, write_bytes
from valmatch.storage.store import Place

JOURNAL = "evaluations.csv"  # file of all replications

# File of the objective and the violation of points by many fresh replications.
TRUTHS = "judged.csv"

TRUTH = ("objective", "violation")  # its columns after the point and the number of replications


def open_journal(home: Place, name: str, problem: Problem) -> FileJournal:
    """Open one of the two files of a run, with the replications that it goes on with."""
    path = home.file(name)
    assert path
    return FileJournal(path, _header(name, problem), _read(home.parts(name), name, problem))


def read_journal(folders: Iterable[Path], name: str, problem: Problem) -> Rows:
    """Return what one of the two files holds in several folders, of shards and of the whole."""
    return _read((path for folder in folders for path in shard_files(folder, name)), name, problem)


def _header(name: str, problem: Problem) -> str:
    """Return the first line of one of the two files: the point, the index, the values."""
    if name == TRUTHS:
        return ",".join([*problem.names, "replications", *TRUTH]) + "\n"
    return ",".join([*problem.names, "replication", *problem.responses]) + "\n"


class UsedRows(UserDict[Address, Row]):
    """A journal that notes which of its entries are used, in order."""

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self.data, self.used = rows, Rows()

    def __getitem__(self, address: Address) -> Row:
        self.used[address] = self.data[address]
        return self.data[address]

    def __setitem__(self, address: Address, row: Row) -> None:
        self.used[address] = self.data[address] = row

    def items(self) -> ItemsView[Address, Row]:
        """Return all entries, which are not used by that."""
        return self.data.items()


class FileJournal(UsedRows):
    """A journal that appends every new replication to a CSV file."""

    def __init__(self, path: Path, header: str, rows: Rows) -> None:
        super().__init__(rows)
        self._path, self._header = path, header
        write_bytes(path, (header + "".join(map(_line, rows, rows.values()))).encode())
        try:
            self._file: TextIO = path.open("a", encoding="utf-8", newline="")
        except OSError as error:
            raise RunError(f"{path}: cannot be written: {error.strerror}") from None

    def __setitem__(self, address: Address, row: Row) -> None:
        super().__setitem__(address, row)
        self._write(_line(address, row))

    def absorb(self, rows: Rows) -> None:
        """Add what others have made, which is not used by that."""
        new = {address: row for address, row in rows.items() if address not in self.data}
        self.data |= new
        self._write("".join(map(_line, new, new.values())))

    def _write(self, text: str) -> None:
        try:
            self._file.write(text)
            self._file.flush()
        except OSError as error:
            raise RunError(f"{self._path}: cannot be written: {error.strerror}") from None

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # everything was flushed; a full disk was reported then
            self._file.close()

    def trim(self) -> None:
        """Leave in the file what this run has used, in that order, as if nothing had been there."""
        # What an earlier run with another budget, or with fewer runs, has left may be more, or
        # stand in another order.
        if list(self.used) != list(self.data):
            self.close()
            lines = map(_line, self.used, self.used.values())
            write_bytes(self._path, (self._header + "".join(lines)).encode())


def _read(paths: Iterable[Path], name: str, problem: Problem) -> Rows:
    """Return the rows of files; what several hold must be the same there."""
    # A torn last line is dropped. A file that does not exist holds nothing.
    header, size = _header(name, problem), len(problem.variables)
    rows: Rows = {}
    origin: dict[Address, Path] = {}
    for path in paths:
        lines: list[str] = []
        with suppress(FileNotFoundError):
            lines, _ = read_lines(path, header)
        for number, line in enumerate(lines, 2):
            values = _values(line, header.count(",") + 1, size)
            if values is None and number == len(lines) + 1:
                break
            if values is None:
                raise InputError(f"{path}:{number}: damaged: {line[:60]!r}; remove this line")
            address, row = tuple(values[: size + 1]), tuple(values[size + 1 :])
            known = rows.setdefault(address, row)
            origin.setdefault(address, path)
            if repr(known) != repr(row):  # NaN is the same there
                raise InputError(
                    f"{origin[address]} and {path}: contradict each other on {name[:-4]} at"
                    f" {', '.join(map(cell, address))} ({known} and {row}); one of them was"
                    " changed, or made by another version"
                )
    return rows


def _line(address: Address, row: Row) -> str:
    """Return the line of a replication."""
    *values, index = address
    return ",".join([*map(cell, values), str(int(index)), *map(cell, row)]) + "\n"


def _values(line: str, width: int, variables: int) -> list[float] | None:
    """Return the numbers of a line, NaN where a cell is empty; None if it is damaged."""
    cells = line.split(",")
    if len(cells) != width or not re.fullmatch("[0-9]{1,19}", cells[variables]):
        return None
    return numbers(cells)
