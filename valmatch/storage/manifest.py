"""The manifests of runs, typed: what another program wrote there is checked here."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from valmatch.errors import InputError
from valmatch.inputs.fields import allowed, refuse, schema_at
from valmatch.inputs.files import readable
from valmatch.storage.output import CONTENTS, MANIFEST, read_json
from valmatch.text.terminal import Notice

if TYPE_CHECKING:
    from valmatch.config.config import Config

Id = Annotated[  # of a config, which may become the name of a folder
    str, Field(pattern="^[0-9a-f]{12}$", json_schema_extra={"words": "12 hexadecimal digits"})
]
ShardText = Annotated[str, Field(pattern="^[0-9]{1,9}/[1-9][0-9]{0,8}$")]
Count = Annotated[int, Field(ge=0, lt=1 << 63)]
Seed = Annotated[int, Field(ge=0)]
Level = Annotated[float, Field(gt=0, lt=1)]


class ManifestPart(BaseModel):
    """A part of a manifest; what is not known here may stand there too."""

    # What checks a kind of manifest is built when one is read: no command reads all kinds.
    model_config = ConfigDict(frozen=True, strict=True, extra="allow", defer_build=True)


class FilePart(ManifestPart):
    """A file that a config names."""

    path: str
    sha256: str


class ConfigPart(ManifestPart):
    """What `valmatch.config.identity.resolved` makes of a config; files by their keys."""

    __pydantic_extra__: dict[str, FilePart]

    model: str
    factors: dict[str, Any] = {}


class IdentityPart(ManifestPart):
    """What `valmatch.config.identity.identity` makes of a config."""

    factors: dict[str, Any] = {}


class WarningPart(ManifestPart):
    """A warning, as `valmatch.text.terminal.Notice` writes it."""

    kind: str
    count: int
    text: str


class Manifest(ManifestPart):
    """What the manifests of all commands may hold."""

    command: str = ""
    status: str = "complete"
    config_id: str | None = None
    source: str = ""
    seed: Seed | None = None
    replications: Count | None = None
    requested: Count | None = None
    confidence: Level | None = None
    budget: Count | None = None
    system: str | None = None
    config: ConfigPart | None = None
    identity: IdentityPart | None = None
    remarks: list[WarningPart] = []
    input_remarks: list[WarningPart] = []  # on what was read, such as rows left out
    versions: dict[str, str] = {}
    pid: int | None = None
    host: str | None = None
    started: str = ""
    wall_seconds: float | None = None
    wanted: Count | None = None  # replications that all runs of `optimize` together are to make
    argv: list[str] = []
    files: list[str] | None = None
    shown: list[str] = []
    shards: dict[ShardText, str] = {}  # how each shard ended, before they are put together
    variants: list[Id] | None = None  # of a comparison of several

    @property
    def is_ours(self) -> bool:
        """Whether a command of ours has written it."""
        return self.command in CONTENTS

    def restored(self, folder: Path, *, files: bool = True) -> Config:
        """Return the config of a run; without `files` those that it names need not be there."""
        from valmatch.config.identity import restore

        if self.config is None:
            raise InputError(f"{folder / MANIFEST}: damaged: there is no 'config'")
        try:
            return restore(self.config.model_dump(), self.source, files=files)
        except InputError as error:
            raise InputError(f"{folder / MANIFEST}: config: {error}") from None

    def same_config(self, folder: Path, command: str) -> Config:
        """Return the config of the run in `folder`, which must mean the same in this version."""
        from valmatch.config.identity import config_id

        config = self.restored(folder)
        changed = self.changes(config)
        if changed or config_id(config) != self.config_id:
            raise InputError(
                f"{folder}: made by a version that knew this config as"
                f" {self.config_id} (now {config_id(config)}{changed and f': {changed}'});"
                f" {command} with that version"
            )
        return config

    def changes(self, config: Config) -> str:
        """Say in what a config, or its model, differs from that of the run; "" if in nothing."""
        if not (self.identity and self.config):
            return ""
        from valmatch.config.identity import changed_since

        return changed_since(self.identity.model_dump(), self.config.model_dump(), config)

    def notices(self, key: str) -> list[Notice]:
        """Return the warnings of an entry as results have them."""
        return [Notice(of.text, of.kind, of.count) for of in self.get(key)]

    def get(self, key: str) -> Any:  # noqa: ANN401 - of what is not known here, any type
        """Return an entry, None where there is none."""
        return getattr(self, key, None)


class SimulationManifest(Manifest):
    """What the commands below write, all of whose runs can be put together."""

    config_id: Id
    config: ConfigPart
    seed: Seed


class ReplicateManifest(SimulationManifest):
    """What ``replicate`` writes."""

    requested: Count


class SimulateManifest(SimulationManifest):
    """What ``simulate`` writes."""

    replication: Count


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

    def restored(self, folder: Path, *, files: bool = True) -> Config:
        """Return the config of the run in `folder`, with the problem that it solved."""
        from valmatch.config.config import OptimizeOptions
        from valmatch.config.identity import problem_id

        config = super().restored(folder, files=files)
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
    beside: bool = False  # whether the last point is the config itself, which the grid lacks

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


def command_of(folder: Path) -> str:
    """Return the command that made a folder, "" if none is known."""
    try:
        return read_manifest(folder, Manifest).command
    except (OSError, InputError):
        return ""


def manifest_in(folder: Path, kind: type[M], command: str | None = None) -> M | None:
    """Return the manifest of a folder, None where no run has begun."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    with readable(folder / MANIFEST):
        there = (folder / MANIFEST).exists()
        return read_manifest(folder, kind, command) if there else None


def read_manifest(folder: Path, kind: type[M], command: str | None = None) -> M:
    """Return the manifest of a run, of a command if one is named; raise OSError without one."""
    path = folder / MANIFEST
    content = read_json(path, "not a manifest")
    try:
        if command is not None:
            made_by = Manifest.model_validate(content).command
            if made_by != command:
                raise InputError(f"{folder}: made by {made_by} (allowed: folders of {command})")
        return kind.model_validate(content)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
    location = problem["loc"]
    key = ".".join(map(str, location))
    what = f"{key}: {problem['input']!r:.60} (allowed: {allowed(schema_at(kind, location))})"
    if problem["type"] == "missing":
        what = f"there is no {location[-1]!r}"
    elif problem["type"] == "refused":
        what = f"{key}: {problem['msg']}"
    raise InputError(f"{path}: damaged: {what}")
