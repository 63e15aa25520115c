"""Merging the folders of one design, such as its shards, point by point."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valmatch.config.identity import config_id
from valmatch.errors import InputError
from valmatch.execution.shards import WHOLE, Shard, parse_shard
from valmatch.experiments.combine import SHARD, Combination, files_of_runs, gather, with_whole
from valmatch.experiments.design import Design
from valmatch.experiments.run_manifests import DesignManifest
from valmatch.experiments.sweep import POINTS, DesignReplications, claim, write_experiment
from valmatch.storage.contents import MANIFEST
from valmatch.storage.manifest import command_of, read_manifest


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
        claimed = claim(out, config, whole, ids, first.seed, WHOLE, resume=True, read=read)
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
