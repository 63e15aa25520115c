"""Bases of the results of all public functions, and the folders that they are read back from."""

from __future__ import annotations

import importlib
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from valmatch.errors import InputError, OptionError
from valmatch.inputs.csv_reader import rows_of
from valmatch.inputs.files import readable, regular
from valmatch.storage.manifest import Manifest, read_manifest
from valmatch.storage.output import FAR, MANIFEST, read_json
from valmatch.text.terminal import Notice, shown

if TYPE_CHECKING:
    from valmatch.config.config import Config

SUMMARY = "summary.json"  # the document of a result

T = TypeVar("T")


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
    ) -> dict[str, list[Any]]:
        """Read columns of a CSV file: some of numbers, NaN where a cell is empty, some of texts."""
        # Numbers may be infinite where that is said.
        columns: dict[str, list[Any]] = {column: [] for column in (*numbers, *texts)}
        path = self.folder / name
        for line, row in self._cells(name, list(columns)):
            for (column, values), cell in zip(columns.items(), row, strict=True):
                try:
                    values.append(intern(cell) if column in texts else _number(cell, infinite))
                except InputError as error:
                    raise InputError(f"{path}:{line}: damaged: {column}: {error}") from None
        return columns

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


def _number(cell: str, infinite: bool) -> float:
    """Return the number in a cell, NaN where it is empty; it may be infinite where that is said."""
    try:
        value = float(cell or "nan")
    except ValueError:
        raise InputError(f"{shown(cell)} (allowed: a number)") from None
    if abs(value) > FAR and not (infinite and cell == "inf"):
        raise InputError(f"{shown(cell)} is too large (allowed: up to {FAR:g})")
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
    with readable(folder / MANIFEST):
        files = ResultFiles(folder, read_manifest(folder, Manifest))
    if files.manifest.shards and not files.has("summary.json"):
        raise InputError(f"{folder}: holds shards; put them together: valmatch combine {folder}")
    return files


class Result(ABC):
    """What a public function returns: numbers by name, as text, as arrays, as plain values."""

    presented_by: ClassVar[str]  # its kind: `present_KIND` of its room in `valmatch.present`
    # the file of a folder whose entries are shown as they stand, "" where all of them are checked
    unchecked: ClassVar[str] = ""
    folder: Path | None  # where the files of the result are; None where none were written

    @property
    def warnings(self) -> Sequence[str]:
        """What has to be known of the result, a sentence each: left out, guessed, doubtful."""
        return ()

    def notes_below(self, chosen: Collection[str] = ()) -> list[Notice]:
        """Return the warnings below its tables, those about the chosen responses if any are."""
        notices = map(Notice.of, self.warnings)
        return [notice for notice in notices if notice.kind == "note"]

    @property
    def warned(self) -> list[str]:
        """The warnings that stand nowhere else."""
        below = self.notes_below()
        return [warning for warning in self.warnings if warning not in below]

    @property
    def finding(self) -> str:
        """What came out, in a sentence with its interval."""
        presenting = importlib.import_module("valmatch.present.presenting")
        return str(presenting.finding_of(self))

    @property
    @abstractmethod
    def title(self) -> str:
        """What the result is of, in one line."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""

    def as_json(self) -> dict[str, Any]:
        """Return what a command prints as JSON."""
        return self.summary()

    @abstractmethod
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return what the result found as a table, equally long columns by name."""

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the result that a folder holds."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return arrays by name, one for each column, as ``pandas.DataFrame`` takes them."""
        named = {}
        for name, values in self.columns().items():
            array = np.asarray(values)
            numbers = array.dtype == object and not any(isinstance(value, str) for value in values)
            named[name] = array.astype(np.float64) if numbers else array  # None becomes NaN
        return named

    def __repr__(self) -> str:
        presenting = importlib.import_module("valmatch.present.presenting")
        return str(presenting.text_of_result(self))

    def _repr_html_(self) -> str:
        return str(importlib.import_module("valmatch.present.html").fragment_of(self))


class Warnings(list[Notice]):
    """Keeps what is warned of, and passes it on."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        super().__init__()
        self._warn = warn

    def __call__(self, *texts: str) -> None:
        """Take in sentences, each once; an empty one says nothing."""
        for text in texts:
            if text and text not in self:
                self.append(Notice.of(text))
                self._warn(text)


def warnings_of_parts(warnings: Mapping[str, Sequence[str]]) -> list[Notice]:
    """Return what is warned of the parts of a result by name; one of all parts once, unnamed."""
    parts_of: dict[Notice, list[str]] = {}
    for name, texts in warnings.items():
        for text in texts:
            parts_of.setdefault(Notice.of(text), []).append(name)
    return [
        text if len(names) == len(warnings) else text.after(", ".join(names))
        for text, names in parts_of.items()
    ]


def warnings_entry(warnings: Iterable[str], key: str = "warnings") -> dict[str, Any]:
    """Return the entry of a file that holds warnings, each once; nothing without any."""
    rows = [Notice.of(text).as_dict() for text in dict.fromkeys(warnings)]
    return {key: rows} if rows else {}


def warnings_in(document: Mapping[str, Any], key: str = "warnings") -> list[Notice]:
    """Return the warnings that an entry of a file holds."""
    rows = document.get(key, ())
    return [Notice(str(row["text"]), str(row["kind"]), int(row["count"])) for row in rows]


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows of the same names as columns."""
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def among(numbers: Mapping[str, T], chosen: Collection[str]) -> dict[str, T]:
    """Return the numbers of the chosen responses, all without any."""
    return {name: of for name, of in numbers.items() if not chosen or name in chosen}


def plain(value: Any) -> Any:  # noqa: ANN401
    """Return a value as a document holds it, without fields that are None by default."""
    if is_dataclass(value):
        held = {field.name: getattr(value, field.name) for field in fields(value)}
        left_out = {field.name for field in fields(value) if field.default is None}
        return {k: plain(v) for k, v in held.items() if v is not None or k not in left_out}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return list(map(plain, value))
    return value


def read_as(kind: Any, value: object, key: str) -> Any:  # noqa: ANN401
    """Return a value of a type from what a document holds under a key."""
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
    at = ".".join(map(str, (key, *problem["loc"])))
    if problem["type"] == "missing":
        raise KeyError(at)
    raise ValueError(f"{at}: {problem['input']!r:.60}: {problem['msg']}")


class DocumentedResult(Result):
    """A result of which ``summary.json`` holds some fields as they are called."""

    documented: ClassVar[Sequence[str]]  # the fields

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        held = {name: plain(getattr(self, name)) for name in self.documented}
        return {**held, **warnings_entry(self.warnings)}

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the result that a folder holds."""
        document, types = files.json(SUMMARY), get_type_hints(cls)
        with damaged(files.folder / SUMMARY):
            held = {name: read_as(types[name], document[name], name) for name in cls.documented}
            held |= {"warnings": warnings_in(document), "folder": files.folder}
            return cls(**held, **cls.held_elsewhere(files, document))

    @classmethod
    def held_elsewhere(cls, files: ResultFiles, document: dict[str, Any]) -> dict[str, Any]:
        """Return the other fields, by other entries of the document and by other files."""
        return {}
