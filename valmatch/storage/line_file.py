"""Files of lines under a header, to which runs append, so that the last line may be torn."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from valmatch.errors import InputError
from valmatch.inputs.files import regular

FAR = 1e100  # beyond what any response, variable or control variate can be
TORN = 1 << 20  # bytes that a crash may leave of a file that has no header


def read_lines(path: Path, header: str) -> tuple[list[str], str]:
    """Return the lines after the header, without their ends, and what is torn after the last."""
    try:
        with regular(path).open("rb") as file:
            start = file.read(len(header.encode()))
            if start == header.encode():
                *lines, tail = file.read().decode(errors="replace").split("\n")
                return lines, tail
            start += file.read(TORN)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    # Where a machine crashes, zeros may stand for what was not written yet.
    if len(start) < TORN and header.encode().startswith(start.rstrip(b"\0")):
        return [], start.decode()
    raise InputError(f"{path}:1: not the header of this run ({header[:60].strip()}...)")


def numbers(cells: Sequence[str]) -> list[float] | None:
    """Return the numbers of cells, NaN where one is empty; None if they are not all numbers."""
    if not re.fullmatch("[-+.,0-9e]*", ",".join(cells)):
        return None
    try:
        found = [float(cell) if cell else math.nan for cell in cells]
    except ValueError:
        return None
    return None if any(abs(value) > FAR for value in found) else found
