"""The replications of a run, in memory and in its folder, each part with how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from valmatch.config.config import Config
from valmatch.config.identity import config_id
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Batch, Model
from valmatch.statistics.curve_sums import CurveSums
from valmatch.storage.curve_file import read_sums, write_sums
from valmatch.storage.row_file import RowFile, RowFormat

Warn = Callable[[str], None]

ROWS = "replications.csv"
CONTROLS = "controls.csv"


def row_format(config: Config, seed: int, model: Model[object]) -> RowFormat:
    """Return the lines of ``replications.csv``."""
    responses = model.responses
    return RowFormat(
        config_id(config), seed, [r.name for r in responses], [r.whole for r in responses]
    )


def control_format(config: Config, seed: int, model: Model[object]) -> RowFormat:
    """Return the lines of ``controls.csv``."""
    names = list(model.controls)
    return RowFormat(config_id(config), seed, names, [False] * len(names))


class Store:
    """Takes in batches of replications in order; a context that closes the files.

    A kill can leave the files of a folder at different replications: what one of them lacks is
    simulated again for that file alone. All files are read before `open` writes one.
    """

    def __init__(
        self,
        config: Config,
        seed: int,
        model: Model[object],
        indices: range,
        folder: Path | None,
        *,
        controls: bool,
        resume: bool,
        warn: Warn,
    ) -> None:
        self.indices = indices
        self.remarks: list[str] = []  # those on the replications made since
        rows = row_format(config, seed, model)
        self._responses = _Rows(_Rows.responses, folder, ROWS, rows, indices, resume, warn)
        self.resumed = self._responses.done  # number of replications that an earlier run left
        self._parts: list[_Rows | _Curves] = [self._responses]
        self._controls: _Rows | None = None
        if controls:
            rows = control_format(config, seed, model)
            self._controls = _Rows(_Rows.controls, folder, CONTROLS, rows, indices, resume, warn)
            self._parts.append(self._controls)
        self._curves: _Curves | None = None
        if model.axes:
            self._curves = _Curves(folder, model.axes.shape, indices, resume, warn)
            self._parts.append(self._curves)

    def open(self) -> None:
        """Open the files for further replications."""
        for part in self._parts:
            part.open()

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
        """Responses, (n, len(model.responses)) float64."""
        return self._responses.values

    @property
    def controls(self) -> Floats | None:
        """Control variates, (n, len(model.controls)) float64; None where they are not kept."""
        return self._controls.values if self._controls else None

    @property
    def curves(self) -> CurveSums | None:
        """Sums of the curves; None where the model has none."""
        return self._curves.sums if self._curves else None

    def gaps(self, goal: int) -> Iterator[tuple[int, range]]:
        """Yield what is to be simulated to have the first `goal` replications, in order.

        Each item is a place in the order and the replications from there on; what is yielded must
        be simulated and added before the next.
        """
        marks = sorted({part.done for part in self._parts if part.done < goal} | {goal})
        for first, last in pairwise(marks):
            yield first, self.indices[first:last]

    def add(self, place: int, batch: Batch) -> None:
        """Take in the replications from `place` on, in every part that lacks them."""
        if self._responses.done == place:
            self.remarks += batch.remarks
        for part in self._parts:
            if part.done == place:
                part.add(batch)

    def __enter__(self) -> Store:
        self.open()
        return self

    def __exit__(self, *exception: object) -> None:
        for part in self._parts:
            part.close()


class _Rows:
    """Rows of numbers, one a replication."""

    def __init__(
        self,
        pick: Callable[[Batch], Floats],
        folder: Path | None,
        name: str,
        form: RowFormat,
        indices: range,
        resume: bool,
        warn: Warn,
    ) -> None:
        self._pick = pick
        self._file = RowFile(folder / name, form, indices) if folder else None
        resumed = np.empty((0, len(form.names)))
        if self._file and resume:
            resumed = self._file.read(warn)
        self._blocks = [resumed]
        self.done = len(resumed)

    @property
    def values(self) -> Floats:
        if len(self._blocks) > 1:
            self._blocks = [np.concatenate(self._blocks)]
        return self._blocks[0]

    @staticmethod
    def responses(batch: Batch) -> Floats:
        return batch.responses

    @staticmethod
    def controls(batch: Batch) -> Floats:
        assert batch.controls is not None
        return batch.controls

    def add(self, batch: Batch) -> None:
        rows = self._pick(batch)
        if self._file:
            self._file.append(rows)
        self._blocks.append(rows)
        self.done += len(rows)

    def open(self) -> None:
        if self._file:
            self._file.open()

    def close(self) -> None:
        if self._file:
            self._file.close()


class _Curves:
    """Sums of curves over the replications."""

    def __init__(
        self,
        folder: Path | None,
        shape: tuple[int, ...],
        indices: range,
        resume: bool,
        warn: Warn,
    ) -> None:
        self._folder, self._indices = folder, indices
        self.sums = CurveSums.zeros(shape)
        if folder and resume:
            sums, over = read_sums(folder, shape, warn)
            # The sums of combined folders may be over replications with gaps.
            if over in ([], [indices[: sums.n]]):
                self.sums = sums

    @property
    def done(self) -> int:
        return self.sums.n

    def add(self, batch: Batch) -> None:
        assert batch.curves is not None
        self.sums.merge(batch.curves)
        self.open()

    def open(self) -> None:
        if self._folder:
            write_sums(self._folder, self.sums, [self._indices[: self.sums.n]])

    def close(self) -> None:
        """Do nothing: the file is whole after each chunk."""
