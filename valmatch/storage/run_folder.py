"""The folder that a command writes its results to."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from filelock import FileLock, Timeout

from valmatch.config.config import Config
from valmatch.config.identity import changed_since, config_id, resolved
from valmatch.config.identity import identity as identity_of
from valmatch.errors import InputError, RunError, option
from valmatch.storage.output import environment, to_json, write_atomically

__all__ = ["MANIFEST", "RunFolder", "read_manifest"]

MANIFEST = "manifest.json"

LOCK = ".lock"
"""Locked, not just there, while a process writes: a kill releases it."""


class RunFolder:
    """A folder claimed for the results of one run, with the manifest that says so.

    A context: leaving it by an exception marks the run as failed (or interrupted). While it is
    open no other process can claim the folder. The same run may be made again in the same folder;
    results of any other are never touched, nor is what an unfinished run left, unless to go on.

    Parameters
    ----------
    path : Path
        Made if it does not exist.
    command : str
        The command that writes.
    config : Config
        What is simulated.
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

    Attributes
    ----------
    earlier : dict
        The manifest found in the folder, {} if there was none.

    Raises
    ------
    InputError
        If the folder cannot be used, is in use, or holds the results of another run.
    """

    def __init__(
        self,
        path: Path,
        command: str,
        config: Config,
        identity: Mapping[str, object],
        *,
        resume: bool = False,
        kept_in: str = "",
        at_least: Mapping[str, int] | None = None,
        facts: Mapping[str, object] | None = None,
    ) -> None:
        self.path = path
        self._at_least = at_least or {}
        self._started = time.perf_counter()
        self._manifest: dict[str, Any] = {
            "command": command,
            "status": "running",
            "config_id": config_id(config),
            **identity,
            **(facts or {}),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "wall_seconds": None,
            "pid": os.getpid(),
            "host": platform.node(),
            "source": config.source,
            "identity": identity_of(config),
            "config": resolved(config),
            **environment(),
        }
        self._config = config
        self._keys = ("command", "config_id", *identity)
        self._refuse_other_results()
        self._lock = self._locked()
        try:
            # Once more: the results of another process that was quicker.
            self.earlier = self._refuse_other_results()
            if not resume and kept_in and self.earlier.get("status", "complete") != "complete":
                self._refuse_to_start_over(kept_in)
            self._write(self._manifest)
        except RunError as error:
            self._lock.release()
            raise InputError(f"{option('out')} {path}: cannot be used: {error}") from None
        except InputError:
            self._lock.release()
            raise

    def _refuse_other_results(self) -> dict[str, Any]:
        """Return the manifest in the folder, {} without one."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{option('out')} {self.path}: is a file (allowed: a folder)")
        try:
            earlier = read_manifest(self.path)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise InputError(
                f"{option('out')} {self.path}: cannot be used: {error.strerror}"
            ) from None
        changed = changed_since(earlier, self._config)
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
            if (before := earlier.get(key, 0)) > least:
                raise InputError(
                    f"{option('out')} {self.path}: holds a larger run ({key} {before}, this run has"
                    f" {least}); choose another folder"
                )
        return earlier

    def _refuse_to_start_over(self, kept_in: str) -> None:
        path = self.path / kept_in
        with suppress(OSError):
            if path.stat().st_size:
                raise InputError(
                    f"{option('out')} {self.path}: holds an unfinished run (status"
                    f" {self.earlier['status']}); {option('resume=True')} goes on with it, or"
                    " choose another"
                    " folder"
                )

    def _locked(self) -> FileLock:
        """Make the folder and return its lock, held."""
        lock = FileLock(self.path / LOCK, timeout=0, thread_local=False)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            owner: dict[str, Any] = {}
            with suppress(OSError, InputError):
                owner = read_manifest(self.path)
            raise InputError(
                f"{option('out')} {self.path}: in use by process {owner.get('pid', '?')} on"
                f" {owner.get('host', '?')}; wait for it, or choose another folder"
            ) from None
        except OSError as error:
            raise InputError(
                f"{option('out')} {self.path}: cannot be used: {error.strerror or error}"
            ) from None
        return lock

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind and self._manifest["status"] == "running":
            with suppress(RunError):  # the disk may be full
                if issubclass(kind, InputError) and self.earlier:
                    self._write(self.earlier)
                else:
                    stopped = issubclass(kind, (KeyboardInterrupt, SystemExit))
                    self.close("interrupted" if stopped else "failed")
        self._lock.release()

    def changed_versions(self) -> str:
        """Return with what other versions the earlier results were made, "" if the same."""
        now, before = self._manifest["versions"], self.earlier.get("versions", {})
        changed = [
            f"{name} {before[name]} (now {now[name]})"
            for name in now
            if before.get(name, now[name]) != now[name]
        ]
        return ", ".join(changed)

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


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a run.

    Raises
    ------
    OSError
        If it is not there or cannot be read.
    InputError
        If it is damaged.
    """
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: damaged: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: not a manifest")
    return content
