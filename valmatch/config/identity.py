"""The identity of a config: its ids, and the plain values that a manifest keeps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from valmatch.config.config import Config, InputFile
from valmatch.config.factor_paths import flat
from valmatch.errors import InputError
from valmatch.inputs.fields import Section
from valmatch.inputs.files import sha256
from valmatch.models.registry import MODELS, origin


def resolved(config: Config) -> dict[str, Any]:
    """Return everything that determines a run but the seed, as plain JSON-able values.

    All factors are spelt out; a null horizon means the last arrival, which the other factors or the
    file whose digest stands beside them determine.
    """
    files = {key: {"path": file.given, "sha256": file.sha256} for key, file in config.files.items()}
    return {
        "model": config.model,
        "factors": config.factors.model_dump(mode="json"),
        **files,
    }


def restore(content: Mapping[str, Any], source: str, *, files: bool = True) -> Config:
    """Return the config of which `resolved` made `content`, read from the file `source`.

    Its files have to be what they were, unless nothing is to be simulated.
    """
    try:
        entry = MODELS[content["model"]]
        given = {key: content[key] for key in entry.files if key in content}
        factors = entry.factors.model_validate(
            content["factors"], context={"files": frozenset(given)}
        )
        find = _found if files else _named
        found = {key: find(key, file, source) for key, file in given.items()}
    except (KeyError, ValidationError):
        raise InputError(f"{source}: the config of the run is not valid in this version") from None
    return Config(model=content["model"], factors=factors, files=found, source=source)


def _named(key: str, given: Mapping[str, str], source: str) -> InputFile:
    """Return a file of a run, wherever it is now."""
    return InputFile(Path(source).parent / given["path"], given["path"], given["sha256"])


def _found(key: str, given: Mapping[str, str], source: str) -> InputFile:
    """Return a file of a run, if it is still what it was."""
    for path in (Path(source).parent / given["path"], Path(given["path"])):
        with suppress(OSError, ValueError):
            if sha256(path) == given["sha256"]:
                return InputFile(path, given["path"], given["sha256"])
    raise InputError(f"{source}: the run's {key} {dict(given)} are not there")


def changes(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> list[tuple[str, object, object]]:
    """Return (dotted path, value here, value there) of all in which two resolved configs differ.

    A file is what it holds, whatever path leads there.
    """
    mine, theirs = flat(first), flat(second)
    # The factors of different models have nothing in common.
    keys = {"model"} if mine["model"] != theirs["model"] else mine.keys() | theirs.keys()
    found = ((key, mine.get(key), theirs.get(key)) for key in sorted(keys))
    return [
        change
        for change in found
        if change[1] != change[2] and not _same_file(change[0], mine, theirs)
    ]


def _same_file(key: str, mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """Return whether what differs is the path of a file that holds the same."""
    held = f"{key.removesuffix('.path')}.sha256"
    return key.endswith(".path") and held in mine and mine[held] == theirs.get(held)


def changed_factors(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> list[tuple[str, object, object]]:
    """Return those `changes` that are of a factor which both configs know.

    What only one of them knows is a new factor, whose default means "as before". A value that this
    version takes for another one is no change.
    """
    known = flat(first["factors"]).keys() & flat(second["factors"]).keys()
    found = changes(_as_taken(first), _as_taken(second))
    return [change for change in found if change[0].removeprefix("factors.") in known]


def _as_taken(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a resolved config with the values that this version takes its own for.

    As it stands, where it is not valid in this version.
    """
    try:
        entry = MODELS[content["model"]]
        context = {"files": frozenset(content) & frozenset(entry.files)}
        factors = entry.factors.model_validate(content["factors"], context=context)
    except (KeyError, ValidationError):
        return content
    return {**content, "factors": factors.model_dump(mode="json")}


def identity(config: Config) -> dict[str, Any]:
    """Return what the id of a config is made of.

    The model, its version (of a model of another package also that of its distribution and the
    digest of its source), the factors that differ from their defaults, the digests of its files.
    A new factor whose default means "as before" changes nothing here; options of commands do not
    enter.
    """
    return {
        "model": config.model,
        **origin(config.model),
        "factors": set_factors(config.factors),
        "files": {key: file.sha256 for key, file in sorted(config.files.items())},
    }


def set_factors(section: Section) -> dict[str, Any]:
    """Return the factors that differ from their defaults, section by section."""
    plain, found = section.model_dump(mode="json"), {}
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        default: Any = None
        if not field.is_required():
            default = field.get_default(call_default_factory=True)
        if isinstance(value, Section) and type(default) is type(value):
            inner = set_factors(value)
            if inner:
                found[name] = inner
        elif field.is_required() or value != default:
            found[name] = plain[name]
    return found


def config_id(config: Config) -> str:
    """Return 12 hex digits that identify what is simulated, however the config is written.

    They are the start of the SHA-256 of canonical JSON (sorted keys, shortest numbers) of its
    `identity`.
    """
    return _short_digest(identity(config))


def problem_id(config: Config) -> str:
    """Return 12 hex digits that identify the problem of the `optimize` section."""
    given = config.optimize.model_dump(exclude_none=True)
    parts = ("variables", "objective", "constraints")
    return _short_digest({key: given[key] or None for key in parts})


def _short_digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def changed_since(before: Mapping[str, Any], there: Mapping[str, Any], config: Config) -> str:
    """Say in what a config, or its model, differs from an earlier one; "" if in nothing.

    A default that has changed since counts, though it is written nowhere.
    """
    now = identity(config)
    found = [
        f"{what} {before.get(key)}, now {now.get(key)}"
        for key, what in _ORIGIN.items()
        if before.get(key) != now.get(key)
    ]
    found = found or _changed_factors(before.get("factors", {}), there, now["factors"], config)
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return "; ".join(found[:_SHOWN]) + more


def _changed_factors(
    set_there: Mapping[str, Any],
    there: Mapping[str, Any],
    set_here: Mapping[str, Any],
    config: Config,
) -> list[str]:
    """Say which factors differ, or have another default, in a manifest and in a config."""
    here = resolved(config)
    given = flat(set_there).keys() | flat(set_here).keys()
    found = [
        f"{'' if key.removeprefix('factors.') in given else 'the default of '}{key} was {other},"
        f" now {value}"
        for key, value, other in changed_factors(here, there)
    ]
    # What one of them sets, and the other has by default, though both have the same.
    defaults = flat(type(config.factors).model_construct().model_dump(mode="json"))
    for key in flat(set_here).keys() - flat(set_there).keys():
        value = flat(there["factors"]).get(key)
        if value == flat(here["factors"])[key]:
            found.append(f"the default of factors.{key} was {value}, now {defaults.get(key)}")
    return found


_SHOWN = 8  # differences that are named one by one

_ORIGIN = {
    "model": "the model was",
    "version": "the model has changed: version",
    "distribution": "the package of the model has changed:",
    "source": "the code of the model has changed: digest",
}
