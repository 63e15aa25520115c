"""CSV files of replications that survive a kill at any moment."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TextIO

import numpy as np
from pydantic_core import to_json

from valmatch.errors import InputError, RunError
from valmatch.kernels.arrays import Floats
from valmatch.storage.output import cell, is_linked, numbers, read_lines, write_bytes

Warn = Callable[[str], None]

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

    def read(self, path: Path, warn: Warn) -> dict[int, tuple[str, list[float]]]:
        """Return the lines of a file and their values by replication, in the file's order.

        What a kill or a crash left of a last line is dropped with a warning, and so is a line
        that repeats an earlier one. A file that does not exist holds nothing.
        """
        try:
            lines, tail = read_lines(path, self.header)
        except FileNotFoundError:
            return {}
        if tail:
            warn(f"{path}:{len(lines) + 2}: the last line is torn and dropped")
        return self._rows(path, lines, bool(tail), warn)

    def _rows(
        self, path: Path, lines: list[str], torn: bool, warn: Warn
    ) -> dict[int, tuple[str, list[float]]]:
        rows: dict[int, tuple[str, list[float]]] = {}
        repeated = 0
        for number, line in enumerate(lines, 2):
            row = self.parse(line)
            if row is None:
                if number == len(lines) + 1 and not torn:
                    warn(f"{path}:{number}: the last line is torn and dropped")
                    break
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
    """A file of replications in their order, each chunk on disk before the next is written."""

    def __init__(self, path: Path, form: RowFormat, indices: range) -> None:
        self._path, self._form, self._indices = path, form, indices
        self._file: TextIO | None = None
        self._lines: list[str] = []
        self._done = 0

    def read(self, warn: Warn) -> Floats:
        """Return what the file holds and keeps: the first of `indices` without a gap."""
        found = self._form.read(self._path, warn)
        if beyond := [index for index in found if index not in self._indices]:
            raise InputError(
                f"{self._path}: holds {len(beyond)} replications that this run is not to make, such"
                f" as {min(beyond)}; ask for more of them, or choose another folder"
            )
        usable: list[tuple[str, list[float]]] = []
        for index in self._indices:
            if index not in found:
                break
            usable.append(found[index])
        if len(usable) < len(found):
            warn(
                f"{self._path}: {len(found) - len(usable)} replications after a gap are made again"
            )
        self._lines = [line for line, _ in usable]
        self._done = len(usable)
        return np.array([row for _, row in usable]).reshape(len(usable), len(self._form.names))

    def open(self) -> None:
        """Open the file for further replications, after those that were read and kept."""
        content = (self._form.header + "".join(self._lines)).encode()
        try:
            # What is appended to has no other name, under which it would grow as well.
            if not self._lines or is_linked(self._path) or self._path.read_bytes() != content:
                write_bytes(self._path, content)
            self._lines.clear()
            self._file = self._path.open("a", encoding="utf-8", newline="")
        except OSError as error:
            raise RunError(f"{self._path}: cannot be written: {error.strerror}") from None

    def append(self, chunk: Floats) -> None:
        """Write the next replications; they are on disk when this returns."""
        assert self._file is not None
        indices = self._indices[self._done : self._done + len(chunk)]
        try:
            self._file.write(self._form.lines(indices, chunk) if len(chunk) else "")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise RunError(f"{self._path}: cannot be written: {error.strerror}") from None
        self._done += len(chunk)

    def close(self) -> None:
        """Close the file."""
        if self._file:
            with suppress(OSError):  # everything was flushed; a full disk was reported then
                self._file.close()
