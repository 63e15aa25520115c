"""The progress of runs, read from their manifests and rows; nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from valmatch.errors import InputError
from valmatch.execution.shards import WHOLE, Shard, parse_shard
from valmatch.experiments.run_manifests import (
    CompareManifest,
    DesignManifest,
    ReplicateManifest,
    SimulationManifest,
)
from valmatch.experiments.sweep import POINTS
from valmatch.storage.contents import CONTENTS, MANIFEST
from valmatch.storage.manifest import Manifest, read_manifest
from valmatch.storage.store import ROWS

BLOCK = 1 << 20  # bytes of a file of rows that are read at a time

NOT_ENDED = "not ended"
"""The state of a run that is at work, or was killed."""

Counts = tuple[int, int | None]
"""Replications that are there, and those that there will be, where that is known."""


@dataclass(frozen=True)
class RunStatus:
    """How far the run of a folder is."""

    folder: Path
    command: str  # what the run is of: a command, or the design of one
    state: str  # `NOT_ENDED`, or how it has ended: "complete", "interrupted" and so on
    done: int | None  # replications that are there; None where the command makes none
    wanted: int | None  # those that there will be; None where that is not known
    shard: Shard
    run: tuple[Any, ...]  # the same for all shards of a run

    def as_dict(self) -> dict[str, Any]:
        """Return what `valmatch status --json` prints of a folder."""
        return {
            "folder": str(self.folder),
            "command": self.command,
            "state": self.state,
            "shard": None if self.shard == WHOLE else str(self.shard),
            "done": self.done,
            "wanted": self.wanted,
        }


def status_of(folder: Path) -> RunStatus:
    """Return how far the run of a folder is."""
    manifest = _manifest_of(folder)
    counts = _COUNTS.get(manifest.command)
    done, wanted = counts(folder, manifest) if counts else (None, None)
    if manifest.status == "complete":
        wanted = done  # a target was reached, or a search has ended early
    state = NOT_ENDED if manifest.status == "running" else manifest.status
    run = (manifest.command, manifest.config_id, manifest.seed)
    shard = _shard_of(folder) if manifest.get("shard") else WHOLE
    return RunStatus(folder, manifest.command, state, done, wanted, shard, run)


def missing_shards(found: Sequence[RunStatus]) -> list[Shard]:
    """Return the shards of the runs in some folders that none of these holds."""
    there = {(one.run, one.shard) for one in found}
    runs = dict.fromkeys((one.run, one.shard.count) for one in found)
    shards = ((run, Shard(index, count)) for run, count in runs for index in range(count))
    return [shard for run, shard in shards if (run, shard) not in there]


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


def _shard_of(folder: Path) -> Shard:
    shard = read_manifest(folder, SimulationManifest).shard
    return parse_shard(shard) if shard else WHOLE


def _lines(path: Path) -> int:
    """Return how many whole lines a file has after its header."""
    count = 0
    with suppress(OSError), path.open("rb") as file:
        while block := file.read(BLOCK):
            count += block.count(b"\n")
    return max(0, count - 1)


def _of_replicate(folder: Path, manifest: Manifest) -> Counts:
    requested = read_manifest(folder, ReplicateManifest).requested
    return _lines(folder / ROWS), len(_shard_of(folder).indices(requested))


def _of_parts(folders: Sequence[Path]) -> Counts:
    """Return the replications of the parts of a run, all of which make equally many."""
    begun = [folder for folder in folders if (folder / MANIFEST).is_file()]
    counts = [_of_replicate(folder, _manifest_of(folder)) for folder in begun]
    wanted = max((most for _, most in counts if most is not None), default=None)
    return sum(done for done, _ in counts), None if wanted is None else wanted * len(folders)


def _of_compare(folder: Path, manifest: Manifest) -> Counts:
    variants = read_manifest(folder, CompareManifest).variants
    sides = ascii_lowercase[: 1 + (1 if variants is None else len(variants))]
    return _of_parts([folder / side for side in sides])


def _of_design(folder: Path, manifest: Manifest) -> Counts:
    ids = read_manifest(folder, DesignManifest).design.config_ids
    return _of_parts([folder / POINTS / key for key in dict.fromkeys(ids)])


def _of_optimize(folder: Path, manifest: Manifest) -> Counts:
    return _lines(folder / CONTENTS["optimize"].progress[0]), manifest.wanted


def _of_simulate(folder: Path, manifest: Manifest) -> Counts:
    return int(manifest.status == "complete"), 1


_COUNTS: Mapping[str, Callable[[Path, Manifest], Counts]] = {
    "replicate": _of_replicate,
    "design": _of_design,
    "compare": _of_compare,
    "optimize": _of_optimize,
    "simulate": _of_simulate,
}
"""How replications are counted, by command."""
