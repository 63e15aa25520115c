"""CSV files of replications that survive a kill at any moment."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import compress, takewhile
from pathlib import Path
from typing import TextIO

import numpy as np
from pydantic_core import to_json

from valmatch.errors import InputError
from valmatch.kernels.arrays import Floats
from valmatch.storage.output import cell, numbers, read_lines, write_bytes, writing

Warn = Callable[[str], None]

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
        """Return all lines of some files and their values by replication, in the files' order.

        What a kill or a crash left of a last line is dropped with a warning, and so is a line
        that repeats an earlier one. What several files hold must be the same there. A file that
        does not exist holds nothing.
        """
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
        """Return the lines of one file."""
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
    """Rows of replications in their order, each chunk on disk before the next is written.

    Without a path they are in memory alone. `parts` are files that may hold some of them already:
    the first of `indices` without a gap are kept.
    """

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
