"""Merging the folders of replications of one run, such as its shards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from valmatch.config.config import Config
from valmatch.config.identity import changed_factors, changes, config_id
from valmatch.errors import InputError
from valmatch.execution.chunks import build, run
from valmatch.execution.shards import WHOLE, Shard, parse_shard
from valmatch.experiments.replicate import Plan, claim, write_results
from valmatch.experiments.replications import Replications
from valmatch.experiments.run_manifests import (
    DesignManifest,
    ReplicateManifest,
    SimulationManifest,
    config_of,
)
from valmatch.experiments.sweep import (
    POINTS,
    Design,
    DesignReplications,
    claim_design,
    write_experiment,
)
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Model
from valmatch.statistics.curve_sums import CurveSums
from valmatch.storage.contents import CONTENTS, MANIFEST
from valmatch.storage.curve_file import read_sums, stretches, write_sums
from valmatch.storage.manifest import command_of, read_manifest
from valmatch.storage.output import write_bytes
from valmatch.storage.row_file import RowFormat
from valmatch.storage.run_folder import RunFolder
from valmatch.storage.store import CONTROLS, ROWS, control_format, row_format

# Merges the rows, curves and control variates of the folders of a run.

Warn = Callable[[str], None]

Rows = Mapping[int, tuple[str, list[float]]]
"""Lines of ``replications.csv`` and their values, by replication."""


class Held(NamedTuple):
    """What folders hold together."""

    indices: Sequence[int]  # their replications, in order
    rows: Rows  # the same with their lines
    values: Floats  # (replications, responses)
    curves: CurveSums | None  # None where there are none, or none are wanted
    controls: Mapping[str, Any]  # control variates and their expectations, as in the result


class Missing(Sequence[int]):
    """Replications that should be there and are not, in order; counted without being listed."""

    def __init__(self, wanted: range, there: Collection[int], n: int) -> None:
        self._wanted, self._there, self._n = wanted, there, n

    def __len__(self) -> int:
        return len(self._wanted) - self._n

    def __iter__(self) -> Iterator[int]:
        return (index for index in self._wanted if index not in self._there)

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 - of an index or a slice
        if isinstance(place, slice):
            return list(islice(self, *place.indices(len(self))))
        return next(islice(self, range(len(self))[place], None))


def held_rows(
    folders: Sequence[Path],
    config: Config,
    seed: int,
    model: Model[object],
    *,
    curves: bool,
    warn: Warn,
) -> Held:
    """Return the replications of folders."""
    form = row_format(config, seed, model)
    rows = _union({folder: form.read(folder / ROWS, warn) for folder in folders}, form)
    indices = sorted(rows)
    values = np.array([rows[index][1] for index in indices]).reshape(len(indices), len(form.names))
    return Held(
        indices,
        rows,
        values,
        _curves(folders, indices, model, seed, warn) if curves and model.axes else None,
        _controls(folders, indices, config, seed, model, warn),
    )


def _union(found: Mapping[Path, Rows], form: RowFormat) -> dict[int, tuple[str, list[float]]]:
    """Return all replications; those that several folders hold must be the same there."""
    rows: dict[int, tuple[str, list[float]]] = {}
    origin: dict[int, Path] = {}
    for folder, own in found.items():
        for index, row in own.items():
            if index in rows and rows[index][0] != row[0]:
                columns = zip(form.names, rows[index][1], row[1], strict=True)
                shown = next(f"{name} {a!r} and {b!r}" for name, a, b in columns if a != b)
                raise InputError(
                    f"{origin[index]} and {folder}: contradict each other on replication"
                    f" {index} ({shown}); one of them was changed, or made by another version"
                )
            if index not in rows:
                rows[index], origin[index] = row, folder
    return rows


def _controls(
    folders: Sequence[Path],
    indices: Sequence[int],
    config: Config,
    seed: int,
    model: Model[object],
    warn: Warn,
) -> dict[str, Any]:
    """Return the control variates, if the folders hold those of all replications."""
    files = [folder / CONTROLS for folder in folders if (folder / CONTROLS).exists()]
    if not files:
        return {}
    form = control_format(config, seed, model)
    rows: dict[int, list[float]] = {}
    for path in files:
        rows.update((index, values) for index, (_, values) in form.read(path, warn).items())
    if any(index not in rows for index in indices):
        warn(f"not all folders hold {CONTROLS}: the whole has no control variates")
        return {}
    values = np.array([rows[index] for index in indices])
    return {"controls": values, "expectations": model.controls}


def _curves(
    folders: Sequence[Path], indices: Sequence[int], model: Model[object], seed: int, warn: Warn
) -> CurveSums:
    """Return the sums over all replications; those that no folder's sums cover are simulated.

    Sums cannot be taken apart again, so that of folders that overlap only one counts.
    """
    assert model.axes
    total = CurveSums.zeros(model.axes.shape)
    left = set(indices)
    found = [read_sums(folder, model.axes.shape, warn) for folder in folders]
    for sums, over in sorted(found, key=lambda item: -item[0].n):
        if sums.n <= len(left) and left.issuperset(chain.from_iterable(over)):
            total.merge(sums)
            left.difference_update(*over)
    if left:
        warn(f"the curves of {len(left)} replications are simulated again: folders overlap")
        batch = run(model, seed, sorted(left))
        assert batch.curves is not None
        total.merge(batch.curves)
    return total


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


# Merging the folders of one design, such as its shards, point by point.


@dataclass(frozen=True)
class CombinedDesign:
    """The replications of several folders at each point of a design."""

    experiment: DesignReplications  # all of them together
    shortfalls: Sequence[str]  # one line for each shard of each point that owes replications
    owed: Collection[str]  # the shards that owe replications of some point
    # what is missing of each point, by the shard that owes it; null: everything
    missing: Mapping[str, Any]


def combine_designs(
    out: Path,
    folders: Sequence[Path],
    *,
    check: bool = False,
    warn: Callable[[str], None] = lambda text: None,
    **options: Any,  # noqa: ANN401
) -> CombinedDesign:
    """Merge the folders of one design; see `valmatch.experiments.combine.combine`."""
    folders = with_whole(out, folders)
    first = _manifest_of_all(folders)
    ids = list(dict.fromkeys(first.design.config_ids))
    found: dict[str, Combination] = {}
    shortfalls: list[str] = []
    owed: dict[str, None] = {}
    missing: dict[str, Any] = {}
    for key in ids:
        parts = [f / POINTS / key for f in folders if (f / POINTS / key / MANIFEST).is_file()]
        if not parts:
            shortfalls.append(f"point {key}: no replications at all")
            missing[key] = None
            count = parse_shard(first.shard).count if first.shard else 0
            owed |= {f"{SHARD}{Shard(index, count)}": None for index in range(count)}
            continue
        found[key] = gather(parts, curves=not check, warn=warn, **options)
        if config_id(found[key].replications.config) != key:
            raise InputError(f"{parts[0]}: holds the replications of another point")
        shortfalls += [f"point {key}: {line}" for line in found[key].shortfalls()]
        owed |= dict.fromkeys(found[key].owed)
        if found[key].owed:
            missing[key] = found[key].missing_by_shard()["missing"]
    config = first.restored(folders[0])
    points = zip(first.design.config_ids, map(tuple, first.design.points), strict=True)
    finished = [(key, point) for key, point in points if key in found]
    design = Design(first.design.factors, [point for _, point in finished])
    results = [found[key].replications for key, _ in finished]
    stopped = "" if len(found) == len(ids) else "incomplete"
    experiment = DesignReplications(config, design, results, stopped)
    if not check:
        # The whole design, so that the points that are not there yet can follow.
        whole = Design(first.design.factors, list(map(tuple, first.design.points)))
        ids = first.design.config_ids
        read = files_of_runs("design", folders, out)
        claimed = claim_design(out, config, whole, ids, first.seed, WHOLE, resume=True, read=read)
        for key, manifest in found.items():
            manifest.claim(out / POINTS / key)
        with claimed as folder:
            for key, manifest in found.items():
                manifest.write(out / POINTS / key)
            write_experiment(folder, experiment)
    return CombinedDesign(experiment, shortfalls, owed, {"missing": missing})


def _manifest_of_all(folders: Sequence[Path]) -> DesignManifest:
    """Return the manifest of the first folder; the others must be of the same design."""
    manifests = {}
    for folder in folders:
        if command_of(folder) != "design":
            raise InputError(f"{folder}: not made by a design (allowed: folders of one design)")
        manifests[folder] = read_manifest(folder, DesignManifest)
    first_folder, first = next(iter(manifests.items()))
    for folder, manifest in manifests.items():
        for key in ("config_id", "seed", "design_id", "design"):
            if manifest.get(key) != first.get(key):
                shown = "" if key == "design" else f" {first.get(key)} and {manifest.get(key)}"
                raise InputError(f"{first_folder} and {folder}: different designs ({key}{shown})")
    return first
