"""The identity of a config: its ids, and the plain values that a manifest keeps."""

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
from valmatch.inputs.fields import Factors
from valmatch.inputs.files import sha256
from valmatch.matching.registry import QUEUES
from valmatch.models.registry import MODELS, origin
from valmatch.policies.registry import POLICIES
from valmatch.ratings.registry import SYSTEMS


def resolved(config: Config) -> dict[str, Any]:
    """Return all that determines a run but the seed, every factor spelt out, as plain values."""
    files = {key: {"path": file.given, "sha256": file.sha256} for key, file in config.files.items()}
    return {"model": config.model, "factors": config.factors.model_dump(mode="json"), **files}


def restore(content: Mapping[str, Any], source: str, *, files: bool = True) -> Config:
    """Return the config of `resolved` values; without `files` theirs need not be what they were."""
    if (factors := _factors_of(content)) is None:
        raise InputError(f"{source}: the config of the run is not valid in this version")
    inputs: dict[str, InputFile] = {}
    for key in MODELS[content["model"]].files:
        named = content.get(key, {})
        for path in (Path(source).parent / named["path"], Path(named["path"])) if named else ():
            with suppress(OSError, ValueError):
                if not files or sha256(path) == named["sha256"]:
                    inputs.setdefault(key, InputFile(path, named["path"], named["sha256"]))
        if named and key not in inputs:
            raise InputError(f"{source}: the run's {key} {dict(named)} are not there")
    return Config(model=content["model"], factors=factors, files=inputs, source=source)


def _factors_of(content: Mapping[str, Any]) -> Factors | None:
    """Return the factors that `resolved` spelt out; None if they are not valid in this version."""
    try:
        entry = MODELS[content["model"]]
        context = {"files": frozenset(content) & frozenset(entry.files)}
        return entry.factors.model_validate(content["factors"], context=context)
    except (KeyError, ValidationError):
        return None


def changes(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> list[tuple[str, object, object]]:
    """Return (dotted path, value here, value there) of all in which two resolved configs differ."""
    mine, theirs = flat(first), flat(second)
    # The factors of different models have nothing in common.
    keys = {"model"} if mine["model"] != theirs["model"] else mine.keys() | theirs.keys()

    def same_file(key: str) -> bool:  # a file is what it holds, whatever path leads there
        digest = f"{key.removesuffix('.path')}.sha256"
        return key.endswith(".path") and digest in mine and mine[digest] == theirs.get(digest)

    return [
        (key, mine.get(key), theirs.get(key))
        for key in sorted(keys)
        if mine.get(key) != theirs.get(key) and not same_file(key)
    ]


def changed_factors(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> list[tuple[str, object, object]]:
    """Return those `changes` that are of a factor which both configs know."""
    # What only one of them knows is a new factor, whose default means "as before". A value that
    # this version takes for another one is no change.
    known = flat(first["factors"]).keys() & flat(second["factors"]).keys()
    both = (
        {**content, "factors": factors.model_dump(mode="json")} if factors else content
        for content, factors in ((content, _factors_of(content)) for content in (first, second))
    )
    return [change for change in changes(*both) if change[0].removeprefix("factors.") in known]


def identity(config: Config) -> dict[str, Any]:
    """Return what the id of a config is made of; options of commands do not enter."""
    # A new factor whose default means "as before" changes nothing here. Of other packages it is
    # also where rules, policies and systems are from.
    factors = set_factors(config.factors)
    values = set(map(str, flat(factors).values()))
    brought = {
        name: registry.origin(name)
        for registry in (QUEUES, POLICIES, SYSTEMS)
        for name in registry.others
        if name in values
    }
    return {
        "model": config.model,
        **origin(config.model),
        "factors": factors,
        "files": {key: file.sha256 for key, file in sorted(config.files.items())},
        **({"plugins": brought} if brought else {}),
    }


def set_factors(factors: Factors) -> dict[str, Any]:
    """Return the factors that differ from their defaults, section by section."""
    return factors.model_dump(mode="json", exclude_defaults=True)


def config_id(config: Config) -> str:
    """Return 12 hex digits that identify what is simulated, however the config is written."""
    return _short_digest(identity(config))


def problem_id(config: Config) -> str:
    """Return 12 hex digits that identify the problem of the `optimize` section."""
    problem = config.optimize.model_dump(exclude_none=True)
    parts = ("variables", "objective", "constraints")
    return _short_digest({key: problem[key] or None for key in parts})


def _short_digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def changed_since(before: Mapping[str, Any], there: Mapping[str, Any], config: Config) -> str:
    """Say in what a config, its model or a default differs from earlier; "" if in nothing."""
    now = identity(config)
    differences = [
        f"{what} {before.get(key)}, now {now.get(key)}"
        for key, what in _ORIGIN.items()
        if before.get(key) != now.get(key)
    ]
    differences = differences or [
        f"{key} was {other}, now {value}"
        for key, value, other in changed_factors(resolved(config), there)
    ]
    if not differences:  # of a config that was restored, what was a default is no longer one
        defaults = flat(type(config.factors).model_construct().model_dump(mode="json"))
        news = flat(now["factors"]).keys() - flat(before.get("factors", {})).keys()
        was = flat(there["factors"])
        differences = [
            f"factors.{key} was {was.get(key)}, now {defaults.get(key)}" for key in sorted(news)
        ]
    more = f"; and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""
    return "; ".join(differences[:_SHOWN]) + more


_SHOWN = 8  # differences that are named one by one

_ORIGIN = {
    "model": "the model was",
    "version": "the model has changed: version",
    "distribution": "the package of the model has changed:",
    "source": "the code of the model has changed: digest",
    "plugins": "what other packages bring has changed:",
}
