"""Merging the folders of replications of one run, such as its shards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from valmatch.config.identity import changed_factors, changes
from valmatch.errors import InputError
from valmatch.execution.shards import WHOLE, Shard, parse_shard
from valmatch.execution.simulator import build
from valmatch.experiments.combine_rows import Held, Missing, Rows, held_rows
from valmatch.experiments.plan import Plan
from valmatch.experiments.replicate import claim, write_results
from valmatch.experiments.replications import Replications
from valmatch.experiments.run_manifests import ReplicateManifest, SimulationManifest, config_of
from valmatch.models.model import Model
from valmatch.storage.contents import CONTENTS, MANIFEST
from valmatch.storage.curve_file import stretches, write_sums
from valmatch.storage.manifest import read_manifest
from valmatch.storage.output import write_bytes
from valmatch.storage.run_folder import RunFolder
from valmatch.storage.store import CONTROLS, ROWS, control_format, row_format

Warn = Callable[[str], None]
SHARD = "shard "  # what the name of a shard begins with, where it owes replications
SHOWN = 8  # missing replications and differing keys that are named one by one
LISTED = 1_000  # missing replications of a shard that a summary lists


@dataclass(frozen=True)
class _Part:
    """The replications of one folder."""

    folder: Path  # where it is
    manifest: ReplicateManifest  # what its manifest says

    @property
    def shard(self) -> Shard:
        """The shard that the folder's run was to make."""
        text = self.manifest.shard
        return parse_shard(text) if text else WHOLE

    @property
    def requested(self) -> int:
        """The number of replications that all shards together were to make."""
        manifest = self.manifest
        # A run with a target stops where that is reached.
        reached = manifest.status == "complete" and self.shard == WHOLE
        return (manifest.replications if reached else None) or manifest.requested


@dataclass(frozen=True)
class Combination:
    """The replications of several folders."""

    replications: Replications  # all of them together
    missing: Missing  # replications that should be there and are not, in order
    # the same by the shard that owes them; one item where there are no shards
    owed: Mapping[str, Missing]
    rows: Rows  # the lines of the file of the whole
    model: Model[object]  # what was simulated
    folders: Sequence[Path]  # where they were

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds, and what is missing: how many, and the first."""
        return self.replications.summary() | (self.missing_by_shard() if self.owed else {})

    def missing_by_shard(self) -> dict[str, Any]:
        """Return what is missing by the shard that owes it: the first, and how many."""
        return {
            "missing": {name: owed[:LISTED] for name, owed in self.owed.items()},
            "missing_counts": {name: len(owed) for name, owed in self.owed.items()},
        }

    def shortfalls(self) -> list[str]:
        """Return one line for each shard that owes replications."""
        lines = []
        for name, owed in self.owed.items():
            n = len(owed)
            shown = ", ".join(map(str, owed[:SHOWN])) + (", ..." if n > SHOWN else "")
            lines.append(f"{name} owes {n} replication{'s' * (n > 1)}: {shown}")
        return lines

    def claim(self, out: Path) -> RunFolder:
        """Return the folder of the whole, claimed."""
        found = self.replications
        whole = Plan(found.requested, found.seed, confidence=found.confidence)
        read = files_of_runs("replicate", self.folders, out)
        return claim(out, found.config, whole, True, found.count, read)

    def write(self, out: Path) -> None:
        """Write the whole as `replicate` writes a run."""
        found = self.replications
        with self.claim(out) as folder:
            form = row_format(found.config, found.seed, self.model)
            text = form.header + "".join(self.rows[index][0] for index in found.indices)
            write_bytes(out / ROWS, text.encode())
            if found.controls is not None:
                controls = control_format(found.config, found.seed, self.model)
                lines = map(controls.line, found.indices, found.controls.tolist())
                write_bytes(out / CONTROLS, (controls.header + "".join(lines)).encode())
            if found.curves:
                write_sums(out, found.curves, stretches(found.indices))
            write_results(folder, found)


def combine(
    out: Path,
    folders: Sequence[Path],
    *,
    expect: int | None = None,
    check: bool = False,
    confidence: float | None = None,
    warn: Warn = lambda text: None,
) -> Combination:
    """Merge the replications of folders into one, as if one run had made them.

    The folders may come in any order and hold the same replications several times. What `out`
    holds of the same run stays in it, so that folders can be added one by one.
    """
    found = gather(
        with_whole(out, folders), expect=expect, curves=not check, confidence=confidence, warn=warn
    )
    if not check:
        found.write(out)
    return found


def files_of_runs(command: str, folders: Sequence[Path], out: Path) -> list[Path]:
    """Return the files that are read from folders of a command, other than that of the whole."""
    names, whole = (MANIFEST, *CONTENTS[command].files), out.resolve()
    others = [folder for folder in folders if folder.resolve() != whole]
    return [folder / name for folder in others for name in names]


def with_whole(out: Path, folders: Sequence[Path]) -> Sequence[Path]:
    """Return the folders and that of the whole, if something is in it already."""
    there = (out / MANIFEST).is_file() and out.resolve() not in [
        folder.resolve() for folder in folders
    ]
    return [*folders, out] if there else folders


def gather(
    folders: Sequence[Path],
    *,
    expect: int | None = None,
    curves: bool = False,
    confidence: float | None = None,
    warn: Warn = lambda text: None,
) -> Combination:
    """Return the replications of folders, checked against each other; write nothing."""
    manifests = read_manifests(folders, "replicate", ReplicateManifest, warn)
    first = next(iter(manifests.values()))
    config = config_of(first, next(iter(manifests)), "combine")
    for folder, manifest in manifests.items():
        refuse_other_run(first, next(iter(manifests)), manifest, folder)
    model = build(config)
    parts = [_Part(folder, manifest) for folder, manifest in manifests.items()]
    held = held_rows(list(manifests), config, first.seed, model, curves=curves, warn=warn)
    requested = max(part.requested for part in parts)
    wanted = range(requested if expect is None else expect)
    missing = Missing(wanted, held.rows, sum(index in wanted for index in held.rows))
    result = Replications(
        config,
        first.seed,
        max(requested, len(wanted)),
        model.responses,
        held.indices,
        held.values,
        confidence or first.confidence or 0.95,
        model.axes,
        held.curves,
        status="incomplete" if len(missing) else "complete",
        input_remarks=model.warnings,
        sampling=model.sampling,
        **held.controls,
    )
    owed = _owed(missing, wanted, parts, held)
    return Combination(result, missing, owed, held.rows, model, list(manifests))


def read_replications(folder: Path, warn: Warn) -> Replications:
    """Return the replications that a folder holds, as far as its run got."""
    return gather([folder], warn=warn).replications


M = TypeVar("M", bound=SimulationManifest)


def read_manifests(
    folders: Sequence[Path], command: str, kind: type[M], warn: Warn
) -> dict[Path, M]:
    """Return the manifests of the folders that a run of a command has begun to fill."""
    manifests: dict[Path, M] = {}
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder")
        try:
            manifests[folder] = read_manifest(folder, kind, command)
        except FileNotFoundError:
            warn(f"{folder}: no {MANIFEST}, so no run has begun here")
            continue
        except OSError as error:
            raise InputError(f"{folder / MANIFEST}: cannot be read: {error.strerror}") from None
        if manifests[folder].status == "running":
            warn(f"{folder}: its run has not ended, or was killed")
        for remark in manifests[folder].remarks:
            warn(f"{folder}: {remark}")
    if not manifests:
        raise InputError(f"{', '.join(map(str, folders))}: nothing to combine")
    return manifests


def refuse_other_run(
    first: SimulationManifest, first_folder: Path, other: SimulationManifest, folder: Path
) -> None:
    """Refuse a folder of another config or seed, naming what differs."""
    same = first.config_id == other.config_id
    if same and first.seed == other.seed and first.config == other.config:
        return  # most are: the thousands of shards of a run take a third of the time so
    # A default may differ between two versions of one config.
    differing = changed_factors if same else changes
    found = differing(first.config.model_dump(), other.config.model_dump())
    if found or not same:
        shown = "; ".join(f"{key}: {mine} and {theirs}" for key, mine, theirs in found[:SHOWN])
        more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        raise InputError(
            f"{first_folder} and {folder}: different configs, {first.config_id} and"
            f" {other.config_id} ({shown}{more})"
        )
    if first.seed != other.seed:
        raise InputError(
            f"{first_folder} and {folder}: different seeds, {first.seed} and {other.seed}"
        )


def _owed(
    missing: Missing, wanted: range, parts: Sequence[_Part], held: Held
) -> dict[str, Missing]:
    """Return the missing replications by the shard that owes them."""
    counts = {part.shard.count for part in parts if part.shard != WHOLE}
    if len(counts) != 1:
        return {"the run": missing} if len(missing) else {}
    if not len(missing):
        return {}
    count = counts.pop()
    there = Counter(index % count for index in held.rows if index in wanted)
    owed = {}
    for index in range(min(count, len(wanted))):
        shard = Shard(index, count)
        own = shard.indices(len(wanted))
        if there[index] < len(own):
            owed[f"{SHARD}{shard}"] = Missing(own, held.rows, there[index])
    return owed
