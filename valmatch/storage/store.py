"""The replications of a run, in memory and in its folder, each part with how far it is."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import compress, pairwise, takewhile
from pathlib import Path
from typing import TextIO

import numpy as np
from pydantic_core import to_json

from valmatch.config.config import Config
from valmatch.config.identity import config_id
from valmatch.errors import InputError
from valmatch.execution.shards import WHOLE, Shard, shard_files
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Batch, Model
from valmatch.statistics.curve_sums import CurveSums
from valmatch.storage.curve_file import SUMS, read_sums, write_sums
from valmatch.storage.output import cell, numbers, read_lines, write_bytes, writing

Warn = Callable[[str], None]

# CSV files of replications that survive a kill at any moment.

Rows = dict[int, tuple[str, list[float]]]
"""Lines and their values, by replication."""

KEYS = ("config_id", "seed", "replication")


@dataclass(frozen=True)
class RowFormat:
    """The lines of a file of replications, one each, keyed by config, seed and replication."""

    # config_id, seed: the same in all lines
    config_id: str
    seed: int
    names: Sequence[str]  # columns after the keys
    whole: Sequence[bool]  # whether each of them is a whole number

    @property
    def header(self) -> str:
        """The first line."""
        return ",".join((*KEYS, *self.names)) + "\n"

    def line(self, replication: int, values: Sequence[float]) -> str:
        """Return the line of a replication."""
        cells = ",".join(map(cell, values, self.whole))
        return f"{self.config_id},{self.seed},{replication},{cells}\n"

    def lines(self, replications: range, rows: Floats) -> str:
        """Return the lines of replications, (n, len(names)), at least one."""
        sizes = np.abs(rows)
        usual = (sizes >= 1e-4) & (sizes < 1e15) | (sizes == 0.0)
        missing = np.isnan(rows) & ~np.array(self.whole, np.bool_)
        if not (usual | missing).all():
            return "".join(map(self.line, replications, rows.tolist()))
        columns = [
            column.astype(np.int64).tolist() if whole else column.tolist()
            for column, whole in zip(rows.T, self.whole, strict=True)
        ]
        # The serializer of pydantic writes usual numbers as repr does, twelve times as fast.
        text = to_json(list(zip(replications, *columns, strict=True))).decode()
        start = f"{self.config_id},{self.seed},"
        text = text[2:-2].replace("],[", f"\n{start}").replace("NaN", "")
        return f"{start}{text}\n"

    def parse(self, line: str) -> tuple[int, list[float]] | None:
        """Return the replication of a line (without its end) and its values; None if damaged."""
        config, seed, number, *cells = [*line.split(","), "", ""]
        values = numbers(cells[:-2])
        known = config == self.config_id and seed == str(self.seed)
        if not (known and re.fullmatch("[0-9]{1,19}", number)):
            return None
        if values is None or len(values) != len(self.names):
            return None
        fractional = (value % 1.0 > 0.0 for value in compress(values, self.whole))
        return None if any(fractional) else (int(number), values)

    def read(self, paths: Iterable[Path], warn: Warn) -> Rows:
        """Return all lines of those of some files that exist, with their values, by replication."""
        rows: Rows = {}
        origin: dict[int, Path] = {}
        for path in paths:
            for index, row in self._read(path, warn).items():
                known = rows.setdefault(index, row)
                origin.setdefault(index, path)
                if known[0] != row[0]:
                    columns = zip(self.names, known[1], row[1], strict=True)
                    shown = next(f"{name} {a!r} and {b!r}" for name, a, b in columns if a != b)
                    raise InputError(
                        f"{origin[index]} and {path}: contradict each other on replication"
                        f" {index} ({shown}); one of them was changed, or made by another version"
                    )
        return rows

    def _read(self, path: Path, warn: Warn) -> Rows:
        """Return the lines of one file; torn and repeated ones are dropped with a warning."""
        try:
            lines, tail = read_lines(path, self.header)
        except FileNotFoundError:
            return {}
        if not tail and lines and self.parse(lines[-1]) is None:
            tail = lines.pop()
        if tail:
            warn(f"{path}:{len(lines) + 2}: the last line is torn and dropped")
        rows: Rows = {}
        repeated = 0
        for number, line in enumerate(lines, 2):
            row = self.parse(line)
            if row is None:
                raise InputError(f"{path}:{number}: damaged: {line[:60]!r}; remove this line")
            replication, values = row
            if replication not in rows:
                rows[replication] = line + "\n", values
            elif rows[replication][0] == line + "\n":
                repeated += 1
            else:
                raise InputError(
                    f"{path}:{number}: contradicts an earlier line on replication {replication};"
                    " remove one of them"
                )
        if repeated:
            warn(f"{path}: {repeated} repeated line{'s' * (repeated > 1)} dropped")
        return rows


class RowFile:
    """Rows of replications in their order, each chunk on disk before the next is written."""

    # Without a path they are in memory alone. `parts` are files that may hold some of them already:
    # the first of `indices` without a gap are kept.
    def __init__(
        self, path: Path | None, form: RowFormat, indices: range, parts: Iterable[Path], warn: Warn
    ) -> None:
        self._path, self._form, self._indices = path, form, indices
        self._file: TextIO | None = None
        rows = form.read(parts, warn)
        rest = indices.start % indices.step  # other shards have replications of their own
        rows = {index: row for index, row in rows.items() if index % indices.step == rest}
        if beyond := [index for index in rows if index not in indices]:
            raise InputError(
                f"{path}: holds {len(beyond)} replications that this run is not to make, such"
                f" as {min(beyond)}; ask for more of them, or choose another folder"
            )
        kept = [rows[index] for index in takewhile(rows.__contains__, indices)]
        if len(kept) < len(rows):
            warn(f"{path}: {len(rows) - len(kept)} replications after a gap are made again")
        self._lines = [line for line, _ in kept]
        self._blocks = [np.array([row for _, row in kept]).reshape(len(kept), len(form.names))]
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
            content = (self._form.header + "".join(self._lines)).encode()
            with writing(self._path):
                write_bytes(self._path, content)
                self._file = self._path.open("a", encoding="utf-8", newline="")
        self._lines.clear()

    def add(self, rows: Floats) -> None:
        """Take in the next replications; they are on disk when this returns."""
        indices = self._indices[self.done : self.done + len(rows)]
        if self._file and self._path and len(rows):
            with writing(self._path):
                self._file.write(self._form.lines(indices, rows))
                self._file.flush()
                os.fsync(self._file.fileno())
        self._blocks.append(rows)
        self.done += len(rows)

    def close(self) -> None:
        """Close the file."""
        if self._file:
            with suppress(OSError):  # everything was flushed; a full disk was reported then
                self._file.close()


ROWS = "replications.csv"
CONTROLS = "controls.csv"


def row_format(config: Config, seed: int, model: Model[object]) -> RowFormat:
    """Return the lines of ``replications.csv``."""
    names, whole = [r.name for r in model.responses], [r.whole for r in model.responses]
    return RowFormat(config_id(config), seed, names, whole)


def control_format(config: Config, seed: int, model: Model[object]) -> RowFormat:
    """Return the lines of ``controls.csv``."""
    names = list(model.controls)
    return RowFormat(config_id(config), seed, names, [False] * len(names))


@dataclass(frozen=True)
class Place:
    """Where a run keeps its replications."""

    folder: Path | None  # None for memory alone
    shard: Shard = WHOLE
    resume: bool = False  # whether to go on with what an earlier run left
    warn: Warn = lambda text: None

    def file(self, name: str) -> Path | None:
        """Return the file of this run; None where there is none."""
        return self.folder / self.shard.file_name(name) if self.folder else None

    def parts(self, name: str) -> list[Path]:
        """Return the files with replications of this run, if any: of shards, and of the whole."""
        if not (self.folder and self.resume):
            return []
        if self.shard == WHOLE:
            return list(shard_files(self.folder, name))
        # There may be thousands of other shards.
        return [self.folder / self.shard.file_name(name), self.folder / name]

    def rows(self, name: str, form: RowFormat, indices: range) -> RowFile:
        """Return a file of rows, with those that an earlier run left."""
        return RowFile(self.file(name), form, indices, self.parts(name), self.warn)


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
        place: Place,
        *,
        controls: bool,
    ) -> None:
        self.indices = indices
        self.remarks: list[str] = []  # those on the replications made since
        self._responses = place.rows(ROWS, row_format(config, seed, model), indices)
        self.resumed = self._responses.done  # number of replications that an earlier run left
        self._parts: list[RowFile | _Curves] = [self._responses]
        self._controls, self._curves = None, None
        if controls:
            self._controls = place.rows(CONTROLS, control_format(config, seed, model), indices)
            self._parts.append(self._controls)
        if model.axes:
            self._curves = _Curves(place, model.axes.shape, indices)
            self._parts.append(self._curves)

    @property
    def done(self) -> int:
        """Number of replications that are complete in every part."""
        return min(part.done for part in self._parts)

    @property
    def made(self) -> int:
        """Number of replications whose responses are new."""
        return self._responses.done - self.resumed

    @property
    def values(self) -> Floats:
        """Responses of the `done` replications, (done, len(model.responses)) float64."""
        return self._responses.values[: self.done]

    @property
    def controls(self) -> Floats | None:
        """Control variates of the same, (done, q) float64; None where they are not kept."""
        return self._controls.values[: self.done] if self._controls else None

    @property
    def curves(self) -> CurveSums | None:
        """Sums of the curves; None where the model has none."""
        return self._curves.sums if self._curves else None

    def gaps(self, goal: int) -> Iterator[tuple[int, range]]:
        """Yield the first number and the replications that `add` has to take in before the next."""
        marks = sorted({part.done for part in self._parts if part.done < goal} | {goal})
        for first, last in pairwise(marks):
            yield first, self.indices[first:last]

    def add(self, first: int, batch: Batch) -> None:
        """Take in the replications from `place` on, in every part that lacks them."""
        if self._responses.done == first:
            self.remarks += batch.remarks
            self._responses.add(batch.responses)
        if self._controls and self._controls.done == first:
            assert batch.controls is not None
            self._controls.add(batch.controls)
        if self._curves and self._curves.done == first:
            assert batch.curves is not None
            self._curves.add(batch.curves)

    def __enter__(self) -> Store:
        for part in self._parts:
            part.open()
        return self

    def __exit__(self, *exception: object) -> None:
        for part in self._parts:
            part.close()


class _Curves:
    """Sums of curves over the replications, in a file that is whole after each chunk."""

    def __init__(self, place: Place, shape: tuple[int, ...], indices: range) -> None:
        self._path, self._indices = place.file(SUMS), indices
        self.sums = CurveSums.zeros(shape)
        if self._path and place.resume:
            sums, over = read_sums(self._path, shape, place.warn)
            # The sums of combined folders may be over replications with gaps.
            if over in ([], [indices[: sums.n]]):
                self.sums = sums

    @property
    def done(self) -> int:
        return self.sums.n

    def add(self, curves: CurveSums) -> None:
        self.sums.merge(curves)
        self.open()

    def open(self) -> None:
        if self._path:
            write_sums(self._path, self.sums, [self._indices[: self.sums.n]])

    def close(self) -> None:
        """Do nothing."""
