"""Large arrays that are kept in a file while they are filled, instead of in memory."""

from __future__ import annotations

import errno
import math
import mmap
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from valmatch.errors import RunError

LEAST_BYTES = 1 << 24  # arrays that take less stay in memory


class Scratch:
    """Where large arrays are kept: files without a name in a folder, or memory.

    A file has no name, so nothing of it is left however the process ends. Its room on the disk is
    taken before it is used: a full disk is an error then, not the end of the process later.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._maps: list[mmap.mmap] = []

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array of zeros."""
        size = math.prod(np.atleast_1d(shape).tolist()) * np.dtype(dtype).itemsize
        if self._folder is None or size < LEAST_BYTES:
            return np.zeros(shape, dtype)
        try:
            with tempfile.TemporaryFile(dir=self._folder) as file:
                _take_room(file, size)
                kept = None
                with suppress(OSError):  # on a file system whose files cannot be memory
                    kept = mmap.mmap(file.fileno(), size)
        except OSError as error:
            room = f"{size / 2**30:.1f} GiB of what happens"
            raise RunError(f"{self._folder}: no room for {room}: {error.strerror}") from None
        if kept is None:
            return np.zeros(shape, dtype)
        self._maps.append(kept)
        return np.frombuffer(kept, dtype).reshape(shape)

    def release(self) -> None:
        """Let the system put what is in files out of memory; what they hold stays."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for kept in self._maps:
                kept.madvise(mmap.MADV_DONTNEED)


MEMORY = Scratch()  # keeps everything in memory


def _take_room(file: IO[bytes], size: int) -> None:
    """Make a file of zeros of so many bytes, with room for them on the disk."""
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file.fileno(), 0, size)
            return
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):  # of a file system without it
                raise
    piece = bytes(1 << 20)
    for first in range(0, size, len(piece)):
        file.write(piece[: size - first])
    file.flush()
