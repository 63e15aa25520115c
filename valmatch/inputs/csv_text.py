"""CSV text in the files of users: opened, unpacked, or named as what it is instead."""

from __future__ import annotations

import gzip
import io
import math
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from valmatch.errors import InputError, RunError
from valmatch.inputs.csv_columns import SEPARATORS
from valmatch.inputs.files import regular, too_large

MAX_UNPACKED = 1 << 32  # bytes of what a gzip file holds: a small one may hold any number of them
_BRIEF = 1 << 16  # bytes of text that plain Python reads in less time than importing numba takes

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"

KINDS = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"ORC": "an ORC file",
    b"Obj\x01": "an Avro file",
    b"SQLite format 3\0": "an SQLite database",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ\0": "an xz file",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"Rar!": "a RAR archive",
    b"%PDF-": "a PDF document",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}
"""What files are by their first bytes."""

ZIPPED = {
    "xl/": "an Excel workbook",
    "content.xml": "an OpenDocument file",
    "word/": "a Word document",
}
"""What a zip archive is that holds such a name."""

ALLOWED = "allowed: CSV text in UTF-8, plain or packed by gzip"

_SNIFFED = 64  # bytes


def open_text(path: Path, most: int | None = None) -> BinaryIO:
    """Open a file of CSV text that can be read again and again; gzip is unpacked."""
    try:
        checked = regular(path) if most is None else regular(path, most)
        file = checked.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return as_text(file, str(path), MAX_UNPACKED if most is None else most)


def as_text(file: BinaryIO, name: str, most: int = MAX_UNPACKED) -> BinaryIO:
    """Return a file at its first byte, or what it holds if gzip has packed it."""
    try:
        if _first_bytes(file).startswith(GZIP):
            file = _unpacked(file, most)
        what = _not_text(file)
    except EOFError:
        file.close()
        raise InputError(f"{name}: cannot be read: the gzip file ends too early") from None
    except (gzip.BadGzipFile, zlib.error):
        file.close()
        raise InputError(f"{name}: cannot be read: a damaged gzip file") from None
    except OSError as error:
        file.close()
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from None
    if what:
        file.close()
        raise InputError(f"{name}: cannot be read: it is {what} ({ALLOWED})")
    return file


def other_separator(header: Sequence[str], separator: str) -> str:
    """Return the name of what divides a header into more cells, "" if nothing does."""
    text = separator.join(header)
    counts = {
        name: text.count(character)
        for name, character in SEPARATORS.items()
        if character != separator
    }
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] >= max(len(header), 1) else ""


def _first_bytes(file: BinaryIO) -> bytes:
    file.seek(0)
    first = file.read(_SNIFFED)
    file.seek(0)
    return first


def _unpacked(file: BinaryIO, most: int) -> BinaryIO:
    """Return a temporary file with what gzip has packed into another, which is closed."""
    with file, gzip.GzipFile(fileobj=file) as packed:
        return temporary_copy(packed, most)


def temporary_copy(source: BinaryIO | gzip.GzipFile, most: float = math.inf) -> BinaryIO:
    """Return a temporary file, at its first byte, with what another holds."""
    with _room():
        copy = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by the caller
    try:
        left = most
        while piece := source.read(int(min(1 << 20, left + 1))):
            left -= len(piece)
            if left < 0:
                raise too_large(most)
            with _room():
                while piece:
                    piece = piece[copy.write(piece) :]
        copy.seek(0)
    except BaseException:
        copy.close()
        raise
    return io.BufferedReader(copy)


@contextmanager
def _room() -> Iterator[None]:
    """Let what cannot be written to a temporary file be a failed run."""
    try:
        yield
    except OSError as error:
        raise RunError(f"no room for a temporary file: {error.strerror} (see TMPDIR)") from None


def _not_text(file: BinaryIO) -> str:
    """Return what a file is that holds no text in UTF-8, as far as its beginning shows."""
    first = _first_bytes(file)
    if first.startswith(GZIP):
        return "a gzip file in a gzip file"
    if first.startswith(ZIP):
        return _zipped(file)
    for magic, what in KINDS.items():
        if first.startswith(magic):
            return what
    # Without a mark at its beginning: every other byte of ASCII characters is zero.
    halves = first[::2], first[1::2]
    zeros = [half.count(0) for half in halves]
    wide = len(first) > 3 and 2 * max(zeros) > len(halves[1]) and min(zeros) == 0
    return "text in UTF-16" if wide else ""


def _zipped(file: BinaryIO) -> str:
    """Return what a zip archive is, by the names in it."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        names = []
    kinds = (what for part, what in ZIPPED.items() if any(n.startswith(part) for n in names))
    return next(kinds, "a zip archive")


def is_brief(path: Path) -> bool:
    """Return whether a file is so small a text that compiled kernels are not worth their import."""
    try:
        if not path.is_file() or path.stat().st_size > _BRIEF:
            return False
        with path.open("rb") as file:
            return not file.read(len(GZIP)).startswith((GZIP, ZIP[: len(GZIP)]))
    except OSError:
        return False
