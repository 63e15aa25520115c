"""The file of exact sums of curves, from which a run is resumed and shards are combined."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from valmatch.errors import InputError
from valmatch.inputs.files import MAX_FILE, regular
from valmatch.statistics.curve_sums import CurveSums
from valmatch.storage.output import write_bytes, write_csv

if TYPE_CHECKING:
    from valmatch.models.model import Axes

DAMAGED = (OSError, EOFError, ValueError, RuntimeError, MemoryError, zipfile.BadZipFile)
"""What reading a damaged archive raises; RuntimeError where it seems to be encrypted."""


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


CURVES = "curves.csv"
SUMS = "curves.npz"
DEFINED = "defined"  # the part of it that is there if some replication does not define a value


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


def stretches(indices: Sequence[int]) -> list[range]:
    """Return increasing indices as ranges without gaps."""
    ends = [k for k in range(1, len(indices)) if indices[k] != indices[k - 1] + 1]
    borders = [0, *ends, len(indices)] if indices else []
    return [range(indices[a], indices[b - 1] + 1) for a, b in pairwise(borders)]


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
