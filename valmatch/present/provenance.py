"""The origin of a run: its config, what differs from the defaults, versions, seed, command."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from valmatch.config.factor_paths import unit_at
from valmatch.config.loading import shipped_configs
from valmatch.config.writing import document
from valmatch.errors import InputError
from valmatch.models.registry import MODELS
from valmatch.present.document import UNIT, Block, TextTable, name_of
from valmatch.storage.contents import MANIFEST
from valmatch.storage.manifest import Manifest
from valmatch.storage.result_files import ResultFiles
from valmatch.text.terminal import shortened

CODE = 20_000  # most characters of a config that is shown
NAMED = 60  # factors that are listed
LINKED = 40  # files of a run that are listed


def run_name(run: ResultFiles) -> str:
    """Return what a run is of: its model, or what was read, and its config."""
    config, source = run.manifest.config, run.manifest.source
    return name_of(config.model, source) if config else shortened(Path(source).name)


def unit_of_factor(model: str, name: str) -> str:
    """Return the unit of a factor, given with or without ``factors.``; "" where it has none."""
    name = name.removeprefix("factors.")
    return (unit_at(MODELS[model].factors, name) or "") if model in MODELS else ""


def blocks_of_origin(run: ResultFiles) -> list[Block]:
    """Return how the run was made, so that it can be made again."""
    manifest = run.manifest
    blocks = [Block("How it was made", table=_facts(manifest), folded=True)]
    if manifest.config is not None:
        if manifest.identity is not None and manifest.config.model in MODELS:
            blocks.insert(0, _differing(manifest))
        blocks.append(Block("The config in full", code=_config_text(manifest), folded=True))
    program, *arguments = manifest.argv or [""]
    if Path(program).name in ("valmatch", "__main__.py"):  # else a program made the run
        command = shlex.join(["valmatch", *arguments])
        blocks.append(Block("The command that makes it again", code=command))
    return blocks


def _differing(manifest: Manifest) -> Block:
    """Return a table of the factors that differ from the defaults of the model."""
    assert manifest.config
    assert manifest.identity
    model, factors = manifest.config.model, _leaves(manifest.identity.factors)
    title = "Config: what differs from the defaults of the model"
    if not factors:
        files = ", ".join(manifest.config.__pydantic_extra__ or {})
        other = f"; it reads {files}" if files else ""
        return Block(title, paragraphs=[f"Nothing: every factor has its default{other}."])
    defaults: dict[str, Any] = {}
    with suppress(InputError, AttributeError, TypeError, ValueError):  # some have no default
        defaults = _leaves(MODELS[model].factors.model_construct().model_dump(mode="json"))
    table = TextTable.of("factor", "here", "default", UNIT)
    for name, value in list(factors.items())[:NAMED]:
        default = defaults.get(name, "")
        table.add(name, _shown(value), _shown(default), unit_of_factor(model, name))
    if len(factors) > NAMED:
        table.notes.append(f"and {len(factors) - NAMED:,} more")
    return Block(title, table=table)


def _leaves(factors: Mapping[str, Any], outer: str = "") -> dict[str, Any]:
    """Return factors by their dotted names; lists stay whole."""
    leaves: dict[str, Any] = {}
    for name, value in factors.items():
        inner = isinstance(value, Mapping)
        leaves |= _leaves(value, f"{outer}{name}.") if inner else {f"{outer}{name}": value}
    return leaves


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _source(source: str) -> str:
    """Return where a config was read; a shipped one has a name, whatever folder it is in."""
    path = Path(source)
    return f"the shipped config {path.stem}" if path in shipped_configs().values() else source


def _facts(manifest: Manifest) -> TextTable:
    """Return a table of seed, versions and the like."""
    counts = {"replications": manifest.replications, "budget": manifest.budget}
    facts = {
        "command": manifest.command,
        "read from": _source(manifest.source),
        "config id": manifest.config_id,
        "seed": manifest.seed,
        **{name: None if count is None else f"{count:,}" for name, count in counts.items()},
        "confidence": manifest.confidence,
        "status": manifest.status,
        "started": manifest.started,
        "python": manifest.get("python"),
        **manifest.versions,
        "platform": manifest.get("platform"),
    }
    table = TextTable.of("what", "is", left=("what", "is"))
    for name, value in facts.items():
        if value not in (None, ""):
            table.add(name, str(value))
    return table


def _config_text(manifest: Manifest) -> str:
    """Return the config as YAML that can be used again."""
    assert manifest.config
    files = {key: file.path for key, file in (manifest.config.__pydantic_extra__ or {}).items()}
    section = manifest.get("optimize")
    others = {**files, **({"optimize": section} if section else {})}
    text = document("", manifest.config.model, manifest.config.factors, **others).strip() + "\n"
    if len(text) <= CODE:
        return text
    return f"{text[:CODE]}\n# ... and {len(text) - CODE:,} more characters in {MANIFEST}\n"


def links_of(run: ResultFiles, home: Path | None) -> dict[str, str]:
    """Return the files of the run with their addresses as seen from the report, if any."""
    names = dict.fromkeys([MANIFEST, *(run.manifest.files or ())])
    there = [name for name in names if (run.folder / name).is_file()][:LINKED]
    try:
        base = None if home is None else os.path.relpath(run.folder.resolve(), home.resolve())
    except ValueError:
        base = None
    if base is None:
        return dict.fromkeys(there, "")
    addresses = {name: quote((Path(base) / name).as_posix()) for name in there}
    # One that looks like a scheme is none.
    return {k: text if text.startswith(".") else f"./{text}" for k, text in addresses.items()}
