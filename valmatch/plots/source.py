"""The folder of a run as drawers read it."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.errors import InputError
from valmatch.plots.units import Units
from valmatch.run_folder import MANIFEST

__all__ = ["Mean", "Run", "Table", "damaged", "read_run"]

Floats = NDArray[np.float64]


class Mean(NamedTuple):
    """An estimated mean with its interval, as summaries hold it; NaN where there is none."""

    n: int
    undefined: int
    mean: float
    low: float
    high: float
    confidence: float

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Mean:
        """Return what a summary says."""
        mean, low, high = (
            math.nan if found[key] is None else float(found[key])
            for key in ("mean", "ci_low", "ci_high")
        )
        n, undefined = int(found["n"]), int(found["undefined"])
        return cls(n, undefined, mean, low, high, float(found["confidence"]))


@dataclass(frozen=True)
class Table:
    """A CSV file.

    Attributes
    ----------
    path : the file
    columns : its cells by column
    """

    path: Path
    columns: Mapping[str, list[str]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def texts(self, name: str) -> list[str]:
        """Return a column as it stands."""
        return self.columns[name]

    def numbers(self, name: str) -> Floats:
        """Return a column of numbers; NaN where a cell is empty.

        Raises
        ------
        InputError
            If a cell is no number.
        """
        try:
            return np.array([float(cell or "nan") for cell in self.columns[name]], np.float64)
        except ValueError as error:
            raise InputError(f"{self.path}: {name}: damaged: {error}") from None


@dataclass(frozen=True)
class Run:
    """The folder of a run.

    Attributes
    ----------
    folder : where its files are
    manifest : what its manifest says
    """

    folder: Path
    manifest: dict[str, Any]

    @property
    def config(self) -> dict[str, Any]:
        """Model and factors as the manifest has them; {} where it has none."""
        found = self.manifest.get("config")
        return found if isinstance(found, dict) else {}

    @property
    def kind(self) -> tuple[str, str]:
        """The command and the model that made the folder; "" for no model."""
        return str(self.manifest.get("command")), str(self.config.get("model") or "")

    @cached_property
    def units(self) -> Units:
        """The units of responses and factors."""
        return Units(self.kind[1], self.config.get("factors"))

    @property
    def status(self) -> str:
        """How the run ended."""
        return str(self.manifest.get("status", "complete"))

    @property
    def remark(self) -> str:
        """What has to be said of a run that did not end well; "" where it did."""
        return "" if self.status == "complete" else f"incomplete: the run is {self.status}"

    def heading(self, *facts: str) -> str:
        """Say which run a figure shows, with further facts."""
        config = self.manifest.get("config_id", "unknown")
        seed = self.manifest.get("seed", "unknown")
        name = f"{self.kind[1]} ({Path(str(self.manifest.get('source', ''))).stem})"
        parts = (name, f"config {config}", f"seed {seed}", *facts, self.remark)
        return ", ".join(part for part in parts if part)

    def factor(self, name: str) -> Any:  # noqa: ANN401 - a factor is of any type
        """Return a factor of the manifest.

        Raises
        ------
        InputError
            If it has none of that name.
        """
        with damaged(self.folder / MANIFEST):
            return self.config["factors"][name]

    def table(self, name: str, columns: Collection[str]) -> Table:
        """Read a CSV file that has at least some columns.

        A last line without an end, which a kill leaves, is dropped.

        Raises
        ------
        InputError
            If the file is missing or damaged, or lacks a column.
        """
        path = self.folder / name
        lines = self._text(name).splitlines(keepends=True)
        if lines and not lines[-1].endswith("\n"):
            lines.pop()
        try:
            rows = list(csv.reader(lines, strict=True))
        except csv.Error as error:
            raise InputError(f"{path}: damaged: {error}") from None
        header = rows[0] if rows else []
        missing = [column for column in columns if column not in header]
        if missing:
            raise InputError(f"{path}: damaged: there is no column {missing[0]!r}")
        for number, row in enumerate(rows, 1):
            if len(row) != len(header):
                raise InputError(
                    f"{path}:{number}: damaged: {len(row)} cells (the header has {len(header)})"
                )
        cells = [list(column) for column in zip(*rows[1:], strict=True)] or [[] for _ in header]
        return Table(path, dict(zip(header, cells, strict=True)))

    def json(self, name: str) -> dict[str, Any]:
        """Read a JSON file.

        Raises
        ------
        InputError
            If the file is missing or damaged.
        """
        path = self.folder / name
        try:
            found = json.loads(self._text(name))
        except ValueError as error:
            raise InputError(f"{path}: damaged: {error}") from None
        if not isinstance(found, dict):
            raise InputError(f"{path}: damaged: not an object")
        return found

    def unreadable(self, path: Path, error: OSError) -> InputError:
        """Return the error of a file that cannot be read."""
        why = f" ({self.remark})" if self.remark else ""
        return InputError(f"{path}: cannot be read: {error.strerror}{why}")

    def _text(self, name: str) -> str:
        path = self.folder / name
        try:
            with path.open(encoding="utf-8", newline="") as file:
                return file.read()
        except OSError as error:
            raise self.unreadable(path, error) from None
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: damaged: {error}") from None


@contextmanager
def damaged(path: Path) -> Iterator[None]:
    """Turn what goes wrong when a file lacks what it should hold into an `InputError`."""
    try:
        yield
    except KeyError as error:
        raise InputError(f"{path}: damaged: there is no {error}") from None
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise InputError(f"{path}: damaged: {error}") from None


def read_run(folder: Path) -> Run:
    """Return the run that a folder with a manifest holds.

    Raises
    ------
    InputError
        If the manifest cannot be used.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    if not isinstance(manifest, dict):
        raise InputError(f"{path}: not a manifest")
    return Run(folder, manifest)
