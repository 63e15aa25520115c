"""The standard streams, where nobody reads them any more or their disk is full."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from valmatch.errors import RunError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def open_streams() -> None:
    """Let standard output and standard error do what commands expect of them.

    What nobody reads any more is dropped in silence, and the command goes on. Standard output
    that cannot be written for another reason ends it by a `RunError`. No name has a character
    that they cannot take.
    """
    sys.stdout, sys.stderr = _opened(sys.stdout, True), _opened(sys.stderr, False)


def _opened(stream: TextIO | None, vital: bool) -> TextIO:
    """Return a stream like another, if that is one of the process itself."""
    if stream is None:  # the shell has closed it
        return Path(os.devnull).open("w")
    if os.name != "posix" or not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Stream(stream.fileno(), vital)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering or stream.write_through or not vital,
    )


class _Stream(io.FileIO):
    """One of the streams; where it cannot be written, it swallows everything from then on."""

    def __init__(self, number: int, vital: bool) -> None:
        super().__init__(number, "w", closefd=False)
        self._vital = vital

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if self._vital and not isinstance(error, BrokenPipeError):
                raise RunError(f"standard output: cannot be written: {error.strerror}") from None
        return memoryview(data).nbytes
