"""Merges the rows, curves and control variates of the folders of a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from valmatch.config.config import Config
from valmatch.errors import InputError
from valmatch.execution.simulator import run
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Model
from valmatch.statistics.curve_sums import CurveSums
from valmatch.storage.curve_file import read_sums
from valmatch.storage.row_file import RowFormat
from valmatch.storage.store import CONTROLS, ROWS, control_format, row_format

Warn = Callable[[str], None]

Rows = Mapping[int, tuple[str, list[float]]]
"""Lines of ``replications.csv`` and their values, by replication."""


class Held(NamedTuple):
    """What folders hold together."""

    indices: Sequence[int]  # their replications, in order
    rows: Rows  # the same with their lines
    values: Floats  # (replications, responses)
    curves: CurveSums | None  # None where there are none, or none are wanted
    controls: Mapping[str, Any]  # control variates and their expectations, as in the result


class Missing(Sequence[int]):
    """Replications that should be there and are not, in order; counted without being listed."""

    def __init__(self, wanted: range, there: Collection[int], n: int) -> None:
        self._wanted, self._there, self._n = wanted, there, n

    def __len__(self) -> int:
        return len(self._wanted) - self._n

    def __iter__(self) -> Iterator[int]:
        return (index for index in self._wanted if index not in self._there)

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 - of an index or a slice
        if isinstance(place, slice):
            return list(islice(self, *place.indices(len(self))))
        return next(islice(self, range(len(self))[place], None))


def held_rows(
    folders: Sequence[Path],
    config: Config,
    seed: int,
    model: Model[object],
    *,
    curves: bool,
    warn: Warn,
) -> Held:
    """Return the replications of folders."""
    form = row_format(config, seed, model)
    rows = _union({folder: form.read(folder / ROWS, warn) for folder in folders}, form)
    indices = sorted(rows)
    values = np.array([rows[index][1] for index in indices]).reshape(len(indices), len(form.names))
    return Held(
        indices,
        rows,
        values,
        _curves(folders, indices, model, seed, warn) if curves and model.axes else None,
        _controls(folders, indices, config, seed, model, warn),
    )


def _union(found: Mapping[Path, Rows], form: RowFormat) -> dict[int, tuple[str, list[float]]]:
    """Return all replications; those that several folders hold must be the same there."""
    rows: dict[int, tuple[str, list[float]]] = {}
    origin: dict[int, Path] = {}
    for folder, own in found.items():
        for index, row in own.items():
            if index in rows and rows[index][0] != row[0]:
                columns = zip(form.names, rows[index][1], row[1], strict=True)
                shown = next(f"{name} {a!r} and {b!r}" for name, a, b in columns if a != b)
                raise InputError(
                    f"{origin[index]} and {folder}: contradict each other on replication"
                    f" {index} ({shown}); one of them was changed, or made by another version"
                )
            if index not in rows:
                rows[index], origin[index] = row, folder
    return rows


def _controls(
    folders: Sequence[Path],
    indices: Sequence[int],
    config: Config,
    seed: int,
    model: Model[object],
    warn: Warn,
) -> dict[str, Any]:
    """Return the control variates, if the folders hold those of all replications."""
    files = [folder / CONTROLS for folder in folders if (folder / CONTROLS).exists()]
    if not files:
        return {}
    form = control_format(config, seed, model)
    rows: dict[int, list[float]] = {}
    for path in files:
        rows.update((index, values) for index, (_, values) in form.read(path, warn).items())
    if any(index not in rows for index in indices):
        warn(f"not all folders hold {CONTROLS}: the whole has no control variates")
        return {}
    values = np.array([rows[index] for index in indices])
    return {"controls": values, "expectations": model.controls}


def _curves(
    folders: Sequence[Path], indices: Sequence[int], model: Model[object], seed: int, warn: Warn
) -> CurveSums:
    """Return the sums over all replications; those that no folder's sums cover are simulated.

    Sums cannot be taken apart again, so that of folders that overlap only one counts.
    """
    assert model.axes
    total = CurveSums.zeros(model.axes.shape)
    left = set(indices)
    found = [read_sums(folder, model.axes.shape, warn) for folder in folders]
    for sums, over in sorted(found, key=lambda item: -item[0].n):
        if sums.n <= len(left) and left.issuperset(chain.from_iterable(over)):
            total.merge(sums)
            left.difference_update(*over)
    if left:
        warn(f"the curves of {len(left)} replications are simulated again: folders overlap")
        batch = run(model, seed, sorted(left))
        assert batch.curves is not None
        total.merge(batch.curves)
    return total
