"""Refusals to replace what is not ours: what a command reads, and folders of others.

The rules, the same for all commands, checked before anything is touched:

- No file that a command reads is replaced or removed: its config, the files that this names, logs,
  ratings, fixtures, the folders that are combined. Files are compared, not names, so that links,
  ``..`` and another spelling of the path lead to the same refusal.
- A folder is ours if it has a manifest of ours, or is empty; any other is refused. In ours the
  files that a command may write are replaced by the same run made again or resumed; what bears
  another name stays as it is.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from valmatch.errors import InputError, option
from valmatch.storage.contents import MANIFEST
from valmatch.storage.output import PART

LOCK = ".lock"  # locked, not just there, while a process writes: a kill releases it

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


def refuse_folder_of_others(out: Path) -> None:
    """Refuse a folder without a manifest that holds more than a run leaves that is killed early."""
    for path in sorted(out.iterdir()) if out.exists() else ():
        if not _is_left_by_a_kill(path):
            raise InputError(
                f"{option('out')} {out}: holds {path.name} and no {MANIFEST} of a run (allowed: a"
                " new or empty folder, or one of the same run)"
            )


def _is_left_by_a_kill(path: Path) -> bool:
    """Return whether a file may be what a run leaves that is killed before it has a manifest."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        return False
    named = TEMPORARY.fullmatch(path.name)
    return named[1] == MANIFEST if named else path.name == LOCK and not found.st_size


def remove_parts(folder: Path) -> None:
    """Remove what killed processes have left of files that they were about to replace."""
    for path in folder.glob(f".*{PART}"):
        if TEMPORARY.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            path.unlink(missing_ok=True)
