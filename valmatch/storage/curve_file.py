"""The file of exact sums of curves, from which a run is resumed and shards are combined."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.model import Axes
from valmatch.statistics.curve_sums import CurveSums
from valmatch.storage.output import write_bytes, write_csv

__all__ = ["CURVES", "read_sums", "stretches", "write_curves", "write_sums"]

CURVES = "curves.csv"
SUMS = "curves.npz"


def read_sums(
    folder: Path, shape: tuple[int, ...], warn: Callable[[str], None]
) -> tuple[CurveSums, list[range]]:
    """Return the sums that a folder holds, and the replications that they are over.

    Damaged sums count for nothing, with a warning: they are made again.
    """
    path = folder / SUMS
    try:
        with np.load(io.BytesIO(path.read_bytes())) as parts:
            over = [range(*ends) for ends in parts["replications"].tolist()]
            sums = CurveSums(sum(map(len, over)), parts["total"], parts["squares"])
        if sums.total.shape == sums.squares.shape == shape:
            return sums, over
    except FileNotFoundError:
        return CurveSums.zeros(shape), []
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        pass
    warn(f"{path}: damaged; its curves are simulated again")
    return CurveSums.zeros(shape), []


def write_sums(folder: Path, sums: CurveSums, over: Sequence[range]) -> None:
    """Write sums over replications; they are on disk when this returns, whole or not at all."""
    ends = [(part.start, part.stop, part.step) for part in over]
    content = io.BytesIO()
    replications = np.array(ends, dtype=np.int64).reshape(len(ends), 3)
    np.savez(content, replications=replications, total=sums.total, squares=sums.squares)
    write_bytes(folder / SUMS, content.getvalue())


def stretches(indices: Sequence[int]) -> list[range]:
    """Return increasing indices as ranges without gaps."""
    ends = [k for k in range(1, len(indices)) if indices[k] != indices[k - 1] + 1]
    borders = [0, *ends, len(indices)] if indices else []
    return [range(indices[a], indices[b - 1] + 1) for a, b in pairwise(borders)]


def write_curves(folder: Path, axes: Axes, sums: CurveSums) -> None:
    """Write ``curves.csv``."""
    write_csv(folder / CURVES, _columns(axes, sums))


def _columns(axes: Axes, sums: CurveSums) -> dict[str, Sequence[Any]]:
    """Return a row for each policy, measure and game."""
    keys = list(product(axes.policies, axes.measures, range(1, axes.games + 1)))
    scales = np.array(axes.scales)[:, np.newaxis]
    return {
        "policy": [policy for policy, _, _ in keys],
        "game": [game for _, _, game in keys],
        "measure": [measure for _, measure, _ in keys],
        "n": [sums.n] * len(keys),
        "mean": (scales * sums.mean).ravel().tolist(),
        "std_error": (scales * sums.std_error).ravel().tolist(),
    }
