"""Input files: opened if they are regular and not too large."""

import codecs
import errno
import io
import json
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from valmatch.errors import InputError

MAX_DOCUMENT = 1 << 20  # bytes of a config
MARKS_OF_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MAX_FILE = 1 << 28  # bytes of a file that a model reads


def regular(path: Path, most: float = math.inf) -> Path:
    """Return the path of a file that can be read again and again, and has an end."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file")
    if path.is_file() and path.stat().st_size > most:
        raise too_large(most)
    return path


def reason(error: OSError | ValueError) -> str:
    """Return why a file cannot be read."""
    return str(getattr(error, "strerror", None) or error)


@contextmanager
def readable(path: object) -> Iterator[None]:
    """Let what keeps a file from being read be bad input."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {reason(error)}") from None


def read_document(path: Path) -> bytes:
    """Return the bytes of a config."""
    return regular(path, MAX_DOCUMENT).read_bytes()


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 with its mark."""
    with readable(path):
        content = regular(path, MAX_FILE).read_bytes()
        encoding = "utf-16" if content.startswith(MARKS_OF_UTF_16) else "utf-8"
        try:
            return io.TextIOWrapper(io.BytesIO(content), encoding).read()
        except UnicodeDecodeError as error:
            raise ValueError(f"not {encoding.upper()} from byte {error.start} on") from None


def kind_of_text(text: str) -> str:
    """Return the format that the beginning of a text shows."""
    # One of empty, PGN, list (of JSON), JSON lines, JSON, YAML, table, text.
    lines = [line.strip() for line in text.split("\n", 1000)[:1000] if line.strip()]
    first = lines[0] if lines else ""
    if re.match(r'\[\s*\w+\s+"', first):
        return "PGN"
    if first.startswith("{"):
        try:
            alone = len(lines) > 1 and isinstance(json.loads(first), dict)
        except (ValueError, RecursionError):
            alone = False
        return "JSON lines" if alone else "JSON"
    if first.startswith("["):
        return "list"
    line = next((line for line in lines if not line.startswith("#")), "")
    if re.match(r"(---|[^\s,;|]+\s*:(\s.*)?)$", line):
        return "YAML"
    return "table" if re.search(r"[,;\t|]", first) else "text" if first else "empty"


def up_to(most: int, stream: BinaryIO) -> bytes:
    """Return all bytes of a stream, if there are at most so many."""
    content = stream.read(most + 1)
    if len(content) > most:
        raise too_large(most)
    return content


def too_large(most: float) -> OSError:
    """Return the error that a file has more than `most` bytes."""
    return OSError(errno.EFBIG, f"too large (allowed: {most:,} bytes)")


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file that a model reads."""
    import hashlib  # with what it loads, of no use to most commands

    with regular(path, MAX_FILE).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
