"""Putting the replications of one run together, from the files of its shards and other folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from valmatch.config.config import Config
from valmatch.config.identity import changed_factors, changes, config_id
from valmatch.errors import InputError
from valmatch.execution.chunks import build, run
from valmatch.execution.shards import WHOLE, Shard, shard_files
from valmatch.experiments.replicate import Plan, open_run, write_results
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
    open_design,
    write_experiment,
)
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Model
from valmatch.statistics.curve_sums import CurveSums
from valmatch.storage.contents import CONTENTS, MANIFEST
from valmatch.storage.curve_file import SUMS, read_sums, stretches, write_sums
from valmatch.storage.manifest import command_of, read_manifest
from valmatch.storage.output import write_bytes
from valmatch.storage.row_file import RowFormat, Rows, Warn
from valmatch.storage.run_folder import RunFolder
from valmatch.storage.store import CONTROLS, ROWS, control_format, row_format

SHOWN = 8  # missing replications and differing keys that are named one by one
LISTED = 1_000  # missing replications of a shard that a summary lists


class Owed(NamedTuple):
    """What a shard, or a run without shards, has not made yet."""

    total: int
    first: Sequence[int]  # the first ones, at most `LISTED`

    def in_words(self, name: str, what: str = "replication") -> str:
        """Return the line that says so."""
        shown = ", ".join(map(str, self.first[:SHOWN])) + (", ..." if self.total > SHOWN else "")
        return f"{name} owes {self.total:,} {what}{'s' * (self.total > 1)}: {shown}"


class MergedReplications(NamedTuple):
    """What the files of several folders hold together."""

    indices: Sequence[int]  # their replications, in order
    rows: Rows  # the same with their lines
    values: Floats  # (replications, responses)
    curves: CurveSums | None  # None where there are none, or none are wanted
    controls: Mapping[str, Any]  # control variates and their expectations, as in the result


def _files(folders: Iterable[Path], name: str) -> dict[Path, Shard]:
    """Return the files of folders that hold parts of a file, with their shards."""
    return {path: part for folder in folders for path, part in shard_files(folder, name).items()}


def _merged(
    folders: Sequence[Path],
    config: Config,
    seed: int,
    model: Model[object],
    *,
    curves: bool,
    warn: Warn,
) -> MergedReplications:
    """Return the replications of folders."""
    form = row_format(config, seed, model)
    rows = form.read(_files(folders, ROWS), warn)
    indices = sorted(rows)
    values = np.array([rows[index][1] for index in indices]).reshape(len(indices), len(form.names))
    return MergedReplications(
        indices,
        rows,
        values,
        _curves(folders, indices, model, seed, warn) if curves and model.axes else None,
        _controls(folders, indices, control_format(config, seed, model), model, warn),
    )


def _controls(
    folders: Sequence[Path],
    indices: Sequence[int],
    form: RowFormat,
    model: Model[object],
    warn: Warn,
) -> dict[str, Any]:
    """Return the control variates, if the folders hold those of all replications."""
    if not (files := _files(folders, CONTROLS)):
        return {}
    rows = form.read(files, warn)
    if any(index not in rows for index in indices):
        warn(f"not all folders hold {CONTROLS}: the whole has no control variates")
        return {}
    values = np.array([rows[index][1] for index in indices])
    return {"controls": values, "expectations": model.controls}


def _curves(
    folders: Sequence[Path], indices: Sequence[int], model: Model[object], seed: int, warn: Warn
) -> CurveSums:
    """Return the sums over all replications; those that no folder's sums cover are simulated.

    Sums cannot be taken apart again, so that of files that overlap only one counts.
    """
    assert model.axes
    total = CurveSums.zeros(model.axes.shape)
    left = set(indices)
    found = [read_sums(path, model.axes.shape, warn) for path in _files(folders, SUMS)]
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


@dataclass(frozen=True)
class Combination:
    """The replications of several folders."""

    replications: Replications  # all of them together
    owed: Mapping[str, Owed]  # what is missing, by the shard that owes it
    rows: Rows  # the lines of the file of the whole
    model: Model[object]  # what was simulated
    folders: Sequence[Path]  # where they were

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds, and what is missing: how many, and the first."""
        return self.replications.summary() | (self.missing() if self.owed else {})

    def missing(self) -> dict[str, Any]:
        """Return what is missing by the shard that owes it: the first, and how many."""
        return {
            "missing": {name: owed.first for name, owed in self.owed.items()},
            "missing_counts": {name: owed.total for name, owed in self.owed.items()},
        }

    def shortfalls(self) -> list[str]:
        """Return one line for each shard that owes replications."""
        return [owed.in_words(name) for name, owed in self.owed.items()]

    def open_run(self, out: Path) -> RunFolder:
        """Return the folder of the whole."""
        found = self.replications
        whole = Plan(found.requested, found.seed, confidence=found.confidence)
        read = files_of_runs("replicate", self.folders, out)
        return open_run(out, found.config, whole, True, found.count, read)

    def write(self, out: Path) -> None:
        """Write the whole as `replicate` writes a run."""
        found = self.replications
        with self.open_run(out) as folder:
            form = row_format(found.config, found.seed, self.model)
            text = form.header + "".join(self.rows[index][0] for index in found.indices)
            write_bytes(out / ROWS, text.encode())
            if found.controls is not None:
                controls = control_format(found.config, found.seed, self.model)
                lines = map(controls.line, found.indices, found.controls.tolist())
                write_bytes(out / CONTROLS, (controls.header + "".join(lines)).encode())
            if found.curves:
                write_sums(out / SUMS, found.curves, stretches(found.indices))
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
    """Put the replications of folders into one, as if one run had made them.

    The folders may come in any order and hold the same replications several times. What `out`
    holds of the same run stays in it, such as its shards.
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
    places = [folder / name for folder in others for name in names]
    return places + [path for place in places for path in shard_files(place.parent, place.name)]


def with_whole(out: Path, folders: Sequence[Path]) -> Sequence[Path]:
    """Return the folders and that of the whole, if something is in it already."""
    others = [folder for folder in folders if folder.resolve() != out.resolve()]
    there = len(others) < len(folders) or not others or (out / MANIFEST).is_file()
    return [*others, out] if there else others


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
    folders = list(manifests)
    first = manifests[folders[0]]
    config = config_of(first, folders[0], "combine")
    model = build(config)
    merged = _merged(folders, config, first.seed, model, curves=curves, warn=warn)
    requested = max(map(_requested, manifests.values()))
    wanted = range(requested if expect is None else expect)
    owed = _owed(wanted, merged.rows, set(_files(folders, ROWS).values()))
    remarks = chain.from_iterable(manifest.remarks for manifest in manifests.values())
    result = Replications(
        config,
        first.seed,
        max(requested, len(wanted)),
        model.responses,
        merged.indices,
        merged.values,
        confidence or first.confidence or 0.95,
        model.axes,
        merged.curves,
        status="incomplete" if owed else "complete",
        remarks=list(dict.fromkeys(remarks)),
        input_remarks=model.warnings,
        sampling=model.sampling,
        **merged.controls,
    )
    return Combination(result, owed, merged.rows, model, folders)


def read_replications(folder: Path, warn: Warn) -> Replications:
    """Return the replications that a folder holds, as far as its run got."""
    return gather([folder], warn=warn).replications


def _requested(manifest: ReplicateManifest) -> int:
    """Return how many replications a run was to make; one with a target stops where it is met."""
    reached = manifest.replications if manifest.status == "complete" else None
    return reached or manifest.requested


M = TypeVar("M", bound=SimulationManifest)


def read_manifests(
    folders: Sequence[Path], command: str, kind: type[M], warn: Warn
) -> dict[Path, M]:
    """Return the manifests of folders that hold parts of one run; refuse those of another."""
    manifests: dict[Path, M] = {}
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder")
        try:
            manifests[folder] = manifest = read_manifest(folder, kind, command)
        except FileNotFoundError:
            warn(f"{folder}: no {MANIFEST}, so no run has begun here")
            continue
        except OSError as error:
            raise InputError(f"{folder / MANIFEST}: cannot be read: {error.strerror}") from None
        files = shard_files(folder, CONTENTS[command].progress[0]).values()
        if manifest.status == "running":
            warn(f"{folder}: its run has not ended, or was killed")
        for shard in {*map(str, files)} - {str(WHOLE), *manifest.shards}:
            if manifest.status != "complete":
                warn(f"{folder}: shard {shard} has not ended, or was killed")
    if not manifests:
        raise InputError(f"{', '.join(map(str, folders))}: nothing to combine")
    (first_folder, first), *others = manifests.items()
    for folder, manifest in others:
        _refuse_other_run(first, first_folder, manifest, folder)
    return manifests


def _refuse_other_run(
    first: SimulationManifest, first_folder: Path, other: SimulationManifest, folder: Path
) -> None:
    """Refuse a folder of another config or seed, naming what differs."""
    same = first.config_id == other.config_id
    if same and first.seed == other.seed and first.config == other.config:
        return
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


def shards_of(parts: Collection[Shard]) -> Sequence[Shard]:
    """Return all shards of a run of which some are there; the whole where these do not fit."""
    counts = {shard.count for shard in parts} - {1}
    count = counts.pop() if len(counts) == 1 else 1
    return [Shard(index, count) for index in range(count)]


def name_of(shard: Shard) -> str:
    """Return what messages call a shard."""
    return "the run" if shard == WHOLE else f"shard {shard}"


def _owed(wanted: range, there: Collection[int], parts: Collection[Shard]) -> dict[str, Owed]:
    """Return the missing replications by the shard that owes them."""
    shards = shards_of(parts)
    done = Counter(index % len(shards) for index in there if index in wanted)
    owed = {}
    for shard in shards[: len(wanted)]:
        indices = shard.indices(len(wanted))
        if (missing := len(indices) - done[shard.index]) > 0:
            first = islice((index for index in indices if index not in there), LISTED)
            owed[name_of(shard)] = Owed(missing, list(first))
    return owed


# The folders of one design, point by point.


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
    """Put the folders of one design together; see `valmatch.experiments.combine.combine`."""
    folders = with_whole(out, folders)
    first = _manifest_of_all(folders)
    ids = first.design.config_ids
    found: dict[str, Combination] = {}
    shortfalls: list[str] = []
    owed: dict[str, None] = {}
    missing: dict[str, Any] = {}
    for key in dict.fromkeys(ids):
        parts = [f / POINTS / key for f in folders if (f / POINTS / key / MANIFEST).is_file()]
        if not parts:
            shortfalls.append(f"point {key}: no replications at all")
            missing[key] = None
            continue
        found[key] = gather(parts, curves=not check, warn=warn, **options)
        if config_id(found[key].replications.config) != key:
            raise InputError(f"{parts[0]}: holds the replications of another point")
        shortfalls += [f"point {key}: {line}" for line in found[key].shortfalls()]
        owed |= dict.fromkeys(found[key].owed)
        if found[key].owed:
            missing[key] = found[key].missing()["missing"]
    if None in missing.values():
        parts = [f / POINTS / key for f in folders for key in found]
        owed |= {name_of(shard): None for shard in shards_of(_files(parts, ROWS).values())}
    config = first.restored(folders[0])
    points = list(zip(ids, map(tuple, first.design.points), strict=True))
    design = Design(first.design.factors, [point for key, point in points if key in found])
    results = [found[key].replications for key, _ in points if key in found]
    stopped = "incomplete" if None in missing.values() else ""
    experiment = DesignReplications(config, design, results, stopped)
    if not check:
        # The whole design, so that the points that are not there yet can follow.
        whole = Design(first.design.factors, [point for _, point in points])
        read = files_of_runs("design", folders, out)
        opened = open_design(out, config, whole, ids, Plan(seed=first.seed), True, read)
        for key, combined in found.items():
            combined.open_run(out / POINTS / key)
        with opened as folder:
            for key, combined in found.items():
                combined.write(out / POINTS / key)
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
