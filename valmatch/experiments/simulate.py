"""One replication in full, with its files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.config.config import Config
from valmatch.config.identity import config_id
from valmatch.config.loading import ConfigLike, load
from valmatch.model import Response, Table
from valmatch.simulator import build, record
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.run_folder import RunFolder

__all__ = ["Recording", "simulate"]


@dataclass(frozen=True)
class Recording:
    """One replication of a config with everything that happened in it.

    Attributes
    ----------
    config : what was simulated
    seed, replication : the address of its random numbers
    responses : what a replication gives
    values : (len(responses),) float64; NaN where undefined
    tables : what happened, one table for each kind of event
    """

    config: Config
    seed: int
    replication: int
    responses: Sequence[Response]
    values: NDArray[np.float64]
    tables: Sequence[Table]

    def summary(self) -> dict[str, Any]:
        """Return what ``responses.json`` holds."""
        values = zip(self.responses, self.values.tolist(), strict=True)
        return {
            "model": self.config.model,
            "config_id": config_id(self.config),
            "seed": self.seed,
            "replication": self.replication,
            "responses": {r.name: int(v) if r.whole else v for r, v in values},
        }


def simulate(
    config: ConfigLike,
    seed: int = 1,
    replication: int = 0,
    *,
    out: Path | None = None,
    warn: Callable[[str], None] = lambda text: None,
) -> Recording:
    """Run replication `replication` of a config and record it.

    Parameters
    ----------
    config : Config or what `valmatch.load` takes
        What to simulate.
    seed, replication : int
        Address of the random numbers, both >= 0.
    out : Path or None
        Folder for ``responses.json``, one CSV file a table, and ``manifest.json``.
    warn : callable
        Called with each remark on the input.

    Raises
    ------
    InputError
        If the input of the model or the folder cannot be used.
    RunError
        If the results cannot be written.
    """
    config = load(config)
    model = build(config, warn=warn)
    identity = {"seed": seed, "replication": replication}
    with RunFolder(out, "simulate", config, identity) if out else nullcontext() as folder:
        result = record(model, seed, replication)
        recording = Recording(
            config, seed, replication, model.responses, result.responses, result.tables
        )
        if folder:
            for table in result.tables:
                write_csv(folder.path / f"{table.name}.csv", table.columns, table.whole)
            with write_atomically(folder.path / "responses.json") as file:
                file.write(to_json(recording.summary()))
            folder.close("complete")
    return recording
