"""The folder that a command writes its results to.

Manifests are checked by what takes long to import, and only where there is one.
"""

from __future__ import annotations

import os
import platform
import re
import stat
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from valmatch.errors import InputError, RunError, WorkersLostError, option
from valmatch.execution.interruption import ENDINGS, begin
from valmatch.storage.contents import CONTENTS, MANIFEST
from valmatch.storage.output import PART, environment, to_json, write_atomically, write_bytes

if TYPE_CHECKING:
    from filelock import FileLock

    from valmatch.config.config import Config
    from valmatch.storage.manifest import Manifest


# Refusals to replace what is not ours: what a command reads, and folders of others.
#
# The rules, the same for all commands, checked before anything is touched:
#
# - No file that a command reads is replaced or removed: its config, the files that this names,
# logs, ratings, fixtures, the folders that are combined. Files are compared, not names, so that
# links, ``..`` and another spelling of the path lead to the same refusal. - A folder is ours if it
# has a manifest of ours, or is empty; any other is refused. In ours the files that a command may
# write are replaced by the same run made again or resumed; what bears another name stays as it is.

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


class RunFolder:
    """A folder claimed for the results of one run, with the manifest that says so.

    A context, in which no other process can claim the folder. Leaving it by an exception marks the
    run as failed (or interrupted); where bad input ends it before it has written anything, or where
    nothing could go on with what it has, the folder is as if it had never been claimed. The same
    run may be made again in the same folder; results of any other are never touched, nor is what
    an unfinished run left, unless to go on; nor is what is read, nor a folder of others, see
    `valmatch.storage.run_folder`.
    """

    def __init__(
        self,
        path: Path,
        command: str,
        config: Config | None,
        identity: Mapping[str, object],
        *,
        resume: bool = False,
        at_least: Mapping[str, int] | None = None,
        facts: Mapping[str, object] | None = None,
        read: Sequence[Path] = (),
    ) -> None:
        self.path = path
        self._config, self._resume = config, resume
        self._files, self._progress = CONTENTS[command]
        self._read = [*read, *(files_of(config) if config else ())]
        self._at_least = at_least or {}
        self._started = time.perf_counter()
        identity = {**_id_of(config), **identity}
        self._keys = ("command", *identity)
        self._manifest: dict[str, Any] = {
            "command": command,
            "status": "running",
            **identity,
            **(facts or {}),
            "files": list(self._files),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "wall_seconds": None,
            "pid": os.getpid(),
            "host": platform.node(),
            **_facts_of(config),
            **environment(),
        }
        self._previous = self._refuse_other_results()

    def _refuse_other_results(self) -> Manifest | None:
        """Return the manifest in the folder, None without one."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{option('out')} {self.path}: is a file (allowed: a folder)")
        refuse_to_replace(self.path, (LOCK, *self._files), self._read)
        try:
            try:
                previous = _manifest_in(self.path)
            except FileNotFoundError:
                refuse_folder_of_others(self.path)
                return None
        except OSError as error:
            raise InputError(
                f"{option('out')} {self.path}: cannot be used: {error.strerror}"
            ) from None
        if not previous.is_ours:
            raise InputError(
                f"{option('out')} {self.path}: its {MANIFEST} is that of another program; choose"
                " another folder"
            )
        changed = previous.changes(self._config) if self._config else ""
        for key in self._keys:
            mine, other = self._manifest[key], previous.get(key)
            if mine != other:
                what = f"{key} {other}, this run has {mine}"
                if key.endswith("_sha256"):
                    what = f"its {key.removesuffix('_sha256')} differ from those of this run"
                why = f"; {changed}" if changed and key == "config_id" else ""
                raise InputError(
                    f"{option('out')} {self.path}: holds the results of another run ({what}{why});"
                    " choose another folder"
                )
        if changed:
            raise InputError(
                f"{option('out')} {self.path}: holds the results of another version of the model"
                f" ({changed}); choose another folder"
            )
        for key, least in self._at_least.items():
            if (before := previous.get(key) or 0) > least:
                raise InputError(
                    f"{option('out')} {self.path}: holds a larger run ({key} {before}, this run has"
                    f" {least}); choose another folder"
                )
        # Of another run it is refused for that, which says more.
        refuse_to_replace(self.path, (MANIFEST,), self._read)
        return previous

    def _refuse_to_start_over(self) -> None:
        """Refuse to lose what an unfinished run has left."""
        status = self._previous.status if self._previous else "complete"
        if self._resume or not self._progress or status == "complete":
            return
        for name in self._progress:
            place = self.path / name
            if place.exists() and place.stat().st_size:
                raise InputError(
                    f"{option('out')} {self.path}: holds an unfinished run (status {status});"
                    f" {option('resume=True')} goes on with it, or choose another folder"
                )

    def _locked(self) -> FileLock:
        """Make the folder and return its lock, held."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.path / LOCK, timeout=0, thread_local=False)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            owner = None
            with suppress(OSError, InputError):
                owner = _manifest_in(self.path)
            pid, host = (owner.pid, owner.host) if owner else (None, None)
            raise InputError(
                f"{option('out')} {self.path}: in use by process {pid or '?'} on {host or '?'};"
                " wait for it, or choose another folder"
            ) from None
        except OSError as error:
            self._remove_made()
            raise InputError(
                f"{option('out')} {self.path}: cannot be used: {error.strerror or error}"
            ) from None
        return lock

    def __enter__(self) -> Self:
        begin()
        self._made = [place for place in (self.path, *self.path.parents) if not place.exists()]
        self._lock = self._locked()
        try:
            # Once more: the results of another process that was quicker.
            self._previous = self._refuse_other_results()
            self._refuse_to_start_over()
            remove_parts(self.path)
            self._found = set(self.path.iterdir())
            self._before = (self.path / MANIFEST).read_bytes() if self._previous else b""
            self._write(self._manifest)
        except (RunError, OSError) as error:
            self._release()
            raise InputError(f"{option('out')} {self.path}: cannot be used: {error}") from None
        except InputError:
            self._release()
            raise
        ENDINGS.append(self._end)
        return self

    def _end(self) -> None:
        """Leave the folder as an interrupt does."""
        self.__exit__(KeyboardInterrupt, None, None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, WorkersLostError) and self._progress:
            error.goes_on()
        if kind and self._manifest["status"] == "running":
            with suppress(RunError, OSError):  # the disk may be full
                nothing = issubclass(kind, InputError) or not self._progress
                if nothing and self._before:
                    write_bytes(self.path / MANIFEST, self._before)
                elif nothing and not self._written():
                    (self.path / MANIFEST).unlink()
                else:
                    stopped = issubclass(kind, (KeyboardInterrupt, SystemExit))
                    self.close("interrupted" if stopped else "failed")
        self._release()

    def _written(self) -> set[Path]:
        """Return the files of this run but its manifest."""
        own = {self.path / MANIFEST, self.path / LOCK}
        return set(self.path.iterdir()) - self._found - own

    def _release(self) -> None:
        """Let others claim the folder; take it away if nothing is in it and it was not there."""
        if self._end in ENDINGS:
            ENDINGS.remove(self._end)
        # While it is locked: a process that opens it now finds that it has been removed.
        with suppress(OSError):
            (self.path / LOCK).unlink()
        self._lock.release()
        self._remove_made()

    def _remove_made(self) -> None:
        for folder in self._made:
            with suppress(OSError):  # holds results
                folder.rmdir()

    def changed_versions(self) -> str:
        """Return with what other versions the earlier results were made, "" if the same."""
        now, before = self._manifest["versions"], self._previous.versions if self._previous else {}
        changed = [
            f"{name} {before[name]} (now {now[name]})"
            for name in now
            if before.get(name, now[name]) != now[name]
        ]
        return ", ".join(changed)

    @property
    def previous_remarks(self) -> list[str]:
        """What had to be said of the run that this one goes on with."""
        return self._previous.remarks if self._previous and self._resume else []

    def remark(self, remarks: Sequence[str]) -> None:
        """Have the manifest hold what has to be said of the run, if anything."""
        if remarks:
            self.note(remarks=list(remarks))

    def remark_input(self, remarks: Iterable[str]) -> None:
        """Have the manifest hold what has to be said of what was read, such as rows left out."""
        if found := list(dict.fromkeys(remarks)):
            self.note(input_remarks=found)

    def note(self, **facts: object) -> None:
        """Add facts that the manifest will hold once the run has ended, however it ends."""
        self._manifest.update(facts)

    def add(self, names: Sequence[str]) -> None:
        """List further files, whose names only the run itself knows, before any is written."""
        refuse_to_replace(self.path, names, self._read)
        self._manifest["files"] += names

    def close(self, status: str, **facts: object) -> None:
        """Write down how the run ended, with further facts."""
        files = [name for name in self._manifest["files"] if (self.path / name).exists()]
        self._manifest["files"] = files
        self._manifest["wall_seconds"] = round(time.perf_counter() - self._started, 3)
        self._manifest["status"] = status
        self._manifest.update(facts)
        self._write(self._manifest)

    def _write(self, manifest: Mapping[str, Any]) -> None:
        with write_atomically(self.path / MANIFEST) as file:
            file.write(to_json(manifest))


def files_of(config: Config) -> list[Path]:
    """Return the files that a config was read from."""
    return [Path(config.source), *(file.path for file in config.files.values())]


def _manifest_in(folder: Path) -> Manifest:
    """Return the manifest of a folder; raise OSError where there is none, as `read_manifest`."""
    (folder / MANIFEST).stat()
    from valmatch.storage.manifest import Manifest, read_manifest

    return read_manifest(folder, Manifest)


def _id_of(config: Config | None) -> dict[str, Any]:
    """Return the id of a config as a manifest holds it; nothing without one."""
    if config is None:
        return {}
    from valmatch.config.identity import config_id

    return {"config_id": config_id(config)}


def _facts_of(config: Config | None) -> dict[str, Any]:
    """Return what a manifest holds of a config besides its id; nothing without one."""
    if config is None:
        return {}
    from valmatch.config.identity import identity, resolved

    return {"source": config.source, "identity": identity(config), "config": resolved(config)}
