"""The replications of a run, in memory and in files that survive a kill at any moment."""

import io
import os
import re
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import compress, product, takewhile
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic_core import to_json

from valmatch.config.config import Config
from valmatch.config.identity import config_id
from valmatch.errors import InputError
from valmatch.inputs.files import MAX_FILE, regular
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Axes, Batch, Model, Response
from valmatch.statistics.curves import CurveSums
from valmatch.storage.output import (
    cells,
    csv_text,
    numbers,
    read_lines,
    write_bytes,
    write_csv,
    writing,
)
from valmatch.storage.results import DAMAGED, read_array
from valmatch.storage.run_folder import RunFolder

Warn: TypeAlias = Callable[[str], None]

Key = TypeVar("Key")


class LineFormat(ABC, Generic[Key]):
    """The lines of a file: a key and its numbers each."""

    header: str  # the first line
    names: Sequence[str]  # the columns of the numbers

    @abstractmethod
    def parse(self, line: str) -> tuple[Key, list[float]] | None:
        """Return the key of a line (without its end) and its numbers; None if damaged."""

    @abstractmethod
    def named(self, key: Key) -> str:
        """Return what messages call a key."""

    def read(self, paths: Iterable[Path], warn: Warn = lambda text: None) -> dict[Key, list[float]]:
        """Return the numbers of all lines of those of some files that exist, by key."""
        # Torn and repeated ones are dropped with a warning.
        rows: dict[Key, list[float]] = {}
        origin: dict[Key, Path] = {}
        for path in filter(Path.exists, paths):
            lines, tail = read_lines(path, self.header)
            if not tail and lines and self.parse(lines[-1]) is None:
                tail = lines.pop()
            if tail:
                warn(f"{path}:{len(lines) + 2}: the last line is torn and dropped")
            here = set[Key]()
            for number, line in enumerate(lines, 2):
                row = self.parse(line)
                if row is None:
                    raise InputError(f"{path}:{number}: damaged: {line[:60]!r}; remove this line")
                key, values = row
                known = rows.setdefault(key, values)
                if known is not values and repr(known) != repr(values):  # NaN is the same there
                    columns = zip(self.names, map(repr, known), map(repr, values), strict=True)
                    shown = next(f"{name} {a} and {b}" for name, a, b in columns if a != b)
                    if key in here:
                        raise InputError(
                            f"{path}:{number}: contradicts an earlier line on {self.named(key)}"
                            f" ({shown}); remove one of them"
                        )
                    raise InputError(
                        f"{origin[key]} and {path}: contradict each other on {self.named(key)}"
                        f" ({shown}); one of them was changed, or made by another version"
                    )
                here.add(key)
                origin.setdefault(key, path)
            if repeated := len(lines) - len(here):
                warn(f"{path}: {repeated} repeated line{'s' * (repeated > 1)} dropped")
        return rows


class GrowingFile:
    """A file to which lines are appended."""

    def __init__(self, path: Path, content: str) -> None:
        self._path = path
        with writing(path):
            write_bytes(path, content.encode())
            self._file = path.open("a", encoding="utf-8", newline="")

    def append(self, text: str, *, synced: bool) -> None:
        """Append lines; they are on disk when this returns, if that is asked for."""
        with writing(self._path):
            self._file.write(text)
            self._file.flush()
            if synced:
                os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # everything was flushed; a full disk was reported then
            self._file.close()


KEYS = ("config_id", "seed", "replication")


@dataclass(frozen=True)
class RowFormat(LineFormat[int]):
    """The lines of a file of replications, keyed by config, seed and replication."""

    config_id: str  # the same in all lines, as is the seed
    seed: int
    names: Sequence[str]  # columns after the keys
    whole: Sequence[bool]  # whether each of them is a whole number

    @property
    def header(self) -> str:  # type: ignore[override]
        """The first line."""
        return ",".join((*KEYS, *self.names)) + "\n"

    @property
    def _start(self) -> str:
        """What every line begins with."""
        return f"{self.config_id},{self.seed},"

    def named(self, key: int) -> str:
        """Return what messages call a replication."""
        return f"replication {key}"

    def lines(self, replications: Sequence[int], rows: Floats) -> str:
        """Return the lines of replications, (n, len(names))."""
        sizes, columns = np.abs(rows), map(cells, rows.T, self.whole)
        usual = (sizes >= 1e-4) & (sizes < 1e15) | (sizes == 0.0) | np.isnan(rows)
        if not (len(rows) and usual.all()):
            keys = ([key] * len(rows) for key in (self.config_id, self.seed))
            return csv_text(zip(*keys, replications, *columns, strict=True))
        # The serializer of pydantic writes usual numbers as repr does, in a fifth of the time.
        text, start = to_json([*zip(replications, *columns, strict=True)]).decode(), self._start
        return start + text[2:-2].replace("],[", f"\n{start}").replace('""', "") + "\n"

    def table(self, rows: Mapping[int, list[float]], replications: Sequence[int]) -> Floats:
        """Return rows that were read as one array, (n, len(names)) float64."""
        chosen = [rows[index] for index in replications]
        return np.array(chosen).reshape(len(chosen), len(self.names))

    def text(self, replications: Sequence[int], rows: Floats) -> str:
        """Return the whole file of replications."""
        return self.header + self.lines(replications, rows)

    def parse(self, line: str) -> tuple[int, list[float]] | None:
        """Return the replication of a line (without its end) and its values; None if damaged."""
        number, *rest = line.removeprefix(self._start).split(",")
        values = numbers(rest)
        if not (line.startswith(self._start) and re.fullmatch("[0-9]{1,19}", number)):
            return None
        if values is None or len(values) != len(self.names):
            return None
        fractional = (value % 1.0 > 0.0 for value in compress(values, self.whole))
        return None if any(fractional) else (int(number), values)


class RowFile:
    """Rows of replications in their order, each chunk on disk before the next is written."""

    # Without a folder they are in memory alone. Of those that an earlier run left, the first of
    # `indices` without a gap are kept.
    def __init__(
        self, home: RunFolder | None, name: str, form: RowFormat, indices: range, warn: Warn
    ) -> None:
        self._path, self._form, self._indices = home and home.file(name), form, indices
        self._file: GrowingFile | None = None
        rest = indices.start % indices.step  # other shards have replications of their own
        read = form.read(home.parts(name) if home else (), warn)
        rows = {index: row for index, row in read.items() if index % indices.step == rest}
        if beyond := [index for index in rows if index not in indices]:
            raise InputError(
                f"{self._path}: holds {len(beyond)} replications that this run is not to make, such"
                f" as {min(beyond)}; ask for more of them, or choose another folder"
            )
        kept = list(takewhile(rows.__contains__, indices))
        if len(kept) < len(rows):
            gap = len(rows) - len(kept)
            warn(f"{self._path}: {gap} replications after a gap are made again")
        self._blocks = [form.table(rows, kept)]
        self.done = len(kept)  # number of replications that are there

    @property
    def values(self) -> Floats:
        """All rows, (done, len(names)) float64."""
        if len(self._blocks) > 1:
            self._blocks = [np.concatenate(self._blocks)]
        return self._blocks[0]

    def open(self) -> None:
        """Open the file for further replications, after those that were read and kept."""
        if self._path:
            kept = self._form.text(self._indices[: self.done], self.values)
            self._file = GrowingFile(self._path, kept)

    def add(self, rows: Floats) -> None:
        """Take in the next replications; they are on disk when this returns."""
        indices = self._indices[self.done : self.done + len(rows)]
        if self._file:
            self._file.append(self._form.lines(indices, rows), synced=True)
        self._blocks.append(rows)
        self.done += len(rows)

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()


ROWS = "replications.csv"
CONTROLS = "controls.csv"


def row_format(config: Config, seed: int, responses: Sequence[Response]) -> RowFormat:
    """Return the lines of ``replications.csv``."""
    names, whole = [r.name for r in responses], [r.whole for r in responses]
    return RowFormat(config_id(config), seed, names, whole)


def control_format(config: Config, seed: int, names: Collection[str]) -> RowFormat:
    """Return the lines of ``controls.csv``."""
    return RowFormat(config_id(config), seed, list(names), [False] * len(names))


CURVES, SUMS = "curves.csv", "curves.npz"
DEFINED = "defined"  # the part of sums that is there if some replication does not define a value


class CurveFile:
    """Sums of curves over the replications, in a file that is whole after each chunk."""

    def __init__(
        self, home: RunFolder | None, shape: tuple[int, ...], indices: range, warn: Warn
    ) -> None:
        self._path, self._indices = home and home.file(SUMS), indices
        self.sums = CurveSums.zeros(shape)
        if home and home.resume:
            sums, over = read_sums(home.file(SUMS), shape, warn)
            # The sums of combined folders may be over replications with gaps.
            if over in ([], [indices[: sums.n]]):
                self.sums = sums

    @property
    def done(self) -> int:
        """Number of replications that are there."""
        return self.sums.n

    def add(self, curves: CurveSums) -> None:
        """Take in the sums of the next replications; they are on disk when this returns."""
        self.sums.merge(curves)
        self.open()

    def open(self) -> None:
        """Write the file."""
        if self._path:
            write_sums(self._path, self.sums, [self._indices[: self.sums.n]])

    def close(self) -> None:
        """Do nothing."""


def read_sums(
    path: Path, shape: tuple[int, ...], warn: Callable[[str], None]
) -> tuple[CurveSums, list[range]]:
    """Return the sums of a file, none with a warning if it is torn, and their replications."""
    defined = None
    try:
        with zipfile.ZipFile(regular(path, MAX_FILE)) as parts:
            if not parts.namelist():  # a crash has left zeros where the directory was
                raise zipfile.BadZipFile
            ends = _array(path, parts, "replications", (None, 3))
            total, squares = (_array(path, parts, name, shape) for name in ("total", "squares"))
            if f"{DEFINED}.npy" in parts.namelist():
                defined = _array(path, parts, DEFINED, shape)
    except FileNotFoundError:
        return CurveSums.zeros(shape), []
    except DAMAGED:
        warn(f"{path}: damaged; its curves are simulated again")
        return CurveSums.zeros(shape), []
    starts, stops, steps = ends.T
    wrong = (starts < 0).any() or (stops < starts).any() or (steps < 1).any() or (squares < 0).any()
    over = [] if wrong else [range(*row) for row in ends.tolist()]
    n = sum(map(len, over))
    if wrong or (defined is not None and ((defined < 0).any() or (defined > n).any())):
        raise InputError(f"{path}: damaged: holds numbers that no run writes; remove it")
    return CurveSums(n, total, squares, defined), over


def _array(
    path: Path, parts: zipfile.ZipFile, name: str, shape: tuple[int | None, ...]
) -> NDArray[np.int64]:
    """Return an array of int64 of a shape, or refuse the file."""
    with suppress(ValueError):  # no array of numbers
        array = read_array(parts, name, "i", shape)
        if array is not None and array.dtype == np.int64:
            return array
    sizes = " x ".join("n" if size is None else str(size) for size in shape)
    raise InputError(f"{path}: damaged: {name}: not an array of {sizes} int64; remove it")


def write_sums(path: Path, sums: CurveSums, over: Sequence[range]) -> None:
    """Write sums over replications; they are on disk when this returns, whole or not at all."""
    ends = [(part.start, part.stop, part.step) for part in over]
    content, replications = io.BytesIO(), np.array(ends, dtype=np.int64).reshape(len(ends), 3)
    further: dict[str, Any] = {DEFINED: sums.defined} if (sums.defined != sums.n).any() else {}
    np.savez(content, replications=replications, total=sums.total, squares=sums.squares, **further)
    write_bytes(path, content.getvalue())


def write_curves(folder: Path, axes: Axes, sums: CurveSums) -> None:
    """Write ``curves.csv``: a row for each policy, measure and game."""
    policies, measures, games = zip(
        *product(axes.policies, axes.measures, range(1, axes.games + 1)), strict=True
    )
    scales = np.array(axes.scales)[:, np.newaxis]
    columns: dict[str, Any] = {
        "policy": policies,
        "game": games,
        "measure": measures,
        "n": sums.defined.ravel(),
        "mean": (scales * sums.mean).ravel(),
        "std_error": (scales * sums.std_error).ravel(),
    }
    write_csv(folder / CURVES, columns)


class Store:
    """Takes in batches of replications in order; a context that closes the files."""

    # A kill can leave the files of a folder at different replications: what one of them lacks is
    # simulated again for that file alone. All files are read before `open` writes one.

    def __init__(
        self,
        config: Config,
        seed: int,
        model: Model[object],
        indices: range,
        home: RunFolder | None,
        warn: Warn,
        *,
        controls: bool,
    ) -> None:
        self.indices = indices
        self.remarks: list[str] = []  # those on the replications made since
        self._rows = RowFile(home, ROWS, row_format(config, seed, model.responses), indices, warn)
        self._parts: dict[str, Any] = {"responses": self._rows}  # as a batch calls them
        if controls:
            form = control_format(config, seed, model.controls)
            self._parts["controls"] = RowFile(home, CONTROLS, form, indices, warn)
        if model.axes:
            self._parts["curves"] = CurveFile(home, model.axes.shape, indices, warn)
        self.resumed = self._rows.done  # number of replications that an earlier run left

    @property
    def done(self) -> int:
        """Number of replications that are complete in every part."""
        return int(min(part.done for part in self._parts.values()))

    @property
    def made(self) -> int:
        """Number of replications whose responses are new."""
        return self._rows.done - self.resumed

    @property
    def values(self) -> Floats:
        """Responses of the `done` replications, (done, len(model.responses)) float64."""
        return self._rows.values[: self.done]

    @property
    def controls(self) -> Floats | None:
        """Control variates of the same, (done, q) float64; None where they are not kept."""
        part = self._parts.get("controls")
        return part.values[: self.done] if part else None

    @property
    def curves(self) -> CurveSums | None:
        """Sums of the curves; None where the model has none."""
        part = self._parts.get("curves")
        return part.sums if part else None

    def missing(self, goal: int) -> range:
        """Return the next replications up to a goal, all of which the same parts lack."""
        ahead = (part.done for part in self._parts.values() if part.done > self.done)
        return self.indices[self.done : min([goal, *ahead])]

    def add(self, batch: Batch) -> None:
        """Take in the next replications, in every part that lacks them."""
        first = self.done
        if self._rows.done == first:
            self.remarks += batch.remarks
        for name, part in self._parts.items():
            if part.done == first:
                part.add(getattr(batch, name))

    def __enter__(self) -> "Store":
        for part in self._parts.values():
            part.open()
        return self

    def __exit__(self, *exception: object) -> None:
        for part in self._parts.values():
            part.close()
