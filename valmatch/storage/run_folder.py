"""The folder that a command writes its results to."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from valmatch.config.config import Config
from valmatch.config.identity import config_id, resolved
from valmatch.config.identity import identity as identity_of
from valmatch.errors import InputError, RunError, option
from valmatch.execution.interruption import begin
from valmatch.storage.manifest import MANIFEST, Manifest, read_manifest
from valmatch.storage.output import (
    environment,
    remove_leftovers,
    to_json,
    write_atomically,
    write_bytes,
)

if TYPE_CHECKING:
    from filelock import FileLock

__all__ = ["RunFolder"]

LOCK = ".lock"
"""Locked, not just there, while a process writes: a kill releases it."""


class RunFolder:
    """A folder claimed for the results of one run, with the manifest that says so.

    A context, in which no other process can claim the folder. Leaving it by an exception marks the
    run as failed (or interrupted); where bad input ends it before it has written anything, or where
    nothing could go on with what it has, the folder is as if it had never been claimed. The same
    run may be made again in the same folder; results of any other are never touched, nor is what
    an unfinished run left, unless to go on.

    Parameters
    ----------
    path : Path
        Made if it does not exist.
    command : str
        The command that writes.
    config : Config or None
        What is simulated, if anything is.
    identity : mapping
        What else distinguishes this run from others of the command, such as the seed.
    resume : bool
        Whether this run goes on from what an earlier one left.
    kept_in : str
        File from which a run can be resumed, "" where none can.
    at_least : mapping
        Numbers of the manifest that this run must not fall short of, such as its replications.
    facts : mapping
        What else the manifest holds from the start.

    Raises
    ------
    InputError
        If the folder cannot be used, is in use, or holds the results of another run.
    """

    def __init__(
        self,
        path: Path,
        command: str,
        config: Config | None,
        identity: Mapping[str, object],
        *,
        resume: bool = False,
        kept_in: str = "",
        at_least: Mapping[str, int] | None = None,
        facts: Mapping[str, object] | None = None,
    ) -> None:
        self.path = path
        self._config, self._resume, self._kept_in = config, resume, kept_in
        self._at_least = at_least or {}
        self._started = time.perf_counter()
        identity = {**({"config_id": config_id(config)} if config else {}), **identity}
        self._keys = ("command", *identity)
        self._manifest: dict[str, Any] = {
            "command": command,
            "status": "running",
            **identity,
            **(facts or {}),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "wall_seconds": None,
            "pid": os.getpid(),
            "host": platform.node(),
            **(_facts_of(config) if config else {}),
            **environment(),
        }
        self._earlier = self._refuse_other_results()

    def _refuse_other_results(self) -> Manifest | None:
        """Return the manifest in the folder, None without one."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{option('out')} {self.path}: is a file (allowed: a folder)")
        try:
            earlier = read_manifest(self.path, Manifest)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(
                f"{option('out')} {self.path}: cannot be used: {error.strerror}"
            ) from None
        changed = earlier.changes(self._config) if self._config else ""
        for key in self._keys:
            mine, other = self._manifest[key], earlier.get(key)
            if mine != other:
                why = f"; {changed}" if changed and key == "config_id" else ""
                raise InputError(
                    f"{option('out')} {self.path}: holds the results of another run ({key}"
                    f" {other}, this"
                    f" run has {mine}{why}); choose another folder"
                )
        if changed:
            raise InputError(
                f"{option('out')} {self.path}: holds the results of another version of the model"
                f" ({changed}); choose another folder"
            )
        for key, least in self._at_least.items():
            if (before := earlier.get(key) or 0) > least:
                raise InputError(
                    f"{option('out')} {self.path}: holds a larger run ({key} {before}, this run has"
                    f" {least}); choose another folder"
                )
        return earlier

    def _refuse_to_start_over(self) -> None:
        """Refuse to lose what an unfinished run has left."""
        status = self._earlier.status if self._earlier else "complete"
        if self._resume or not self._kept_in or status == "complete":
            return
        with suppress(OSError):
            if (self.path / self._kept_in).stat().st_size:
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
                owner = read_manifest(self.path, Manifest)
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
        self._made = [one for one in (self.path, *self.path.parents) if not one.exists()]
        self._lock = self._locked()
        try:
            # Once more: the results of another process that was quicker.
            self._earlier = self._refuse_other_results()
            self._refuse_to_start_over()
            remove_leftovers(self.path)
            self._found = set(self.path.iterdir())
            self._before = (self.path / MANIFEST).read_bytes() if self._earlier else b""
            self._write(self._manifest)
        except (RunError, OSError) as error:
            self._release()
            raise InputError(f"{option('out')} {self.path}: cannot be used: {error}") from None
        except InputError:
            self._release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind and self._manifest["status"] == "running":
            with suppress(RunError, OSError):  # the disk may be full
                nothing = issubclass(kind, InputError) or not self._kept_in
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
        now, before = self._manifest["versions"], self._earlier.versions if self._earlier else {}
        changed = [
            f"{name} {before[name]} (now {now[name]})"
            for name in now
            if before.get(name, now[name]) != now[name]
        ]
        return ", ".join(changed)

    @property
    def earlier_remarks(self) -> list[str]:
        """What had to be said of the run that this one goes on with."""
        return self._earlier.remarks if self._earlier and self._resume else []

    def remark(self, remarks: Sequence[str]) -> None:
        """Have the manifest hold what has to be said of the run, if anything."""
        if remarks:
            self.note(remarks=list(remarks))

    def note(self, **facts: object) -> None:
        """Add facts that the manifest will hold once the run has ended, however it ends."""
        self._manifest.update(facts)

    def close(self, status: str, **facts: object) -> None:
        """Write down how the run ended, with further facts."""
        self._manifest["wall_seconds"] = round(time.perf_counter() - self._started, 3)
        self._manifest["status"] = status
        self._manifest.update(facts)
        self._write(self._manifest)

    def _write(self, manifest: Mapping[str, Any]) -> None:
        with write_atomically(self.path / MANIFEST) as file:
            file.write(to_json(manifest))


def _facts_of(config: Config) -> dict[str, Any]:
    """Return what a manifest holds of a config besides its id."""
    return {"source": config.source, "identity": identity_of(config), "config": resolved(config)}
