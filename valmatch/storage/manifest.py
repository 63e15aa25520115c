"""The manifest of a run's folder, typed: what another program wrote there is checked here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from valmatch.errors import InputError
from valmatch.storage.contents import CONTENTS, MANIFEST
from valmatch.storage.output import read_json
from valmatch.text.terminal import Notice

if TYPE_CHECKING:
    from valmatch.config.config import Config

Id = Annotated[
    str, Field(pattern="^[0-9a-f]{12}$", json_schema_extra={"words": "12 hexadecimal digits"})
]
"""The id of a config, which may become the name of a folder."""

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

    @property
    def notice(self) -> Notice:
        """The warning as results have it."""
        return Notice(self.text, self.kind, self.count)


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

    @property
    def is_ours(self) -> bool:
        """Whether a command of ours has written it."""
        return self.command in CONTENTS

    def changes(self, config: Config) -> str:
        """Say in what a config, or its model, differs from that of the run; "" if in nothing."""
        if not (self.identity and self.config):
            return ""
        from valmatch.config.identity import changed_since

        return changed_since(self.identity.model_dump(), self.config.model_dump(), config)

    def get(self, key: str) -> Any:  # noqa: ANN401 - of what is not known here, any type
        """Return an entry, None where there is none."""
        return getattr(self, key, None)


def command_of(folder: Path) -> str:
    """Return the command that made a folder, "" if none is known."""
    try:
        return read_manifest(folder, Manifest).command
    except (OSError, InputError):
        return ""


M = TypeVar("M", bound=Manifest)


def read_manifest(folder: Path, kind: type[M], command: str | None = None) -> M:
    """Return the manifest of a run."""
    path = folder / MANIFEST
    content = read_json(path, "not a manifest")
    if command is not None:
        made_by = _checked(path, content, Manifest).command
        if made_by != command:
            raise InputError(f"{folder}: made by {made_by} (allowed: folders of {command})")
    return _checked(path, content, kind)


def _checked(path: Path, content: dict[str, Any], kind: type[M]) -> M:
    """Return what a manifest says, or refuse it."""
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
    from valmatch.inputs.fields import allowed, schema_at

    location = problem["loc"]
    key = ".".join(map(str, location))
    what = f"{key}: {problem['input']!r:.60} (allowed: {allowed(schema_at(kind, location))})"
    if problem["type"] == "missing":
        what = f"there is no {location[-1]!r}"
    elif problem["type"] == "refused":
        what = f"{key}: {problem['msg']}"
    raise InputError(f"{path}: damaged: {what}")
