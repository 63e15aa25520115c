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
    """A command whose input is bad in one place.

    Attributes
    ----------
    kind, number
        Which case; they determine all of it.
    argv
        The command, run in the folder of the files.
    files
        What the folder holds, later ones over earlier ones.
    names
        One of these stands in the message: the file, the option, the key.
    certain
        Whether the input is certainly refused; else the command may also succeed.
    out
        The folder that a command which succeeds may write to.
    stdin
        Its standard input.
    what
        What is bad, for people.
    lines
        How many lines a message may have.
    listed
        Whether faults are what the command prints, a line for each, however many.
    """

    kind: str
    number: int
    argv: Sequence[str]
    files: Mapping[str, Content] = {}
    names: Sequence[str] = ()
    certain: bool = True
    out: str = "out"
    stdin: bytes = b""
    what: str = ""
    lines: int = 3
    listed: bool = False


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
