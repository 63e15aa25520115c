"""Merging the folders of replications of one run, such as its shards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.config.config import Config
from valmatch.config.identity import changed_factors, changed_since, changes, config_id, restore
from valmatch.errors import InputError
from valmatch.execution.shards import WHOLE, Shard, parse_shard
from valmatch.experiments.plan import Plan
from valmatch.experiments.replicate import claim, write_results
from valmatch.experiments.replications import Replications
from valmatch.model import Model
from valmatch.simulator import build, run
from valmatch.statistics.curve_sums import CurveSums
from valmatch.storage.curve_file import read_sums, stretches, write_sums
from valmatch.storage.output import write_bytes
from valmatch.storage.row_file import RowFormat
from valmatch.storage.run_folder import MANIFEST, read_manifest
from valmatch.storage.store import CONTROLS, ROWS, control_format, row_format

__all__ = ["Combination", "combine", "read_replications"]

Floats = NDArray[np.float64]
Warn = Callable[[str], None]
Rows = Mapping[int, tuple[str, list[float]]]

NEEDED = ("config_id", "config", "seed", "requested")
"""What a manifest must hold."""

SHOWN = 8
"""Missing replications and differing keys that are named one by one."""


@dataclass(frozen=True)
class _Part:
    """What one folder holds.

    Attributes
    ----------
    folder : Path
        Where it is.
    manifest : mapping of str to object
        What its manifest says.
    rows : Rows
        Its replications.
    """

    folder: Path
    manifest: Mapping[str, Any]
    rows: Rows

    @property
    def shard(self) -> Shard:
        """The shard that the folder's run was to make."""
        text = self.manifest.get("shard")
        return parse_shard(text) if text else WHOLE

    @property
    def requested(self) -> int:
        """The number of replications that all shards together were to make."""
        manifest = self.manifest
        # A run with a target stops where that is reached.
        reached = manifest.get("status") == "complete" and self.shard == WHOLE
        return int(manifest["replications" if reached else "requested"])


@dataclass(frozen=True)
class Combination:
    """The replications of several folders.

    Attributes
    ----------
    replications : Replications
        All of them together.
    missing : sequence of int
        Replications that should be there and are not, in order.
    owed : mapping of str to sequence of int
        The same by the shard that owes them; one item where there are no shards.
    """

    replications: Replications
    missing: Sequence[int]
    owed: Mapping[str, Sequence[int]]

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds, and what is missing."""
        summary = self.replications.summary()
        if self.missing:
            summary["missing"] = {name: list(owed) for name, owed in self.owed.items()}
        return summary

    def shortfalls(self) -> list[str]:
        """Return one line for each shard that owes replications."""
        lines = []
        for name, owed in self.owed.items():
            shown = ", ".join(map(str, owed[:SHOWN])) + (", ..." if len(owed) > SHOWN else "")
            lines.append(f"{name} owes {len(owed)} replication{'s' * (len(owed) > 1)}: {shown}")
        return lines


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

    Parameters
    ----------
    out : Path
        Folder of the whole.
    folders : sequence of Path
        Folders of ``valmatch replicate``, of one config and seed.
    expect : int or None
        Number of replications that there should be; None: as many as the runs were to make.
    check : bool
        Only look: write nothing.
    confidence : float or None
        Level of the intervals; None: that of the first folder.
    warn : callable
        Called with each remark on what is in the folders.

    Raises
    ------
    InputError
        If a folder is not of this run, or two folders contradict each other.
    RunError
        If the whole cannot be written.
    """
    if (out / MANIFEST).is_file() and out.resolve() not in [path.resolve() for path in folders]:
        folders = [*folders, out]
    manifests = _manifests(folders, warn)
    first = next(iter(manifests.values()))
    config = restore(first["config"], first.get("source", ""))
    changed = changed_since(first, config)
    if changed or config_id(config) != first["config_id"]:
        raise InputError(
            f"{next(iter(manifests))}: made by a version that knew this config as"
            f" {first['config_id']} (now {config_id(config)}{changed and f': {changed}'}); combine"
            " with that version"
        )
    for folder, manifest in manifests.items():
        _refuse_other_run(first, next(iter(manifests)), manifest, folder)
    model = build(config)
    seed = int(first["seed"])
    form = row_format(config, seed, model)
    parts = [
        _Part(folder, manifest, form.read(folder / ROWS, warn))
        for folder, manifest in manifests.items()
    ]
    rows = _union(parts, form)
    requested = max(part.requested for part in parts)
    expect = requested if expect is None else expect
    missing = [index for index in range(expect) if index not in rows]
    indices = sorted(rows)
    values = np.array([rows[index][1] for index in indices]).reshape(len(indices), len(form.names))
    result = Replications(
        config,
        seed,
        max(requested, expect),
        model.responses,
        indices,
        values,
        float(confidence or first.get("confidence") or 0.95),
        model.axes,
        None if check or not model.axes else _curves(parts, indices, model, seed, warn),
        status="incomplete" if missing else "complete",
        **_controls(parts, indices, config, seed, model, warn),
    )
    if not check:
        _write(out, result, rows, form, model)
    return Combination(result, missing, _owed(missing, parts))


def read_replications(folder: Path, warn: Warn) -> Replications:
    """Return the replications that a folder holds, as far as its run got.

    Raises
    ------
    InputError
        If it is not the folder of a run of ``replicate``, or damaged.
    """
    return combine(folder, [folder], check=True, warn=warn).replications


def _manifests(folders: Sequence[Path], warn: Warn) -> dict[Path, dict[str, Any]]:
    """Return the manifests of the folders that a run has begun to fill."""
    manifests = {}
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder")
        try:
            manifest = read_manifest(folder)
        except FileNotFoundError:
            warn(f"{folder}: no {MANIFEST}, so no run has begun here")
            continue
        except OSError as error:
            raise InputError(f"{folder / MANIFEST}: cannot be read: {error.strerror}") from None
        if manifest.get("command") != "replicate":
            raise InputError(
                f"{folder}: made by {manifest.get('command')} (allowed: folders of replicate)"
            )
        missing = [key for key in NEEDED if key not in manifest]
        if missing:
            raise InputError(f"{folder / MANIFEST}: damaged: there is no {missing[0]!r}")
        if manifest.get("status") == "running":
            warn(f"{folder}: its run has not ended, or was killed")
        manifests[folder] = manifest
    if not manifests:
        raise InputError(f"{', '.join(map(str, folders))}: nothing to combine")
    return manifests


def _refuse_other_run(
    first: Mapping[str, Any], one: Path, other: Mapping[str, Any], folder: Path
) -> None:
    """Refuse a folder of another config or seed, naming what differs."""
    same = first["config_id"] == other["config_id"]
    # A default may differ between two versions of one config.
    found = (changed_factors if same else changes)(first["config"], other["config"])
    if found or not same:
        shown = "; ".join(f"{key}: {mine} and {theirs}" for key, mine, theirs in found[:SHOWN])
        more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        raise InputError(
            f"{one} and {folder}: different configs, {first['config_id']} and"
            f" {other['config_id']} ({shown}{more})"
        )
    if first["seed"] != other["seed"]:
        raise InputError(
            f"{one} and {folder}: different seeds, {first['seed']} and {other['seed']}"
        )


def _union(parts: Sequence[_Part], form: RowFormat) -> dict[int, tuple[str, list[float]]]:
    """Return all replications; those that several folders hold must be the same there."""
    rows: dict[int, tuple[str, list[float]]] = {}
    origin: dict[int, Path] = {}
    for part in parts:
        for index, row in part.rows.items():
            if index in rows and rows[index][0] != row[0]:
                columns = zip(form.names, rows[index][1], row[1], strict=True)
                shown = next(f"{name} {a!r} and {b!r}" for name, a, b in columns if a != b)
                raise InputError(
                    f"{origin[index]} and {part.folder}: contradict each other on replication"
                    f" {index} ({shown}); one of them was changed, or made by another version"
                )
            if index not in rows:
                rows[index], origin[index] = row, part.folder
    return rows


def _controls(
    parts: Sequence[_Part],
    indices: Sequence[int],
    config: Config,
    seed: int,
    model: Model[object],
    warn: Warn,
) -> dict[str, Any]:
    """Return the control variates, if the folders hold those of all replications."""
    files = [part.folder / CONTROLS for part in parts if (part.folder / CONTROLS).exists()]
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
    parts: Sequence[_Part], indices: Sequence[int], model: Model[object], seed: int, warn: Warn
) -> CurveSums:
    """Return the sums over all replications; those that no folder's sums cover are simulated.

    Sums cannot be taken apart again, so that of folders that overlap only one counts.
    """
    assert model.axes
    total = CurveSums.zeros(model.axes.shape)
    left = set(indices)
    found = [read_sums(part.folder, model.axes.shape, warn) for part in parts]
    for sums, over in sorted(found, key=lambda item: -item[0].n):
        own = {index for stretch in over for index in stretch}
        if own <= left:
            total.merge(sums)
            left -= own
    if left:
        warn(f"the curves of {len(left)} replications are simulated again: folders overlap")
        batch = run(model, seed, sorted(left))
        assert batch.curves is not None
        total.merge(batch.curves)
    return total


def _owed(missing: Sequence[int], parts: Sequence[_Part]) -> dict[str, Sequence[int]]:
    """Return the missing replications by the shard that owes them."""
    counts = {part.shard.count for part in parts if part.shard != WHOLE}
    if len(counts) != 1:
        return {"the run": missing} if missing else {}
    count = counts.pop()
    owed: dict[str, list[int]] = {}
    for index in missing:
        owed.setdefault(f"shard {index % count}/{count}", []).append(index)
    return dict(sorted(owed.items(), key=lambda item: int(item[0][6:].partition("/")[0])))


def _write(
    out: Path, result: Replications, rows: Rows, form: RowFormat, model: Model[object]
) -> None:
    """Write the whole as `replicate` writes a run."""
    whole = Plan(result.requested, result.seed, confidence=result.confidence)
    with claim(out, result.config, whole, resume=True, replications=len(result.values)) as folder:
        text = form.header + "".join(rows[index][0] for index in result.indices)
        write_bytes(out / ROWS, text.encode())
        if result.controls is not None:
            controls = control_format(result.config, result.seed, model)
            lines = map(controls.line, result.indices, result.controls.tolist())
            write_bytes(out / CONTROLS, (controls.header + "".join(lines)).encode())
        if result.curves:
            write_sums(out, result.curves, stretches(result.indices))
        write_results(folder, result)
