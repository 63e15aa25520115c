"""Check for a process at work on the folder of a run, without touching the folder."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from valmatch.storage.manifest import Manifest
from valmatch.storage.run_folder import LOCK

try:
    import fcntl
except ImportError:  # no such locks on this platform
    fcntl = None  # type: ignore[assignment]


def is_alive(folder: Path, manifest: Manifest) -> bool | None:
    """Return whether the run of a folder goes on; None if that cannot be told from here.

    A run holds the lock of its folder until it has ended, however it ends, and takes it away where
    it ends in order. On a shared file system the lock of another host may be seen or not: that it
    is held tells that the run goes on, that it is not tells nothing.
    """
    if manifest.status != "running":
        return False
    lock = folder / LOCK
    if not lock.exists():
        return False
    held = _is_held(lock)
    return None if held is False and manifest.host != platform.node() else held


def _is_held(lock: Path) -> bool | None:
    """Return whether a process holds a lock; None if that cannot be told.

    A shared lock is tried for, by a file that is open for reading, and let go at once.
    """
    if fcntl is None:
        return None
    try:
        file = os.open(lock, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(file)
    return False
