"""The folder of a run as results are read back from it."""

from __future__ import annotations

import zipfile
from array import array
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence, Sized
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from valmatch.errors import InputError, OptionError
from valmatch.inputs.csv_reader import rows_of
from valmatch.inputs.files import readable, regular
from valmatch.kernels.arrays import Floats
from valmatch.storage.output import FAR, MANIFEST, read_json
from valmatch.text.terminal import shown

if TYPE_CHECKING:
    from valmatch.config.config import Config
    from valmatch.storage.manifest import Manifest


@dataclass(frozen=True)
class FileTable:
    """Some columns of a CSV file."""

    path: Path  # the file
    numbers: Mapping[str, Floats]  # columns of numbers by name; NaN where a cell is empty
    texts: Mapping[str, list[str]]  # other columns by name, as they stand

    def __len__(self) -> int:
        columns: list[Sized] = [*self.numbers.values(), *self.texts.values()]
        return len(columns[0])


@dataclass(frozen=True)
class ResultFiles:
    """The folder of a run."""

    folder: Path  # where its files are
    manifest: Manifest  # what its manifest says

    @property
    def status(self) -> str:
        """How the run ended."""
        return self.manifest.status

    @property
    def remark(self) -> str:
        """What has to be said of a run that did not end well; "" where it did."""
        return "" if self.status == "complete" else f"incomplete: the run is {self.status}"

    @cached_property
    def config(self) -> Config:
        """The config of the run, whose files need not be there any more."""
        return self.manifest.restored(self.folder, files=False)

    @property
    def tables(self) -> list[str]:
        """The names of the tables that are there, without suffix."""
        names = [Path(name) for name in self.manifest.files or ()]
        return [path.stem for path in names if path.suffix == ".csv" and self.has(path.name)]

    def has(self, name: str) -> bool:
        """Return whether a file is there."""
        return (self.folder / name).exists()

    def header(self, name: str) -> list[str]:
        """Return the names of the columns of a CSV file."""
        with closing(self._rows(name)) as rows:
            return next(rows, (1, []))[1]

    def rows(self, name: str, columns: Sequence[str]) -> Iterator[list[str]]:
        """Yield some columns of a CSV file row by row."""
        return (cells for _, cells in self._cells(name, columns))

    def _cells(self, name: str, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
        """Yield some cells of each row, with the line where it ends."""
        rows, path = self._rows(name), self.folder / name
        _, header = next(rows, (1, []))
        for column in columns:
            if column not in header:
                raise InputError(f"{path}: damaged: there is no column {column!r}")
        places = [header.index(column) for column in columns]
        for line, row in rows:
            if len(row) != len(header):
                what = f"the row has {len(row)} cells (allowed: {len(header)})"
                raise InputError(f"{path}:{line}: damaged: {what}")
            yield line, [row[index] for index in places]

    def table(
        self,
        name: str,
        numbers: Collection[str],
        texts: Collection[str] = (),
        *,
        infinite: bool = False,
    ) -> FileTable:
        """Read some columns of a CSV file, whose numbers may be infinite where that is said."""
        columns = {column: array("d") for column in numbers}
        words: dict[str, list[str]] = {column: [] for column in texts}
        path = self.folder / name
        for line, row in self._cells(name, [*columns, *words]):
            cells = iter(row)
            for column, values in columns.items():
                where = f"{path}:{line}: damaged: {column}"
                values.append(_number(next(cells), infinite, where))
            for word in words.values():
                word.append(intern(next(cells)))
        arrays = {column: np.array(values) for column, values in columns.items()}
        return FileTable(path, arrays, words)

    def _rows(self, name: str) -> Generator[tuple[int, list[str]]]:
        """Yield the rows of a CSV file with their lines, but what a kill has left of the last."""
        path = self.folder / name
        try:
            with regular(path).open(encoding="utf-8", newline="") as file:
                lines = (line for line in file if line.endswith(("\n", "\r")))
                yield from rows_of(lines, str(path), fault="damaged")
        except OSError as error:
            raise self._unreadable(path, error) from None

    def json(self, name: str) -> dict[str, Any]:
        """Read a JSON file."""
        path = self.folder / name
        try:
            return dict(read_json(path))
        except OSError as error:
            raise self._unreadable(path, error) from None

    def _unreadable(self, path: Path, error: OSError) -> InputError:
        why = f" ({self.remark})" if self.remark else ""
        return InputError(f"{path}: cannot be read: {error.strerror}{why}")


def _number(cell: str, infinite: bool, where: str) -> float:
    """Return the number in a cell, NaN where it is empty; it may be infinite where that is said."""
    try:
        value = float(cell or "nan")
    except ValueError:
        raise InputError(f"{where}: {shown(cell)} (allowed: a number)") from None
    if abs(value) > FAR and not (infinite and cell == "inf"):
        raise InputError(f"{where}: {shown(cell)} is too large (allowed: up to {FAR:g})")
    return value


# What reading a damaged archive raises; RuntimeError where it seems to be encrypted.
DAMAGED = (OSError, EOFError, ValueError, RuntimeError, MemoryError, zipfile.BadZipFile)


def read_array(
    parts: zipfile.ZipFile, name: str, kinds: str, shape: Sequence[int | None]
) -> NDArray[Any] | None:
    """Return an array of an .npz file; None if there is none of these kinds and this shape."""
    if f"{name}.npy" not in parts.namelist():
        return None
    with parts.open(f"{name}.npy") as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    fits = array.ndim == len(shape) and all(
        wanted in (None, size) for size, wanted in zip(array.shape, shape, strict=True)
    )
    return array if fits and array.dtype.kind in kinds and array.dtype.isnative else None


@contextmanager
def damaged(path: Path) -> Iterator[None]:
    """Turn what goes wrong when a file lacks what it should hold into an `InputError`."""
    try:
        yield
    except OptionError:
        raise
    except InputError as error:
        named = any(str(path.parent) in line for line in error.args)
        raise error if named else InputError(f"{path}: damaged: {error.args[0]}") from None
    except KeyError as error:
        raise InputError(f"{path}: damaged: there is no {error}") from None
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{path}: damaged: {' '.join(str(error).split())}") from None


def result_files(folder: Path) -> ResultFiles:
    """Return what a folder with a manifest holds."""
    from valmatch.storage.manifest import Manifest, read_manifest  # takes long to import

    with readable(folder / MANIFEST):
        files = ResultFiles(folder, read_manifest(folder, Manifest))
    if files.manifest.shards and not files.has("summary.json"):
        raise InputError(f"{folder}: holds shards; put them together: valmatch combine {folder}")
    return files
