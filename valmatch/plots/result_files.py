"""The files that drawers read, made from a result that has none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from valmatch.config.config import Config
from valmatch.config.identity import config_id, resolved
from valmatch.errors import InputError
from valmatch.experiments.compare import Comparison
from valmatch.experiments.replications import Replications
from valmatch.experiments.simulate import Simulation
from valmatch.experiments.sweep import DesignReplications
from valmatch.storage.contents import MANIFEST
from valmatch.storage.curve_file import write_curves
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Result
from valmatch.storage.store import ROWS


def write_result_files(result: Result, folder: Path) -> None:
    """Write what the figures of a result are drawn from."""
    facts: dict[str, Any]
    if isinstance(result, Simulation):
        for table in result.tables:
            write_csv(folder / f"{table.name}.csv", table.columns, table.whole)
        facts = {"seed": result.seed, "replication": result.replication}
        _write_manifest(folder, "simulate", result.config, facts)
    elif isinstance(result, Replications):
        write_csv(folder / ROWS, result.to_dict())
        if result.axes and result.curves:
            write_curves(folder, result.axes, result.curves)
        facts = {
            "seed": result.seed,
            "replications": result.count,
            "confidence": result.confidence,
            "status": result.status,
        }
        _write_manifest(folder, "replicate", result.config, facts)
    elif isinstance(result, Comparison):
        _write_json(folder / "summary.json", result.summary())
        _write_manifest(folder, "compare", result.base.config, {"seed": result.base.seed})
    elif isinstance(result, DesignReplications):
        write_csv(folder / "design.csv", result.columns())
        _write_manifest(folder, "design", result.config, {"seed": result.results[0].seed})
    else:
        raise InputError(
            f"{type(result).__name__}: is drawn from its files (give the function that made it"
            " out=FOLDER)"
        )


def _write_manifest(folder: Path, command: str, config: Config, facts: dict[str, Any]) -> None:
    """Write a manifest as that of a run in a folder."""
    content = {
        "command": command,
        "status": "complete",
        "config_id": config_id(config),
        "source": config.source,
        "config": resolved(config),
        **facts,
    }
    _write_json(folder / MANIFEST, content)


def _write_json(path: Path, content: dict[str, Any]) -> None:
    with write_atomically(path) as file:
        file.write(to_json(content))
