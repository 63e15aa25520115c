"""The file of all replications of an optimisation, from which an interrupted run goes on."""

from __future__ import annotations

import re
from collections.abc import ItemsView, Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TextIO

from valmatch.config.config import Config
from valmatch.errors import InputError, RunError
from valmatch.optimization.problem import Problem
from valmatch.storage.line_file import numbers, read_lines
from valmatch.storage.output import cell, write_bytes
from valmatch.storage.run_folder import RunFolder

__all__ = ["JOURNAL", "FileJournal", "open_journal"]

Address = tuple[float, ...]
Row = tuple[float, ...]


JOURNAL = "evaluations.csv"


def open_journal(
    stack: ExitStack,
    out: Path | None,
    config: Config,
    problem: Problem,
    identity: Mapping[str, object],
    resume: bool,
    at_least: Mapping[str, int] | None = None,
) -> tuple[RunFolder | None, FileJournal | None]:
    """Claim the folder of an optimisation and open its journal; nothing where `out` is None.

    A run may go on with one that has less of what `at_least` counts.
    """
    if out is None:
        return None, None
    folder = stack.enter_context(
        RunFolder(
            out,
            "optimize",
            config,
            identity,
            resume=resume,
            kept_in=JOURNAL,
            at_least=at_least,
            facts={**(at_least or {}), "optimize": config.optimize.model_dump(exclude_none=True)},
        )
    )
    variables = [variable.name for variable in problem.variables]
    journal = FileJournal(out / JOURNAL, variables, problem.responses, resume)
    return folder, stack.enter_context(closing(journal))


class FileJournal(MutableMapping[Address, Row]):
    """A journal that appends every new replication to a CSV file.

    Parameters
    ----------
    path : Path
        The file; made anew unless `resume`.
    variables, responses : sequences of str
        Columns: the values of the variables, the index of the replication, the responses.
    resume : bool
        Read what an earlier run left. A torn last line, which a kill leaves, is dropped.
    """

    def __init__(
        self, path: Path, variables: Sequence[str], responses: Sequence[str], resume: bool
    ) -> None:
        self._path = path
        self._width = len(variables)
        self._rows: dict[Address, Row] = {}
        self._used: dict[Address, None] = {}
        self._header = header = ",".join([*variables, "replication", *responses]) + "\n"
        kept = self._read(header) if resume and path.exists() else header
        write_bytes(path, kept.encode())
        try:
            self._file: TextIO = path.open("a", encoding="utf-8", newline="")
        except OSError as error:
            raise RunError(f"{path}: cannot be written: {error.strerror}") from None

    def _read(self, header: str) -> str:
        """Take in the lines of the file; return them without a torn last one."""
        lines, _ = read_lines(self._path, header)
        for number, line in enumerate(lines, 2):
            values = _values(line, header.count(",") + 1, self._width)
            if values is None and number == len(lines) + 1:
                return header + "".join(f"{one}\n" for one in lines[:-1])
            if values is None:
                raise InputError(f"{self._path}:{number}: damaged: {line[:60]!r}; remove this line")
            self._rows[tuple(values[: self._width + 1])] = tuple(values[self._width + 1 :])
        return header + "".join(f"{one}\n" for one in lines)

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

    def __setitem__(self, address: Address, row: Row) -> None:
        self._used[address] = None
        self._rows[address] = row
        self._write(_line(address, row))

    def settle(self) -> None:
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
