"""Files of replications, from which an interrupted study goes on."""

from __future__ import annotations

import re
from collections import UserDict
from collections.abc import ItemsView, Iterable
from pathlib import Path

from valmatch.execution.shards import shard_files
from valmatch.optimization.evaluation import Address, Row, Rows
from valmatch.optimization.problem import Problem
from valmatch.storage.output import cell, numbers, write_bytes
from valmatch.storage.store import GrowingFile, LineFormat, Place

JOURNAL = "evaluations.csv"  # file of all replications

# File of the objective and the violation of points by many fresh replications.
TRUTHS = "judged.csv"

TRUTH = ("objective", "violation")  # its columns after the point and the number of replications


class _Lines(LineFormat[Address]):
    """The lines of one of the two files: the point, the index, the values."""

    def __init__(self, name: str, problem: Problem) -> None:
        self._stem, self._variables = name.removesuffix(".csv"), len(problem.variables)
        judged = name == TRUTHS
        self.names = TRUTH if judged else problem.responses
        self._columns = [*problem.names, f"replication{'s' * judged}", *self.names]
        self.header = ",".join(self._columns) + "\n"

    def parse(self, line: str) -> tuple[Address, list[float]] | None:
        """Return the address of a line and its numbers, NaN where a cell is empty."""
        cells, key = line.split(","), self._variables + 1
        if len(cells) != len(self._columns) or not re.fullmatch("[0-9]{1,19}", cells[key - 1]):
            return None
        values = numbers(cells)
        return None if values is None else (tuple(values[:key]), values[key:])

    def named(self, key: Address) -> str:
        """Return what messages call an address."""
        return f"{self._stem} at {', '.join(map(cell, key))}"

    def rows(self, paths: Iterable[Path]) -> Rows:
        """Return what files hold."""
        return {address: tuple(values) for address, (_, values) in self.read(paths).items()}


def open_journal(home: Place, name: str, problem: Problem) -> FileJournal:
    """Open one of the two files of a run, with the replications that it goes on with."""
    path, lines = home.file(name), _Lines(name, problem)
    assert path
    return FileJournal(path, lines.header, lines.rows(home.parts(name)))


def read_journal(folders: Iterable[Path], name: str, problem: Problem) -> Rows:
    """Return what one of the two files holds in several folders, of shards and of the whole."""
    paths = (path for folder in folders for path in shard_files(folder, name))
    return _Lines(name, problem).rows(paths)


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
        self._file = GrowingFile(path, header + _text(rows))

    def __setitem__(self, address: Address, row: Row) -> None:
        super().__setitem__(address, row)
        self._file.append(_text({address: row}), synced=False)

    def absorb(self, rows: Rows) -> None:
        """Add what others have made, which is not used by that."""
        new = {address: row for address, row in rows.items() if address not in self.data}
        self.data |= new
        self._file.append(_text(new), synced=False)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def trim(self) -> None:
        """Leave in the file what this run has used, in that order, as if nothing had been there."""
        # What an earlier run with another budget, or with fewer runs, has left may be more, or
        # stand in another order.
        if list(self.used) != list(self.data):
            self.close()
            write_bytes(self._path, (self._header + _text(self.used)).encode())


def _text(rows: Rows) -> str:
    """Return the lines of replications."""
    lines = ([*map(cell, key[:-1]), str(int(key[-1])), *map(cell, rows[key])] for key in rows)
    return "".join(",".join(cells) + "\n" for cells in lines)
