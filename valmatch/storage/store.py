"""The replications of a run, in memory and in its folder, each part with how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from valmatch.config.config import Config
from valmatch.config.identity import config_id
from valmatch.execution.shards import WHOLE, Shard, shard_files
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Batch, Model
from valmatch.statistics.curve_sums import CurveSums
from valmatch.storage.curve_file import SUMS, read_sums, write_sums
from valmatch.storage.row_file import RowFile, RowFormat

Warn = Callable[[str], None]

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
        """Return the files in which replications of this run may be: of shards, and of the whole.

        A shard reads no other ones, of which there may be thousands.
        """
        if not (self.folder and self.resume):
            return []
        if self.shard == WHOLE:
            return list(shard_files(self.folder, name))
        return [self.folder / self.shard.file_name(name), self.folder / name]

    def rows(self, name: str, form: RowFormat, indices: range) -> RowFile:
        """Return a file of rows, with those that an earlier run left."""
        return RowFile(self.file(name), form, indices, self.parts(name), self.warn)


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
        """Yield what is to be simulated to have the first `goal` replications, in order.

        Each item is a place in the order and the replications from there on; what is yielded must
        be simulated and added before the next.
        """
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
