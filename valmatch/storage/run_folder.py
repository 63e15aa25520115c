"""The folder that a command writes its results to."""

from __future__ import annotations

import os
import platform
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from valmatch.errors import InputError, RunError, WorkersLostError, option
from valmatch.execution.interruption import ENDINGS, begin
from valmatch.execution.shards import WHOLE, Shard, shard_files
from valmatch.storage.manifest import Manifest, read_manifest
from valmatch.storage.output import CONTENTS, MANIFEST, PART, PROGRESS, write_bytes, write_json
from valmatch.storage.results import warnings_entry, warnings_in
from valmatch.text.terminal import Notice

if TYPE_CHECKING:
    from filelock import FileLock

    from valmatch.config.config import Config


INCOMPLETE = "incomplete"  # the status of a run whose shards are not put together yet
LOCK = ".lock"  # locked, not just there, while a process writes: a kill releases it
SHARD_LOCK = ".shard.lock"  # the same of a process that makes a shard, by the name of its part
WAIT = 60.0  # most seconds that a shard waits for the manifest, which others change quickly
HURRY = 0.5  # the same after a signal
VERSIONS = ("valmatch", "numpy", "numba", "scipy")  # whose versions a manifest has

TEMPORARY = re.compile(rf"\.(.+)\.[a-z0-9_]{{8}}{re.escape(PART)}")
"""The name of a file that is being written, with the name that it is to have."""


def _file(path: Path) -> tuple[int, int] | None:
    """Return which file a path leads to, whatever links are on the way; None for none."""
    try:
        state = path.stat()
    except (OSError, ValueError):
        return None
    return state.st_dev, state.st_ino


@dataclass
class RunFolder:
    """A folder opened for the results of one run, which as a context keeps other processes out."""

    # A folder is ours if it has a manifest of ours, or is empty; any other is refused. Leaving it
    # by an exception marks the run as failed or interrupted; where nothing could go on with what it
    # has, the folder is as if it had never been opened. The same run may be made again; results of
    # another run are never touched, nor what an unfinished run left, unless to go on.

    path: Path
    command: str
    config: Config | None
    identity: Mapping[str, object]  # what two runs of one folder have in common, but for the config
    _: KW_ONLY
    resume: bool = False  # whether to go on with what an unfinished run left
    # sizes of the run; the folder of a larger one is refused
    at_least: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, object] = field(default_factory=dict)  # further entries of the manifest
    read: Sequence[Path] = ()  # files that are read, besides those of the config
    shard: Shard = WHOLE

    def __post_init__(self) -> None:
        files, self._progress = CONTENTS[self.command], PROGRESS.get(self.command)
        self._files = [self.shard.file_name(name) for name in files]
        self._read = [*self.read, *(files_of(self.config) if self.config else ())]
        self._started = time.perf_counter()
        of_run, of_config = dict(self.identity), dict[str, object]()
        if config := self.config:
            from valmatch.config.identity import config_id, identity, resolved

            of_run = {"config_id": config_id(config), **of_run}
            of_config = {"source": config.source, "identity": identity(config)}
            of_config["config"] = resolved(config)
        self._keys = ("command", *of_run)
        self._manifest: dict[str, Any] = {
            "command": self.command,
            "status": "running",
            **of_run,
            **self.facts,
            "files": list(files),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "wall_seconds": None,
            "pid": os.getpid(),
            "host": platform.node(),
            **of_config,
            "python": platform.python_version(),
            "versions": {name: version(name) for name in VERSIONS},
            "platform": platform.platform(),
            "machine": platform.machine(),
            "argv": sys.argv,
        }
        self._previous = self._refuse_other_results()

    def _refuse_other_results(self) -> Manifest | None:
        """Return the manifest in the folder, None without one."""
        if self.path.exists() and not self.path.is_dir():
            raise self._refusal("is a file (allowed: a folder)")
        self._refuse_to_replace(LOCK, *self._files)
        try:
            previous = read_manifest(self.path, Manifest)
        except FileNotFoundError:
            if names := sorted(path.name for path in self.path.glob("[!.]*")):
                raise self._refusal(
                    f"holds {names[0]} and no {MANIFEST} of a run (allowed: a new or empty folder,"
                    " or one of the same run)"
                ) from None
            return None
        except OSError as error:
            raise self._refusal(f"cannot be used: {error.strerror}") from None
        if not previous.is_ours:
            raise self._refusal(f"its {MANIFEST} is that of another program; choose another folder")
        for difference in self._differences(previous):
            raise self._refusal(f"holds {difference}; choose another folder")
        # Of another run it is refused for that, which says more.
        self._refuse_to_replace(MANIFEST)
        return previous

    def _differences(self, previous: Manifest) -> Iterator[str]:
        """Yield why a folder is one of another run, or of a larger one."""
        changed = previous.changes(self.config) if self.config else ""
        for key in self._keys:
            mine, other = self._manifest[key], previous.get(key)
            if mine != other:
                what = f"{key} {other}, this run has {mine}"
                if key.endswith("_sha256"):
                    what = f"its {key.removesuffix('_sha256')} differ from those of this run"
                why = f"; {changed}" if changed and key == "config_id" else ""
                yield f"the results of another run ({what}{why})"
        if changed:
            yield f"the results of another version of the model ({changed})"
        for key, least in self.at_least.items():
            if (before := previous.get(key) or 0) > least:
                yield f"a larger run ({key} {before}, this run has {least})"

    def _refuse_to_replace(self, *names: str) -> None:
        """Refuse a folder where files that are read, whatever their paths, would be replaced."""
        written = {key for name in names if (key := _file(self.path / name))}
        replaced = [str(path) for path in self._read if _file(path) in written]
        with suppress(OSError, ValueError, AttributeError):  # closed, or none
            stdin = os.fstat(sys.stdin.fileno())
            if stat.S_ISREG(stdin.st_mode) and (stdin.st_dev, stdin.st_ino) in written:
                replaced.append("standard input")
        if replaced:
            why = f"would replace what is read, {replaced[0]}; choose another folder"
            raise self._refusal(why)

    def _refusal(self, why: str) -> InputError:
        return InputError(f"{option('out')} {self.path}: {why}")

    def _refuse_to_start_over(self, status: str, files: Iterable[Path]) -> None:
        """Refuse to lose what an unfinished run has left in files."""
        there = any(path.exists() and path.stat().st_size for path in files)
        if not self.resume and status != "complete" and there:
            raise self._refusal(
                f"holds an unfinished run (status {status}); {option('resume=True')} goes on with"
                " it, or choose another folder"
            )

    def _locked(self, name: str = LOCK, wait: float = 0.0) -> FileLock:
        """Make the folder and return one of its locks, held."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.path / name, timeout=wait, thread_local=False)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            owner = None
            with suppress(OSError, InputError):
                owner = read_manifest(self.path, Manifest)
            pid, host = (owner.pid, owner.host) if owner else (None, None)
            raise self._refusal(
                f"in use by process {pid or '?'} on {host or '?'}; wait for it, or choose another"
                " folder"
            ) from None
        except OSError as error:
            self._remove_made()
            raise self._refusal(f"cannot be used: {error.strerror or error}") from None
        return lock

    def __enter__(self) -> Self:
        begin()
        self._made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        self._lock = self._locked(LOCK if self.shard == WHOLE else self.shard.file_name(SHARD_LOCK))
        try:
            self._open()
        except (RunError, OSError) as error:
            self._release()
            raise self._refusal(f"cannot be used: {error}") from None
        except InputError:
            self._release()
            raise
        ENDINGS.append(self._end)
        return self

    def _open(self) -> None:
        """Write the manifest of a run that begins."""
        # Once more: the results of another process that was quicker.
        self._previous = self._refuse_other_results()
        for path in shard_files(self.path, SHARD_LOCK):
            _unlock(self._locked(path.name))
        status = self._previous.status if self._previous else "complete"
        if self._progress:
            self._refuse_to_start_over(status, shard_files(self.path, self._progress))
        self._remove_temporary(MANIFEST, *self._files)
        self._found = set(self.path.iterdir())
        self._before = (self.path / MANIFEST).read_bytes() if self._previous else b""
        if self._previous and self._previous.shards:
            self.note(shards=self._previous.shards)
        write_json(self.path / MANIFEST, self._manifest)

    def _remove_temporary(self, *names: str) -> None:
        """Remove what killed processes have left of files that they were about to replace."""
        for path in self.path.glob(f".*{PART}"):
            if (match := TEMPORARY.fullmatch(path.name)) and match[1] in names:
                path.unlink(missing_ok=True)

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
            lasting = self._progress and not issubclass(kind, InputError)
            with suppress(RunError, OSError):  # the disk may be full
                if lasting or not self._undo():
                    stopped = issubclass(kind, (KeyboardInterrupt, SystemExit))
                    self.close("interrupted" if stopped else "failed")
        self._release()

    def _undo(self) -> bool:
        """Leave the folder as it was, if that can be; return whether it is."""
        kept_files = {self.path / MANIFEST, self.path / LOCK}
        if self._before:
            write_bytes(self.path / MANIFEST, self._before)
        elif not set(self.path.iterdir()) - self._found - kept_files:
            (self.path / MANIFEST).unlink()
        else:
            return False
        return True

    def _release(self) -> None:
        """Let others open the folder; take it away if nothing is in it and it was not there."""
        if self._end in ENDINGS:
            ENDINGS.remove(self._end)
        _unlock(self._lock)
        self._remove_made()

    def _remove_made(self) -> None:
        for folder in self._made:
            with suppress(OSError):  # holds results
                folder.rmdir()

    def file(self, name: str) -> Path:
        """Return the file of this run, of its shard if it makes one."""
        return self.path / self.shard.file_name(name)

    def parts(self, name: str) -> list[Path]:
        """Return the files with what this run goes on with, if it does: of shards, of the whole."""
        if not self.resume:
            return []
        if self.shard == WHOLE:
            return list(shard_files(self.path, name))
        return [self.file(name), self.path / name]  # there may be thousands of other shards

    def changed_versions(self) -> str:
        """Return with what other versions the earlier results were made, "" if the same."""
        before = self._previous.versions if self._previous else {}
        now = self._manifest["versions"]
        others = [name for name in now if before.get(name, now[name]) != now[name]]
        return ", ".join(f"{name} {before[name]} (now {now[name]})" for name in others)

    @property
    def previous_remarks(self) -> list[Notice]:
        """What had to be said of the run that this one goes on with."""
        if not (self._previous and self.resume and self.shard == WHOLE):
            return []  # of a shard the manifest has it already
        return self._previous.notices("remarks")

    def note(self, **facts: object) -> None:
        """Add facts that the manifest will hold once the run has ended, however it ends."""
        self._manifest.update(facts)

    def remark(self, of_input: Iterable[str], of_run: Iterable[str] = ()) -> None:
        """Have the manifest hold what has to be said of what was read, and of the run itself."""
        self.note(**warnings_entry(of_run, "remarks"), **warnings_entry(of_input, "input_remarks"))

    def add(self, names: Sequence[str]) -> None:
        """List further files, whose names only the run itself knows, before any is written."""
        self._refuse_to_replace(*names)
        self._manifest["files"] += names

    def close(self, status: str, **facts: object) -> None:
        """Write down how the run ended, with further facts."""
        files = [name for name in self._manifest["files"] if (self.path / name).exists()]
        self._manifest["wall_seconds"] = round(time.perf_counter() - self._started, 3)
        self._manifest.update(facts, status=status, files=files)
        write_json(self.path / MANIFEST, self._manifest)

    def remove_shards(self) -> None:
        """Remove the files of shards where one of the whole holds all that they do."""
        self._manifest.pop("shards", None)
        for name in self._files:
            if (self.path / name).exists():
                for path in set(shard_files(self.path, name)) - {self.path / name}:
                    path.unlink()


class ShardFolder(RunFolder):
    """The folder of a run of which this process makes one shard; its manifest lists all shards."""

    def _open(self) -> None:
        with self._changing(WAIT) as manifest:
            before = self._previous
            self._status_before = manifest["shards"].pop(str(self.shard), None)
            status = self._status_before or "not ended"
            assert self._progress
            self._refuse_to_start_over(status, [self.file(self._progress)])
            self._remove_temporary(*self._files)
            for key, size in self.facts.items():
                if isinstance(size, int) and before and size > (before.get(key) or 0):
                    manifest.update({key: size, "status": INCOMPLETE})

    @contextmanager
    def _changing(self, wait: float) -> Iterator[dict[str, Any]]:
        """Change the manifest, which other shards may be about to change, too."""
        lock = self._locked(LOCK, wait)
        try:
            self._previous = before = self._refuse_other_results()
            there = before.model_dump(exclude_unset=True) if before else {}
            begun = deepcopy(there) or self._manifest | {"status": INCOMPLETE}
            manifest = {"shards": {}, **begun}
            yield manifest
            if manifest != there:
                write_json(self.path / MANIFEST, manifest)
        finally:
            _unlock(lock)

    def close(self, status: str, **facts: object) -> None:
        """Write down how the shard ended, unless others keep the manifest: rows are what counts."""
        self._manifest["status"] = status
        wait = HURRY if status == "interrupted" else WAIT
        with suppress(InputError), self._changing(wait) as manifest:
            manifest["shards"][str(self.shard)] = status
            for key in ("remarks", "input_remarks"):
                both = (warnings_in(source, key) for source in (manifest, self._manifest))
                manifest.update(warnings_entry(chain(*both), key))

    def _undo(self) -> bool:
        """Leave the manifest to the other shards, and say of this one what it said before."""
        with suppress(InputError), self._changing(WAIT) as manifest:
            if self._status_before:
                manifest["shards"][str(self.shard)] = self._status_before
        return True


def _unlock(lock: FileLock) -> None:
    # While it is locked: a process that opens it now finds that it has been removed.
    with suppress(OSError):
        Path(lock.lock_file).unlink()
    lock.release()


def files_of(config: Config) -> list[Path]:
    """Return the files that a config was read from."""
    return [Path(config.source), *(file.path for file in config.files.values())]
