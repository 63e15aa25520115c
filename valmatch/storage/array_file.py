"""Arrays in .npz files, read only once their headers say that they are what is wanted."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

DAMAGED = (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile)
"""What reading a damaged archive raises; RuntimeError where it seems to be encrypted."""


def read_array(
    parts: zipfile.ZipFile, name: str, kinds: str, shape: Sequence[int | None]
) -> NDArray[Any] | None:
    """Return an array of one of some kinds of numpy, None if there is no such one; read-only.

    One that is compressed, which could be of any size, raises ValueError.
    """
    if f"{name}.npy" not in parts.namelist():
        return None
    info = parts.getinfo(f"{name}.npy")
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{name}: compressed")
    with parts.open(info) as file:
        version = np.lib.format.read_magic(file)
        found, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        fits = len(found) == len(shape) and all(
            wanted in (None, size) for size, wanted in zip(found, shape, strict=True)
        )
        whole = info.file_size == file.tell() + dtype.itemsize * math.prod(found)
        plain = version == (1, 0) and dtype.isnative and dtype.kind in kinds and not fortran
        if not (plain and fits and whole):
            return None
        return np.frombuffer(file.read(), dtype).reshape(found)
