"""What identifies a config: ids, and the plain values that a manifest keeps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from valmatch.config.config import Config
from valmatch.errors import InputError
from valmatch.models.registry import MODELS

__all__ = ["changes", "config_id", "problem_id", "resolved", "restore"]


def resolved(config: Config) -> dict[str, Any]:
    """Return everything that determines a run but the seed, as plain JSON-able values.

    All factors are spelt out; a null horizon means the last arrival of the file whose digest
    stands beside it.
    """
    result: dict[str, Any] = {
        "model": config.model,
        "factors": config.factors.model_dump(mode="json"),
    }
    if config.arrivals is not None:
        result["arrivals"] = {"path": config.arrivals_given, "sha256": config.arrivals_sha256}
    return result


def restore(content: Mapping[str, Any], source: str) -> Config:
    """Return the config of which `resolved` made `content`, read from the file `source`.

    Raises
    ------
    InputError
        If this version has no such model or factors, or the file of arrivals is not there.
    """
    arrivals, path = content.get("arrivals"), None
    try:
        factors = MODELS[content["model"]].factors.model_validate(
            content["factors"], context={"trace": arrivals is not None}
        )
        if arrivals is not None:
            tried = (Path(source).parent / arrivals["path"], Path(arrivals["path"]))
            path = next(
                p
                for p in tried
                if p.is_file() and hashlib.sha256(p.read_bytes()).hexdigest() == arrivals["sha256"]
            )
    except (KeyError, ValidationError):
        raise InputError(f"{source}: the config of the run is not valid in this version") from None
    except StopIteration:
        raise InputError(f"{source}: the run's arrivals {arrivals} are not there") from None
    given = arrivals or {"path": "", "sha256": ""}
    return Config(
        model=content["model"],
        factors=factors,
        arrivals=path,
        arrivals_given=given["path"],
        arrivals_sha256=given["sha256"],
        source=source,
    )


def changes(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> list[tuple[str, object, object]]:
    """Return (dotted path, value here, value there) of all in which two resolved configs differ."""
    mine, theirs = _flat(first), _flat(second)
    # The factors of different models have nothing in common.
    keys = {"model"} if mine["model"] != theirs["model"] else mine.keys() | theirs.keys()
    found = ((key, mine.get(key), theirs.get(key)) for key in sorted(keys))
    return [change for change in found if change[1] != change[2]]


def _flat(value: object, path: str = "") -> dict[str, object]:
    """Return the leaves of nested mappings and lists by dotted path."""
    if isinstance(value, Mapping):
        items: Any = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        return {path: value}
    leaves: dict[str, object] = {}
    for key, inner in items:
        leaves.update(_flat(inner, f"{path}.{key}" if path else str(key)))
    return leaves


def config_id(config: Config) -> str:
    """Return 12 hex digits that identify what is simulated, however the config is written.

    They are the start of the SHA-256 of canonical JSON (sorted keys, shortest numbers) of the
    model, its factors and the digest of its arrivals; options of commands do not enter.
    """
    content = {**resolved(config), "arrivals": config.arrivals_sha256}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def problem_id(config: Config) -> str:
    """Return 12 hex digits that identify the problem of the `optimize` section."""
    parts = {key: config.optimize.get(key) for key in ("variables", "objective", "constraints")}
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
