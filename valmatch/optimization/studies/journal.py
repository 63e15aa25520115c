"""Files of replications, from which an interrupted study goes on."""

from __future__ import annotations

import re
from collections.abc import ItemsView, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from valmatch.errors import InputError, RunError
from valmatch.optimization.problem import Problem
from valmatch.storage.output import cell, numbers, read_lines, write_bytes

Address = tuple[float, ...]
Row = tuple[float, ...]


JOURNAL = "evaluations.csv"  # file of all replications

TRUTHS = "judged.csv"
"""File of the objective and the violation of points by many fresh replications."""

TRUTH = ("objective", "violation")  # its columns after the point and the number of replications


def open_journal(folder: Path, name: str, problem: Problem, resume: bool) -> FileJournal:
    """Open one of the two files of a folder."""
    responses, index = _columns(name, problem)
    return FileJournal(folder / name, _names(problem), responses, resume, index)


def read_journal(folder: Path, name: str, problem: Problem) -> dict[Address, Row]:
    """Return what one of the two files of a folder holds, {} where it is not there."""
    responses, index = _columns(name, problem)
    try:
        header = _header(_names(problem), index, responses)
        return _read(folder / name, header, len(problem.variables))[0]
    except FileNotFoundError:
        return {}


def _columns(name: str, problem: Problem) -> tuple[Sequence[str], str]:
    """Return the columns of one of the two files after the point, and that of the index."""
    return (TRUTH, "replications") if name == TRUTHS else (problem.responses, "replication")


def _names(problem: Problem) -> list[str]:
    return [variable.name for variable in problem.variables]


class FileJournal(MutableMapping[Address, Row]):
    """A journal that appends every new replication to a CSV file."""

    def __init__(
        self,
        path: Path,
        variables: Sequence[str],
        responses: Sequence[str],
        resume: bool,
        index: str = "replication",
    ) -> None:
        self._path = path
        self._rows: dict[Address, Row] = {}
        self._used: dict[Address, None] = {}
        self._header = text = _header(variables, index, responses)
        if resume and path.exists():
            self._rows, text = _read(path, text, len(variables))
        write_bytes(path, text.encode())
        try:
            self._file: TextIO = path.open("a", encoding="utf-8", newline="")
        except OSError as error:
            raise RunError(f"{path}: cannot be written: {error.strerror}") from None

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

    def __getitem__(self, address: Address) -> Row:
        row = self._rows[address]
        self._used[address] = None
        return row

    def items(self) -> ItemsView[Address, Row]:
        """Return all entries, which are not used by that."""
        return self._rows.items()

    def __contains__(self, address: object) -> bool:
        return address in self._rows

    def absorb(self, rows: Mapping[Address, Row]) -> None:
        """Add what others have made, which is not used by that."""
        new = {address: row for address, row in rows.items() if address not in self._rows}
        self._rows |= new
        self._write("".join(map(_line, new, new.values())))

    def __setitem__(self, address: Address, row: Row) -> None:
        self._used[address] = None
        self._rows[address] = row
        self._write(_line(address, row))

    def trim(self) -> None:
        """Leave in the file what this run has used, in that order, as if nothing had been there.

        What an earlier run with another budget, or with fewer runs, has left may be more, or stand
        in another order.
        """
        if list(self._used) == list(self._rows):
            return
        lines = [_line(address, self._rows[address]) for address in self._used]
        self.close()
        write_bytes(self._path, (self._header + "".join(lines)).encode())

    def __delitem__(self, address: Address) -> None:
        raise TypeError("a journal only grows")

    def __iter__(self) -> Iterator[Address]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _header(variables: Sequence[str], index: str, responses: Sequence[str]) -> str:
    return ",".join([*variables, index, *responses]) + "\n"


def _read(path: Path, header: str, variables: int) -> tuple[dict[Address, Row], str]:
    """Return the rows of a file, and its lines without a torn last one."""
    lines, _ = read_lines(path, header)
    rows: dict[Address, Row] = {}
    for number, line in enumerate(lines, 2):
        values = _values(line, header.count(",") + 1, variables)
        if values is None and number == len(lines) + 1:
            return rows, header + "".join(f"{row}\n" for row in lines[:-1])
        if values is None:
            raise InputError(f"{path}:{number}: damaged: {line[:60]!r}; remove this line")
        rows[tuple(values[: variables + 1])] = tuple(values[variables + 1 :])
    return rows, header + "".join(f"{row}\n" for row in lines)


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
