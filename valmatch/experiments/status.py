"""Progress of the run of a folder, told from what it has written; nothing is written for that."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple

from valmatch.errors import InputError
from valmatch.execution.shards import WHOLE, parse_shard
from valmatch.experiments.run_manifests import CompareManifest, DesignManifest, ReplicateManifest
from valmatch.experiments.sweep import POINTS
from valmatch.storage.contents import CONTENTS, MANIFEST
from valmatch.storage.liveness import is_alive
from valmatch.storage.manifest import Manifest, read_manifest
from valmatch.storage.store import ROWS

BLOCK = 1 << 20  # bytes of a file of rows that are read at a time

SHORTEST = 1.0
"""Seconds that a run has been going on at least: manifests tell when it began to the second."""


@dataclass(frozen=True)
class RunStatus:
    """How far the run of a folder is."""

    folder: Path  # the folder
    command: str  # what the run is of: a command, or the design of one
    # "running", "killed" (it has not ended, and nobody is at work), "running?" (one of the two,
    # which cannot be told from here), or how it has ended: "complete", "interrupted" and so on
    state: str
    # done, wanted: replications that are there, and those that there will be; None if that is not
    # known, or the command makes none
    done: int | None
    wanted: int | None
    rate: float | None  # replications that this run has made a second
    alive: bool | None  # whether a process is at work on it; None if that cannot be told from here
    # started, host, pid: when, where and as which process the run has begun
    started: str
    host: str | None
    pid: int | None
    idle: float  # seconds since it has last written anything

    @property
    def seconds_left(self) -> float | None:
        """Seconds until a run that is not known to have ended has made all; None: unknown."""
        if self.alive is False or None in (self.done, self.wanted) or not self.rate:
            return None
        return max(0, self.wanted - self.done) / self.rate  # type: ignore[operator]

    def as_dict(self) -> dict[str, Any]:
        """Return what `valmatch status --json` prints of a folder."""
        return {
            "folder": str(self.folder),
            "command": self.command,
            "state": self.state,
            "done": self.done,
            "wanted": self.wanted,
            "rate": self.rate,
            "seconds_left": self.seconds_left,
            "alive": self.alive,
            "started": self.started or None,
            "host": self.host,
            "pid": self.pid,
            "seconds_since_written": self.idle,
        }


class _Count(NamedTuple):
    """Replications of a folder: there, made by its present run, and wanted if that is known."""

    done: int
    made: int
    wanted: int | None


def status_of(folder: Path) -> RunStatus:
    """Return how far the run of a folder is."""
    manifest = _manifest_of(folder)
    count = _COUNTS.get(manifest.command, _none)(folder, manifest)
    alive = is_alive(folder, manifest)
    state = manifest.status
    if state == "running":
        state = {True: "running", False: "killed", None: "running?"}[alive]
    written = _last_written(folder, manifest)
    rate = None
    made = count.made if count and not manifest.is_combined else 0
    if made > 0 and (seconds := _seconds(manifest, alive, written)) is not None:
        rate = made / max(seconds, SHORTEST if manifest.wall_seconds is None else 1e-3)
    wanted = count.wanted if count else None
    if count and state == "complete":
        wanted = count.done  # a target was reached, or a search has ended early
    return RunStatus(
        folder,
        manifest.command,
        state,
        count.done if count else None,
        wanted,
        rate,
        alive,
        manifest.started,
        manifest.host,
        manifest.pid,
        max(0.0, round(time.time() - written, 1)),
    )


def _manifest_of(folder: Path) -> Manifest:
    """Return the manifest of a folder of ours."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    try:
        manifest = read_manifest(folder, Manifest)
    except FileNotFoundError:
        raise InputError(f"{folder}: no {MANIFEST}, so no run has begun here") from None
    except OSError as error:
        raise InputError(f"{folder / MANIFEST}: cannot be read: {error.strerror}") from None
    if not manifest.is_ours:
        raise InputError(f"{folder}: its {MANIFEST} is that of another program")
    return manifest


def _seconds(manifest: Manifest, alive: bool | None, written: float) -> float | None:
    """Return for how long a run has been at work."""
    if manifest.wall_seconds is not None:
        return manifest.wall_seconds
    try:
        began = datetime.fromisoformat(manifest.started).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    return (datetime.now(UTC).timestamp() if alive else written) - began


def _last_written(folder: Path, manifest: Manifest) -> float:
    """Return when a run has last written anything that tells how far it is."""
    progress = CONTENTS[manifest.command].progress
    places = [folder / name for name in (MANIFEST, *progress)]
    for part in _parts_of(folder, manifest):
        places += [part / name for name in (MANIFEST, *CONTENTS["replicate"].progress)]
    times = []
    for place in places:
        with suppress(OSError):
            times.append(place.stat().st_mtime)
    return max(times, default=time.time())


def _parts_of(folder: Path, manifest: Manifest) -> Sequence[Path]:
    """Return the folders of the parts that a run has begun."""
    if manifest.command == "compare":
        places = [folder / letter for letter in ascii_lowercase]
    elif manifest.command == "design":
        ids = dict.fromkeys(read_manifest(folder, DesignManifest).design.config_ids)
        places = [folder / POINTS / key for key in ids]
    else:
        places = []
    return [place for place in places if (place / MANIFEST).is_file()]


def _lines(path: Path) -> int:
    """Return how many whole lines a file has after its header."""
    count = 0
    with suppress(OSError), path.open("rb") as file:
        while block := file.read(BLOCK):
            count += block.count(b"\n")
    return max(0, count - 1)


def _of_replicate(folder: Path, manifest: Manifest) -> _Count:
    done = _lines(folder / ROWS)
    wanted = None
    if manifest.requested is not None:
        shard = read_manifest(folder, ReplicateManifest).shard
        part = parse_shard(shard) if shard else WHOLE
        wanted = len(part.indices(manifest.requested))
    return _Count(done, done - manifest.resumed, wanted)


def _of_parts(folder: Path, manifest: Manifest, number: int) -> _Count:
    """Return the replications of the parts of a run; `number` is how many there will be."""
    done = made = 0
    wanted: int | None = None
    for part in _parts_of(folder, manifest):
        of_part = _manifest_of(part)
        count = _of_replicate(part, of_part)
        done += count.done
        # What the run has not come to yet was made by an earlier one.
        made += count.made if of_part.started >= manifest.started else 0
        if wanted is None and count.wanted is not None:
            wanted = number * count.wanted
    return _Count(done, made, wanted)


def _of_compare(folder: Path, manifest: Manifest) -> _Count:
    variants = read_manifest(folder, CompareManifest).variants
    return _of_parts(folder, manifest, 1 + (1 if variants is None else len(variants)))


def _of_design(folder: Path, manifest: Manifest) -> _Count:
    ids = read_manifest(folder, DesignManifest).design.config_ids
    return _of_parts(folder, manifest, len(set(ids)))


def _of_optimize(folder: Path, manifest: Manifest) -> _Count:
    done = _lines(folder / CONTENTS["optimize"].progress[0])
    return _Count(done, done - manifest.resumed, manifest.wanted)


def _of_simulate(folder: Path, manifest: Manifest) -> _Count:
    return _Count(int(manifest.status == "complete"), 0, 1)


def _none(folder: Path, manifest: Manifest) -> None:
    """Say that a command makes no replications."""


_COUNTS: Mapping[str, Any] = {
    "replicate": _of_replicate,
    "design": _of_design,
    "compare": _of_compare,
    "optimize": _of_optimize,
    "simulate": _of_simulate,
}
"""How replications are counted, by command."""
