"""The origin of a run: its config, what differs from the defaults, versions, seed, command."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from valmatch.config.factor_paths import unit_at
from valmatch.config.writing import document
from valmatch.errors import InputError
from valmatch.models.registry import MODELS
from valmatch.present.document import UNIT, Block, FileLink, TextTable
from valmatch.storage.contents import MANIFEST
from valmatch.storage.result_files import ResultFiles
from valmatch.text.terminal import shortened

CODE = 20_000  # most characters of a config that is shown
NAMED = 60  # factors that are listed
LINKED = 40  # files of a run that are listed


def model_of(run: ResultFiles) -> str:
    """Return the model that a run is of; "" for none."""
    return run.manifest.config.model if run.manifest.config else ""


def run_name(run: ResultFiles) -> str:
    """Return what a run is of: its model, or what was read, and its config."""
    model, stem = model_of(run), shortened(Path(run.manifest.source).stem)
    if not model:
        return shortened(Path(run.manifest.source).name)
    return model if stem in ("", model) or stem.startswith("<") else f"{model} ({stem})"


def unit_of_factor(model: str, name: str) -> str:
    """Return the unit of a factor, given with or without ``factors.``; "" where it has none."""
    name = name.removeprefix("factors.")
    return (unit_at(MODELS[model].factors, name) or "") if model in MODELS else ""


def blocks_of_origin(run: ResultFiles) -> list[Block]:
    """Return how the run was made, so that it can be made again."""
    blocks = []
    differing = _differing(run)
    if differing is not None:
        blocks.append(differing)
    blocks.append(Block("How it was made", table=_facts(run), folded=True))
    config = _config_text(run)
    if config:
        blocks.append(Block("The config in full", code=config, folded=True))
    command = _command(run)
    if command:
        blocks.append(Block("The command that makes it again", code=command))
    return blocks


def _differing(run: ResultFiles) -> Block | None:
    """Return a table of the factors that differ from the defaults of the model."""
    identity = run.manifest.identity
    if identity is None or model_of(run) not in MODELS:
        return None
    found = _leaves(identity.factors)
    title = "Config: what differs from the defaults of the model"
    if not found:
        files = list(run.manifest.config.__pydantic_extra__ or {}) if run.manifest.config else []
        other = f"; it reads {', '.join(files)}" if files else ""
        return Block(title, paragraphs=[f"Nothing: every factor has its default{other}."])
    defaults = _defaults(model_of(run))
    table = TextTable.of("factor", "here", "default", UNIT)
    for name, value in list(found.items())[:NAMED]:
        unit = unit_of_factor(model_of(run), name)
        table.add(name, _shown(value), _shown(defaults.get(name, "")), unit)
    if len(found) > NAMED:
        table.notes.append(f"and {len(found) - NAMED:,} more")
    return Block(title, table=table)


def _leaves(factors: Mapping[str, Any], outer: str = "") -> dict[str, Any]:
    """Return factors by their dotted names; lists stay whole."""
    found: dict[str, Any] = {}
    for name, value in factors.items():
        if isinstance(value, Mapping):
            found |= _leaves(value, f"{outer}{name}.")
        else:
            found[f"{outer}{name}"] = value
    return found


def _defaults(model: str) -> dict[str, Any]:
    """Return the defaults of a model's factors, none where it has factors without."""
    try:
        return _leaves(MODELS[model].factors.model_construct().model_dump(mode="json"))
    except (InputError, AttributeError, TypeError, ValueError):
        return {}


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _facts(run: ResultFiles) -> TextTable:
    """Return a table of seed, versions and the like."""
    found = run.manifest
    table = TextTable.of("what", "is", left=("what", "is"))
    facts: dict[str, object] = {
        "command": found.command,
        "read from": found.source,
        "config id": found.config_id,
        "seed": found.seed,
        "replications": found.replications,
        "confidence": found.confidence,
        "budget": found.budget,
        "status": found.status,
        "started": found.started,
        "python": found.get("python"),
        **found.versions,
        "platform": found.get("platform"),
    }
    for name, value in facts.items():
        if value not in (None, ""):
            table.add(name, f"{value:,}" if _is_count(name, value) else str(value))
    return table


def _is_count(name: str, value: object) -> bool:
    return isinstance(value, int) and name in ("replications", "budget")


def _config_text(run: ResultFiles) -> str:
    """Return the config as YAML that can be used again; "" for none."""
    found = run.manifest.config
    if found is None:
        return ""
    files = {key: file.path for key, file in (found.__pydantic_extra__ or {}).items()}
    section = run.manifest.get("optimize")
    others = {**files, **({"optimize": section} if section else {})}
    text = document("", found.model, found.factors, **others).strip() + "\n"
    if len(text) <= CODE:
        return text
    return f"{text[:CODE]}\n# ... and {len(text) - CODE:,} more characters in {MANIFEST}\n"


def _command(run: ResultFiles) -> str:
    """Return the command as it was given, fit for a shell; "" where a program made the run."""
    program, *arguments = run.manifest.argv or [""]
    name = Path(program).name
    if name not in ("valmatch", "__main__.py"):
        return ""
    return shlex.join(["valmatch", *arguments])


def links_of(run: ResultFiles, home: Path | None) -> list[FileLink]:
    """Return the files of the run, with their paths as seen from the folder of the report."""
    names = [MANIFEST, *(run.manifest.files or ())]
    there = [name for name in dict.fromkeys(names) if (run.folder / name).is_file()][:LINKED]
    if home is None:
        return [FileLink(name) for name in there]
    try:
        base = os.path.relpath(run.folder.resolve(), home.resolve())
    except ValueError:  # on another drive
        return [FileLink(name) for name in there]
    return [FileLink(name, _address(Path(base) / name)) for name in there]


def _address(path: Path) -> str:
    """Return a relative path as an address; one that looks like a scheme is none."""
    text = quote(path.as_posix())
    return text if text.startswith(".") else f"./{text}"
