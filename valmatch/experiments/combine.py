"""The folders of runs: how far these are, and putting the replications of one together."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Generic, TypeVar

from valmatch.config.identity import changed_factors, changes, config_id
from valmatch.errors import InputError
from valmatch.execution.chunks import build, run
from valmatch.execution.shards import WHOLE, Shard, shard_files, stretches
from valmatch.experiments import sweep
from valmatch.experiments.replicate import Plan, Replications, open_run, write_results
from valmatch.experiments.sweep import POINTS
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Model
from valmatch.statistics.curves import CurveSums
from valmatch.storage import store
from valmatch.storage.manifest import (
    DesignManifest,
    Manifest,
    ReplicateManifest,
    SimulationManifest,
    manifest_in,
    read_manifest,
)
from valmatch.storage.output import CONTENTS, MANIFEST, PROGRESS, write_bytes
from valmatch.storage.results import Result
from valmatch.storage.run_folder import RunFolder
from valmatch.storage.store import ROWS, Warn
from valmatch.text.terminal import counted

SHOWN = 8  # missing replications and differing keys that are named one by one
LISTED = 1_000  # missing replications of a shard that a summary lists


def owes(name: str, total: int, first: Sequence[int], what: str = "replication") -> str:
    """Return the line that says what a shard, or a run without shards, has not made yet."""
    shown = ", ".join(map(str, first[:SHOWN])) + ", ..." * (total > SHOWN)
    return f"{name} owes {counted(total, what)}: {shown}"


R = TypeVar("R", bound=Result)


@dataclass(frozen=True)
class Combined(Generic[R]):
    """What the folders of a run hold together, and what is missing."""

    result: R
    missing: Mapping[str, Any]  # what is missing, as JSON
    shortfalls: Sequence[str]  # one line for each shard that owes something
    owed: Collection[str]  # these shards

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds, and what is missing."""
        return self.result.summary() | (dict(self.missing) if self.shortfalls else {})


def _files(folders: Iterable[Path], name: str) -> dict[Path, Shard]:
    """Return the files of folders that hold parts of a file, with their shards."""
    return {path: part for folder in folders for path, part in shard_files(folder, name).items()}


def _controls(
    folders: Sequence[Path], indices: Sequence[int], form: store.RowFormat, warn: Warn
) -> Floats | None:
    """Return the control variates, if the folders hold those of all replications."""
    if not (files := _files(folders, store.CONTROLS)):
        return None
    rows = form.read(files, warn)
    if any(index not in rows for index in indices):
        warn(f"not all folders hold {store.CONTROLS}: the whole has no control variates")
        return None
    return form.table(rows, indices)


def _curves(
    folders: Sequence[Path], indices: Sequence[int], model: Model[object], seed: int, warn: Warn
) -> CurveSums:
    """Return the sums over all replications; those that no folder's sums cover are simulated."""
    # Sums cannot be taken apart again, so that of files that overlap only one counts.
    assert model.axes
    shape, left = model.axes.shape, set(indices)
    total, paths = CurveSums.zeros(shape), _files(folders, store.SUMS)
    sums_of_files = [store.read_sums(path, shape, warn) for path in paths]
    for sums, over in sorted(sums_of_files, key=lambda item: -item[0].n):
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
class MergedReplications(Combined[Replications]):
    """The replications of several folders; of what is missing, how many and the first."""

    folders: Sequence[Path]  # where they were

    def open_run(self, out: Path) -> RunFolder:
        """Return the folder of all of them."""
        plan = Plan(self.result.requested, self.result.seed, confidence=self.result.confidence)
        read = files_of_runs("replicate", self.folders, out)
        return open_run(out, self.result.config, plan, True, self.result.count, read)

    def write(self, out: Path) -> None:
        """Write them as `replicate` writes a run."""
        result = self.result
        with self.open_run(out) as folder:
            form = store.row_format(result.config, result.seed, result.responses)
            write_bytes(out / ROWS, form.text(result.indices, result.values).encode())
            if result.controls is not None:
                form = store.control_format(result.config, result.seed, result.expectations)
                text = form.text(result.indices, result.controls)
                write_bytes(out / store.CONTROLS, text.encode())
            if result.curves:
                store.write_sums(out / store.SUMS, result.curves, stretches(result.indices))
            write_results(folder, result)


def combine(
    out: Path,
    folders: Sequence[Path],
    *,
    check: bool = False,
    warn: Warn = lambda text: None,
    **options: Any,  # noqa: ANN401
) -> MergedReplications:
    """Put the replications of folders into one, as if one run had made them; see `gather`."""
    # The folders may come in any order and hold the same replications several times. What `out`
    # holds of the same run stays in it, such as its shards.
    merged = gather(with_whole(out, folders), curves=not check, warn=warn, **options)
    if not check:
        merged.write(out)
    return merged


def files_of_runs(command: str, folders: Sequence[Path], out: Path) -> list[Path]:
    """Return the files that are read from folders of a command, other than that of the whole."""
    others = [folder for folder in folders if folder.resolve() != out.resolve()]
    files = [folder / name for folder in others for name in (MANIFEST, *CONTENTS[command])]
    return files + [path for file in files for path in shard_files(file.parent, file.name)]


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
) -> MergedReplications:
    """Return the replications of folders, checked against each other; write nothing."""
    manifests = read_manifests(folders, "replicate", ReplicateManifest, warn, {})
    (folder, first), *_ = manifests.items()
    folders, config, seed = list(manifests), first.same_config(folder, "combine"), first.seed
    model = build(config)
    form, files = store.row_format(config, seed, model.responses), _files(folders, ROWS)
    rows = form.read(files, warn)
    indices = sorted(rows)
    # A run with a target stops where it is met.
    requested = max(
        (manifest.replications if manifest.status == "complete" else None) or manifest.requested
        for manifest in manifests.values()
    )
    wanted = range(requested if expect is None else expect)
    owed = owed_by_shard(wanted, rows, set(files.values()))
    known = store.control_format(config, seed, model.controls)
    controls = _controls(folders, indices, known, warn)
    result = Replications(
        config,
        seed,
        max(requested, len(wanted)),
        model.responses,
        indices,
        form.table(rows, indices),
        confidence or first.confidence or 0.95,
        model.axes,
        _curves(folders, indices, model, seed, warn) if curves and model.axes else None,
        status="incomplete" if owed else "complete",
        remarks=[
            remark for manifest in manifests.values() for remark in manifest.notices("remarks")
        ],
        input_remarks=[*first.notices("input_remarks"), *model.warnings],
        sampling=model.sampling,
        controls=controls,
        expectations={} if controls is None else model.controls,
    )
    missing = {
        "missing": {name: listed for name, (_, listed) in owed.items()},
        "missing_counts": {name: total for name, (total, _) in owed.items()},
    }
    shortfalls = [owes(name, *part) for name, part in owed.items()]
    return MergedReplications(result, missing, shortfalls, owed, folders)


M = TypeVar("M", bound=SimulationManifest)


def read_manifests(
    folders: Sequence[Path], command: str, kind: type[M], warn: Warn, same: Mapping[str, str]
) -> dict[Path, M]:
    """Return the manifests of folders that hold parts of one run; refuse those of another."""
    # All have the same config, the same seed and the same of the entries `same`.
    manifests: dict[Path, M] = {}
    for folder in folders:
        manifest = manifest_in(folder, kind, command)
        if manifest is None:
            warn(f"{folder}: no {MANIFEST}, so no run has begun here")
            continue
        manifests[folder] = manifest
        files = _files([folder], CONTENTS[command][0]).values()
        if manifest.status == "running":
            warn(f"{folder}: its run has not ended, or was killed")
        for shard in {*map(str, files)} - {str(WHOLE), *manifest.shards}:
            if manifest.status != "complete":
                warn(f"{folder}: shard {shard} has not ended, or was killed")
    if not manifests:
        raise InputError(f"{', '.join(map(str, folders))}: nothing to combine")
    (first_folder, first), *others = manifests.items()
    for folder, manifest in others:
        if different := _difference(first, manifest, {"seed": "seeds", **same}):
            raise InputError(f"{first_folder} and {folder}: different {different}")
    return manifests


def _difference(first: Manifest, other: Manifest, same: Mapping[str, str]) -> str:
    """Return in what two runs differ, "" if in nothing."""
    equal, lines = first.config_id == other.config_id, list[str]()
    # A default may differ between two versions of one config.
    differing = changed_factors if equal else changes
    if first.config != other.config and first.config and other.config:
        differences = differing(first.config.model_dump(), other.config.model_dump())
        lines = [f"{key}: {mine} and {theirs}" for key, mine, theirs in differences]
    if lines or not equal:
        more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
        shown = "; ".join(lines[:SHOWN] + more)
        return f"configs, {first.config_id} and {other.config_id} ({shown})"
    for key, what in same.items():
        if first.get(key) != other.get(key):
            return f"{what}, {first.get(key)} and {other.get(key)}"
    return ""


def shards_of(parts: Collection[Shard]) -> Sequence[Shard]:
    """Return all shards of a run of which some are there; the whole where these do not fit."""
    counts = {shard.count for shard in parts} - {1}
    count = counts.pop() if len(counts) == 1 else 1
    return [Shard(index, count) for index in range(count)]


def name_of(shard: Shard) -> str:
    """Return what messages call a shard."""
    return "the run" if shard == WHOLE else f"shard {shard}"


def owed_by_shard(
    wanted: range, there: Collection[int], parts: Collection[Shard]
) -> dict[str, tuple[int, list[int]]]:
    """Return how many parts are missing, and the first, by the shard that owes them."""
    shards = shards_of(parts)
    done = Counter(index % len(shards) for index in there if index in wanted)
    owed = {}
    for shard in shards[: len(wanted)]:
        indices = shard.indices(len(wanted))
        if (missing := len(indices) - done[shard.index]) > 0:
            first = islice((index for index in indices if index not in there), LISTED)
            owed[name_of(shard)] = missing, list(first)
    return owed


def combine_designs(
    out: Path,
    folders: Sequence[Path],
    *,
    check: bool = False,
    warn: Warn = lambda text: None,
    **options: Any,  # noqa: ANN401
) -> Combined[sweep.DesignReplications]:
    """Put the folders of one design together; see `combine`."""
    same = {"design_id": "designs"}
    manifests = read_manifests(with_whole(out, folders), "design", DesignManifest, warn, same)
    (first_folder, first), *_ = manifests.items()
    (design, ids), parts = sweep.design_in(first), dict[str, list[Path]]()
    for key in ids:
        points = [folder / POINTS / key for folder in manifests]
        parts[key] = [point for point in points if (point / MANIFEST).is_file()]
    merged = {
        key: gather(of_point, curves=not check, warn=warn, **options)
        for key, of_point in parts.items()
        if of_point
    }
    for key, point in merged.items():
        if config_id(point.result.config) != key:
            raise InputError(f"{point.folders[0]}: holds the replications of another point")
    there = {k: key for k, key in enumerate(ids) if key in merged}
    result = sweep.DesignReplications(
        first.restored(first_folder),
        replace(design, points=[design.points[k] for k in there]),
        [merged[key].result for key in there.values()],
        "" if len(merged) == len(parts) else "incomplete",
    )
    if not check:
        # The whole design, so that the points that are not there yet can follow.
        plan, read = Plan(seed=first.seed), files_of_runs("design", list(manifests), out)
        opened = sweep.open_design(out, result.config, design, ids, plan, True, read)
        for key, point in merged.items():
            point.open_run(out / POINTS / key)
        with opened as folder:
            for key, point in merged.items():
                point.write(out / POINTS / key)
            sweep.write_experiment(folder, result)
    shards = shards_of(_files(chain.from_iterable(parts.values()), ROWS).values())
    shortfalls: list[str] = []
    missing: dict[str, Any] = {}  # null: everything
    owed: dict[str, None] = {}
    for key in parts:
        if key not in merged:
            shortfalls.append(f"point {key}: no replications at all")
            missing[key] = None
            owed |= dict.fromkeys(map(name_of, shards))
        elif merged[key].owed:
            shortfalls += [f"point {key}: {line}" for line in merged[key].shortfalls]
            missing[key] = merged[key].missing["missing"]
            owed |= dict.fromkeys(merged[key].owed)
    return Combined(result, {"missing": missing}, shortfalls, owed)


NOT_ENDED = "not ended"  # the state of a run that is at work, or was killed

# Replications that are there, by shard, None where the command makes none; and those that a shard
# is to have, None where that is not known.
Counts = tuple[Counter[Shard] | None, Callable[[Shard], int | None]]


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
    done_by, wanted_by = _counts_of(folder, manifest)
    run = (manifest.command, manifest.config_id, manifest.seed)
    states = dict.fromkeys(set(done_by or ()) - {WHOLE}, NOT_ENDED)
    ended = manifest.shards.items()
    states |= {Shard(*map(int, text.split("/"))): state for text, state in ended}
    of_run = NOT_ENDED if manifest.status == "running" else manifest.status
    statuses = []
    for shard, state in sorted(states.items(), key=lambda item: item[0].index) or [(WHOLE, of_run)]:
        done = None if done_by is None else done_by[shard]
        # Where a target was reached, or a search has ended early, there will be no more.
        wanted = done if state == "complete" else wanted_by(shard)
        statuses.append(RunStatus(folder, manifest.command, state, shard, done, wanted, run))
    return statuses


def missing_shards(statuses: Sequence[RunStatus]) -> list[Shard]:
    """Return the shards of the runs in some folders that none of these holds."""
    there = {(status.run, status.shard) for status in statuses}
    runs = dict.fromkeys((status.run, status.shard.count) for status in statuses)
    shards = ((run, Shard(index, count)) for run, count in runs for index in range(count))
    return [shard for run, shard in shards if (run, shard) not in there]


def _counts_of(folder: Path, manifest: Manifest) -> Counts:
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
        return None, lambda shard: None
    begun = [part for part in parts if (part / MANIFEST).is_file()]
    n = max([read_manifest(part, ReplicateManifest).requested for part in begun], default=None)
    return _lines(begun, ROWS), lambda shard: n and len(parts) * len(shard.indices(n))


def _lines(folders: Iterable[Path], name: str) -> Counter[Shard]:
    """Return how many whole lines files have after their headers, by shard."""
    count: Counter[Shard] = Counter()
    for folder in folders:
        for path, shard in shard_files(folder, name).items():
            with suppress(OSError), path.open("rb") as file:
                count[shard] += max(0, sum(line.endswith(b"\n") for line in file) - 1)
    return count
