"""One command with input that is bad in one place, and how its files are laid out."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple, TypeAlias

FAULTY = "faulty"
"""Start of the name of what is bad, which messages must show."""


class Odd(Enum):
    """What can stand in place of a file."""

    FOLDER = "folder"
    PIPE = "pipe"
    ZEROS = "zeros"
    DANGLING = "dangling"


Content: TypeAlias = bytes | Path | Odd
"""The bytes of a file, what is copied (a file or folder), or something odd."""


class Case(NamedTuple):
    """A command whose input is bad in one place."""

    kind: str  # with the number it determines all of it
    number: int
    argv: Sequence[str]  # the command, run in the folder of the files
    files: Mapping[str, Content] = {}  # what the folder holds, later ones over earlier ones
    names: Sequence[str] = ()  # one of these stands in the message: the file, the option, the key
    certain: bool = True  # whether the input is certainly refused; else it may also succeed
    out: str = "out"  # the folder that a command which succeeds may write to
    stdin: bytes = b""
    what: str = ""  # what is bad, for people
    lines: int = 3  # how many lines a message may have
    listed: bool = False  # whether faults are what the command prints, a line each, however many


def lay_out(case: Case, folder: Path) -> None:
    """Put the files of a case into an empty folder."""
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, Path):
            copy = shutil.copytree if content.is_dir() else shutil.copyfile
            copy(content, path)
        else:
            _replace(path, content)


def _replace(path: Path, odd: Odd) -> None:
    path.unlink(missing_ok=True)
    if odd is Odd.FOLDER:
        path.mkdir()
    elif odd is Odd.PIPE:
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if odd is Odd.ZEROS else "nowhere")
