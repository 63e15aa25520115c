"""Merging the folders of one design, such as its shards, point by point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valmatch.config.identity import restore
from valmatch.errors import InputError
from valmatch.execution.shards import WHOLE
from valmatch.experiments.combine import combine
from valmatch.experiments.design import Design
from valmatch.experiments.sweep import POINTS, DesignReplications, claim, write_experiment
from valmatch.storage.run_folder import MANIFEST, read_manifest

__all__ = ["CombinedDesign", "combine_designs", "is_design"]


@dataclass(frozen=True)
class CombinedDesign:
    """The replications of several folders at each point of a design.

    Attributes
    ----------
    experiment : DesignReplications
        All of them together.
    shortfalls : sequence of str
        One line for each shard of each point that owes replications.
    """

    experiment: DesignReplications
    shortfalls: Sequence[str]


def is_design(folder: Path) -> bool:
    """Return whether a folder was made by a design."""
    try:
        return read_manifest(folder).get("command") == "design"
    except (OSError, InputError):
        return False


def combine_designs(
    out: Path,
    folders: Sequence[Path],
    *,
    check: bool = False,
    warn: Callable[[str], None] = lambda text: None,
    **options: Any,  # noqa: ANN401
) -> CombinedDesign:
    """Merge the folders of one design; see `valmatch.experiments.combine.combine`.

    Raises
    ------
    InputError
        If a folder is not of this design, or two folders contradict each other.
    RunError
        If the whole cannot be written.
    """
    manifests = {}
    for folder in folders:
        if not is_design(folder):
            raise InputError(f"{folder}: not made by a design (allowed: folders of one design)")
        manifests[folder] = read_manifest(folder)
    one, first = next(iter(manifests.items()))
    for folder, manifest in manifests.items():
        for key in ("config_id", "seed", "design_id"):
            if manifest[key] != first[key]:
                raise InputError(
                    f"{one} and {folder}: different designs ({key} {first[key]} and"
                    f" {manifest[key]})"
                )
    config = restore(first["config"], first["source"])
    found, shortfalls = {}, []
    for key in dict.fromkeys(first["design"]["config_ids"]):
        parts = [f / POINTS / key for f in folders if (f / POINTS / key / MANIFEST).is_file()]
        if not parts:
            shortfalls.append(f"point {key}: no replications at all")
            continue
        found[key] = combine(out / POINTS / key, parts, check=check, warn=warn, **options)
        shortfalls += [f"point {key}: {line}" for line in found[key].shortfalls()]
    points = zip(first["design"]["config_ids"], first["design"]["points"], strict=True)
    kept = [(key, tuple(point)) for key, point in points if key in found]
    design = Design(first["design"]["factors"], [point for _, point in kept])
    results = [found[key].replications for key, _ in kept]
    experiment = DesignReplications(config, design, results)
    if not check:
        configs = [result.config for result in results]
        with claim(out, config, design, configs, first["seed"], WHOLE, resume=True) as whole:
            write_experiment(whole, experiment)
    return CombinedDesign(experiment, shortfalls)
