"""The core simulator: runs the replications of any model for every command.

A model turns a stream of random numbers into a vector of responses. ``simulate``, ``replicate``
and ``optimize`` reach models through this module alone, so that a replication is the same
whichever command asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from valmatch.config.config import Config
from valmatch.draws.streams import Streams
from valmatch.errors import RunError
from valmatch.inputs.fields import Factors
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Batch, Inputs, Model, Responses, Table, row_of
from valmatch.models.registry import load_model


class Recorded(NamedTuple):
    """One replication in full."""

    responses: Floats  # (len(model.responses),) float64; NaN where undefined
    tables: Sequence[Table]  # what happened, one table for each kind of event
    remarks: Sequence[str]  # what has to be said of it


def build(
    config: Config,
    factors: Factors | None = None,
    warn: Callable[[str], None] = lambda text: None,
) -> Model[object]:
    """Return the model of a config, ready to run."""
    files = {name: file.path for name, file in config.files.items()}
    model = load_model(config.model)(factors or config.factors, files)
    if not isinstance(model.responses, Responses):
        raise RunError(f"{type(model).__name__}: its responses are no valmatch.Responses(...)")
    for remark in model.warnings:
        warn(remark)
    return model


def releases_gil(*configs: Config) -> bool:
    """Return whether the models of all configs leave the GIL to other threads; see `Model`."""
    return all(getattr(load_model(config.model), "releases_gil", False) for config in configs)


def run(
    model: Model[Inputs],
    seed: int,
    replications: Iterable[int],
    controls: bool = False,
    check: Callable[[], None] = lambda: None,
) -> Batch:
    """Run replications of a model."""
    return model.run_many(Streams(seed), list(replications), controls, check)


def record(model: Model[Inputs], seed: int, replication: int) -> Recorded:
    """Run one replication and keep everything that happened in it."""
    found = model.record(model.draw(Streams(seed), replication))
    return Recorded(row_of(model, found.responses), found.tables, found.remarks)
