"""The file of exact sums of curves, from which a run is resumed and shards are combined."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.output import write_bytes, write_csv
from valmatch.simulator import Axes
from valmatch.statistics import CurveSums

__all__ = ["CURVES", "read_sums", "write_curves", "write_sums"]

CURVES = "curves.csv"
SUMS = "curves.npz"


def read_sums(folder: Path, shape: tuple[int, ...], warn: Callable[[str], None]) -> CurveSums:
    """Return the sums that a folder holds over the first of its replications.

    Damaged sums count for nothing, with a warning: they are made again.
    """
    path = folder / SUMS
    try:
        with np.load(path) as parts:
            sums = CurveSums(int(parts["n"]), parts["total"], parts["squares"])
        if sums.total.shape == sums.squares.shape == shape and sums.n >= 0:
            return sums
    except FileNotFoundError:
        return CurveSums.zeros(shape)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass
    warn(f"{path}: damaged; its curves are simulated again")
    return CurveSums.zeros(shape)


def write_sums(folder: Path, sums: CurveSums) -> None:
    """Write sums so that they are on disk when this returns, whole or not at all."""
    content = io.BytesIO()
    np.savez(content, n=np.array(sums.n), total=sums.total, squares=sums.squares)
    write_bytes(folder / SUMS, content.getvalue())


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
