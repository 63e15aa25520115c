"""Refusals to replace what is not ours: what a command reads, and files of others.

The rules, the same for all commands, checked before anything is touched:

- No file that a command reads is replaced or removed: its config, the files that this names, logs,
  ratings, fixtures, the folders that are combined. Files are compared, not names, so that links,
  ``..`` and another spelling of the path lead to the same refusal.
- A folder is ours once it has a manifest of ours. That lists the files that the run has written, or
  until it has ended those that it may write; only these are ever replaced or removed, by the same
  run made again or resumed.
- Any other file, folder or link stays as it is. A run goes on beside it, unless it bears a name
  that the run may write: then the run is refused. A file of a manifest's list is ours although
  somebody may have changed it since. A folder without files of such names, an empty one above all,
  is free to use.
- Temporary files are ours where they bear the name of a file that is, and what `tempfile` adds to
  it, and those of a manifest; a lock is, beside a manifest of ours, or where it is empty.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from valmatch.errors import InputError, option
from valmatch.storage.output import PART

TEMPORARY = re.compile(rf"\.(.+)\.[a-z0-9_]{{8}}{re.escape(PART)}")
"""The name of a file that is being written, with the name that it is to have."""


def refuse_to_replace(out: Path, names: Iterable[str], read: Iterable[Path]) -> None:
    """Refuse a folder where files that are read would be replaced by what is written."""
    written = {key for name in names if (key := _file(out / name))}
    for path in read:
        if _file(path) in written:
            raise _replaces(out, str(path))
    with suppress(OSError, ValueError, AttributeError):  # closed, or none
        found = os.fstat(sys.stdin.fileno())
        if stat.S_ISREG(found.st_mode) and (found.st_dev, found.st_ino) in written:
            raise _replaces(out, "standard input")


def _replaces(out: Path, what: str) -> InputError:
    return InputError(
        f"{option('out')} {out}: would replace what is read, {what}; choose another folder"
    )


def _file(path: Path) -> tuple[int, int] | None:
    """Return which file a path leads to, whatever links are on the way; None for none."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def refuse_files_of_others(out: Path, names: Iterable[str], ours: Collection[str]) -> None:
    """Refuse a folder that holds something that bears the name of a file to be written."""
    for name in names:
        path = out / name
        if os.path.lexists(path) and (name not in ours or path.is_dir()):
            raise InputError(
                f"{option('out')} {out}: would replace {path}, which no run has written there;"
                " choose another folder"
            )


def refuse_lock_of_others(path: Path, ours: bool) -> None:
    """Refuse to lock, which empties it, a file that is no lock of ours."""
    with suppress(FileNotFoundError):
        found = path.lstat()
        alone = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
        if not alone or (found.st_size and not ours):
            raise InputError(
                f"{option('out')} {path.parent}: would replace {path}, which no run has written"
                " there; choose another folder"
            )


def remove_parts(folder: Path, ours: Collection[str]) -> None:
    """Remove what killed processes have left of files of ours that they were about to replace."""
    for path in folder.glob(f".*{PART}"):
        named = TEMPORARY.fullmatch(path.name)
        if named and named[1] in ours and path.is_file() and not path.is_symlink():
            path.unlink(missing_ok=True)
