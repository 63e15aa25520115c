"""The manifests of the runs that can be combined, typed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import ValidationError, model_validator

from valmatch.config.config import Config, OptimizeOptions
from valmatch.config.identity import config_id, problem_id, restore
from valmatch.errors import InputError
from valmatch.inputs.fields import refuse
from valmatch.storage.contents import MANIFEST
from valmatch.storage.manifest import (
    ConfigPart,
    Count,
    Id,
    Level,
    Manifest,
    ManifestPart,
    Seed,
    read_manifest,
)


class SimulationManifest(Manifest):
    """What all commands below write."""

    config_id: Id
    config: ConfigPart
    seed: Seed

    def restored(self, folder: Path) -> Config:
        """Return the config of the run in `folder`."""
        try:
            return restore(self.config.model_dump(), self.source)
        except InputError as error:
            raise InputError(f"{folder / MANIFEST}: config: {error}") from None


class ReplicateManifest(SimulationManifest):
    """What ``replicate`` writes."""

    requested: Count


class SimulateManifest(SimulationManifest):
    """What ``simulate`` writes."""

    replication: Count


class CompareManifest(Manifest):
    """What ``compare`` writes; `variants` only where there are several."""

    variants: list[Id] | None = None


class OptimizeManifest(SimulationManifest):
    """What ``optimize`` writes."""

    problem_id: Id
    solver: str | None = None
    budget: Count
    confidence: Level
    optimize: dict[str, Any]  # the section of the config; its problem is what was solved
    # macroreps, sweep: which runs were asked for; the front of several objectives has neither
    macroreps: Count | None = None
    sweep: str | None = None

    def restored(self, folder: Path) -> Config:
        """Return the config of the run in `folder`, with the problem that it solved."""
        config = super().restored(folder)
        with suppress(ValidationError):
            section = OptimizeOptions.model_validate(self.optimize)
            config = replace(config, optimize=section)
        if problem_id(config) != self.problem_id:
            raise InputError(f"{folder / MANIFEST}: optimize: not the problem of this version")
        return config


class DesignPart(ManifestPart):
    """The points of a design."""

    factors: list[str]
    points: list[list[Any]]
    config_ids: list[Id]

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        if any(len(point) != len(self.factors) for point in self.points):
            raise refuse("a point does not have a value for each factor")
        if len(self.points) != len(self.config_ids):
            raise refuse("there is not an id for each point")
        return self


class DesignManifest(SimulationManifest):
    """What ``replicate`` writes of a design."""

    design_id: Id
    design: DesignPart


M = TypeVar("M", bound=Manifest)


def manifest_in(folder: Path, kind: type[M], command: str | None = None) -> M | None:
    """Return the manifest of a folder, None where no run has begun."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    try:
        return read_manifest(folder, kind, command)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{folder / MANIFEST}: cannot be read: {error.strerror}") from None


def config_of(manifest: SimulationManifest, folder: Path, command: str) -> Config:
    """Return the config of a run, which must mean the same in this version."""
    config = manifest.restored(folder)
    changed = manifest.changes(config)
    if changed or config_id(config) != manifest.config_id:
        raise InputError(
            f"{folder}: made by a version that knew this config as"
            f" {manifest.config_id} (now {config_id(config)}{changed and f': {changed}'});"
            f" {command} with that version"
        )
    return config
