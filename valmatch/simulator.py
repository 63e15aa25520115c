"""The core simulator: runs the replications of any model for every command.

A model turns a stream of random numbers into a vector of responses. ``simulate``, ``replicate``
and ``optimize`` reach models through this module alone, so that a replication is the same
whichever command asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from valmatch.config import Config
from valmatch.models.registry import load_model
from valmatch.streams import Streams

__all__ = ["Model", "Record", "Response", "Table", "build", "record", "run"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Response:
    """One number that a replication gives.

    Attributes
    ----------
    name : column of ``replications.csv``, key of ``summary.json``
    unit : unit, "" where it is a count or a share
    meaning : what it is, in one line
    whole : whether it is a whole number
    """

    name: str
    unit: str
    meaning: str
    whole: bool = False


@dataclass(frozen=True)
class Table:
    """One file of a recorded replication.

    Attributes
    ----------
    name : file name without suffix
    columns : equally long columns by name; None and NaN stand for a value that does not exist
    """

    name: str
    columns: Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Record:
    """One replication in full.

    Attributes
    ----------
    responses : (len(model.responses),) float64; NaN where undefined
    tables : what happened, one table for each kind of event
    """

    responses: Floats
    tables: Sequence[Table]


class Model(Protocol):
    """A matchmaking system with its factors.

    Attributes
    ----------
    responses : what a replication gives
    warnings : remarks on the model's input, one line each
    """

    responses: Sequence[Response]
    warnings: Sequence[str]

    def draw(self, streams: Streams, replication: int) -> Any:  # noqa: ANN401
        """Return the random inputs of a replication; no decision variable may enter them."""

    def run(self, inputs: Any) -> Floats:  # noqa: ANN401
        """Return the responses to these inputs; NaN where a response is undefined."""

    def record(self, inputs: Any) -> Record:  # noqa: ANN401
        """Return the same responses with everything that happened."""


def build(config: Config) -> Model:
    """Return the model of a config, ready to run."""
    model: Model = load_model(config.model)(config.factors, config.arrivals)
    return model


def run(model: Model, seed: int, replications: Iterable[int]) -> Floats:
    """Run replications of a model.

    Parameters
    ----------
    model : Model
        As built from a config.
    seed : int
        Seed of all random numbers, >= 0.
    replications : iterable of int
        Indices >= 0; each replication depends on the seed and its own index alone.

    Returns
    -------
    (n, len(model.responses)) float64
        One row a replication, in the order given; NaN where a response is undefined.
    """
    streams = Streams(seed)
    rows = [model.run(model.draw(streams, k)) for k in replications]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(model.responses))


def record(model: Model, seed: int, replication: int) -> Record:
    """Run one replication and keep everything that happened in it."""
    return model.record(model.draw(Streams(seed), replication))
