"""One replication in full, with its files."""

import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from valmatch.config.config import Config
from valmatch.config.identity import config_id
from valmatch.config.loading import ConfigLike, load_config
from valmatch.execution.chunks import build, record
from valmatch.execution.run_options import DEFAULT_SEED, SimulateArguments, first_given
from valmatch.experiments.response_list import shown_by
from valmatch.inputs.options import takes
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Response, Table
from valmatch.storage.output import ROWS_AT_ONCE, write_csv_parts, write_json
from valmatch.storage.results import Result, ResultFiles, damaged, warnings_entry, warnings_in
from valmatch.storage.run_folder import RunFolder
from valmatch.text.suggestions import hint

RESPONSES = "responses.json"


@dataclass(frozen=True, repr=False)
class Simulation(Result):
    """One replication of a config with everything that happened in it.

    Attributes
    ----------
    config : Config
        What was simulated.
    seed, replication : int
        The address of its random numbers.
    responses : sequence of Response
        What a replication gives.
    values : numpy.ndarray
        (len(responses),) float64; NaN where undefined.
    tables : sequence of Table
        What happened, one table for each kind of event.
    warnings : sequence of str
        What has to be known of what was read and of the replication.
    """

    presented_by = "simulate"

    config: Config
    seed: int
    replication: int
    responses: Sequence[Response]
    values: NDArray[np.float64]
    tables: Sequence[Table]
    warnings: Sequence[str] = ()
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was simulated, in one line."""
        of = f"{self.config.model}, config {config_id(self.config)}"
        return f"{of}, seed {self.seed}, replication {self.replication}"

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each response."""
        return {
            "response": [response.name for response in self.responses],
            "value": self.values.tolist(),
            "unit": [response.unit for response in self.responses],
        }

    def __getitem__(self, table: str) -> Mapping[str, NDArray[Any]]:
        """Return the columns of a table as arrays, as ``pandas.DataFrame`` takes them."""
        return self._table(table).columns

    def _table(self, name: str) -> Table:
        """Return a table by its name."""
        tables = {table.name: table for table in self.tables}
        if name not in tables:
            raise KeyError(f"{name!r} ({hint(name, tables)})")
        return tables[name]

    def numbers(self, table: str, column: str) -> Floats:
        """Return a column of numbers, NaN where undefined."""
        chosen = self._table(table)
        if isinstance(chosen, ReadTable):
            return chosen.numbers(column)
        return chosen.columns[column].astype(np.float64)

    def summary(self) -> dict[str, Any]:
        """Return what ``responses.json`` holds."""
        values = zip(self.responses, self.values.tolist(), strict=True)
        return {
            "model": self.config.model,
            "config_id": config_id(self.config),
            "seed": self.seed,
            "replication": self.replication,
            "responses": {r.name: v if math.isnan(v) or not r.whole else int(v) for r, v in values},
            **warnings_entry(self.warnings),
        }

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the replication that a folder holds."""
        document = files.json(RESPONSES)
        with damaged(files.folder / RESPONSES):
            values: dict[str, Any] = document["responses"]
            known = {response.name: response for response in shown_by(files.config)[0]}
            return cls(
                files.config,
                int(document["seed"]),
                int(document["replication"]),
                [known[name] for name in values],
                np.array([math.nan if v is None else float(v) for v in values.values()]),
                [ReadTable(files, name) for name in files.tables],
                warnings_in(document),
                files.folder,
            )


class ReadTable(Table):
    """A table of a folder, which is read when its columns are wanted."""

    def __init__(self, files: ResultFiles, name: str) -> None:
        self.name, self._files = name, files

    @cached_property
    def _columns(self) -> dict[str, NDArray[Any]]:  # type: ignore[override]
        file = f"{self.name}.csv"
        texts = self._files.table(file, (), self._files.header(file))
        return {name: _array(cells) for name, cells in texts.items()}

    def numbers(self, column: str) -> Floats:
        """Return a column of numbers, each of which is checked."""
        return np.array(self._files.table(f"{self.name}.csv", [column])[column])

    @property
    def whole(self) -> frozenset[str]:  # type: ignore[override]
        """The columns of whole numbers."""
        columns = self._columns.items()
        return frozenset(name for name, values in columns if values.dtype.kind == "i")


def _array(cells: list[str]) -> NDArray[Any]:
    """Return a column as numbers, NaN where empty, or as the texts that it holds."""
    for read in (int, lambda cell: float(cell or "nan")):
        with suppress(ValueError):
            return np.array([read(cell) for cell in cells])
    return np.array(cells)


@takes(SimulateArguments)
def simulate(
    config: ConfigLike,
    seed: int | None = None,
    replication: int = 0,
    **options: Any,  # noqa: ANN401
) -> Simulation:
    """Run replication `replication` of a config and record it.

    Parameters
    ----------
    config : Config or what `valmatch.load_config` takes
        What to simulate.
    seed, replication : int
        Address of the random numbers, both >= 0; a seed of None is that of the section
        `replicate` of the config, else 1.
    **options

    Raises
    ------
    InputError
        If an argument, the input of the model or the folder cannot be used.
    RunError
        If the results cannot be written.
    """
    arguments = SimulateArguments(seed=seed, replication=replication, **options)
    return simulate_config(load_config(config), arguments)


def simulate_config(config: Config, options: SimulateArguments) -> Simulation:
    """Run a replication of a config and record it; see `simulate`."""
    seed = first_given(options.seed, config.replicate.seed, DEFAULT_SEED)
    path, replication = options.out, options.replication
    identity = {"seed": seed, "replication": replication}
    model = build(config, warn=options.warn)
    with RunFolder(path, "simulate", config, identity) if path else nullcontext() as folder:
        result = record(model, seed, replication)
        recording = Simulation(
            config,
            seed,
            replication,
            model.responses,
            result.responses,
            result.tables,
            list(dict.fromkeys([*config.warnings, *model.warnings, *result.remarks])),
            path,
        )
        if folder:
            folder.add([f"{table.name}.csv" for table in result.tables])
            for table in result.tables:
                path = folder.path / f"{table.name}.csv"
                write_csv_parts(path, table.names, table.parts(ROWS_AT_ONCE), table.whole)
            write_json(folder.path / RESPONSES, recording.summary())
            folder.remark(model.warnings, result.remarks)
            folder.close("complete")
    return recording
