"""The progress of runs, read from their manifests and rows; nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from valmatch.errors import InputError
from valmatch.execution.shards import WHOLE, Shard, shard_files
from valmatch.experiments.sweep import POINTS
from valmatch.storage.contents import MANIFEST, PROGRESS
from valmatch.storage.manifest import (
    DesignManifest,
    Manifest,
    ReplicateManifest,
    manifest_in,
    read_manifest,
)
from valmatch.storage.store import ROWS

BLOCK = 1 << 20  # bytes of a file of rows that are read at a time

NOT_ENDED = "not ended"  # the state of a run that is at work, or was killed

Counts = tuple[Counter[Shard], Callable[[Shard], int | None]]
"""Replications that are there, by shard, and those that a shard is to have, if that is known."""


@dataclass(frozen=True)
class RunStatus:
    """How far the run of a folder, or one of its shards, is."""

    folder: Path
    command: str  # what the run is of: a command, or the design of one
    state: str  # `NOT_ENDED`, or how it has ended: "complete", "interrupted" and so on
    shard: Shard
    done: int | None  # replications that are there; None where the command makes none
    wanted: int | None  # those that there will be; None where that is not known
    run: tuple[Any, ...]  # the same for all shards of a run

    def as_dict(self) -> dict[str, Any]:
        """Return what `valmatch status --json` prints."""
        names = ("folder", "command", "state", "shard", "done", "wanted")
        shard = None if self.shard == WHOLE else str(self.shard)
        row = {name: getattr(self, name) for name in names}
        return {**row, "folder": str(self.folder), "shard": shard}


def status_of(folder: Path) -> list[RunStatus]:
    """Return how far the run of a folder is, or each of its shards."""
    manifest = manifest_in(folder, Manifest)
    if manifest is None:
        raise InputError(f"{folder}: no {MANIFEST}, so no run has begun here")
    if not manifest.is_ours:
        raise InputError(f"{folder}: its {MANIFEST} is that of another program")
    counts = _counts_of(folder, manifest)
    run = (manifest.command, manifest.config_id, manifest.seed)
    states = dict.fromkeys(set(counts[0] if counts else ()) - {WHOLE}, NOT_ENDED)
    ended = manifest.shards.items()
    states |= {Shard(*map(int, text.split("/"))): state for text, state in ended}
    of_run = NOT_ENDED if manifest.status == "running" else manifest.status
    statuses = []
    for shard, state in sorted(states.items(), key=lambda item: item[0].index) or [(WHOLE, of_run)]:
        done = counts[0][shard] if counts else None
        # Where a target was reached, or a search has ended early, there will be no more.
        wanted = counts[1](shard) if counts and state != "complete" else done
        statuses.append(RunStatus(folder, manifest.command, state, shard, done, wanted, run))
    return statuses


def missing_shards(statuses: Sequence[RunStatus]) -> list[Shard]:
    """Return the shards of the runs in some folders that none of these holds."""
    there = {(status.run, status.shard) for status in statuses}
    runs = dict.fromkeys((status.run, status.shard.count) for status in statuses)
    shards = ((run, Shard(index, count)) for run, count in runs for index in range(count))
    return [shard for run, shard in shards if (run, shard) not in there]


def _counts_of(folder: Path, manifest: Manifest) -> Counts | None:
    """Return how many replications are there, and how many there are to be."""
    if manifest.command == "simulate":
        return Counter({WHOLE: int(manifest.status == "complete")}), lambda shard: 1
    if manifest.command == "optimize":
        journal = PROGRESS["optimize"]
        return _lines([folder], journal), lambda s: manifest.wanted if s == WHOLE else None
    parts = [folder]
    if manifest.command == "compare":
        count = 2 if manifest.variants is None else 1 + len(manifest.variants)
        parts = [folder / side for side in ascii_lowercase[:count]]
    elif manifest.command == "design":
        ids = read_manifest(folder, DesignManifest).design.config_ids
        parts = [folder / POINTS / key for key in dict.fromkeys(ids)]
    elif manifest.command != "replicate":
        return None
    begun = [part for part in parts if (part / MANIFEST).is_file()]
    requested = [read_manifest(part, ReplicateManifest).requested for part in begun]
    n = max(requested, default=None)
    return _lines(begun, ROWS), lambda shard: n and len(parts) * len(shard.indices(n))


def _lines(folders: Iterable[Path], name: str) -> Counter[Shard]:
    """Return how many whole lines files have after their headers, by shard."""
    count: Counter[Shard] = Counter()
    for folder in folders:
        for path, shard in shard_files(folder, name).items():
            with suppress(OSError), path.open("rb") as file:
                lines = sum(block.count(b"\n") for block in iter(partial(file.read, BLOCK), b""))
                count[shard] += max(0, lines - 1)
    return count
