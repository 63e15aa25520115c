"""The core simulator: runs the replications of any model for every command.

A model turns a stream of random numbers into a vector of responses. ``simulate``, ``replicate``
and ``optimize`` reach models through this module alone, so that a replication is the same
whichever command asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.config.config import Config
from valmatch.errors import RunError
from valmatch.fields import Factors
from valmatch.model import Batch, Inputs, Model, Responses, Table, Values
from valmatch.models.registry import load_model
from valmatch.statistics.curve_sums import CurveSums
from valmatch.streams import Streams

__all__ = ["Recorded", "build", "record", "row_of", "run"]

Floats = NDArray[np.float64]


class Recorded(NamedTuple):
    """One replication in full.

    Attributes
    ----------
    responses : numpy.ndarray
        (len(model.responses),) float64; NaN where undefined.
    tables : sequence of Table
        What happened, one table for each kind of event.
    """

    responses: Floats
    tables: Sequence[Table]


def build(
    config: Config,
    factors: Factors | None = None,
    warn: Callable[[str], None] = lambda text: None,
) -> Model[object]:
    """Return the model of a config, ready to run.

    Parameters
    ----------
    config : Config
        What to simulate.
    factors : Factors or None
        Replace those of the config.
    warn : callable
        Called with each remark of the model on its input.

    Raises
    ------
    InputError
        If there is no such model, or if its files cannot be used.
    RunError
        If the model is not what `valmatch.model.Model` says.
    """
    files = {name: file.path for name, file in config.files.items()}
    model = load_model(config.model)(factors or config.factors, files)
    if not isinstance(model.responses, Responses):
        raise RunError(f"{type(model).__name__}: its responses are no valmatch.Responses(...)")
    for remark in model.warnings:
        warn(remark)
    return model


def run(
    model: Model[Inputs], seed: int, replications: Iterable[int], controls: bool = False
) -> Batch:
    """Run replications of a model.

    Parameters
    ----------
    model : Model
        As built from a config.
    seed : int
        Seed of all random numbers, >= 0.
    replications : iterable of int
        Indices >= 0; each replication depends on the seed and its own index alone.
    controls : bool
        Whether to observe the controls; no response depends on it.

    Returns
    -------
    Batch
        One row of responses a replication, in the order given; the curves summed.

    Raises
    ------
    RunError
        If the model does not give each of its responses, and no others.
    """
    streams = Streams(seed)
    curves = CurveSums.zeros(model.axes.shape) if model.axes else None
    rows, seen = [], []
    for replication in replications:
        inputs = model.draw(streams, replication)
        if controls:
            inputs, observed = model.observe(inputs)
        outcome = model.run(inputs)
        rows.append(row_of(model, outcome.responses))
        if controls:
            seen.append(observed())
        if curves is not None and outcome.curves is not None:
            curves.add(outcome.curves)
    return Batch(
        _table(rows, len(model.responses)),
        curves,
        _table(seen, len(model.controls)) if controls else None,
    )


def _table(rows: Sequence[Floats], width: int) -> Floats:
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)


def record(model: Model[Inputs], seed: int, replication: int) -> Recorded:
    """Run one replication and keep everything that happened in it.

    Raises
    ------
    RunError
        If the model does not give each of its responses, and no others.
    """
    found = model.record(model.draw(Streams(seed), replication))
    return Recorded(row_of(model, found.responses), found.tables)


def row_of(model: Model[Inputs], values: Values) -> Floats:
    """Return the responses of a replication in their order; see `Responses.row`."""
    try:
        return model.responses.row(values)
    except ValueError as error:
        raise RunError(f"{type(model).__name__}: {error}") from None
