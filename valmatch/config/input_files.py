"""Input files, refused where they might have no end."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path
from typing import BinaryIO

__all__ = ["MAX_DOCUMENT", "MAX_FILE", "read_document", "regular", "sha256", "up_to"]

MAX_DOCUMENT = 1 << 20
"""Bytes of a config."""

MAX_FILE = 1 << 28
"""Bytes of a file that a model reads."""


def regular(path: Path) -> Path:
    """Return the path of a file that can be read again and again, and has an end.

    Raises
    ------
    OSError
        If it is a pipe, a device, a folder, or not there.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file")
    return path


def read_document(path: Path) -> bytes:
    """Return the bytes of a config.

    Raises
    ------
    OSError
        If it cannot be read, or is too large.
    """
    with regular(path).open("rb") as file:
        return up_to(MAX_DOCUMENT, file)


def up_to(most: int, stream: BinaryIO) -> bytes:
    """Return all bytes of a stream, if there are at most so many.

    Raises
    ------
    OSError
        If there are more.
    """
    content = stream.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"too large (allowed: {most:,} bytes)")
    return content


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file that a model reads.

    Raises
    ------
    OSError
        If it cannot be read, or is too large.
    """
    with regular(path).open("rb") as file:
        if os.fstat(file.fileno()).st_size > MAX_FILE:
            raise OSError(errno.EFBIG, f"too large (allowed: {MAX_FILE:,} bytes)")
        return hashlib.file_digest(file, "sha256").hexdigest()
